"""The frontier's working memory: who has been seen, who waits, who comes next.

It knows nothing of files; :mod:`trailhound.frontier.sqlite` keeps it in step with a store. About
35 bytes per URL, 600 per host and 300 per host with nothing waiting.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

import numpy as np

from trailhound.frontier.host_schedule import HostSchedule, ScheduledHost
from trailhound.frontier.url_columns import WAITING, Numbers, SeenUrls, Standings
from trailhound.records import Outcome

_NEWCOMERS = 48
"""They become a run when they are so many; a search through them takes some microseconds."""


_NONE = array("I")
"""Shared by all hosts without newcomers, which are most; never added to."""


class FrontierIndex:
    """Numbers URLs and ranks those that wait."""

    def __init__(self) -> None:
        self.seen = SeenUrls()
        self.standings = Standings()
        self.hosts: dict[str, HostQueue] = {}
        self.schedule = HostSchedule[HostQueue]()
        self.waiting = 0

    def add_host(self, name: str) -> HostQueue:
        """A new host; hosts are numbered from 0 in order of appearance."""
        host = self.hosts[name] = HostQueue(name, len(self.hosts), self.standings)
        return host

    def insert(self, url: str, host: HostQueue, priority: float) -> int:
        """Let an unseen URL wait; its number."""
        number = self.seen.add(url)
        self.standings.append(priority)
        self.waiting += 1
        host.push(number)
        self._offer(host, number)
        return number

    def insert_finished(self, url: str, outcome: Outcome) -> int:
        """Number an unseen URL that never waits."""
        number = self.seen.add(url)
        self.standings.expect(1)
        self.standings.finish(number, outcome)
        return number

    def requeue(self, number: int, host: HostQueue, priority: float) -> None:
        """Let a URL wait under a new priority, as if it had just arrived."""
        self.waiting += self.standings.states[number] != WAITING
        host.withdraw([number])
        self.standings.arrive_again(number, priority)
        host.push(number)
        self._refresh_head(host)

    def rise(self, number: int, host: HostQueue, priority: float) -> None:
        """Requeue a waiting URL under a higher priority."""
        self.standings.arrive_again(number, priority)
        host.rise(number)
        self._offer(host, number)

    def _offer(self, host: HostQueue, number: int) -> None:
        """A number has just arrived: it is the host's best if its priority is above all others."""
        head = host.head
        if head is None or -self.standings.priorities[number] < head[0]:
            host.first = number
            self.schedule.set_head(host, self.standings.key(number))

    def _refresh_head(self, host: HostQueue) -> None:
        """Tell the schedule what is first, whatever has changed."""
        number = host.first = host.best()
        self.schedule.set_head(host, self.standings.key(number) if number else None)

    def take(self, now: float) -> tuple[int, float]:
        """Lease the best waiting URL of all hosts that are ready: number and priority, or 0s."""
        host = self.schedule.best(now)
        if host is None:
            return 0, 0.0
        number = host.first
        priority = self.standings.priorities[number]
        self.waiting -= 1
        host.leave(number)
        self.standings.lease(number)
        self._refresh_head(host)
        return number, priority

    def finish(self, number: int, host: HostQueue, outcome: Outcome) -> None:
        """End a URL, wherever it stands."""
        waits = self.standings.states[number] == WAITING
        if waits:
            self.waiting -= 1
            host.leave(number)
        self.standings.finish(number, outcome)
        if waits:
            self._refresh_head(host)

    def reprioritize(self, changes: Iterable[tuple[int, HostQueue, float]]) -> None:
        """Give waiting URLs other priorities; they keep their arrival."""
        by_host: defaultdict[HostQueue, dict[int, float]] = defaultdict(dict)
        for number, host, priority in changes:
            by_host[host][number] = priority
        for host, priorities in by_host.items():
            host.withdraw(priorities)
            for number, priority in priorities.items():
                self.standings.priorities[number] = priority
                host.push(number)
            self._refresh_head(host)

    def load_queues(self) -> None:
        """After loading: queue up all that waits."""
        self.seen.index()
        for host in self.hosts.values():
            host.sort()
            self._refresh_head(host)
        self.waiting = self.standings.count_waiting()


