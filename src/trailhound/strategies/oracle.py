"""The oracle: it knows what is still to be found and what leads there. A bound for the lab."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import ClassVar

from trailhound.errors import UsageError
from trailhound.records import CrawledPage, Link, ScoredLink
from trailhound.strategies.base import Briefing, Pursuit

RANKED_ANEW = 200
"""Waiting links named again with every page, the best first: more than any crawl fetches at once,
and enough that answers which cannot be had do not stand in the way."""


class OracleStrategy:
    """Answers first, then the ways to answers not yet found on which most finds come per request.

    Every find changes what all waiting links are worth, and the frontier asks for an opinion of
    them only now and then. So the best of them are named again with every page, above whatever
    was said before: the whole number in a priority counts pages, the fraction is the worth.

    It is greedy, close to the best possible crawl along links and not exactly it.
    """

    name: ClassVar[str] = "oracle"
    summary: ClassVar[str] = (
        "lab only: knows what is still to be found and what leads there, the upper bound"
    )
    paper: ClassVar[str] = ""
    lab_only: ClassVar[bool] = True

    def __init__(self, pursuit: Pursuit) -> None:
        self._pursuit = pursuit
        self._waiting: dict[str, Link] = {}
        self._pages = 0

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
        self._pages += 1
        self._pursuit.arrived(crawled.page.url)
        self._waiting.pop(crawled.candidate.url, None)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """The page's links that lead to something, and the best of those that wait."""
        for link in crawled.page.links:
            self._waiting.setdefault(link.url, link)
        worth = {url: self._pursuit.worth(url) for url in self._waiting}
        # Nothing new will ever lead from there: answers only become fewer.
        self._waiting = {url: link for url, link in self._waiting.items() if worth[url] > 0}
        chosen = heapq.nlargest(RANKED_ANEW, self._waiting, key=worth.__getitem__)
        own = (link.url for link in crawled.page.links if link.url in self._waiting)
        return [
            ScoredLink(self._waiting[url], self._pages + worth[url])
            for url in dict.fromkeys((*chosen, *own))
        ]
