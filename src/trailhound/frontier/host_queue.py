"""One host's candidates, in four bytes each.

A few newcomers in no order, and sorted runs of the others, which are merged now and then: most
candidates of a large host are never fetched, and should cost next to nothing to keep. A binary
heap would reach all over the memory for each of them.

Runs hold URL numbers only, and the order is always that of the *present* standings. A URL that
rises is entered again as a newcomer; its old entry, now too far down in its run, does no harm:
either the new one leaves first, and the old one is skipped since its URL waits no longer, or the
old one comes up as well, and is as good as the new. A URL that sinks is taken out first.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable

import numpy as np

from trailhound.frontier.host_schedule import ScheduledHost
from trailhound.frontier.standings import WAITING, Numbers, Standings

_NEWCOMERS = 48
"""They become a run when they are so many; a search through them takes some microseconds."""


class HostQueue(ScheduledHost):
    """The waiting URLs of one host, ranked by their standings."""

    __slots__ = ("_champion", "_newcomers", "_runs", "_standings", "first", "number", "pages")

    def __init__(self, name: str, number: int, standings: Standings) -> None:
        super().__init__(name)
        self.number = number
        self.pages = 0
        """Leases of this host that have been finished."""
        self.first = 0
        """The number of the candidate that is this host's head, or 0."""
        self._standings = standings
        self._newcomers = array("I")
        """No number twice, and only such as wait."""
        self._champion = 0
        """The best newcomer; 0 while it is not known."""
        self._runs: list[array[int]] = []
        """The best last. May hold numbers that do not wait, or that are elsewhere too."""

    def push(self, number: int) -> None:
        """Take in a waiting number that is not here, or that has risen."""
        self._newcomers.append(number)
        if len(self._newcomers) >= _NEWCOMERS:
            self._start_run()
        elif len(self._newcomers) == 1 or self._beats_champion(number):
            self._champion = number

    def rise(self, number: int) -> None:
        """Take note that a number here has just got a higher priority."""
        if number not in self._newcomers:
            self.push(number)
        elif self._beats_champion(number):
            self._champion = number

    def _beats_champion(self, number: int) -> bool:
        key = self._standings.key
        return self._champion != 0 and key(number) < key(self._champion)

    def leave(self, number: int) -> None:
        """Take note that a number here is about to wait no longer."""
        if number in self._newcomers:
            self._newcomers.remove(number)
            self._champion = 0

    def withdraw(self, numbers: Iterable[int]) -> None:
        """Take out every trace of some numbers, whose standing may then change in any way."""
        gone = np.fromiter(numbers, np.uintc)
        self._newcomers = _without(self._newcomers, gone)
        self._champion = 0
        self._runs = [kept for run in self._runs if (kept := _without(run, gone))]

    def best(self) -> int:
        """The number that comes first, or 0."""
        heads = [head for run in self._runs if (head := self._head(run))]
        if newcomer := self._best_newcomer():
            heads.append(newcomer)
        return min(heads, key=self._standings.key, default=0)

    def _best_newcomer(self) -> int:
        if not self._champion and self._newcomers:
            self._champion = min(self._newcomers, key=self._standings.key)
        return self._champion

    def _head(self, run: array[int]) -> int:
        """The best waiting number of a run, or 0."""
        states = self._standings.states
        while run:
            if states[run[-1]] == WAITING:
                return run[-1]
            run.pop()
        return 0

    def _start_run(self) -> None:
        self._runs.append(self._sorted([self._newcomers]))
        self._newcomers = array("I")
        self._champion = 0
        # Each run stays longer than the next: their number grows with the logarithm only.
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            self._runs[-2:] = [self._sorted(self._runs[-2:])]

    def _sorted(self, runs: list[array[int]]) -> array[int]:
        """One run of all the numbers that wait, without duplicates."""
        numbers = np.concatenate([np.frombuffer(run, np.uintc) for run in runs])
        in_order = self._standings.worst_first(numbers)
        # Twins have the same standing: they are neighbours now.
        differs = np.append(in_order[1:] != in_order[:-1], in_order.size > 0)
        return array("I", in_order[differs[: in_order.size]].tobytes())

    @property
    def append_unsorted(self) -> Callable[[int], None]:
        """Takes in one of many numbers, waiting or not, before a ``sort``."""
        return self._newcomers.append

    def sort(self) -> None:
        """Make a queue of numbers that came by ``append_unsorted``."""
        states = self._standings.states
        if len(self._newcomers) >= _NEWCOMERS:
            self._runs.append(self._sorted([self._newcomers]))
            self._newcomers = array("I")
        else:
            waiting = [number for number in self._newcomers if states[number] == WAITING]
            self._newcomers = array("I", waiting)


def _without(run: array[int], gone: Numbers) -> array[int]:
    numbers = np.frombuffer(run, np.uintc)
    kept = numbers[~np.isin(numbers, gone)]
    return array("I", kept.tobytes())
