"""The parts of the frontier where size matters: seen set, host queues, schedule of hosts."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.frontier.host_schedule import HostSchedule, ScheduledHost
from trailhound.frontier.index import HostQueue
from trailhound.frontier.memory import MemoryFrontier
from trailhound.frontier.url_columns import WAITING, SeenUrls, Standings
from trailhound.records import Candidate, Outcome


def test_seen_urls_keep_their_numbers_while_the_table_grows() -> None:
    seen = SeenUrls()
    urls = [f"http://a.test/{n}" for n in range(20_000)]
    assert [seen.add(url) for url in urls] == list(range(1, 20_001))
    assert [seen.find(url) for url in urls] == list(range(1, 20_001))
    assert seen.find("http://a.test/unseen") == 0
    assert len(seen) == 20_000


def test_seen_urls_loaded_in_bulk_are_found() -> None:
    seen = SeenUrls()
    urls = [f"http://a.test/{n}" for n in range(5_000)]
    seen.extend(urls[:3_000])
    seen.extend(urls[3_000:])
    seen.index()
    assert [seen.find(url) for url in urls] == list(range(1, 5_001))
    assert seen.add("http://a.test/next") == 5_001


def empty_queue() -> tuple[HostQueue, Standings]:
    standings = Standings()
    return HostQueue("a.test", 0, standings), standings


def drain(queue: HostQueue, standings: Standings) -> list[int]:
    numbers = []
    while number := queue.best():
        queue.leave(number)
        standings.lease(number)
        numbers.append(number)
    return numbers


def test_a_queue_of_equals_is_first_come_first_served() -> None:
    queue, standings = empty_queue()
    for number in range(1, 2_001):
        standings.append(1.0)
        queue.push(number)
    assert drain(queue, standings) == list(range(1, 2_001))


@pytest.mark.parametrize("size", [1, 40, 3_000])
def test_a_queue_loaded_in_any_order_drops_what_does_not_wait(size: int) -> None:
    rng = random.Random(size)
    queue, standings = empty_queue()
    standings.expect(size)
    numbers = np.arange(1, size + 1, dtype=np.uintc)
    standings.arrive_together(numbers, np.array([rng.randrange(9) for _ in range(size)], float))
    for number in range(1, size + 1):
        queue.append_unsorted(number)
        if rng.random() < 0.3:
            standings.finish(number, Outcome.FETCHED)
    queue.sort()
    waiting = [number for number in range(1, size + 1) if not standings.outcome_of(number)]
    order = sorted(waiting, key=standings.key)
    assert drain(queue, standings) == order


@given(st.integers(0, 1_000_000), st.integers(1, 2_000))
def test_a_queue_agrees_with_sorting_through_all_changes(seed: int, steps: int) -> None:
    rng = random.Random(seed)
    queue, standings = empty_queue()
    waiting: set[int] = set()
    for _ in range(steps):
        chance = rng.random()
        if chance < 0.7 or not waiting:
            standings.append(rng.randrange(6))
            number = len(standings) - 1
            queue.push(number)
            waiting.add(number)
            continue
        number = rng.choice(tuple(waiting))
        if chance < 0.8:
            standings.arrive_again(number, standings.priorities[number] + rng.randrange(1, 3))
            queue.rise(number)
        elif chance < 0.85:
            queue.withdraw([number])
            standings.priorities[number] = rng.randrange(6)
            queue.push(number)
        else:
            best = min(waiting, key=standings.key)
            assert queue.best() == best
            gone = rng.choice([best, best, number])
            queue.leave(gone)
            standings.lease(gone)
            waiting.remove(gone)
    order = sorted(waiting, key=standings.key)
    assert drain(queue, standings) == order


@given(st.integers(0, 1_000_000), st.integers(0, 60))
def test_the_best_of_all_that_waits(seed: int, limit: int) -> None:
    rng = random.Random(seed)
    standings = Standings()
    for number in range(1, 50):
        standings.append(rng.randrange(5))
        if rng.random() < 0.3:
            standings.lease(number)
    waiting = [number for number in range(1, 50) if standings.states[number] == WAITING]
    best = sorted(waiting, key=standings.key)[:limit]
    assert standings.waiting(limit).tolist() == sorted(best)
    assert standings.waiting().tolist() == waiting


class WatchedHost(ScheduledHost):
    """Counts how often any of its kind is asked when it may be visited."""

    questions = 0

    @property
    def until(self) -> float:
        WatchedHost.questions += 1
        return self._until

    @until.setter
    def until(self, until: float) -> None:
        self._until = until


def test_ranking_anew_does_not_fill_the_memory() -> None:
    frontier = MemoryFrontier()
    frontier.add(Candidate(f"http://h.test/{n}", float(n)) for n in range(100))
    turns = map(float, range(50))
    for _ in range(50):
        frontier.rescore(lambda waiting: dict.fromkeys(waiting, next(turns)))
    frontier.add([Candidate("http://h.test/7", 99.0)])
    (host,) = frontier._hosts.values()
    assert len(host.queue) <= 210
    order = [candidate.url.rpartition("/")[2] for candidate in frontier.lease(100, 0.0)]
    assert order == ["7", *(str(n) for n in range(100) if n != 7)]


def test_many_sleeping_hosts_do_not_slow_down_the_search_for_a_ready_one() -> None:
    schedule = HostSchedule[ScheduledHost]()
    for arrival in range(5_000):
        host = WatchedHost(f"{arrival}.test")
        schedule.set_head(host, (-1.0, arrival))
        schedule.delay(host, 1e9)
    assert schedule.best(0.0) is None
    ready = ScheduledHost("ready.test")
    WatchedHost.questions = 0
    for turn in range(200):
        schedule.set_head(ready, (0.0, 5_000 + turn))
        assert schedule.best(float(turn)) is ready
        assert schedule.ready_in(float(turn)) == 0.0
    assert WatchedHost.questions < 5_000, "no search through all sleepers, not even once"
    assert schedule.hosts_waiting == 5_001
