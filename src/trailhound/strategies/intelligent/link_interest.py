"""What a crawl has learned about links: the interest ratio I^L of the intelligent crawler.

Four factors, each an interest ratio of the page behind a link:

* *content*: the words of the pages that link to it;
* *address*: the words of its URL;
* *links*: how many relevant and irrelevant pages link to it;
* *siblings*: how many other children of those pages turned out relevant.

All are learned from the pages fetched so far, whatever "relevant" means in this crawl, and kept as
logarithms: 0 says nothing. Weights bring the four to the same scale.

Copies that learn together tell each other of pages, as children and as parents. All of them count
how a page turned out, by its address and by those of its linking pages that they know. Those that
own one of its links learn its words and links, and so know all pages that link to what they may
fetch. Counts are sums: of pages that none of the links tells of, order says nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Container, Mapping, Sequence, Sized
from functools import lru_cache
from itertools import chain
from urllib.parse import unquote

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance
from trailhound.strategies.base import News
from trailhound.strategies.intelligent.interest_rule import InterestRule, LinkOutcomes, Vector
from trailhound.strategies.intelligent.link_memory import (
    EventCounts,
    KeptCounts,
    KeptLinks,
    LinkingPages,
    Numbers,
)
from trailhound.strategies.parts import kept_in

FACTORS = ("content", "address", "links", "siblings")

MAX_WORDS = 60_000
"""Words known in texts, and as many in addresses."""
WORDS_PER_PAGE = 100
"""The most frequent words of a page stand for its content."""
MAX_PAGES = 10_000
"""Linking pages remembered: the newest."""
MAX_URLS = 50_000
"""Waiting URLs whose linking pages are remembered, and as many fetched ones."""
LARGEST_WEIGHT = 10.0
"""A factor that hardly differs between candidates is not blown up beyond this."""
MAX_LINKS_TOLD = 1_000
"""Of one page: the first."""

_URL_WORDS = re.compile(r"[^\W_]+")


class KeptInterest(msgspec.Struct, frozen=True):
    """What was learned, as it is written down."""

    pages: int
    relevant: int
    outcomes: LinkOutcomes
    weights: list[float]
    words: KeptCounts
    tokens: KeptCounts
    links: KeptLinks


class _Child(msgspec.Struct, frozen=True, array_like=True):
    asked: str
    url: str
    relevant: bool


class _Parent(msgspec.Struct, frozen=True, array_like=True):
    words: list[str]
    links: list[str]


class LinkInterest:
    """Learns from every fetched page; tells how promising URLs are. Memory is bounded."""

    def __init__(
        self,
        rule: InterestRule | None = None,
        *,
        max_words: int = MAX_WORDS,
        max_pages: int = MAX_PAGES,
        max_urls: int = MAX_URLS,
    ) -> None:
        self._rule = rule or InterestRule()
        self._limits = max_words, max_pages, max_urls
        self.pages = 0
        """Pages learned from."""
        self._relevant = 0
        self._outcomes = LinkOutcomes()
        self._words = EventCounts(max_words)
        self._tokens = EventCounts(max_words)
        self._links = LinkingPages(max_pages, max_urls)
        self.weights: Vector = np.ones(len(FACTORS))
        """Of the four factors. Shape (4,)."""

    @property
    def base_rate(self) -> float:
        """P(U): the share of relevant pages."""
        return self._rule.base_rate(self._relevant, self.pages)

    @property
    def judged(self) -> Container[str]:
        """URLs of pages learned from, as far as they are remembered."""
        return self._links.judged

    def observe(self, crawled: CrawledPage, *, is_parent: bool = True) -> None:
        """Learn from a fetched page: as a child of those that link to it, then as a parent."""
        self._learn_as_child(crawled)
        if is_parent:
            self._learn_as_parent(crawled)

    def _learn_as_child(self, crawled: CrawledPage) -> None:
        relevant = crawled.relevance.relevant
        self.pages += 1
        self._relevant += relevant
        asked, own = crawled.candidate.url, crawled.page.url
        parents = self._links.parents_of(asked) or self._links.parents_of(own)
        if self._tokens.is_full:
            self._tokens.make_room()
        self._tokens.count(self._tokens.learn(url_words(asked)), relevant)
        if parents:
            words = np.concatenate([self._links.words[slot] for slot in parents])
            self._words.count(words, relevant)
            from_relevant = int(self._links.relevant[parents].sum())
            self._outcomes.count(from_relevant, len(parents) - from_relevant, relevant)
        self._links.judge({asked: None, own: None}, parents, relevant)

    def _learn_as_parent(self, crawled: CrawledPage) -> None:
        page = crawled.page
        if self._words.is_full:
            self._links.renumber_words(self._words.make_room())
        words = self._words.learn(frequent_words(page.terms))
        words = words[words >= 0]
        links = dict.fromkeys([link.url for link in page.links])
        for own in (page.url, crawled.candidate.url):
            links.pop(own, None)
        slot = self._links.add(crawled.relevance.relevant, words, links)
        self._links.content[slot] = self._content_of([words])[0]

    def heed(self, news: News) -> bool:
        """Learn from a page of another copy; whether it was new."""
        child = kept_in(news.for_all, _Child, "how a page turned out")
        parent = _Parent([], [])
        if news.for_owners:
            parent = kept_in(news.for_owners, _Parent, "the words and links of a page")
        if child.url in self.judged or child.asked in self.judged:
            return False
        links = tuple(map(Link, parent.links))
        page = Page(child.url, terms=dict.fromkeys(parent.words, 1), links=links)
        relevance = Relevance(float(child.relevant), child.relevant)
        crawled = CrawledPage(page, relevance, Candidate(child.asked, 0.0))
        self.observe(crawled, is_parent=bool(links))
        return True

    def log_factors(self, urls: Sequence[str]) -> NDArray[np.float64]:
        """Logarithms of the four factors, unweighted. Shape (n_urls, 4)."""
        slots, children = self._links.parents_of_each(urls)
        size = len(urls)
        factors = np.zeros((size, len(FACTORS)))
        words = list(map(url_words, urls))
        numbers = self._tokens.find(chain.from_iterable(words))
        factors[:, 1] = self._product(self._tokens, numbers, words)
        if not len(slots):
            return factors

        def total(values: NDArray[np.generic]) -> Vector:
            return np.bincount(children, values[slots], size).astype(np.float64, copy=False)

        parents = np.bincount(children, minlength=size)
        content = total(self._links.content)
        # Several linking pages: the product as published; repaired, their mean.
        factors[:, 0] = content if self._rule.literal else content / np.maximum(parents, 1)
        relevant = total(self._links.relevant)
        factors[:, 2] = self._outcomes.log_ratios(self._rule, relevant, parents - relevant)
        seen, hits = total(self._links.children_seen), total(self._links.children_hits)
        factors[:, 3] = self._rule.log_ratios(hits, seen, self.base_rate)
        return factors

    def are_linked(self, urls: Sequence[str]) -> NDArray[np.bool_]:
        """Whether a linking page of each URL is remembered: else its address alone can speak."""
        _, children = self._links.parents_of_each(urls)
        return np.bincount(children, minlength=len(urls)) > 0

    def log_ratios(self, urls: Sequence[str]) -> Vector:
        """log I^L of URLs: see :meth:`combine`. Shape (n_urls,)."""
        return self.combine(self.log_factors(urls))

    def combine(self, factors: NDArray[np.float64]) -> Vector:
        """Weighted logarithms, summed as published; repaired, their mean over the four factors.

        A factor that says nothing is a ratio of 1 and lowers no other: leaving it out of the mean
        would let one early guess outrank what several factors agree on. Shapes: (n, 4) to (n,).
        """
        sums: Vector = factors @ self.weights
        return sums if self._rule.literal else sums / len(FACTORS)

    def readjust(self, factors: NDArray[np.float64]) -> None:
        """Bring the four to one scale, given those of the waiting candidates. Shape (n, 4).

        The repaired weights are one over the standard deviation; the literal ones give all four
        the same mean magnitude.
        """
        if not len(factors):
            return
        spread = np.abs(factors).mean(axis=0) if self._rule.literal else factors.std(axis=0)
        weights = 1 / np.maximum(spread, 1 / LARGEST_WEIGHT)
        self.weights = np.where(spread > 0, weights, 1.0)

    def refresh(self) -> None:
        """Look at the words of all remembered pages again: they say something else by now."""
        words = self._links.words
        self._links.content[: len(words)] = self._content_of(words)

    def _content_of(self, pages: Sequence[Numbers]) -> Vector:
        numbers = np.concatenate(pages) if pages else np.zeros(0, np.int32)
        return self._product(self._words, numbers, pages)

    def _product(self, counts: EventCounts, numbers: Numbers, groups: Sequence[Sized]) -> Vector:
        """The logarithm of the product of significant ratios, for each group of events in turn."""
        size = len(groups)
        owners = np.repeat(np.arange(size), list(map(len, groups)))
        seen, hits, base = counts.seen[numbers], counts.hits[numbers], self.base_rate
        counted = self._rule.are_significant(hits, seen, base, self.pages)
        owners = owners[counted]
        logs = self._rule.log_ratios(hits[counted], seen[counted], base)
        sums: Vector = np.bincount(owners, logs, size).astype(np.float64, copy=False)
        return self._rule.product(sums, np.bincount(owners, minlength=size))

    def snapshot(self) -> bytes:
        """All that was learned."""
        return msgspec.msgpack.encode(
            KeptInterest(
                self.pages,
                self._relevant,
                self._outcomes,
                self.weights.tolist(),
                self._words.keep(),
                self._tokens.keep(),
                self._links.keep(),
            )
        )

    def restore(self, snapshot: bytes) -> None:
        """Go on from a snapshot; ValueError when it makes no sense, and nothing has changed."""
        kept = kept_in(snapshot, KeptInterest, "link interest")
        max_words, max_pages, max_urls = self._limits
        words = EventCounts.from_kept(kept.words, max_words)
        tokens = EventCounts.from_kept(kept.tokens, max_words)
        links = LinkingPages.from_kept(kept.links, max_pages, max_urls)
        if len(kept.weights) != len(FACTORS):
            raise ValueError(f"it has {len(kept.weights)} weights, not {len(FACTORS)}")
        self._words, self._tokens, self._links = words, tokens, links
        self.pages, self._relevant, self._outcomes = kept.pages, kept.relevant, kept.outcomes
        self.weights = np.array(kept.weights)


def make_news(crawled: CrawledPage) -> News:
    """For other copies, about a page that was fetched here."""
    page, relevant = crawled.page, crawled.relevance.relevant
    links = list(dict.fromkeys([link.url for link in page.links]))[:MAX_LINKS_TOLD]
    parent = _Parent(frequent_words(page.terms), links) if links else None
    return News(
        msgspec.msgpack.encode(_Child(crawled.candidate.url, page.url, relevant)),
        msgspec.msgpack.encode(parent) if parent else b"",
    )


@lru_cache(maxsize=32_768)
def url_words(url: str) -> tuple[str, ...]:
    """The distinct words of a URL, host and query included, scheme left out; lower case."""
    start = url.find("://") + 3
    # Interned, as pages' terms are: dictionaries find them by identity.
    return tuple(dict.fromkeys(map(sys.intern, _URL_WORDS.findall(unquote(url[start:]).lower()))))


def frequent_words(terms: Mapping[str, int]) -> list[str]:
    """The most frequent terms of a page; among equals, those that come first."""
    if len(terms) <= WORDS_PER_PAGE:
        return list(terms)
    counts = np.fromiter(terms.values(), np.int64, len(terms))
    words = list(terms)
    return [words[place] for place in (-counts).argsort(kind="stable")[:WORDS_PER_PAGE].tolist()]
