"""Content and link analysis: a table of topic words, and tunnels through irrelevant pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

import msgspec

from trailhound.errors import UsageError
from trailhound.records import Candidate, CrawledPage, Page, Relevance, ScoredLink
from trailhound.strategies.base import Briefing, News
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
from trailhound.strategies.parts import HeardPages, kept_in
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


MAX_LINKS_TOLD = 1_000
"""Of one page: the first."""
_NO_LINKS = msgspec.msgpack.encode([])
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
    heard: list[str] = []


class _Told(msgspec.Struct, frozen=True, array_like=True):
    """A page as others are told of it."""

    url: str
    relevance: float
    seed: float | None = None
    """What it adds to the limit, if it is a seed."""
    word: str = ""
    """The most frequent one of a very relevant page."""


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
        self._heard = HeardPages()

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
        seed = self._as_seed(crawled, relevance)
        if seed is not None:
            self._limit.add_seed(seed)
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

    def _as_seed(self, crawled: CrawledPage, relevance: float) -> float | None:
        """What a page adds to the limit; ``None`` when it is no seed."""
        if crawled.candidate.parent is not None or crawled.candidate.memory:
            return None
        # Literally the seeds' link scores: they have no anchor and no linking page.
        return self._scorer.url_relevance(crawled.page.url) if self._literal else relevance

    def join(self, owns: Callable[[str], bool]) -> None:
        """Others fetch what it does not own; that changes nothing here."""

    def news(self, crawled: CrawledPage) -> News:
        """What the page says for table and limit; and its links, for what it says of them."""
        page, terms = crawled.page, crawled.page.terms
        relevance = self._latest[1].score if self._latest else self.relevance(page)
        seed = self._as_seed(crawled, relevance)
        is_teacher = relevance >= self._expansion and bool(terms)
        word = max(terms, key=terms.__getitem__) if is_teacher else ""
        links = list(dict.fromkeys(link.url for link in page.links))[:MAX_LINKS_TOLD]
        return News(
            msgspec.msgpack.encode(_Told(page.url, relevance, seed, word)),
            msgspec.msgpack.encode(links) if links else b"",
        )

    def heed(self, news: Sequence[News]) -> None:
        """Let table, limit and in-links learn from pages of others; tunnels are each one's own."""
        for each in news:
            told = kept_in(each.for_all, _Told, "a page by its words")
            links = kept_in(each.for_owners or _NO_LINKS, list[str], "the links of a page")
            if not self._heard.is_new(told.url):
                continue
            if told.seed is not None:
                self._limit.add_seed(told.seed)
            if told.word and self._growth.learn(self._table, {told.word: 1}, told.relevance):
                self._scorer.table_changed()
            is_relevant = told.relevance > self._limit.value
            self._scorer.in_links.forget(told.url)
            self._scorer.in_links.add_page(links, told.relevance, is_relevant)

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
                self._heard.keep(),
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
        self._heard = HeardPages(kept.heard)
