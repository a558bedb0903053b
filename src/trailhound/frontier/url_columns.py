"""What is known of every URL, in columns of numbers that are indexed by the URL's own number.

:class:`SeenUrls` gives the number of a URL, :class:`Standings` says where that URL stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from trailhound.frontier.host_schedule import Key
from trailhound.records import Outcome

WAITING = 0
LEASED = 1
_FIRST_OUTCOME = 2
_OUTCOMES = tuple(Outcome)
_CODES = {outcome: code for code, outcome in enumerate(_OUTCOMES, _FIRST_OUTCOME)}

Numbers = npt.NDArray[np.uintc]

NEVER = 0
"""Stands in for the arrival of a URL that was never queued."""
OUT_OF_QUEUE = math.inf
"""Stands in for the priority of a URL that is leased or finished: no newcomer beats it."""

_PART = 1 << 20
"""URLs looked at together: bounds the scratch memory."""
_FIRST_ROOM = 1024
_FIRST_SLOTS = 1 << 10
_MAX_LOAD = 5 / 8
"""Share of slots in use beyond which the table doubles: below 2 probes for a URL that is there."""

_Number = TypeVar("_Number", bound=np.generic)


class SeenUrls:
    """Numbers URLs from 1 in order of appearance, in fourteen bytes each.

    A Python ``dict`` would take more than a hundred bytes per URL. Here a URL is a 64-bit hash in
    an array, found through an open-addressing table of numbers. Among ten million URLs, the chance
    that any two share a hash is 3 in a million; the second of such a pair would count as seen.

    The hash is Python's own (SipHash with a key that is new in every process), so that no web site
    can aim at a collision; it is computed anew whenever a store is opened, and never written.
    """

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
            self._hash_column = _grown(self._hash_column, size)
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
        for start in range(1, self._size, _PART):
            self._place(table, start, min(start + _PART, self._size))

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


class Standings:
    """Priority, arrival and state of every URL, in thirteen bytes each.

    Number 0 is no URL: it never waits nor ends.

    The columns are arrays with room to spare, which the system may back with large memory pages:
    with ten million URLs, that saves every tenth microsecond. Single elements are read and written
    through the public views, which are replaced when the columns grow: do not keep them.
    """

    def __init__(self) -> None:
        self._priorities = np.full(1, OUT_OF_QUEUE)
        self._arrivals = np.full(1, NEVER, np.uintc)
        self._states = np.full(1, LEASED, np.uint8)
        self._size = 1
        self._show()
        self.next_arrival = 1

    def _show(self) -> None:
        # A memory view gives and takes single elements several times faster than an array.
        self.priorities = self._priorities.data.cast("B").cast("d")
        self.arrivals = self._arrivals.data.cast("B").cast("I")
        self.states = self._states.data.cast("B")

    def __len__(self) -> int:
        return self._size

    def _make_room(self, size: int) -> None:
        if size > self._states.size:
            self._priorities = _grown(self._priorities, size)
            self._arrivals = _grown(self._arrivals, size)
            self._states = _grown(self._states, size)
            self._show()

    def append(self, priority: float) -> None:
        """A new URL waits."""
        number = self._size
        if number == self._states.size:
            self._make_room(number + 1)
        self._size = number + 1
        self.arrive_again(number, priority)

    def arrive_again(self, number: int, priority: float) -> None:
        """A URL waits under another priority, behind all that wait under the same."""
        self.priorities[number] = priority
        self.arrivals[number] = self.next_arrival
        self.states[number] = WAITING
        self.next_arrival += 1

    def expect(self, count: int) -> None:
        """Make room for new URLs, which are to ``arrive_together`` or to finish."""
        self._make_room(self._size + count)
        new = slice(self._size, self._size + count)
        self._priorities[new] = OUT_OF_QUEUE
        self._arrivals[new] = NEVER
        self._states[new] = WAITING
        self._size += count

    def arrive_together(self, numbers: Numbers, priorities: npt.NDArray[np.float64]) -> None:
        """URLs arrived in this order in an earlier run; some may be there twice."""
        end = self.next_arrival + numbers.size
        self._priorities[numbers] = priorities
        self._arrivals[numbers] = np.arange(self.next_arrival, end, dtype=np.uintc)
        self.next_arrival = end

    def rescore(self, numbers: Numbers, priorities: npt.NDArray[np.float64], arrival: int) -> None:
        """URLs that have not arrived again since ``arrival`` got other priorities then."""
        before = self._arrivals[numbers] < arrival
        self._priorities[numbers[before]] = priorities[before]

    def has_lost_places(self) -> bool:
        """Whether a URL waits that has never arrived."""
        waiting = self._states[: self._size] == WAITING
        return bool(np.any(waiting & (self._arrivals[: self._size] == NEVER)))

    def lease(self, number: int) -> None:
        """Take a URL out of the queue for a fetch."""
        self.states[number] = LEASED
        self.priorities[number] = OUT_OF_QUEUE

    def finish(self, number: int, outcome: Outcome) -> None:
        """Take a URL out of the queue for good."""
        self.states[number] = _CODES[outcome]
        self.priorities[number] = OUT_OF_QUEUE

    def outcome_of(self, number: int) -> Outcome | None:
        """How a URL ended; ``None`` while it has not."""
        code = self.states[number]
        return _OUTCOMES[code - _FIRST_OUTCOME] if code >= _FIRST_OUTCOME else None

    def key(self, number: int) -> Key:
        """The place of a waiting URL in the order of all."""
        return -self.priorities[number], self.arrivals[number]

    def count_waiting(self) -> int:
        """How many URLs wait."""
        return int(np.count_nonzero(self._states[: self._size] == WAITING))

    def waiting(self, limit: int | None = None) -> Numbers:
        """The numbers of all waiting URLs, or of the ``limit`` best, ascending."""
        if limit is None:
            return self._waiting_among(0, self._size)
        best = np.empty(0, np.uintc)
        for start in range(0, self._size, _PART):
            part = self._waiting_among(start, min(start + _PART, self._size))
            best = self._best(np.concatenate((best, part)), limit)
        return np.sort(best)

    def _waiting_among(self, start: int, stop: int) -> Numbers:
        return (np.flatnonzero(self._states[start:stop] == WAITING) + start).astype(np.uintc)

    def _best(self, numbers: Numbers, limit: int) -> Numbers:
        """The ``limit`` best of some waiting numbers, in any order."""
        if numbers.size <= limit or limit == 0:
            return numbers[:limit]
        priorities = self._priorities[numbers]
        cut = np.partition(priorities, numbers.size - limit)[numbers.size - limit]
        above = numbers[priorities > cut]
        tied = self.worst_first(numbers[priorities == cut])
        return np.concatenate((above, tied[above.size - limit :]))

    def worst_first(self, numbers: Numbers) -> Numbers:
        """Those numbers that wait, in the reverse of the order in which they are to be fetched."""
        numbers = numbers[self._states[numbers] == WAITING]
        later_first = -self._arrivals[numbers].astype(np.int64)
        return numbers[np.lexsort((later_first, self._priorities[numbers]))]

    def priorities_of(self, numbers: Numbers) -> npt.NDArray[np.float64]:
        """Present priorities."""
        return self._priorities[numbers]


def _grown(column: npt.NDArray[_Number], size: int) -> npt.NDArray[_Number]:
    """A copy of the column with room for ``size`` numbers, and a quarter more.

    Room that is not used yet takes no memory: the system gives it out on first use.
    """
    roomier = np.empty(max(size + size // 4, _FIRST_ROOM), column.dtype)
    roomier[: column.size] = column
    return roomier
