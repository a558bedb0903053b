"""What is learned about one candidate while the engine deals with it."""

from __future__ import annotations

from trailhound.records import Candidate, FetchResult, Page, PageEvent, Relevance


class Story:
    """What is known so far about one candidate's fate."""

    def __init__(self, candidate: Candidate, result: FetchResult) -> None:
        self.candidate = candidate
        self.result = result
        self.outcome = result.outcome
        self.page: Page | None = None
        self.relevance: Relevance | None = None
        self.duplicate_of: str | None = None
        self.links_found = 0
        self.links_added = 0
        self.links_outside = 0
        self.why = result.detail

    @property
    def was_redirected(self) -> bool:
        """Whether the page is elsewhere than where it was looked for."""
        return self.result.final_url != self.candidate.url

    def tell(self, number: int, requests_total: int, at: float) -> PageEvent:
        """The finished event."""
        candidate, page = self.candidate, self.page
        return PageEvent(
            number=number,
            url=candidate.url,
            final_url=self.result.final_url,
            outcome=self.outcome,
            parent=candidate.parent,
            depth=candidate.depth,
            priority=candidate.priority,
            requests=self.result.requests,
            requests_total=requests_total,
            relevance=self.relevance,
            links_found=self.links_found,
            links_added=self.links_added,
            links_outside=self.links_outside,
            why=self.why,
            title=page.title if page else "",
            duplicate_of=self.duplicate_of,
            noindex=self.result.noindex or (page.noindex if page else False),
            at=at,
        )
