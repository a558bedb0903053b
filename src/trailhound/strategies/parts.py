"""What several strategies are made of: options, addresses, counts of words, back-crawling.

Strategies that learn on the way share a session told as a crawl, and when to rank anew.
"""

from __future__ import annotations

import logging
import math
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import msgspec
from msgspec.structs import replace

from trailhound.errors import UNREADABLE, SourceError, StorageError, UsageError
from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import BacklinkSource
from trailhound.strategies.base import Briefing
from trailhound.text.tfidf import Terms
from trailhound.urls import strip_tracking

_log = logging.getLogger(__name__)

Kept = TypeVar("Kept")


def check_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    """UsageError unless the value is one of the choices."""
    if value not in choices:
        raise UsageError(f"Option {option} is '{value}', but it should be {' or '.join(choices)}.")


def check_at_least(least: float, **options: float) -> None:
    """UsageError unless all are so large; not a number never is."""
    for option, value in options.items():
        if not value >= least:
            raise UsageError(
                f"Option {option} = {value:g} is too small: it should be {least:g} or more."
            )


def as_crawled(page: Page) -> Page:
    """The page with addresses as a crawl asks for them: its own, and its links' in their order."""
    links = tuple(
        link if (url := strip_tracking(link.url)) == link.url else replace(link, url=url)
        for link in page.links
    )
    return replace(page, url=strip_tracking(page.url), links=links)


class AsCrawled:
    """Does so with what a strategy is shown, which is asked several times about one page.

    Links have the addresses that the page gives them, and seeds those that people gave.
    """

    def __init__(self) -> None:
        self._last: tuple[Page, Page] | None = None

    def __call__(self, crawled: CrawledPage) -> CrawledPage:
        """The page and the address that was asked for, as the crawl asks for them."""
        if self._last is None or self._last[0] is not crawled.page:
            self._last = crawled.page, as_crawled(crawled.page)
        asked = crawled.candidate
        candidate = replace(asked, url=strip_tracking(asked.url))
        return replace(crawled, page=self._last[1], candidate=candidate)


class DocumentCounts(NamedTuple):
    """In how many documents of some collection each term occurs."""

    n_documents: int
    frequency: Mapping[str, float]

    @classmethod
    def of(cls, documents: Iterable[Terms]) -> DocumentCounts:
        """Count over documents at hand."""
        held = list(documents)
        return cls(len(held), Counter(term for terms in held for term in terms))

    def share(self, term: str) -> float:
        """The share of documents with the term."""
        return self.frequency.get(term, 0) / max(self.n_documents, 1)

    def weight(self, term: str) -> float:
        """ln(N / df); a term that the collection has never seen counts as seen once."""
        return math.log(max(self.n_documents, 1) / max(self.frequency.get(term, 0), 1))

    def rarity(self, term: str) -> float:
        """ln((N + 1) / (df + 1)): 0 for a term of every one; 1 for all without any documents."""
        if not self.n_documents:
            return 1.0
        return math.log((self.n_documents + 1) / (self.frequency.get(term, 0) + 1))


