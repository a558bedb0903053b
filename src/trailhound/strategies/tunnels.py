"""What becomes of the links behind an irrelevant page: two readings of the same paper."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from trailhound.models.content_link.irrelevant_table import IrrelevantTable, Row
from trailhound.models.content_link.link_scores import ScoreParts
from trailhound.models.content_link.tunnel_levels import NO_LEVEL, Families, discount, level_behind
from trailhound.records import Candidate, CrawledPage, Link, ScoredLink
from trailhound.strategies.pacing import RescorePace

RESCORE_EVERY = 50
TABLE_FIRST = 1e9
"""Lifts rows of the irrelevant table above all other candidates."""
MAX_FETCHED = 100_000

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


class KeptTunnels(msgspec.Struct, frozen=True):
    """Either reading's state as it is written down."""

    failures: dict[int, list[float]] = msgspec.field(default_factory=dict)
    newest: int = 0
    level: int = 0
    rows: list[Row] = msgspec.field(default_factory=list)
    fetched: list[str] = msgspec.field(default_factory=list)


class Tunnels(Protocol):
    """Decides which links of a page are queued, and how."""

    def visit(self, crawled: CrawledPage, relevant: bool) -> None:
        """A page was fetched."""
        ...

    def queue(self, rated: Sequence[Rated]) -> list[ScoredLink]:
        """The links of the page that was visited last."""
        ...

    def rescore(self, candidates: Mapping[str, bytes], /) -> Mapping[str, float] | None:
        """New priorities of waiting candidates; ``None`` when nothing has moved."""
        ...

    def restock(self) -> Iterable[Candidate]:
        """Where to go on when nothing waits."""
        ...

    def keep(self) -> KeptTunnels:
        """What must be remembered."""
        ...

    def take_up(self, kept: KeptTunnels) -> None:
        """Go on from there."""
        ...


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


class TableFirst:
    """As published: one irrelevant page opens a table, which is emptied before the queue goes on.

    The table hands out one row at a time. A row that cannot be fetched, or lies outside the crawl,
    is followed by the next one with the next page that can.
    """

    _RESTOCK = 20

    def __init__(self, max_level: int) -> None:
        self._max_level = max_level
        self._table = IrrelevantTable(max_level)
        self._fetched: dict[str, None] = {}
        self._visited: tuple[Row | None, bool] = (None, True)

    def visit(self, crawled: CrawledPage, relevant: bool) -> None:
        """Note where the page came from."""
        candidate = crawled.candidate
        tag = Tag.unpack(candidate.memory)
        is_row = tag is not None and tag.level > NO_LEVEL
        row = Row(candidate.url, tag.score, tag.level) if tag is not None and is_row else None
        self._visited = row, relevant
        self._fetched.update(dict.fromkeys((candidate.url, crawled.page.url)))
        if len(self._fetched) > MAX_FETCHED:
            self._fetched = dict.fromkeys(list(self._fetched)[MAX_FETCHED // 10 :])

    def queue(self, rated: Sequence[Rated]) -> list[ScoredLink]:
        """Links of relevant pages outside the table; and the table's best row."""
        row, relevant = self._visited
        queued: list[ScoredLink] = []
        if row is None and relevant:
            queued = [_in_queue(each) for each in rated]
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
        rows = (self._next() for _ in range(self._RESTOCK))
        return [
            Candidate(row.url, TABLE_FIRST + row.score, _memory(row))
            for row in rows
            if row is not None
        ]

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


def _in_queue(rated: Rated) -> ScoredLink:
    memory = Tag(rated.parts, rated.score, NO_LEVEL).pack()
    return ScoredLink(rated.link, rated.score, memory)


def _memory(row: Row) -> bytes:
    tag = Tag.unpack(row.note) or Tag(ScoreParts(0.0, 0.0, 0.0, 0.0), row.score, 0)
    return tag._replace(level=row.level).pack()
