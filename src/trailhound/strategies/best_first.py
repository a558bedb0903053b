"""Best-first: links of the pages most similar to a target come first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from trailhound.records import CrawledPage, ScoredLink
from trailhound.strategies.back_crawling import BackCrawling, back_crawling
from trailhound.strategies.base import Briefing
from trailhound.text.target_similarity import TargetSimilarity


class BestFirstStrategy:
    """All links of a page inherit its largest cosine to a target page."""

    name: ClassVar[str] = "best-first"
    summary: ClassVar[str] = "links of the pages most similar to a target page first"
    paper: ClassVar[str] = "Cho, Garcia-Molina, Page 1998; as in Liu, Janssen, Milios 2006"
    reads_surroundings: ClassVar[bool] = False

    def __init__(
        self, similarity: TargetSimilarity, *, back_crawl: BackCrawling | None = None
    ) -> None:
        self._similarity = similarity
        self._back_crawl = back_crawl

    @classmethod
    def from_briefing(cls, briefing: Briefing, *, back_crawl: int = 0) -> BestFirstStrategy:
        """Weigh terms over all visited pages and remember the targets.

        ``back_crawl`` pages that link to each find are queued as well.
        """
        return cls(briefing.similarity, back_crawl=back_crawling(briefing, back_crawl))

    @property
    def learns_online(self) -> bool:
        """Whether a source is asked on the way, which only one process may do."""
        return self._back_crawl is not None

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """One priority for the whole page, and for the pages that link to a find."""
        priority = self._similarity.to_nearest(crawled.page.terms)
        links = crawled.page.links
        if self._back_crawl is not None and crawled.relevance.relevant:
            links += self._back_crawl.parents_of(crawled)
        return [ScoredLink(link, priority) for link in links]

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing: the targets stay as they were."""
