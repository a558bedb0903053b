"""A frontier in one SQLite file, for crawls that must survive anything.

Two halves kept in step: an index in memory answers "seen?" and "who is next?" without touching
the disk (:mod:`~trailhound.frontier.index`), and a file holds everything else and everything that
must last (:mod:`~trailhound.frontier.store`). The file is only ever appended to for new URLs, so
that a URL costs the same whether it is the thousandth or the ten-millionth.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from trailhound.errors import UsageError
from trailhound.frontier.base import (
    ASKED_FOR,
    FrontierStats,
    Rescore,
    UrlState,
    UrlStatus,
    checked_priority,
)
from trailhound.frontier.index import FrontierIndex, HostQueue
from trailhound.frontier.store import FrontierStore, load
from trailhound.frontier.url_columns import NEVER, WAITING, Numbers
from trailhound.records import Candidate, Outcome
from trailhound.urls import host_key

_SPARE_RESCORES = 100_000
"""Superseded priorities that the file may hold besides two for each waiting URL."""
_READ_TOGETHER = 500
"""Memories read by one statement: a quarter of the time that one by one takes."""


class SqliteFrontier:
    """A frontier that a killed process leaves intact.

    ``path`` is created when it is missing; one process at a time may have it open. Everything is
    written at the next page boundary (see :class:`~trailhound.frontier.base.Frontier`). Times are
    kept in the file: use the wall clock.
    """

    def __init__(self, path: str | Path) -> None:
        self._index = FrontierIndex()
        self._store = FrontierStore(Path(path), self._index.seen.find)
        self._leased: dict[int, Candidate] = {}
        self._in_redirect = False
        """A redirect's end has been marked as fetched, and its links may not all be here yet."""
        try:
            load(self._store, self._index)
        except BaseException:
            self._store.close(commit=False)
            raise

    @classmethod
    def open(cls, path: Path | None) -> Self:
        """The way of a plug-in: the frontier in ``path``, which it needs."""
        if path is None:
            raise UsageError("A frontier in SQLite needs the path of its file.")
        return cls(path)

    def add(self, candidates: Iterable[Candidate]) -> int:
        """Queue unseen URLs and re-key waiting ones that arrive with a higher priority."""
        index, new = self._index, 0
        find, standings = index.seen.find, index.standings
        for candidate in candidates:
            number = find(candidate.url)
            if not number:
                self._insert(candidate)
                new += 1
            elif candidate.priority > standings.priorities[number]:
                index.rise(number, self._host_of(candidate.url), candidate.priority)
                self._store.add_place(number, candidate)
        return new

    def _host_of(self, url: str) -> HostQueue:
        name = host_key(url)
        return self._index.hosts.get(name) or self._add_host(name)

    def _add_host(self, name: str) -> HostQueue:
        host = self._index.add_host(name)
        self._store.add_host(host)
        return host

    def _insert(self, candidate: Candidate) -> None:
        priority = checked_priority(candidate)
        host = self._host_of(candidate.url)
        number = self._index.insert(candidate.url, host, priority)
        self._store.add_url(number, host, candidate.url)
        self._store.add_place(number, candidate)

    def requeue(self, candidates: Iterable[Candidate]) -> None:
        """Queue URLs whatever became of them before."""
        for candidate in candidates:
            number = self._index.seen.find(candidate.url)
            if not number:
                self._insert(candidate)
                continue
            priority = checked_priority(candidate)
            if self._index.standings.outcome_of(number) is not None:
                self._store.reopen(number)
            self._leased.pop(number, None)
            self._index.requeue(number, self._host_of(candidate.url), priority)
            self._store.add_place(number, candidate)
        self._end_page()

    def lease(self, limit: int, now: float) -> Sequence[Candidate]:
        """Hand out the best candidates of hosts that are ready."""
        leased: list[Candidate] = []
        standings = self._index.standings
        while len(leased) < limit:
            number, priority = self._index.take(now)
            if not number:
                break
            candidate = self._store.read(number, standings.arrivals[number], priority)
            self._leased[number] = candidate
            leased.append(candidate)
        self._end_page()
        return leased

    def finish(self, url: str, outcome: Outcome) -> None:
        """End a lease."""
        host = self._host_of(url)
        host.pages += 1
        self._store.save_host(host)
        self._end(url, host, outcome)
        self._end_page()

    def keep_beside(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        """Write to tables of somebody else in the same file, together with the page."""
        self._store.keep_beside(statement, rows)

    def look_beside(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """What is in such tables."""
        return self._store.look_beside(query, values)

    def note_page(self, number: int) -> None:
        """The next lease to end is that of the crawl's page with this number."""
        self._store.save_page(number)

    def last_page(self) -> int | None:
        """The number of the last page whose lease has ended; ``None`` when it is not known."""
        return self._store.page

    def mark_seen(self, url: str, outcome: Outcome) -> None:
        """Record a URL as finished; it waits no longer."""
        self._in_redirect = True
        if self.outcome_of(url) is None:
            self._end(url, self._host_of(url), outcome)

    def _end(self, url: str, host: HostQueue, outcome: Outcome) -> None:
        number = self._index.seen.find(url)
        priority = None
        if number:
            priority = self._priority(number)
            self._index.finish(number, host, outcome)
            self._leased.pop(number, None)
        else:
            number = self._index.insert_finished(url, outcome)
            self._store.add_url(number, host, url)
        self._store.finish(number, outcome, priority)

    def _priority(self, number: int) -> float | None:
        """The last priority of a known URL; ``None`` when it was never queued."""
        if number in self._leased:
            return self._leased[number].priority
        if self._index.standings.states[number] == WAITING:
            return self._index.standings.priorities[number]
        return self._store.final_priority(number)

    def outcome_of(self, url: str) -> Outcome | None:
        """How a URL ended, or ``None``."""
        return self._index.standings.outcome_of(self._index.seen.find(url))

    def state_of(self, url: str) -> UrlState | None:
        """All that is known about a URL."""
        number = self._index.seen.find(url)
        if not number:
            return None
        outcome = self._index.standings.outcome_of(number)
        if number in self._leased:
            return UrlState(url, UrlStatus.LEASED, None, self._leased[number])
        status = UrlStatus.WAITING if outcome is None else UrlStatus.FINISHED
        return UrlState(url, status, outcome, self._candidate(number))

    def _candidate(self, number: int) -> Candidate | None:
        arrival, priority = self._index.standings.arrivals[number], self._priority(number)
        if arrival == NEVER or priority is None:
            return None
        return self._store.read(number, arrival, priority)

    def delay_host(self, host: str, until: float) -> None:
        """Hand out nothing from ``host`` before ``until``, even after a restart."""
        queue = self._index.hosts.get(host) or self._add_host(host)
        is_promise = until > queue.until
        self._index.schedule.delay(queue, until)
        self._store.save_host(queue)
        # A shorter delay may be written later: after a kill the host would rest too long, at worst.
        if is_promise and not self._in_redirect:
            self._end_page()

    def put_clock(self, seconds: float) -> None:
        """Put all times with the clock, in memory and in the file."""
        hosts = self._index.hosts.values()
        self._index.schedule.put_clock(hosts, seconds)
        for host in hosts:
            self._store.save_host(host)
        if not self._in_redirect:
            self._end_page()

    def ready_at(self, host: str) -> float | None:
        """When a delayed host may be asked again, also one that was delayed in an earlier run."""
        known = self._index.hosts.get(host)
        return known.ready_at() if known else None

    def pages_of(self, host: str) -> int:
        """Finished leases of a host."""
        known = self._index.hosts.get(host)
        return known.pages if known else 0

    def better_in(
        self, now: float, seconds: float, margin: float, under_way: Mapping[str, float]
    ) -> float | None:
        """Seconds until something is ready that beats by ``margin`` all that is now."""
        asked = [
            (self._index.hosts[name], left)
            for name, left in under_way.items()
            if name in self._index.hosts
        ]
        return self._index.schedule.better_in(now, seconds, margin, asked)

    def ready_in(self, now: float) -> float | None:
        """Seconds until a lease can succeed; ``None`` when nothing waits."""
        return self._index.schedule.ready_in(now)

    def best(self, limit: int) -> Sequence[float]:
        """Priorities of the best that wait, highest first."""
        standings = self._index.standings
        found: list[float] = standings.priorities_of(standings.waiting(limit)).tolist()
        return sorted(found, reverse=True)

    def rescore(self, score: Rescore, limit: int | None = None) -> int:
        """Give waiting URLs new priorities, in memory and in the file."""
        standings = self._index.standings
        priorities = score(_WaitingMemories(self._store, self._index, limit))
        if priorities is None:
            return 0
        changes = []
        for url, priority in priorities.items():
            number = self._index.seen.find(url)
            is_waiting = standings.states[number] == WAITING
            if is_waiting and ASKED_FOR > standings.priorities[number] != priority:
                checked = checked_priority(Candidate(url, priority))
                changes.append((number, self._host_of(url), checked))
        self._index.reprioritize(changes)
        # When there are too many old priorities in the file, all present ones replace them.
        replace = self._store.rescores > 2 * self._index.waiting + _SPARE_RESCORES
        changed = np.array([number for number, _, _ in changes], np.uintc)
        numbers = standings.waiting() if replace else changed
        self._store.rescore(numbers, standings.priorities_of(numbers), replace=replace)
        self._end_page()
        return len(changes)

    def stats(self) -> FrontierStats:
        """Counts, for progress and stop rules."""
        waiting, leased = self._index.waiting, len(self._leased)
        return FrontierStats(
            waiting=waiting,
            leased=leased,
            finished=len(self._index.seen) - waiting - leased,
            hosts_waiting=self._index.schedule.hosts_waiting,
        )

    def _end_page(self) -> None:
        self._in_redirect = False
        self.commit()

    def commit(self) -> None:
        """Let everything so far survive a crash."""
        self._store.commit()

    def close(self) -> None:
        """Write what is left, unless that is half a page, and give the file free."""
        self._store.close(commit=not self._in_redirect)


class _WaitingMemories(Mapping[str, bytes]):
    """What a strategy sees when it re-scores: waiting URLs with their memories.

    The ``limit`` best, or all. They are looked for when somebody wants more than their count, and
    read from the file as they are iterated over.
    """

    def __init__(self, store: FrontierStore, index: FrontierIndex, limit: int | None) -> None:
        self._store = store
        self._index = index
        self._limit = limit

    @cached_property
    def _numbers(self) -> Numbers:
        """Ascending."""
        return self._index.standings.waiting(self._limit)

    def pairs(self) -> Iterator[tuple[str, bytes]]:
        """URLs and memories, in the order in which the URLs were first seen."""
        self._store.write()
        arrivals = self._index.standings.arrivals
        for start in range(0, self._numbers.size, _READ_TOGETHER):
            some = self._numbers[start : start + _READ_TOGETHER].tolist()
            yield from self._store.memories({number: arrivals[number] for number in some})

    def _read(self, number: int) -> Candidate:
        return self._store.read(number, self._index.standings.arrivals[number], 0.0)

    def __len__(self) -> int:
        waiting = self._index.waiting
        return waiting if self._limit is None else min(waiting, self._limit)

    def __iter__(self) -> Iterator[str]:
        return (url for url, _ in self.pairs())

    def __contains__(self, url: object) -> bool:
        """Without a look at the file."""
        return isinstance(url, str) and self._shows(self._index.seen.find(url))

    def __getitem__(self, url: str) -> bytes:
        number = self._index.seen.find(url)
        if not self._shows(number):
            raise KeyError(url)
        return self._read(number).memory

    def _shows(self, number: int) -> bool:
        if self._limit is None:
            return self._index.standings.states[number] == WAITING
        at = int(np.searchsorted(self._numbers, number))
        return at < self._numbers.size and bool(self._numbers[at] == number)

    def items(self) -> ItemsView[str, bytes]:
        """Pairs, in one pass over the file."""
        return _Items(self)

    def values(self) -> ValuesView[bytes]:
        """Memories, in one pass over the file."""
        return _Values(self)


class _Items(ItemsView[str, bytes]):
    _mapping: _WaitingMemories

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        return self._mapping.pairs()


class _Values(ValuesView[bytes]):
    _mapping: _WaitingMemories

    def __iter__(self) -> Iterator[bytes]:
        return (memory for _, memory in self._mapping.pairs())
