"""How often pairs of numbers were seen, and how often with a hit: millions of pairs in arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Counts = NDArray[np.int64]

FIRST_SLOTS = 1 << 12
MAX_SLOTS = 1 << 23
"""12 bytes each; half of them are used at most, so that four million pairs need 100 MB."""
GROWTH = 8
"""Rarely and by much: a table that is nearly empty is searched twice as fast."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # spreads neighbouring keys over the table
_FREE = np.uint64(0)


def pair_keys(first: NDArray[np.int64], second: NDArray[np.int64]) -> Keys:
    """One key for each pair of numbers below 2³²; ``second`` is above 0."""
    return (first.astype(np.uint64) << np.uint64(32)) | second.astype(np.uint64)


class PairCounts:
    """An open hash table. What is not in it when it is full is passed over from then on."""

    def __init__(self, max_slots: int = MAX_SLOTS) -> None:
        self._max_slots = max_slots
        self._size = 0
        self._make(min(FIRST_SLOTS, max_slots))

    def _make(self, n_slots: int) -> None:
        self._keys: Keys = np.zeros(n_slots, np.uint64)
        self._seen = np.zeros(n_slots, np.uint16)
        self._hits = np.zeros(n_slots, np.uint16)
        self._shift = np.uint64(65 - n_slots.bit_length())

    def __len__(self) -> int:
        return self._size

    def of(self, keys: Keys) -> tuple[Counts, Counts]:
        """Times seen and hits of each key."""
        slots, found = self._find(keys)
        seen = np.where(found, self._seen[slots], 0).astype(np.int64)
        return seen, np.where(found, self._hits[slots], 0).astype(np.int64)

    def add(self, keys: Keys, hit: bool) -> tuple[Counts, Counts, NDArray[np.bool_]]:
        """See keys once more, none of them twice.

        Returns what had been counted before, and which keys are counted now.
        """
        self._make_room(len(keys))
        slots, counted = self._find(keys, insert=2 * (self._size + len(keys)) <= len(self._keys))
        seen, hits = self._seen[slots], self._hits[slots]
        before = (
            np.where(counted, seen, 0).astype(np.int64),
            np.where(counted, hits, 0).astype(np.int64),
        )
        counted &= seen < np.iinfo(np.uint16).max
        self._seen[slots[counted]] += np.uint16(1)
        if hit:
            self._hits[slots[counted]] += np.uint16(1)
        return *before, counted

    def _make_room(self, n_more: int) -> None:
        n_slots = len(self._keys)
        while 2 * (self._size + n_more) > n_slots and n_slots < self._max_slots:
            n_slots = min(GROWTH * n_slots, self._max_slots)
        if n_slots > len(self._keys):
            keys, seen, hits = self.columns()
            self._make(n_slots)
            self._put(keys, seen, hits)

    def _put(self, keys: Keys, seen: NDArray[np.uint16], hits: NDArray[np.uint16]) -> None:
        self._size = 0
        slots, _ = self._find(keys, insert=True)
        self._seen[slots], self._hits[slots] = seen, hits

    def _find(self, keys: Keys, *, insert: bool = False) -> tuple[Counts, NDArray[np.bool_]]:
        """The slot of each key, and whether it is there; ``insert`` puts the others in.

        Keys that meet in one free slot take turns: one of them gets it, the others go on.
        """
        mask = len(self._keys) - 1
        slots = ((keys * _GOLDEN) >> self._shift).astype(np.int64) & mask
        found = np.zeros(len(keys), np.bool_)
        searching = np.arange(len(keys))
        while len(searching):
            places, wanted = slots[searching], keys[searching]
            there = self._keys[places]
            free = there == _FREE
            if insert and free.any():
                self._keys[places[free]] = wanted[free]
                there = self._keys[places]
                self._size += int((there[free] == wanted[free]).sum())
                free[:] = False
            same = there == wanted
            found[searching[same]] = True
            searching = searching[~(same | free)]
            slots[searching] = (slots[searching] + 1) & mask
        return slots, found

    def columns(self) -> tuple[Keys, NDArray[np.uint16], NDArray[np.uint16]]:
        """All keys with their counts."""
        used = np.flatnonzero(self._keys)
        return self._keys[used], self._seen[used], self._hits[used]

    def restore(self, keys: Keys, seen: NDArray[np.uint16], hits: NDArray[np.uint16]) -> None:
        """Go on from such columns; ValueError when there are more than are ever kept."""
        self._size = 0
        self._make(min(FIRST_SLOTS, self._max_slots))
        self._make_room(len(keys))
        if 2 * len(keys) > len(self._keys):
            raise ValueError(f"it has {len(keys)} pairs, too many")
        self._put(keys, seen, hits)