def drop_oldest(table: dict[Any, Any], limit: int) -> None:
    """Make room for a tenth more at once: each deletion at the front slows the next one down."""
    if len(table) > limit:
        for key in list(islice(table, len(table) - limit + limit // 10)):
            del table[key]


def kept_in(snapshot: bytes, kind: type[Kept], of_what: str) -> Kept:
    """What a snapshot holds; ValueError when it is none."""
    try:
        return msgspec.msgpack.decode(snapshot, type=kind)
    except UNREADABLE as error:
        raise ValueError(f"it is no record of {of_what}: {error}") from error


MAX_HEARD = 20_000


class HeardPages:
    """Pages that copies in other crawls have told of: the newest, each of which counts once."""

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self._urls = dict.fromkeys(urls)

    def is_new(self, url: str) -> bool:
        """Whether nobody has told of it; now somebody has."""
        if url in self._urls:
            return False
        self._urls[url] = None
        drop_oldest(self._urls, MAX_HEARD)
        return True

    def keep(self) -> list[str]:
        """To be written down."""
        return list(self._urls)


FOUR_FACTORS = struct.Struct("<4f")
"""Four logarithms of interest ratios, as they travel in the memory of a candidate."""


def explained_factors(names: Sequence[str], memory: bytes) -> dict[str, float]:
    """Named interest ratios: 1 says nothing, 2 twice as likely; empty for a foreign memory."""
    if len(memory) != FOUR_FACTORS.size:
        return {}
    # Literal products know no bounds, floating-point numbers do.
    ratios = (math.exp(min(log, 700.0)) for log in FOUR_FACTORS.unpack(memory))
    return dict(zip(names, ratios, strict=True))


class BackCrawling:
    """Asks who links to each find, and hands out a few; a failing source is let be."""

    def __init__(self, source: BacklinkSource, parents: int) -> None:
        self._source = source
        self._parents = parents
        self._has_failed = False

    async def parents_of(self, crawled: CrawledPage) -> tuple[Link, ...]:
        """Links to pages that link to a fetched page; none when the source cannot say."""
        url = crawled.page.url
        try:
            found = await self._source.linking_to(url)
        except (SourceError, StorageError) as error:
            if not self._has_failed:
                _log.warning("The crawl goes on without the parents of its finds: %s", error)
            self._has_failed = True
            return ()
        others = {each for each in found if each != url}
        # By a checksum: sources tend to sort their answers, and the first would all begin alike.
        some = sorted(others, key=lambda each: (crc32(each.encode("utf-8", "replace")), each))
        return tuple(Link(each) for each in some[: self._parents])


def back_crawling(briefing: Briefing, parents: int) -> BackCrawling | None:
    """The part for an option ``back_crawl``; ``None`` when it is off."""
    if parents < 0:
        raise UsageError(f"Option back_crawl is {parents}, but it should be 0 (off) or more.")
    if parents == 0:
        return None
    if briefing.backlinks is None:
        raise UsageError(
            "back_crawl needs to know who links to a page, and nothing here does. Name a source "
            "with --backlinks ('crawl', a file of edges, an HTTP endpoint), use it in the lab, or "
            "leave it out."
        )
    return BackCrawling(briefing.backlinks, parents)


def session_as_crawl(graph: PageGraph) -> Iterator[CrawledPage]:
    """The pages in the order of their visits; the targets were the relevant ones.

    Pages of which an import knows only the address were not read: they say nothing about what is
    relevant, and may well be worth a fetch. A mark does say something.
    """
    for number, page in enumerate(graph.pages):
        relevant = number in graph.targets
        if relevant or was_read(page):
            yield CrawledPage(page, Relevance(float(relevant), relevant), Candidate(page.url, 0.0))


def was_read(page: Page) -> bool:
    """Whether more than the address is known of a page of a session."""
    return bool(page.text or page.terms or page.links)


CANDIDATES_PER_PAGE = 100
"""Waiting candidates that may be looked at again for each fetched page: about a millisecond."""


class RescorePace:
    """Often at first, when much is learned from each page; then every ``interval`` pages.

    Large frontiers are looked at less often, so that the cost for each fetched page stays the
    same however many candidates wait; unless it is not ``bounded``.
    """

    def __init__(self, interval: int, first: int, *, bounded: bool = True) -> None:
        self._bounded = bounded
        self._interval = interval
        self._first = first
        self.pages = 0
        """Pages fetched so far."""
        self._last = 0

    def page_done(self) -> None:
        """Count a page."""
        self.pages += 1

    def is_due(self, waiting: int) -> bool:
        """Whether it is time, with so many candidates waiting; if so, the next turn is later."""
        rest = waiting // CANDIDATES_PER_PAGE if self._bounded else 0
        pause = max(self._first, min(self._interval, self._last), rest)
        if self.pages - self._last < pause:
            return False
        self._last = self.pages
        return True

    def go_on_from(self, pages: int) -> None:
        """A crawl is resumed after so many pages."""
        self.pages = self._last = pages
