"""One page of a crawl as a program gets it."""

from __future__ import annotations

from pathlib import Path

from trailhound.records import FinishedPage, Link, Outcome, Page, PageEvent
from trailhound.sessions.shown_pages import page_from_source
from trailhound.topics.crawls.archived_pages import PageSources
from trailhound.topics.crawls.marking import archived_sources
from trailhound.web_archives import ServerAnswer


class CrawlResult:
    """What came of one URL.

    ``text``, ``html`` and ``links`` are in memory while it is the crawl's latest page; afterwards
    they are read from the ``archive`` when they are wanted. Without one they stay in memory.
    """

    __slots__ = ("_archive", "_finished", "event")

    def __init__(self, finished: FinishedPage, archive: Path | None) -> None:
        self.event: PageEvent = finished.event
        """All that the crawl has noted."""
        self._finished: FinishedPage | None = finished
        self._archive = archive

    def let_go(self) -> None:
        """Keep the content no longer if it can be read again."""
        if self._archive is not None:
            self._finished = None

    @property
    def url(self) -> str:
        """Where the page is: the end of the redirects."""
        return self.event.final_url

    @property
    def title(self) -> str:
        """Of the page."""
        return self.event.title

    @property
    def score(self) -> float | None:
        """The judge's opinion, 0 to 1; ``None`` when there was no page to judge."""
        return None if self.event.relevance is None else self.event.relevance.score

    @property
    def relevant(self) -> bool:
        """Whether the page is on topic, and says something new: copies are not relevant."""
        verdict = self.event.relevance
        return verdict is not None and verdict.relevant and self.event.duplicate_of is None

    @property
    def outcome(self) -> Outcome:
        """How the fetch ended."""
        return self.event.outcome

    @property
    def depth(self) -> int:
        """Links from the nearest seed."""
        return self.event.depth

    @property
    def parent(self) -> str | None:
        """The page whose link led here; ``None`` for a seed."""
        return self.event.parent

    @property
    def html(self) -> str | None:
        """The page's source; of a document, HTML that says the same. ``None`` without either."""
        if self.outcome is not Outcome.FETCHED:
            return None
        if self._finished is not None:
            result = self._finished.result
            answer = ServerAnswer(self.url, 200, result.content_type, body=result.body)
            with PageSources() as sources:
                return sources.html(answer, self.url)
        return archived_sources(self._archive, {self.url}).get(self.url) if self._archive else None

    @property
    def page(self) -> Page | None:
        """The page as strategies and judges see it; ``None`` when nothing was fetched."""
        if self._finished is not None and self._finished.page is not None:
            return self._finished.page
        html = self.html
        return None if html is None else page_from_source(html, self.url)

    @property
    def text(self) -> str:
        """What a person would read; empty when nothing was fetched."""
        page = self.page
        return "" if page is None else page.text

    @property
    def links(self) -> tuple[Link, ...]:
        """Links of the page, with their anchor texts."""
        page = self.page
        return () if page is None else tuple(page.links)

    def __repr__(self) -> str:
        verdict = self.outcome.value if self.score is None else f"{self.score:.2f}"
        found = ", relevant" if self.relevant else ""
        return f"<{type(self).__name__} {self.url} ({verdict}{found})>"
