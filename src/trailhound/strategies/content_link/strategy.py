"""Content and link analysis: a table of topic words, and tunnels through irrelevant pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from trailhound.errors import UsageError
from trailhound.records import Candidate, CrawledPage, Page, Relevance, ScoredLink
from trailhound.strategies.base import Briefing
from trailhound.strategies.content_link.link_scores import InLinks, LinkScorer, RunningMoments
from trailhound.strategies.content_link.topic_table import (
    TableGrowth,
    TopicTable,
    TopicWish,
    background_words,
    make_topic_table,
    page_counts,
)
from trailhound.strategies.content_link.tunnels import (
    KeptTunnels,
    OneQueue,
    Rated,
    TableFirst,
    Tag,
    Tunnels,
)
from trailhound.strategies.parts import kept_in
from trailhound.text.tokens import count_terms

LOWEST, HIGHEST = 0.3, 0.5
"""Where the paper's limits lay: what came of its seeds, and no rule."""


class RelevancyLimit(msgspec.Struct):
    """Half of the seeds' mean; or a number that was given.

    ``bounded``, it stays within what the paper reports; to the letter it is what it is, and 0 for
    seeds whose addresses have no word of the topic: every page with such a word is then relevant.
    """

    given: float | None = None
    total: float = 0.0
    seeds: int = 0
    bounded: bool = True

    def add_seed(self, value: float) -> None:
        """See one more seed."""
        self.total += value
        self.seeds += 1

    @property
    def value(self) -> float:
        """Pages above it are relevant."""
        if self.given is not None:
            return self.given
        half = self.total / self.seeds / 2 if self.seeds else 0.0
        return max(LOWEST, min(HIGHEST, half)) if self.bounded else half


LEAST_WORDS = 3
"""Distinct words of the table below which a page gets only a share of its relevance."""


class KeptCrawl(msgspec.Struct, frozen=True):
    """What the strategy learned, as it is written down."""

    table: dict[str, float]
    trials: dict[str, list[float]]
    limit: RelevancyLimit
    in_links: dict[str, InLinks]
    link_moments: RunningMoments
    parent_moments: RunningMoments
    tunnels: KeptTunnels


