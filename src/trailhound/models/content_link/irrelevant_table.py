"""Tunnelling as published: the table of URLs behind an irrelevant page, emptied at one go."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import msgspec

MAX_ROWS = 50_000


class Row(msgspec.Struct):
    """A URL of the table."""

    url: str
    score: float
    level: int = 0
    note: bytes = b""
    """What the caller wants to remember of it."""


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
