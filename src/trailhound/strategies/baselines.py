"""The orders that every other strategy is compared with: random, breadth-first, best-first."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import ClassVar

from trailhound.records import CrawledPage, Link, ScoredLink
from trailhound.strategies.back_crawling import BackCrawling, back_crawling
from trailhound.strategies.base import Briefing
from trailhound.text.tfidf import TargetSimilarity


class RandomStrategy:
    """Every link gets a random priority."""

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "links in random order: the floor"
    paper: ClassVar[str] = ""
    reads_surroundings: ClassVar[bool] = False

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    @classmethod
    def from_briefing(cls, briefing: Briefing) -> RandomStrategy:
        """Take only the seed."""
        return cls(briefing.seed)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Draw a number per link."""
        return [ScoredLink(link, self._random.random()) for link in crawled.page.links]

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing."""


class BreadthFirstStrategy:
    """The fewer links from a seed, the sooner."""

    name: ClassVar[str] = "breadth-first"
    summary: ClassVar[str] = "links in order of their distance from the seeds"
    paper: ClassVar[str] = ""
    reads_surroundings: ClassVar[bool] = False
    learns_online: ClassVar[bool] = False

    @classmethod
    def from_briefing(cls, briefing: Briefing) -> BreadthFirstStrategy:
        """Ignore the session."""
        del briefing
        return cls()

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Minus the depth."""
        depth = crawled.candidate.depth + 1
        return [ScoredLink(link, -depth) for link in crawled.page.links]

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing."""


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
        """One priority for the whole page."""
        return self._scored(crawled, crawled.page.links)

    async def ask(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """The pages that link to a find get its priority as well."""
        if self._back_crawl is None or not crawled.relevance.relevant:
            return ()
        return self._scored(crawled, await self._back_crawl.parents_of(crawled))

    def _scored(self, crawled: CrawledPage, links: Iterable[Link]) -> list[ScoredLink]:
        priority = self._similarity.to_nearest(crawled.page.terms)
        return [ScoredLink(link, priority) for link in links]

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing: the targets stay as they were."""