class ContentLinkStrategy:
    """Pages by a table of topic words; links by their words and the pages that have them.

    Whether a page is relevant is the strategy's own question here, not the judge's: the limit
    decides whether its links join the queue or have to be tunnelled to, and in the literal reading
    also whether it is kept.
    """

    name: ClassVar[str] = "content-link"
    summary: ClassVar[str] = "topic words in page, anchor and address; tunnels through dull pages"
    paper: ClassVar[str] = "Pal, Tomar, Shrivastava 2009"
    reads_surroundings: ClassVar[bool] = False

    def __init__(
        self,
        table: TopicTable,
        growth: TableGrowth,
        tunnels: Tunnels,
        *,
        limit: float | None = None,
        expansion: float = 0.9,
        literal: bool = False,
    ) -> None:
        self._table = table
        self._growth = growth
        self._tunnels = tunnels
        self._limit = RelevancyLimit(limit, bounded=not literal)
        self._expansion = expansion
        self._literal = literal
        self._scorer = LinkScorer(table, literal=literal)
        self._latest: tuple[Page, Relevance] | None = None

    @classmethod
    async def from_briefing(
        cls,
        briefing: Briefing,
        *,
        query: str = "",
        keywords: str = "",
        results: int = 10,
        words: int = 50,
        max_level: int = 2,
        limit: float = 0.0,
        expansion: float = 0.9,
        literal: bool = False,
    ) -> ContentLinkStrategy:
        """Make the table from a search, from keywords, or from the session's targets."""
        if max_level < 0 or not 0 <= limit < 1:
            raise UsageError(
                f"Option max_level is {max_level} and limit {limit}, but max_level should be 0 or "
                "more and limit between 0 (from the seeds) and 1."
            )
        reference = None if literal else background_words(briefing)
        wish = TopicWish(keywords=keywords, query=query, results=results, size=words)
        return cls(
            await make_topic_table(briefing, wish, reference),
            TableGrowth(words, reference),
            TableFirst(max_level) if literal else OneQueue(max_level),
            limit=limit or None,
            expansion=expansion,
            literal=literal,
        )

    @property
    def topic_words(self) -> Mapping[str, float]:
        """The table as it is now."""
        return self._table.weights

    @property
    def relevancy_limit(self) -> float:
        """Pages above it are relevant."""
        return self._limit.value

    def relevance(self, page: Page) -> float:
        """Eq. 3, title words counted twice."""
        counts = page_counts(page.terms, count_terms(page.title, page.language))
        return self._table.relevance(counts, 1 if self._literal else LEAST_WORDS)

    def observe(self, crawled: CrawledPage) -> None:
        """Judge the page by the table; let table, limit, links and tunnels learn from it."""
        page, candidate = crawled.page, crawled.candidate
        relevance = self.relevance(page)
        if candidate.parent is None and not candidate.memory:
            # Literally the seeds' link scores: they have no anchor and no linking page.
            own = self._scorer.url_relevance(page.url) if self._literal else relevance
            self._limit.add_seed(own)
        relevant = relevance > self._limit.value
        if relevance >= self._expansion and self._growth.learn(self._table, page.terms, relevance):
            self._scorer.table_changed()
        addresses = (page.url, candidate.url)
        for url in addresses:
            self._scorer.in_links.forget(url)
        links = dict.fromkeys(link.url for link in page.links if link.url not in addresses)
        self._scorer.in_links.add_page(links, relevance, relevant)
        self._tunnels.visit(crawled, relevant)
        self._latest = page, Relevance(relevance, relevant)

    def verdict(self, crawled: CrawledPage) -> Relevance | None:
        """As published, pages above the limit are kept; else that is the judge's business."""
        if not self._literal or self._latest is None or self._latest[0] is not crawled.page:
            return None
        return self._latest[1]

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Each link by eq. 4, then by the tunnel it lies in."""
        page = crawled.page
        if self._latest is None or self._latest[0] is not page:
            self.observe(crawled)
        parts = self._scorer.parts(page.links, page.language)
        scores = self._scorer.scores(parts)
        return self._tunnels.queue(
            [Rated(*each) for each in zip(page.links, parts, scores, strict=True)]
        )

    def rescore(self, candidates: Mapping[str, bytes]) -> Mapping[str, float] | None:
        """Siblings of pages that disappointed sink."""
        return self._tunnels.rescore(candidates)

    def restock(self) -> Iterable[Candidate]:
        """What the irrelevant table still holds, in the literal reading."""
        return self._tunnels.restock()

    def explain(self, memory: bytes) -> Mapping[str, float]:
        """The parts of the link score, and the irrelevant pages in front of the link."""
        tag = Tag.unpack(memory)
        if tag is None:
            return {}
        return {
            "topic words in the address": tag.parts.url,
            "topic words in the link": tag.parts.anchor,
            "relevant pages that link to it": tag.parts.relevant_links,
            "relevance of linking pages": tag.parts.parents,
            "irrelevant pages on the way": tag.level + 1,
        }

    def snapshot(self) -> bytes:
        """Table, limit, links and tunnels."""
        scorer = self._scorer
        return msgspec.msgpack.encode(
            KeptCrawl(
                self._table.weights,
                self._growth.trials,
                self._limit,
                scorer.in_links.known,
                scorer.link_moments,
                scorer.parent_moments,
                self._tunnels.keep(),
            )
        )

    def restore(self, snapshot: bytes) -> None:
        """Go on from there."""
        kept = kept_in(snapshot, KeptCrawl, "a content-link crawl")
        scorer = self._scorer
        self._table = scorer.table = TopicTable(kept.table)
        scorer.table_changed()
        self._growth.trials = kept.trials
        self._limit = kept.limit
        scorer.in_links.known = kept.in_links
        scorer.link_moments, scorer.parent_moments = kept.link_moments, kept.parent_moments
        self._tunnels.take_up(kept.tunnels)
