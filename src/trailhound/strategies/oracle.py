"""The oracle: it knows what is still to be found and what leads there. A bound for the lab."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from trailhound.errors import UsageError
from trailhound.records import Candidate, CrawledPage, ScoredLink
from trailhound.strategies.base import Briefing, Pursuit


class OracleStrategy:
    """Answers as they come in sight; without one, the way on which most finds come per request.

    Only what is wanted now is queued: whatever waits would be fetched while the host of something
    better wants to be left alone. When all of it has been fetched, the crawl asks for more, and
    gets the first page of the best way, by what is left to find then.

    It is greedy, close to the best possible crawl along links and not exactly it.
    """

    name: ClassVar[str] = "oracle"
    summary: ClassVar[str] = (
        "lab only: knows what is still to be found and what leads there, the upper bound"
    )
    paper: ClassVar[str] = ""
    lab_only: ClassVar[bool] = True
    reads_surroundings: ClassVar[bool] = False

    def __init__(self, pursuit: Pursuit) -> None:
        self._pursuit = pursuit
        self._known: dict[str, Candidate] = {}
        """Pages in reach that have not been queued."""
        self._in_sight: set[int] = set()
        """Answers that have been queued."""

    @classmethod
    def from_briefing(cls, briefing: Briefing) -> OracleStrategy:
        """Take the ground truth, which only the lab has."""
        if briefing.answers is None:
            raise UsageError(
                "The strategy 'oracle' needs ground truth, which only the lab has. "
                "Choose another for a live crawl: see 'trailhound strategies'."
            )
        return cls(briefing.answers.pursuit())

    def observe(self, crawled: CrawledPage) -> None:
        """What has arrived is found, and so are its copies."""
        self._pursuit.arrived(crawled.page.url)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Links to answers that nothing has led to so far; the others are remembered."""
        scored = []
        for link in crawled.page.links:
            answer = self._pursuit.answer(link.url)
            if answer is not None and answer not in self._in_sight:
                self._in_sight.add(answer)
                scored.append(ScoredLink(link, 1.0))
            elif link.url not in self._known:
                depth = crawled.candidate.depth + 1
                self._known[link.url] = Candidate(link.url, 0.0, b"", crawled.page.url, depth)
        return scored

    def restock(self) -> Iterable[Candidate]:
        """The first page of the best way. An answer that was queued in vain may be had by it."""
        self._in_sight.clear()
        worth = {url: self._pursuit.worth(url) for url in self._known}
        # Nothing new will ever lead from the others: answers only become fewer.
        self._known = {url: known for url, known in self._known.items() if worth[url] > 0}
        if not self._known:
            return []
        return [self._known.pop(max(self._known, key=worth.__getitem__))]
