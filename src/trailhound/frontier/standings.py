"""Where every URL stands, in columns indexed by its number: 13 bytes per URL."""

from __future__ import annotations

import math
from array import array
from itertools import repeat

import numpy as np
import numpy.typing as npt

from trailhound.frontier.host_schedule import Key
from trailhound.records import Outcome

WAITING = 0
LEASED = 1
_FIRST_OUTCOME = 2
_OUTCOMES = tuple(Outcome)
_CODES = {outcome: code for code, outcome in enumerate(_OUTCOMES, _FIRST_OUTCOME)}

_PART = 1 << 20
"""URLs looked at together: bounds the scratch memory."""

Numbers = npt.NDArray[np.uintc]

NEVER = 0
"""Stands in for the arrival of a URL that was never queued."""
OUT_OF_QUEUE = math.inf
"""Stands in for the priority of a URL that is leased or finished: no newcomer beats it."""


class Standings:
    """Priority, arrival and state of every URL. Number 0 is no URL: it never waits nor ends."""

    def __init__(self) -> None:
        self.priorities = array("d", [OUT_OF_QUEUE])
        self.arrivals = array("I", [0])
        self.states = array("B", [LEASED])
        self.next_arrival = 1

    def append(self, priority: float) -> None:
        """A new URL waits."""
        self.priorities.append(priority)
        self.arrivals.append(self.next_arrival)
        self.states.append(WAITING)
        self.next_arrival += 1

    def append_finished(self, outcome: Outcome) -> None:
        """A new URL is finished without ever having waited."""
        self.priorities.append(OUT_OF_QUEUE)
        self.arrivals.append(NEVER)
        self.states.append(_CODES[outcome])

    def arrive_again(self, number: int, priority: float) -> None:
        """A URL waits under another priority, behind all that wait under the same."""
        self.priorities[number] = priority
        self.arrivals[number] = self.next_arrival
        self.states[number] = WAITING
        self.next_arrival += 1

    def expect(self, count: int) -> None:
        """Make room for URLs from an earlier run, which are to ``arrive_together`` or finish."""
        self.priorities.extend(repeat(OUT_OF_QUEUE, count))
        self.arrivals.extend(repeat(NEVER, count))
        self.states.extend(repeat(WAITING, count))

    def arrive_together(self, numbers: Numbers, priorities: npt.NDArray[np.float64]) -> None:
        """URLs arrived in this order in an earlier run; some may be there twice."""
        arrivals = np.arange(self.next_arrival, self.next_arrival + numbers.size, dtype=np.uintc)
        np.frombuffer(self.priorities)[numbers] = priorities
        np.frombuffer(self.arrivals, np.uintc)[numbers] = arrivals
        self.next_arrival += numbers.size

    def rescore(self, numbers: Numbers, priorities: npt.NDArray[np.float64], arrival: int) -> None:
        """URLs that have not arrived again since ``arrival`` got other priorities then."""
        before = np.frombuffer(self.arrivals, np.uintc)[numbers] < arrival
        np.frombuffer(self.priorities)[numbers[before]] = priorities[before]

    def has_lost_places(self) -> bool:
        """Whether a URL waits that has never arrived."""
        waiting = np.frombuffer(self.states, np.uint8) == WAITING
        return bool(np.any(waiting & (np.frombuffer(self.arrivals, np.uintc) == NEVER)))

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

    def waiting(self, limit: int | None = None) -> Numbers:
        """The numbers of all waiting URLs, or of the ``limit`` best, ascending."""
        if limit is None:
            return self._waiting_among(0, len(self.states))
        best = np.empty(0, np.uintc)
        for start in range(0, len(self.states), _PART):
            best = self._best(
                np.concatenate((best, self._waiting_among(start, start + _PART))), limit
            )
        return np.sort(best)

    def _waiting_among(self, start: int, stop: int) -> Numbers:
        states = np.frombuffer(self.states, np.uint8)[start:stop]
        return (np.flatnonzero(states == WAITING) + start).astype(np.uintc)

    def _best(self, numbers: Numbers, limit: int) -> Numbers:
        """The ``limit`` best of some waiting numbers, in any order."""
        if numbers.size <= limit or limit == 0:
            return numbers[:limit]
        priorities = np.frombuffer(self.priorities)[numbers]
        cut = np.partition(priorities, numbers.size - limit)[numbers.size - limit]
        above = numbers[priorities > cut]
        tied = self.worst_first(numbers[priorities == cut])
        return np.concatenate((above, tied[above.size - limit :]))

    def worst_first(self, numbers: Numbers) -> Numbers:
        """Waiting numbers in the reverse of the order in which they are to be fetched."""
        arrivals = np.frombuffer(self.arrivals, np.uintc)[numbers].astype(np.int64)
        priorities = np.frombuffer(self.priorities)[numbers]
        return numbers[np.lexsort((-arrivals, priorities))]
