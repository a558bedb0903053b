"""The frontier's working memory: who has been seen, who waits, who comes next.

It knows nothing of files; :mod:`trailhound.frontier.sqlite` keeps it in step with a store. About
35 bytes per URL and 600 per host.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from trailhound.frontier.host_queue import HostQueue
from trailhound.frontier.host_schedule import HostSchedule
from trailhound.frontier.seen import SeenUrls
from trailhound.frontier.standings import WAITING, Standings
from trailhound.records import Outcome


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
        self.standings.append_finished(outcome)
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
        self._leave_queue(number, host)
        self.standings.lease(number)
        self._refresh_head(host)
        return number, priority

    def _leave_queue(self, number: int, host: HostQueue) -> None:
        """To be called before the standing changes; a new head is to be found afterwards."""
        self.waiting -= 1
        host.leave(number)

    def finish(self, number: int, host: HostQueue, outcome: Outcome) -> None:
        """End a URL, wherever it stands."""
        waits = self.standings.states[number] == WAITING
        if waits:
            self._leave_queue(number, host)
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
