"""A frontier in memory, for the lab and for small crawls."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

import msgspec

from trailhound.frontier.base import (
    ASKED_FOR,
    FrontierStats,
    Rescore,
    UrlState,
    UrlStatus,
    checked_priority,
)
from trailhound.frontier.host_schedule import HostSchedule, Key, ScheduledHost
from trailhound.records import Candidate, Outcome
from trailhound.urls import host_key


class _Host(ScheduledHost):
    """A host with a heap of its candidates.

    The heap holds stale entries after a re-key; one counts only while its key is still that of
    the waiting candidate. When about half of them are ``stale``, they go.
    """

    __slots__ = ("queue", "stale")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.queue: list[tuple[Key, str]] = []
        self.stale = 0


class MemoryFrontier:
    """One heap per host, and a schedule of the hosts by their best candidate."""

    def __init__(self) -> None:
        self._arrivals = itertools.count()
        self._waiting: dict[str, tuple[Key, Candidate]] = {}
        self._leased: dict[str, Candidate] = {}
        self._finished: dict[str, tuple[Outcome, Candidate | None]] = {}
        self._hosts: dict[str, _Host] = {}
        self._schedule = HostSchedule[_Host]()

    @classmethod
    def open(cls, path: Path | None) -> Self:
        """The way of a plug-in; nothing is kept in ``path``."""
        del path
        return cls()

    def _host(self, name: str) -> _Host:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = _Host(name)
        return host

    def add(self, candidates: Iterable[Candidate]) -> int:
        """Queue unseen URLs and re-key waiting ones that arrive with a higher priority."""
        new = 0
        for candidate in candidates:
            url = candidate.url
            if url in self._finished or url in self._leased:
                continue
            known = self._waiting.get(url)
            if known is None:
                new += 1
            elif not candidate.priority > known[1].priority:
                continue
            self._enqueue(candidate, next(self._arrivals))
        return new

    def requeue(self, candidates: Iterable[Candidate]) -> None:
        """Queue URLs whatever became of them before."""
        for candidate in candidates:
            checked_priority(candidate)
            self._leased.pop(candidate.url, None)
            self._finished.pop(candidate.url, None)
            self._enqueue(candidate, next(self._arrivals))
            self._refresh_head(self._host(host_key(candidate.url)))

    def _enqueue(self, candidate: Candidate, arrival: int) -> None:
        key = (-checked_priority(candidate), arrival)
        host = self._host(host_key(candidate.url))
        host.stale += candidate.url in self._waiting
        self._waiting[candidate.url] = (key, candidate)
        heapq.heappush(host.queue, (key, candidate.url))
        if 2 * host.stale > len(host.queue):
            self._forget_stale(host)
        if host.head is None or key < host.head:
            self._schedule.set_head(host, key)

    def _forget_stale(self, host: _Host) -> None:
        host.queue = [entry for entry in host.queue if self._is_current(*entry)]
        heapq.heapify(host.queue)
        host.stale = 0

    def _is_current(self, key: Key, url: str) -> bool:
        current = self._waiting.get(url)
        return current is not None and current[0] is key

    def _refresh_head(self, host: _Host) -> None:
        """Drop stale entries from the front, and tell the schedule what comes first."""
        queue = host.queue
        while queue and not self._is_current(*queue[0]):
            heapq.heappop(queue)
            host.stale = max(0, host.stale - 1)
        head = queue[0][0] if queue else None
        if head is not host.head:
            self._schedule.set_head(host, head)

    def lease(self, limit: int, now: float) -> Sequence[Candidate]:
        """Hand out the best candidates of hosts that are ready."""
        leased: list[Candidate] = []
        while len(leased) < limit:
            host = self._schedule.best(now)
            if host is None:
                break
            url = heapq.heappop(host.queue)[1]
            candidate = self._waiting.pop(url)[1]
            self._leased[url] = candidate
            self._refresh_head(host)
            leased.append(candidate)
        return leased

    def finish(self, url: str, outcome: Outcome) -> None:
        """End a lease."""
        self._host(host_key(url)).pages += 1
        known = self._finished.get(url)
        candidate = self._take_from_queue(url) or (known[1] if known else None)
        self._finished[url] = (outcome, candidate)

    def mark_seen(self, url: str, outcome: Outcome) -> None:
        """Record a URL as finished; it waits no longer."""
        if url not in self._finished:
            self._finished[url] = (outcome, self._take_from_queue(url))

    def _take_from_queue(self, url: str) -> Candidate | None:
        """The candidate, waiting or leased no longer; ``None`` when it was neither."""
        waiting = self._waiting.pop(url, None)
        if waiting is None:
            return self._leased.pop(url, None)
        self._refresh_head(self._host(host_key(url)))
        return waiting[1]

    def outcome_of(self, url: str) -> Outcome | None:
        """How a URL ended, or ``None``."""
        finished = self._finished.get(url)
        return finished[0] if finished else None

    def state_of(self, url: str) -> UrlState | None:
        """All that is known about a URL."""
        if url in self._finished:
            outcome, candidate = self._finished[url]
            return UrlState(url, UrlStatus.FINISHED, outcome, candidate)
        if url in self._leased:
            return UrlState(url, UrlStatus.LEASED, candidate=self._leased[url])
        if url in self._waiting:
            return UrlState(url, UrlStatus.WAITING, candidate=self._waiting[url][1])
        return None

    def delay_host(self, host: str, until: float) -> None:
        """Hand out nothing from ``host`` before ``until``."""
        self._schedule.delay(self._host(host), until)

    def put_clock(self, seconds: float) -> None:
        """Put all times with the clock."""
        self._schedule.put_clock(self._hosts.values(), seconds)

    def ready_at(self, host: str) -> float | None:
        """When a delayed host may be asked again."""
        known = self._hosts.get(host)
        return known.ready_at() if known else None

    def resting(self) -> dict[str, float]:
        """When each host that was ever delayed may be asked again."""
        known = ((name, host.ready_at()) for name, host in self._hosts.items())
        return {name: until for name, until in known if until is not None}

    def pages_of(self, host: str) -> int:
        """Finished leases of a host."""
        known = self._hosts.get(host)
        return known.pages if known else 0

    def better_in(
        self, now: float, seconds: float, margin: float, under_way: Mapping[str, float]
    ) -> float | None:
        """Seconds until something is ready that beats by ``margin`` all that is now."""
        asked = [
            (self._hosts[name], left) for name, left in under_way.items() if name in self._hosts
        ]
        return self._schedule.better_in(now, seconds, margin, asked)

    def ready_in(self, now: float) -> float | None:
        """Seconds until a lease can succeed; ``None`` when nothing waits."""
        return self._schedule.ready_in(now)

    def best(self, limit: int) -> Sequence[float]:
        """Priorities of the best that wait, highest first."""
        return heapq.nlargest(limit, (entry[1].priority for entry in self._waiting.values()))

    def rescore(self, score: Rescore, limit: int | None = None) -> int:
        """Give waiting URLs new priorities."""
        entries: Iterable[tuple[Key, Candidate]] = self._waiting.values()
        if limit is not None and limit < len(self._waiting):
            entries = heapq.nsmallest(limit, entries, key=lambda entry: entry[0])
        priorities = score({candidate.url: candidate.memory for _, candidate in entries})
        if priorities is None:
            return 0
        changed = []
        for url, priority in priorities.items():
            known = self._waiting.get(url)
            if known is not None and ASKED_FOR > known[1].priority != priority:
                moved = msgspec.structs.replace(known[1], priority=priority)
                changed.append((known[0][1], moved))
        for arrival, candidate in changed:
            self._enqueue(candidate, arrival)
        for name in {host_key(candidate.url) for _, candidate in changed}:
            self._refresh_head(self._hosts[name])
        return len(changed)

    def stats(self) -> FrontierStats:
        """Counts, for progress and stop rules."""
        return FrontierStats(
            waiting=len(self._waiting),
            leased=len(self._leased),
            finished=len(self._finished),
            hosts_waiting=self._schedule.hosts_waiting,
        )

    def commit(self) -> None:
        """Nothing survives a crash."""

    def close(self) -> None:
        """Nothing to release."""
