"""How often events were seen, and how often a relevant page came with them, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]

UNKNOWN = -1


class KeptCounts(msgspec.Struct, frozen=True):
    """The counts as they are written down."""

    names: list[str]
    seen: list[int]
    hits: list[int]


class EventCounts:
    """Events by name (a word, say) and number.

    At most ``limit`` names are known. When they are too many, those seen least go, half of them:
    most words of a web occur once. Numbers change then, see :meth:`make_room`.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._numbers: dict[str, int] = {}
        self.seen = np.zeros(1024, np.int64)
        self.hits = np.zeros(1024, np.int64)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def is_full(self) -> bool:
        """Whether it is time to make room."""
        return len(self._numbers) >= self._limit

    def learn(self, names: Iterable[str]) -> Numbers:
        """The numbers of events, new ones included while there is room."""
        numbers = self._numbers
        for name in names:
            if name not in numbers and len(numbers) < self._limit:
                numbers[name] = len(numbers)
        self._grow(len(numbers))
        return self.find(names)

    def find(self, names: Iterable[str]) -> Numbers:
        """The numbers of events, ``UNKNOWN`` for those never learned."""
        get = self._numbers.get
        return np.array([get(name, UNKNOWN) for name in names], np.int32)

    def count(self, numbers: Numbers, hit: bool) -> None:
        """Each of these (distinct) events came with one more page, relevant or not."""
        known = numbers[numbers >= 0]
        self.seen[known] += 1
        if hit:
            self.hits[known] += 1

    def make_room(self) -> Numbers:
        """Forget the half that was seen least; return the new number of each old one."""
        size = len(self._numbers)
        # The newest are kept among equals: they had the least time to be seen.
        order = np.lexsort((np.arange(size), self.seen[:size]))
        kept = np.sort(order[size - self._limit // 2 :])
        moved = np.full(size, UNKNOWN, np.int32)
        moved[kept] = np.arange(len(kept), dtype=np.int32)
        names = list(self._numbers)
        self._numbers = {names[old]: new for new, old in enumerate(kept.tolist())}
        for counts in (self.seen, self.hits):
            counts[: len(kept)] = counts[kept]
            counts[len(kept) :] = 0
        return moved

    def _grow(self, size: int) -> None:
        if size > len(self.seen):
            room = np.zeros(size, np.int64)
            self.seen = np.concatenate([self.seen, room])
            self.hits = np.concatenate([self.hits, room])

    def keep(self) -> KeptCounts:
        """All counts, to be written down."""
        size = len(self._numbers)
        return KeptCounts(list(self._numbers), self.seen[:size].tolist(), self.hits[:size].tolist())

    @classmethod
    def from_kept(cls, kept: KeptCounts, limit: int) -> EventCounts:
        """What was written down; ValueError when it does not fit together."""
        counts = cls(limit)
        counts._numbers = {name: number for number, name in enumerate(kept.names)}
        size = len(counts)
        if not size == len(kept.names) == len(kept.seen) == len(kept.hits):
            raise ValueError("names and counts do not fit together")
        counts._grow(size)
        counts.seen[:size], counts.hits[:size] = kept.seen, kept.hits
        return counts
