"""What becomes of the links behind an irrelevant page: the repair, and the reading to the letter.

A link of a relevant page has no level. The links of an irrelevant page get level 0, those of an
irrelevant page behind it level 1, and so on while the level is below the deepest one. The links of
one page are a *family*: when one of them turns out irrelevant, those that score no better sink by
a level. The other reading, to the letter, empties a table of URLs at one go.
"""

from __future__ import annotations

import heapq
import struct
from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from trailhound.records import Candidate, CrawledPage, Link, ScoredLink
from trailhound.strategies.base import RESCORE_EVERY
from trailhound.strategies.content_link.link_scores import ScoreParts
from trailhound.strategies.parts import RescorePace, drop_oldest

NO_LEVEL = -1
"""Of links of relevant pages, and of seeds."""
DISCOUNT = 0.5
"""For the first irrelevant page in front of a link, and for each further level."""
MAX_FAMILIES = 20_000


def discount(level: int) -> float:
    """What the level leaves of a link's score: 0.5^(level + 1), all of it without a level."""
    return float(DISCOUNT ** (level + 1))


def level_behind(level: int, relevant: bool, max_level: int) -> int | None:
    """The level of a page's links, given its own; ``None`` when they are not to be followed."""
    if relevant:
        return NO_LEVEL
    return level + 1 if level < max_level else None


class Families:
    """Which links of each irrelevant page have disappointed."""

    def __init__(self) -> None:
        self.failures: dict[int, list[float]] = {}
        """Scores of the irrelevant children of each page, in order."""
        self.changed: set[int] = set()
        """Families in which something happened since this was last emptied."""
        self.newest = 0

    def new(self) -> int:
        """The number of a new family."""
        self.newest += 1
        return self.newest

    def fail(self, family: int, score: float) -> None:
        """A child with this score turned out irrelevant."""
        insort(self.failures.setdefault(family, []), score)
        self.changed.add(family)
        drop_oldest(self.failures, MAX_FAMILIES)

    def sunk(self, family: int, score: float) -> int:
        """By how many levels a child with this score has sunk."""
        failed = self.failures.get(family, ())
        return len(failed) - bisect_left(failed, score)


_TAG = struct.Struct("<4fdhI")


class Tag(NamedTuple):
    """The memory of a candidate."""

    parts: ScoreParts
    score: float
    level: int
    """Irrelevant pages in front of it, less one; ``NO_LEVEL`` for links of relevant pages."""
    family: int = 0
    """The page that gave it the level."""

    def pack(self) -> bytes:
        """As bytes."""
        return _TAG.pack(*self.parts, self.score, self.level, self.family)

    @classmethod
    def unpack(cls, memory: bytes) -> Tag | None:
        """``None`` for a seed, or a memory that is not ours."""
        if len(memory) != _TAG.size:
            return None
        url, anchor, links, parents, score, level, family = _TAG.unpack(memory)
        return cls(ScoreParts(url, anchor, links, parents), score, level, family)


class Rated(NamedTuple):
    """A link with its score."""

    link: Link
    parts: ScoreParts
    score: float


class Row(msgspec.Struct):
    """A URL of the published reading's table."""

    url: str
    score: float
    level: int = 0
    note: bytes = b""
    """What the caller wants to remember of it."""


class KeptTunnels(msgspec.Struct, frozen=True):
    """Either reading's state as it is written down."""

    failures: dict[int, list[float]] = msgspec.field(default_factory=dict)
    newest: int = 0
    level: int = 0
    rows: list[Row] = msgspec.field(default_factory=list)
    fetched: list[str] = msgspec.field(default_factory=list)


class OneQueue:
    """Repaired: everything waits in one queue, and links behind irrelevant pages are discounted."""

    def __init__(self, max_level: int) -> None:
        self._max_level = max_level
        self._families = Families()
        self._pace = RescorePace(RESCORE_EVERY, RESCORE_EVERY)
        self._level_of_links: int | None = NO_LEVEL

    def visit(self, crawled: CrawledPage, relevant: bool) -> None:
        """Find the level of the page's links; a failure makes its siblings sink."""
        self._pace.page_done()
        tag = Tag.unpack(crawled.candidate.memory)
        level = NO_LEVEL if tag is None else self._level(tag)
        self._level_of_links = level_behind(level, relevant, self._max_level)
        if tag is not None and tag.level > NO_LEVEL and not relevant:
            self._families.fail(tag.family, tag.score)

    def _level(self, tag: Tag) -> int:
        if tag.level == NO_LEVEL:
            return NO_LEVEL
        return tag.level + self._families.sunk(tag.family, tag.score)

    def queue(self, rated: Sequence[Rated]) -> list[ScoredLink]:
        """Scores, less for each level; nothing beyond the deepest one."""
        level = self._level_of_links
        if level is None:
            return []
        family = 0 if level == NO_LEVEL else self._families.new()
        return [
            ScoredLink(link, score * discount(level), Tag(parts, score, level, family).pack())
            for link, parts, score in rated
        ]

    def rescore(self, candidates: Mapping[str, bytes]) -> Mapping[str, float] | None:
        """Let the siblings of pages that disappointed sink."""
        changed = self._families.changed
        if not changed or not self._pace.is_due(len(candidates)):
            return None
        tags = ((url, Tag.unpack(memory)) for url, memory in candidates.items())
        sunk = {
            url: tag.score * discount(self._level(tag))
            for url, tag in tags
            if tag is not None and tag.family in changed
        }
        changed.clear()
        return sunk

    def restock(self) -> Iterable[Candidate]:
        """Nothing: all links are in the queue."""
        return ()

    def keep(self) -> KeptTunnels:
        """The failures."""
        return KeptTunnels(failures=self._families.failures, newest=self._families.newest)

    def take_up(self, kept: KeptTunnels) -> None:
        """Go on from there."""
        self._families.failures = {each: sorted(kept.failures[each]) for each in kept.failures}
        # Families of pages after the snapshot must not meet new ones; 2^31 pages are room enough.
        self._families.newest = kept.newest + 1_000_000


