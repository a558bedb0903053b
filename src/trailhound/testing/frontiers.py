"""What frontiers promise: single promises, and any history compared with a plain list."""

from __future__ import annotations

import math
import random
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from trailhound.errors import FrontierError
from trailhound.frontier.base import ASKED_FOR, Frontier, UrlStatus
from trailhound.records import Candidate, Outcome
from trailhound.testing.promises import BrokenPromiseError, expect

OpenFrontier = Callable[[Path], Frontier]
"""Opens the frontier that is kept in a path, as ``FrontierKind.open`` does."""
_HOSTS = tuple(f"{number}.test" for number in range(4))


def check_frontier(
    open_frontier: OpenFrontier,
    *,
    best_first: bool = True,
    durable: bool = True,
    histories: int = 20,
) -> None:
    """``open_frontier`` opens a new frontier, or one that it finds in the path.

    ``best_first=False`` is for frontiers with an order of their own: priorities then do not
    matter. ``durable=False`` is for frontiers that keep nothing; a crawl with one cannot be
    resumed. ``histories`` random ones are gone through.
    """
    with tempfile.TemporaryDirectory() as folder:
        for number, check in enumerate((_check_lifes, _check_hosts, _check_numbers)):
            frontier = open_frontier(Path(folder) / f"promise-{number}")
            try:
                check(frontier)
            finally:
                frontier.close()
        for seed in range(histories):
            place = Path(folder) / f"history-{seed}"
            place.mkdir()
            history = FrontierHistory(
                open_frontier, place, seed, best_first=best_first, durable=durable
            )
            history.run()


def _check_lifes(frontier: Frontier) -> None:
    """A URL waits, is leased, is finished, and is never forgotten."""
    one, two = "http://0.test/one", "http://1.test/two"
    added = frontier.add([Candidate(one, 0.5), Candidate(one, 0.5), Candidate(two, 0.5)])
    expect(added == 2, "add tells how many URLs are new")
    _expect_status(frontier, one, UrlStatus.WAITING)
    leased = {candidate.url for candidate in frontier.lease(5, 0.0)}
    expect(leased == {one, two}, "lease hands out what waits")
    _expect_status(frontier, one, UrlStatus.LEASED)
    expect(frontier.add([Candidate(one, 9.0)]) == 0, "A leased URL is not queued again")
    frontier.finish(one, Outcome.NOT_FOUND)
    _expect_status(frontier, one, UrlStatus.FINISHED)
    expect(frontier.outcome_of(one) is Outcome.NOT_FOUND, "A finished URL has its outcome")
    expect(frontier.add([Candidate(one, 9.0)]) == 0, "A finished URL is not queued again")
    frontier.requeue([Candidate(two, 0.5, b"kept", one, 3)])
    (again,) = frontier.lease(5, 0.0)
    kept = (again.url, again.memory, again.parent, again.depth)
    expect(kept == (two, b"kept", one, 3), "A candidate comes back with all that it had")
    expect(frontier.state_of("http://0.test/never") is None, "Of unseen URLs nothing is known")
    expect(frontier.pages_of("0.test") == 1, "pages_of counts finished leases")
    frontier.commit()


def _expect_status(frontier: Frontier, url: str, status: UrlStatus) -> None:
    state = frontier.state_of(url)
    expect(state is not None and state.status is status, f"state_of: {url} is {status.value}")


def _check_hosts(frontier: Frontier) -> None:
    """A host that was delayed is left alone; others go on."""
    expect(frontier.ready_in(0.0) is None, "ready_in is None when nothing waits")
    frontier.add([Candidate("http://0.test/", 0.9), Candidate("http://1.test/", 0.1)])
    frontier.delay_host("0.test", 10.0)
    expect(frontier.ready_at("0.test") == 10.0, "ready_at is what delay_host said")
    expect(frontier.ready_at("1.test") is None, "A host that was never delayed has no ready_at")
    leased = [candidate.url for candidate in frontier.lease(5, 0.0)]
    expect(leased == ["http://1.test/"], "Nothing of a delayed host is handed out")
    expect(frontier.ready_in(4.0) == 6.0, "ready_in counts to the first host that wakes")
    frontier.put_clock(90.0)
    expect(frontier.ready_in(94.0) == 6.0, "put_clock puts the times of all hosts")
    leased = [candidate.url for candidate in frontier.lease(5, 100.0)]
    expect(leased == ["http://0.test/"], "A host that woke is handed out")


