"""Tunnelling as published: the table of URLs behind an irrelevant page, emptied at one go."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

from trailhound.records import Candidate, CrawledPage, Link, ScoredLink
from trailhound.strategies.content_link.link_scores import ScoreParts
from trailhound.strategies.content_link.tunnels import (
    NO_LEVEL,
    KeptTunnels,
    Rated,
    Row,
    Tag,
)

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
