"""The greedy oracle: it knows which waiting pages are relevant. An upper bound for the lab."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from trailhound.errors import UsageError
from trailhound.records import CrawledPage, ScoredLink
from trailhound.strategies.base import Briefing
from trailhound.strategies.best_first import target_similarity
from trailhound.text.tfidf import TargetSimilarity


class OracleStrategy:
    """Relevant links first; the others as best-first would order them."""

    name: ClassVar[str] = "oracle"
    summary: ClassVar[str] = "knows which waiting pages are relevant: the upper bound, lab only"
    paper: ClassVar[str] = ""

    def __init__(self, relevant_urls: frozenset[str], similarity: TargetSimilarity) -> None:
        self._relevant_urls = relevant_urls
        self._similarity = similarity

    @classmethod
    def from_briefing(cls, briefing: Briefing) -> OracleStrategy:
        """Take the ground truth, which only the lab has."""
        if not briefing.relevant_urls:
            raise UsageError(
                "The strategy 'oracle' needs ground truth, which only the lab has. "
                "Choose another for a live crawl: see 'trailhound strategies'."
            )
        return cls(briefing.relevant_urls, target_similarity(briefing))

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Two for a relevant link, the page's similarity (at most one) for the rest."""
        similarity = self._similarity.to_nearest(crawled.page.terms)
        relevant = self._relevant_urls
        return [
            ScoredLink(link, 2.0 if link.url in relevant else similarity)
            for link in crawled.page.links
        ]

    def observe(self, crawled: CrawledPage) -> None:
        """Nothing is left to learn."""
