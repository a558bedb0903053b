"""The oracle: it knows how far every waiting page is from a relevant one. A bound for the lab."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from trailhound.errors import UsageError
from trailhound.records import CrawledPage, ScoredLink
from trailhound.strategies.base import AnswerKey, Briefing


class OracleStrategy:
    """Relevant pages first, then pages that link to one, and so on by true distance.

    It looks at labels, not at what has been found already, so it is greedy: close to the best
    possible crawl, not exactly it.
    """

    name: ClassVar[str] = "oracle"
    summary: ClassVar[str] = (
        "lab only: knows each page's true distance to a relevant one, the upper bound"
    )
    paper: ClassVar[str] = ""
    lab_only: ClassVar[bool] = True

    def __init__(self, answers: AnswerKey) -> None:
        self._answers = answers

    @classmethod
    def from_briefing(cls, briefing: Briefing) -> OracleStrategy:
        """Take the ground truth, which only the lab has."""
        if briefing.answers is None:
            raise UsageError(
                "The strategy 'oracle' needs ground truth, which only the lab has. "
                "Choose another for a live crawl: see 'trailhound strategies'."
            )
        return cls(briefing.answers)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """1 / (1 + hops); nothing for pages that lead nowhere."""
        return [ScoredLink(link, self._worth(link.url)) for link in crawled.page.links]

    def _worth(self, url: str) -> float:
        hops = self._answers.hops(url)
        return 0.0 if hops is None else 1 / (1 + hops)

    def observe(self, crawled: CrawledPage) -> None:
        """Nothing is left to learn."""