class HostQueue(ScheduledHost):
    """The waiting URLs of one host, ranked by their standings, in four bytes each.

    A few newcomers in no order, and sorted runs of the others, which are merged now and then: most
    candidates of a large host are never fetched, and should cost next to nothing to keep. A binary
    heap would reach all over the memory for each of them.

    Runs hold URL numbers only, and the order is always that of the *present* standings. A URL that
    rises is entered again as a newcomer; its old entry, now too far down in its run, does no harm:
    either the new one leaves first, and the old one is skipped since its URL waits no longer, or
    the old one comes up as well, and is as good as the new. A URL that sinks is taken out first.
    """

    __slots__ = ("_champion", "_newcomers", "_runs", "_standings", "first", "number")

    def __init__(self, name: str, number: int, standings: Standings) -> None:
        super().__init__(name)
        self.number = number
        self.first = 0
        """The number of the candidate that is this host's head, or 0."""
        self._standings = standings
        self._newcomers = _NONE
        """No number twice, and only such as wait."""
        self._champion = 0
        """The best newcomer; 0 while it is not known."""
        self._runs: tuple[array[int], ...] = ()
        """The best last. May hold numbers that do not wait, or that are elsewhere too."""

    def push(self, number: int) -> None:
        """Take in a waiting number that is not here, or that has risen."""
        if self._newcomers is _NONE:
            self._newcomers = array("I")
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
            self._newcomers = self._newcomers or _NONE
            self._champion = 0

    def withdraw(self, numbers: Collection[int]) -> None:
        """Take out every trace of some numbers, whose standing may then change in any way."""
        self._newcomers = array("I", [n for n in self._newcomers if n not in numbers]) or _NONE
        self._champion = 0
        if self._runs:  # most hosts have none, and numpy takes long for a few numbers
            gone = np.fromiter(numbers, np.uintc)
            self._runs = tuple(kept for run in self._runs if (kept := _without(run, gone)))

    def best(self) -> int:
        """The number that comes first, or 0."""
        key = self._standings.key
        heads = [head for run in self._runs if (head := self._head(run))]
        if len(heads) < len(self._runs):
            self._runs = tuple(filter(None, self._runs))
        if not self._champion and self._newcomers:
            self._champion = min(self._newcomers, key=key)
        if self._champion:
            heads.append(self._champion)
        return min(heads, key=key, default=0)

    def _head(self, run: array[int]) -> int:
        """The best waiting number of a run, or 0."""
        states = self._standings.states
        while run:
            if states[run[-1]] == WAITING:
                return run[-1]
            run.pop()
        return 0

    def _start_run(self) -> None:
        runs = [*self._runs, self._sorted([self._newcomers])]
        self._newcomers = _NONE
        self._champion = 0
        # Each run stays longer than the next: their number grows with the logarithm only.
        while len(runs) > 1 and len(runs[-2]) <= 2 * len(runs[-1]):
            runs[-2:] = [self._sorted(runs[-2:])]
        self._runs = tuple(runs)

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
        if self._newcomers is _NONE:
            self._newcomers = array("I")
        return self._newcomers.append

    def sort(self) -> None:
        """Make a queue of numbers that came by ``append_unsorted``."""
        if len(self._newcomers) >= _NEWCOMERS:
            self._start_run()
        else:
            states = self._standings.states
            waiting = [number for number in self._newcomers if states[number] == WAITING]
            self._newcomers = array("I", waiting) or _NONE


def _without(run: array[int], gone: Numbers) -> array[int]:
    numbers = np.frombuffer(run, np.uintc)
    return array("I", numbers[~np.isin(numbers, gone)].tobytes())
