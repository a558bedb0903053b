"""Tables whose columns are arrays: rows are added at the end, and forgotten many at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]
Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
Reals = NDArray[np.floating[Any]]
"""Both of any size, as they travel."""

_FIRST_ROOM = 256


class Columns:
    """Columns by name, each of one type; ``width`` gives a column several numbers a row."""

    def __init__(
        self, kinds: dict[str, str], *, fill: dict[str, int] | None = None, **width: int
    ) -> None:
        self.size = 0
        self._room = _FIRST_ROOM
        self._fill = fill or {}
        self._columns: dict[str, NDArray[Any]] = {}
        for name, kind in kinds.items():
            shape = (_FIRST_ROOM, width[name]) if name in width else (_FIRST_ROOM,)
            self._columns[name] = np.full(shape, self._fill.get(name, 0), kind)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column, with room behind its last row."""
        return self._columns[name]

    def add(self, count: int = 1) -> int:
        """So many new rows; the number of the first."""
        first, self.size = self.size, self.size + count
        if self.size > self._room:
            self._add_room(max(self._room, self.size - self._room))
        return first

    def _add_room(self, more: int) -> None:
        self._room += more
        for name, column in self._columns.items():
            room = np.full((more, *column.shape[1:]), self._fill.get(name, 0), column.dtype)
            self._columns[name] = np.concatenate([column, room])

    def keep(self, rows: Flags) -> Ids:
        """Forget the other rows; the new number of each row, -1 for those."""
        numbers = np.where(rows, np.cumsum(rows) - 1, -1)
        self.size, before = int(rows.sum()), self.size
        for name, column in self._columns.items():
            column[: self.size] = column[:before][rows]
            column[self.size : before] = self._fill.get(name, 0)
        return numbers


def renumbered(column: NDArray[Any], numbers: Ids) -> NDArray[Any]:
    """References to rows after :meth:`Columns.keep`; -1 stays what it is."""
    return np.where(column >= 0, numbers[np.maximum(column, 0)], -1).astype(column.dtype)


def stretches(starts: NDArray[Any], lengths: NDArray[Any]) -> Ids:
    """All rows of several stretches of rows, one after the other."""
    ends = np.cumsum(lengths, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)