def _check_numbers(frontier: Frontier) -> None:
    """Counts, and rescoring."""
    frontier.add(Candidate(f"http://{host}/", 0.5, host.encode()) for host in _HOSTS)
    first, second = (candidate.url for candidate in frontier.lease(2, 0.0))
    frontier.finish(first, Outcome.FETCHED)
    stats = frontier.stats()
    counts = (stats.waiting, stats.leased, stats.finished, stats.hosts_waiting)
    expect(counts == (2, 1, 1, 2), f"stats count every state, not {counts} for (2, 1, 1, 2)")
    expect(frontier.rescore(lambda _: None) == 0, "A strategy may say that nothing has moved")
    frontier.finish(second, Outcome.FETCHED)
    seed = "http://seed.test/"
    frontier.add([Candidate(seed, 2 * ASKED_FOR)])
    before = frontier.state_of(seed)
    frontier.rescore(lambda _: {seed: 0.1})
    expect(frontier.state_of(seed) == before, "What a person has asked for keeps its priority")
    frontier.mark_seen(seed, Outcome.FETCHED)
    try:
        frontier.add([Candidate("http://x.test/", math.nan)])
    except FrontierError:
        return
    # One with an order of its own may not care; it must then still hand the URL out.
    leased = {candidate.url for candidate in frontier.lease(5, 0.0)}
    expect("http://x.test/" in leased, "A priority that is no number is a FrontierError")


class PlainList:
    """The obvious slow frontier, to compare with."""

    def __init__(self) -> None:
        self.places: dict[str, tuple[float, int]] = {}
        self.waiting: set[str] = set()
        self.outcomes: dict[str, Outcome] = {}
        self.asleep: dict[str, float] = {}
        self._arrivals = 0

    def put(self, name: str, priority: float) -> None:
        """Queue it, whatever it was before."""
        self._arrivals += 1
        self.places[name] = (-priority, self._arrivals)
        self.waiting.add(name)
        self.outcomes.pop(name, None)

    def add(self, name: str, priority: float) -> bool:
        """Queue it if it is new or rises; whether it is new."""
        known = name in self.places or name in self.outcomes
        if not known or (name in self.waiting and -priority < self.places[name][0]):
            self.put(name, priority)
        return not known

    def ready(self, now: float) -> list[str]:
        """What may be leased, best first."""
        awake = [u for u in self.waiting if self.asleep.get(u.split("/")[2], 0.0) <= now]
        return sorted(awake, key=lambda name: self.places[name])

    def end(self, name: str, outcome: Outcome) -> None:
        """It is finished."""
        self.waiting.discard(name)
        self.outcomes[name] = outcome

    def rescore(self, priorities: Mapping[str, float]) -> None:
        """Ties keep their order of arrival."""
        for name in self.waiting & set(priorities):
            self.places[name] = (-priorities[name], self.places[name][1])

    def restart(self) -> None:
        """Leases end with the process."""
        self.waiting = set(self.places) - set(self.outcomes)


