"""Best-first: links of the pages most similar to a target come first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from trailhound.records import CrawledPage, ScoredLink
from trailhound.strategies.base import Briefing
from trailhound.text.target_similarity import TargetSimilarity


class BestFirstStrategy:
    """All links of a page inherit its largest cosine to a target page."""

    name: ClassVar[str] = "best-first"
    summary: ClassVar[str] = "links of the pages most similar to a target page first"
    paper: ClassVar[str] = "Cho, Garcia-Molina, Page 1998; as in Liu, Janssen, Milios 2006"
    learns_online: ClassVar[bool] = False

    def __init__(self, similarity: TargetSimilarity) -> None:
        self._similarity = similarity

    @classmethod
    def from_briefing(cls, briefing: Briefing) -> BestFirstStrategy:
        """Weigh terms over all visited pages and remember the targets."""
        return cls(briefing.similarity)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """One priority for the whole page."""
        priority = self._similarity.to_nearest(crawled.page.terms)
        return [ScoredLink(link, priority) for link in crawled.page.links]

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing: the targets stay as they were."""
