"""The set of URLs ever seen: from a URL to its number, in fourteen bytes each.

A Python ``dict`` would take more than a hundred bytes per URL. Here a URL is a 64-bit hash in an
array, found through an open-addressing table of numbers. Among ten million URLs, the chance that
any two share a hash is 3 in a million; the second of such a pair would count as seen.

The hash is Python's own (SipHash with a key that is new in every process), so that no web site can
aim at a collision; it is computed anew whenever a store is opened, and never written.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from trailhound.frontier.columns import grown

_FIRST_SLOTS = 1 << 10
_MAX_LOAD = 5 / 8
"""Share of slots in use beyond which the table doubles: below 2 probes for a URL that is there."""
_REFILL_PART = 1 << 20
"""URLs placed at once when the table doubles: bounds the scratch memory."""


class SeenUrls:
    """Numbers URLs from 1 in order of appearance."""

    def __init__(self) -> None:
        self._hash_column = np.zeros(1, np.int64)
        self._hashes = self._hash_column.data.cast("B").cast("q")
        """By number; number 0 means "not seen"."""
        self._size = 1
        self._resize(_FIRST_SLOTS)

    def __len__(self) -> int:
        return self._size - 1

    def find(self, url: str) -> int:
        """The URL's number, or 0."""
        wanted = hash(url)
        slots, hashes, mask = self._slots, self._hashes, self._mask
        at = wanted & mask
        while number := slots[at]:
            if hashes[number] == wanted:
                return number
            at = (at + 1) & mask
        return 0

    def add(self, url: str) -> int:
        """Give an unseen URL its number."""
        number, url_hash = self._size, hash(url)
        self._make_room(number + 1)
        self._hashes[number] = url_hash
        self._size = number + 1
        if number > self._capacity:
            self._resize(2 * len(self._slots))
            return number
        at = url_hash & self._mask
        while self._slots[at]:
            at = (at + 1) & self._mask
        self._slots[at] = number
        return number

    def _make_room(self, size: int) -> None:
        if size > len(self._hashes):
            self._hash_column = grown(self._hash_column, size)
            self._hashes = self._hash_column.data.cast("B").cast("q")

    def extend(self, urls: Iterable[str]) -> None:
        """Number many unseen URLs. ``index`` must be called before the next ``find``."""
        hashes = np.fromiter(map(hash, urls), np.int64)
        end = self._size + hashes.size
        self._make_room(end)
        self._hash_column[self._size : end] = hashes
        self._size = end

    def index(self) -> None:
        """Make everything that was given to ``extend`` findable."""
        slots = len(self._slots)
        while len(self) > slots * _MAX_LOAD:
            slots *= 2
        self._resize(slots)

    def _resize(self, slots: int) -> None:
        """Place all numbers in a new table."""
        # Not np.zeros: only memory that comes unfilled is backed with large pages.
        table = np.empty(slots, np.uintc)
        table.fill(0)
        self._slots = table.data.cast("B").cast("I")
        self._mask = slots - 1
        self._capacity = int(slots * _MAX_LOAD)
        for start in range(1, self._size, _REFILL_PART):
            self._place(table, start, min(start + _REFILL_PART, self._size))

    def _place(self, table: npt.NDArray[np.uintc], start: int, stop: int) -> None:
        """Linear probing for many numbers at once: each round, the losers move one slot on."""
        numbers = np.arange(start, stop, dtype=np.uintc)
        at = self._hash_column[start:stop] & self._mask
        while numbers.size:
            free = table[at] == 0
            table[at[free]] = numbers[free]
            lost = table[at] != numbers
            numbers = numbers[lost]
            at = (at[lost] + 1) & self._mask
