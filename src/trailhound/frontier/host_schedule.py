"""Which host comes next: the one with the best candidate among those that are ready.

Hosts that sleep (politeness, back-off) wait in a heap of their own, ordered by the time they wake,
so that neither a hundred thousand hosts nor a hundred thousand sleepers make a lease slow.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from typing import Generic, TypeVar

Key = tuple[float, int]
"""(-priority, arrival) of a candidate: the smallest is fetched first, and no two are equal."""

_SPARE_ENTRIES = 1024
"""Stale heap entries that are tolerated before the heap is rebuilt."""


class ScheduledHost:
    """What the schedule must know of a host."""

    __slots__ = ("asleep", "changed", "head", "name", "pages", "until")

    def __init__(self, name: str) -> None:
        self.name = name
        self.head: Key | None = None
        """Its best candidate; ``None`` when it has none."""
        self.until = -math.inf
        """It may not be asked before."""
        self.pages = 0
        """Leases of this host that have been finished."""
        self.asleep = False
        """Whether it is among the sleepers."""
        self.changed = False
        """Whether its head has yet to be taken in."""

    def ready_at(self) -> float | None:
        """When it may be asked again; ``None`` when it was never delayed."""
        return None if self.until == -math.inf else self.until


_Host = TypeVar("_Host", bound=ScheduledHost)


class HostSchedule(Generic[_Host]):
    """A heap of hosts by their best candidate, and one of sleeping hosts by waking time.

    Entries are never searched for: one that no longer says what its host says is stale, and is
    dropped when it comes up.
    """

    def __init__(self) -> None:
        self._ready: list[tuple[float, int, _Host]] = []
        self._sleeping: list[tuple[float, int, _Host]] = []
        self._changed: list[_Host] = []
        """Hosts whose new head is in neither heap yet: it may change again before it counts."""
        self._naps = 0
        self.hosts_waiting = 0
        """Hosts that have a candidate."""

    def set_head(self, host: _Host, head: Key | None) -> None:
        """Tell the schedule what the host's best candidate is now."""
        self.hosts_waiting += (head is not None) - (host.head is not None)
        host.head = head
        if not (host.asleep or host.changed):
            host.changed = True
            self._changed.append(host)

    def delay(self, host: _Host, until: float) -> None:
        """Hand out nothing of this host before ``until``; the last call counts."""
        host.until = until
        if host.asleep:
            self._lay_down(host)

    def put_clock(self, hosts: Iterable[_Host], seconds: float) -> None:
        """Let all ``hosts`` that there are sleep as long as they would have, on the new clock."""
        self._sleeping.clear()
        for host in hosts:
            host.until += seconds
            if host.asleep:
                self._lay_down(host)

    def _lay_down(self, host: _Host) -> None:
        # The running number keeps hosts themselves from being compared.
        self._naps += 1
        host.asleep = True
        heapq.heappush(self._sleeping, (host.until, self._naps, host))

    def _line_up(self, host: _Host, now: float) -> None:
        """Put a host where it belongs: among the ready or among the sleepers."""
        if host.head is None:
            return
        if host.until > now:
            self._lay_down(host)
        else:
            heapq.heappush(self._ready, (*host.head, host))

    def _catch_up(self, now: float) -> None:
        """Take in what has changed since the last question."""
        for host in self._changed:
            host.changed = False
            if not host.asleep:
                self._line_up(host, now)
        self._changed.clear()
        sleeping = self._sleeping
        while sleeping and sleeping[0][0] <= now:
            until, _, host = heapq.heappop(sleeping)
            if host.asleep and host.until == until:
                host.asleep = False
                self._line_up(host, now)
        if len(self._ready) > 2 * self.hosts_waiting + _SPARE_ENTRIES:
            fresh = {entry[2].name: entry for entry in self._ready if entry[:2] == entry[2].head}
            self._ready = [entry for entry in fresh.values() if not entry[2].asleep]
            heapq.heapify(self._ready)

    def best(self, now: float) -> _Host | None:
        """The ready host with the best candidate."""
        self._catch_up(now)
        ready = self._ready
        while ready:
            entry = ready[0]
            host = entry[2]
            current = entry[:2] == host.head and not host.asleep
            if current and host.until <= now:
                return host
            heapq.heappop(ready)
            if current:
                self._lay_down(host)
        return None

    def better_in(
        self, now: float, seconds: float, margin: float, under_way: Iterable[tuple[_Host, float]]
    ) -> float | None:
        """Seconds until a host wakes whose best candidate beats all that are ready by ``margin``.

        ``None`` when none does within ``seconds``, or nothing is ready. Of the sleepers only those
        are looked at that wake in time, the top of their heap, and those ``under_way``, which are
        taken to wake in so many seconds.
        """
        ready = self.best(now)
        if ready is None or ready.head is None:
            return None
        bar, sleeping = ready.head[0] - margin, self._sleeping
        waited_for = (
            left for host, left in under_way if host.head is not None and host.head[0] < bar
        )
        soonest, places = now + min(waited_for, default=math.inf), [0]
        while places:
            place = places.pop()
            if place < len(sleeping) and sleeping[place][0] <= now + seconds:
                until, _, host = sleeping[place]
                current = host.asleep and host.until == until and host.head is not None
                if current and host.head is not None and host.head[0] < bar:
                    soonest = min(soonest, until)
                places += (2 * place + 1, 2 * place + 2)
        return soonest - now if soonest < math.inf else None

    def ready_in(self, now: float) -> float | None:
        """Seconds until some host with a candidate is ready; ``None`` when there is no such."""
        if self.best(now) is not None:
            return 0.0
        sleeping = self._sleeping
        while sleeping:
            until, _, host = sleeping[0]
            if host.until == until and host.asleep and host.head is not None:
                return until - now
            heapq.heappop(sleeping)
            if host.until == until:
                # Nothing of it waits. Should it get a candidate, it will be laid down again.
                host.asleep = False
        return None
