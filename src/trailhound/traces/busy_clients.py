"""Clients that are no single person: programs, and proxies that many people share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trailhound.sessions.imports.traces import GroupFilter
from trailhound.traces.sorting import Rows

_MINUTE, _DAY = 60, 86_400


class BusyClients:
    """Finds them in accesses that come in order of client and time, block by block."""

    def __init__(self, groups: GroupFilter) -> None:
        self._busiest = (
            _BusiestSlots(_MINUTE, groups.max_per_minute),
            _BusiestSlots(_DAY, groups.max_per_day),
        )

    def see(self, rows: Rows) -> None:
        """Take the next block."""
        for each in self._busiest:
            each.see(rows["user"], rows["time"])

    def found(self) -> NDArray[np.uint64]:
        """Their keys, in order."""
        keys = set().union(*(each.users for each in self._busiest))
        return np.array(sorted(keys), np.uint64)


class _BusiestSlots:
    """Counts accesses per client and slot of time; a slot may go on in the next block."""

    def __init__(self, seconds: int, limit: int) -> None:
        self._seconds = seconds
        self._limit = limit
        self._open: tuple[int, int, int] = (0, -1, 0)
        self.users: set[int] = set()

    def see(self, users: NDArray[np.uint64], times: NDArray[np.float64]) -> None:
        slots = times.astype(np.int64) // self._seconds
        changes = np.flatnonzero((users[1:] != users[:-1]) | (slots[1:] != slots[:-1])) + 1
        starts = np.concatenate(([0], changes))
        counts = np.diff(np.concatenate((starts, [len(users)])))
        user, slot, before = self._open
        if user == int(users[0]) and slot == int(slots[0]):
            counts[0] += before
        self._open = int(users[-1]), int(slots[-1]), int(counts[-1])
        self.users.update(users[starts[counts > self._limit]].tolist())