class FrontierHistory:
    """Random operations on a frontier and on the plain list, which must agree throughout."""

    def __init__(
        self,
        open_frontier: OpenFrontier,
        folder: Path,
        seed: int,
        *,
        best_first: bool = True,
        durable: bool = True,
    ) -> None:
        self._open = open_frontier
        self._folder = folder
        self._best_first = best_first
        self._frontier = open_frontier(folder / "frontier.db")
        self._plain = PlainList()
        self._rng = random.Random(seed)
        self._starts = 0
        self._actions: list[Callable[[float], None]] = [self._add] * 8 + [self._lease] * 5
        self._actions += [self._finish] * 3 + [self._delay, self._mark, self._requeue]
        self._actions += [self._rescore]
        if durable:
            self._actions += [self._restart, self._crash]

    def run(self) -> None:
        """Sixty operations, each followed by a look at all counts."""
        done = []
        try:
            for now in range(60):
                action = self._rng.choice(self._actions)
                done.append(action.__name__.strip("_"))
                action(float(now))
                self._check(float(now))
        except BrokenPromiseError as broken:
            raise BrokenPromiseError(f"{broken} (after {', '.join(done)})") from broken
        finally:
            self._frontier.close()

    def _url(self) -> str:
        return f"http://{self._rng.choice(_HOSTS)}/{self._rng.randrange(30)}"

    def _priority(self) -> float:
        return self._rng.randrange(5) / 4

    def _add(self, _: float) -> None:
        batch = [(self._url(), self._priority()) for _ in range(self._rng.randrange(1, 5))]
        new = self._frontier.add(Candidate(name, priority) for name, priority in batch)
        expected = sum([self._plain.add(name, priority) for name, priority in batch])
        expect(new == expected, f"add gives the number of new URLs: {expected}, not {new}")

    def _lease(self, now: float) -> None:
        limit = self._rng.randrange(1, 4)
        leased = [candidate.url for candidate in self._frontier.lease(limit, now)]
        ready = self._plain.ready(now)
        if self._best_first:
            expect(leased == ready[:limit], f"lease: {ready[:limit]} is next, not {leased}")
        expect(set(leased) <= set(ready), "Only what waits at a host that is ready is leased")
        expect(len(leased) == min(limit, len(ready)), "As many are leased as may be")
        self._plain.waiting.difference_update(leased)

    def _finish(self, _: float) -> None:
        plain = self._plain
        leased = sorted(set(plain.places) - plain.waiting - set(plain.outcomes))
        if leased:
            name = self._rng.choice(leased)
            self._frontier.finish(name, Outcome.TIMEOUT)
            plain.end(name, Outcome.TIMEOUT)

    def _mark(self, _: float) -> None:
        name = self._url()
        self._frontier.mark_seen(name, Outcome.DUPLICATE)
        self._plain.end(name, self._plain.outcomes.get(name, Outcome.DUPLICATE))

    def _requeue(self, _: float) -> None:
        name, priority = self._url(), self._priority()
        self._frontier.requeue([Candidate(name, priority)])
        self._plain.put(name, priority)

    def _delay(self, now: float) -> None:
        host, until = self._rng.choice(_HOSTS), now + self._rng.randrange(10)
        self._frontier.delay_host(host, until)
        self._plain.asleep[host] = until

    def _rescore(self, _: float) -> None:
        priorities = {self._url(): self._priority() for _ in range(10)}
        self._frontier.rescore(lambda _: priorities)
        self._plain.rescore(priorities)

    def _restart(self, _: float) -> None:
        self._frontier.commit()
        self._frontier.close()
        self._frontier = self._open(self._folder / "frontier.db")
        self._plain.restart()

    def _crash(self, _: float) -> None:
        """Go on with a copy of the files as a killed process would leave them."""
        self._frontier.commit()
        self._starts += 1
        copy = self._folder.parent / f"{self._folder.name}-{self._starts}"
        shutil.copytree(self._folder, copy, ignore=shutil.ignore_patterns("*-shm"))
        self._frontier.close()
        self._folder = copy
        self._frontier = self._open(copy / "frontier.db")
        self._plain.restart()

    def _check(self, now: float) -> None:
        plain, stats = self._plain, self._frontier.stats()
        hosts = {name.split("/")[2] for name in plain.waiting}
        counts = (stats.waiting, stats.finished, stats.hosts_waiting)
        expected = (len(plain.waiting), len(plain.outcomes), len(hosts))
        expect(counts == expected, f"stats: waiting, finished, hosts are {expected}, not {counts}")
        for host in _HOSTS:
            told = self._frontier.ready_at(host)
            expect(told == plain.asleep.get(host), f"ready_at({host}) is not {told}")
        sleep = min((plain.asleep.get(host, now) for host in hosts), default=None)
        wait, told = None if sleep is None else max(0.0, sleep - now), self._frontier.ready_in(now)
        expect(told == wait, f"ready_in({now}) is {wait}, not {told}")