TABLE_FIRST = 1e9
"""Lifts rows of the irrelevant table above all other candidates."""
MAX_FETCHED = 100_000
MAX_ROWS = 50_000


class IrrelevantTable:
    """The paper's pseudo-code to the letter, but for one thing: the best row is taken out.

    As written, no row ever leaves, and the crawl downloads the best one for ever. ``level`` is one
    variable for the whole table: it grows with every relevant page that is expanded, and all of its
    links get that level, wherever in the table the page had been.
    """

    def __init__(self, max_level: int) -> None:
        self._max_level = max_level
        self.level = 0
        self.rows: dict[str, Row] = {}
        self._heap: list[tuple[float, int, str]] = []
        self._arrivals = 0

    def start(self, rows: Iterable[Row]) -> None:
        """Lines 1–8: an irrelevant page was met outside; its links enter with level 0."""
        self.level = 0
        self._insert(rows)

    def relevant(self, row: Row, rows: Iterable[Row]) -> None:
        """Lines 16–24: a page of the table is relevant."""
        if row.level < self._max_level:
            self.level += 1
            self._insert(rows)

    def irrelevant(self, row: Row) -> None:
        """Lines 25–28: it is not; rows of its level that score no better sink by one level."""
        for other in self.rows.values():
            if other.score <= row.score and other.level == row.level:
                other.level += 1

    def pop(self) -> Row | None:
        """Lines 11–12: the best row; those beyond the deepest level leave unread."""
        while self._heap:
            row = self.rows.pop(heapq.heappop(self._heap)[2], None)
            if row is not None and row.level <= self._max_level:
                return row
        return None

    def _insert(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if row.url not in self.rows and len(self.rows) < MAX_ROWS:
                row.level = self.level
                self.put(row)

    def put(self, row: Row) -> None:
        """Add a row as it is."""
        self.rows[row.url] = row
        self._arrivals += 1
        heapq.heappush(self._heap, (-row.score, self._arrivals, row.url))


class TableFirst:
    """As published: one irrelevant page opens a table, which is emptied before the queue goes on.

    The table hands out one row at a time. A row that cannot be fetched, or lies outside the crawl,
    is followed by the next one with the next page that can.
    """

    def __init__(self, max_level: int) -> None:
        self._max_level = max_level
        self._table = IrrelevantTable(max_level)
        self._fetched: dict[str, None] = {}
        self._visited: tuple[Row | None, bool] = (None, True)

    def visit(self, crawled: CrawledPage, relevant: bool) -> None:
        """Note where the page came from."""
        candidate = crawled.candidate
        tag = Tag.unpack(candidate.memory)
        row = None
        if tag is not None and tag.level > NO_LEVEL:
            row = Row(candidate.url, tag.score, tag.level)
        self._visited = row, relevant
        self._fetched.update(dict.fromkeys((candidate.url, crawled.page.url)))
        drop_oldest(self._fetched, MAX_FETCHED)

    def queue(self, rated: Sequence[Rated]) -> list[ScoredLink]:
        """Links of relevant pages outside the table; and the table's best row."""
        row, relevant = self._visited
        queued: list[ScoredLink] = []
        if row is None and relevant:
            queued = [
                ScoredLink(link, score, Tag(parts, score, NO_LEVEL).pack())
                for link, parts, score in rated
            ]
        elif row is None:
            self._table.start(self._rows(rated))
        elif relevant:
            self._table.relevant(row, self._rows(rated))
        else:
            self._table.irrelevant(row)
        best = self._next()
        if best is not None:
            queued.append(ScoredLink(Link(best.url), TABLE_FIRST + best.score, _memory(best)))
        return queued

    def _rows(self, rated: Sequence[Rated]) -> Iterable[Row]:
        """Rows leave the table as bare URLs, so links that must not be followed stay out."""
        return (
            Row(each.link.url, each.score, note=Tag(each.parts, each.score, 0).pack())
            for each in rated
            if each.link.url not in self._fetched and not each.link.nofollow
        )

    def _next(self) -> Row | None:
        while (row := self._table.pop()) is not None:
            if row.url not in self._fetched:
                return row
        return None

    def rescore(self, _candidates: Mapping[str, bytes], /) -> Mapping[str, float] | None:
        """Nothing moves in the queue."""
        return None

    def restock(self) -> Iterable[Candidate]:
        """The next rows of the table."""
        rows = (self._next() for _ in range(20))
        found = [row for row in rows if row is not None]
        return [Candidate(row.url, TABLE_FIRST + row.score, _memory(row)) for row in found]

    def keep(self) -> KeptTunnels:
        """The table."""
        rows = list(self._table.rows.values())
        return KeptTunnels(level=self._table.level, rows=rows, fetched=list(self._fetched))

    def take_up(self, kept: KeptTunnels) -> None:
        """Go on from there."""
        self._table = IrrelevantTable(self._max_level)
        self._table.level = kept.level
        for row in kept.rows:
            self._table.put(row)
        self._fetched = dict.fromkeys(kept.fetched)


def _memory(row: Row) -> bytes:
    tag = Tag.unpack(row.note) or Tag(ScoreParts(0.0, 0.0, 0.0, 0.0), row.score, 0)
    return tag._replace(level=row.level).pack()


Tunnels = OneQueue | TableFirst
