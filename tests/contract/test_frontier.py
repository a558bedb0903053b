"""What every frontier must do, whatever it is stored in."""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailhound.errors import FrontierError, UsageError
from trailhound.frontier.base import (
    ASKED_FOR,
    Foreseeing,
    Frontier,
    FrontierKind,
    UrlState,
    UrlStatus,
)
from trailhound.frontier.memory import MemoryFrontier
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.records import Candidate, Outcome
from trailhound.testing import FrontierHistory

STORES: Mapping[str, FrontierKind] = {"memory": MemoryFrontier, "sqlite": SqliteFrontier}
DURABLE = ["sqlite"]


def open_store(store: str, folder: Path) -> Frontier:
    return STORES[store].open(folder / "frontier.db")


@pytest.fixture(params=sorted(STORES))
def frontier(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Frontier]:
    store = open_store(request.param, tmp_path)
    yield store
    store.close()


def url(name: str, host: str = "a.test") -> str:
    return f"http://{host}/{name}"


def lease_urls(frontier: Frontier, limit: int = 100, now: float = 0.0) -> list[str]:
    return [candidate.url for candidate in frontier.lease(limit, now)]


def test_the_best_priority_leaves_first_across_hosts(frontier: Frontier) -> None:
    frontier.add(
        [
            Candidate(url("low"), 0.1),
            Candidate(url("high", "b.test"), 0.9),
            Candidate(url("middle"), 0.5),
        ]
    )
    assert lease_urls(frontier) == [url("high", "b.test"), url("middle"), url("low")]


def test_equal_priorities_leave_in_order_of_arrival(frontier: Frontier) -> None:
    names = [url(str(n), f"{n % 3}.test") for n in range(20)]
    frontier.add(Candidate(name, 1.0) for name in names)
    assert lease_urls(frontier) == names


def test_a_url_is_queued_once(frontier: Frontier) -> None:
    assert frontier.add([Candidate(url("x"), 0.5), Candidate(url("x"), 0.5)]) == 1
    assert frontier.add([Candidate(url("x"), 0.4)]) == 0
    assert lease_urls(frontier) == [url("x")]
    assert lease_urls(frontier) == []


def test_a_better_parent_re_keys_a_waiting_url(frontier: Frontier) -> None:
    frontier.add([Candidate(url("x"), 0.1, b"old", "http://p.test/1", 4)])
    frontier.add([Candidate(url("y"), 0.5)])
    better = Candidate(url("x"), 0.9, b"new", "http://p.test/2", 2)
    frontier.add([better])
    assert list(frontier.lease(2, 0.0)) == [better, Candidate(url("y"), 0.5)]


def test_a_worse_parent_changes_nothing(frontier: Frontier) -> None:
    first = Candidate(url("x"), 0.5, b"old", "http://p.test/1", 4)
    frontier.add([first])
    frontier.add([Candidate(url("x"), 0.2, b"new", "http://p.test/2", 1)])
    assert list(frontier.lease(1, 0.0)) == [first]


def test_leased_and_finished_urls_do_not_return(frontier: Frontier) -> None:
    frontier.add([Candidate(url("x"), 0.5)])
    frontier.lease(1, 0.0)
    assert frontier.add([Candidate(url("x"), 0.9)]) == 0
    frontier.finish(url("x"), Outcome.NOT_FOUND)
    assert frontier.add([Candidate(url("x"), 0.9)]) == 0
    assert lease_urls(frontier) == []
    assert frontier.outcome_of(url("x")) is Outcome.NOT_FOUND


def test_a_url_marked_as_seen_waits_no_longer(frontier: Frontier) -> None:
    frontier.add([Candidate(url("x"), 0.5), Candidate(url("y"), 0.4)])
    frontier.mark_seen(url("x"), Outcome.FETCHED)
    frontier.mark_seen(url("never-queued"), Outcome.FETCHED)
    assert frontier.add([Candidate(url("never-queued"), 1.0)]) == 0
    assert lease_urls(frontier) == [url("y")]


def test_a_delayed_host_sleeps_and_others_go_on(frontier: Frontier) -> None:
    frontier.add([Candidate(url("best"), 0.9), Candidate(url("other", "b.test"), 0.1)])
    frontier.delay_host("a.test", 10.0)
    assert lease_urls(frontier, now=0.0) == [url("other", "b.test")]
    assert frontier.ready_in(4.0) == 6.0
    assert lease_urls(frontier, now=9.9) == []
    assert lease_urls(frontier, now=10.0) == [url("best")]


def test_a_host_is_ready_at_the_time_that_it_was_last_delayed_to(frontier: Frontier) -> None:
    frontier.add([Candidate(url("x"), 0.9)])
    assert frontier.ready_at("a.test") is None
    assert frontier.ready_at("never-heard-of.test") is None
    frontier.delay_host("a.test", 10.0)
    frontier.delay_host("nothing-waits.test", 7.0)
    assert frontier.ready_at("a.test") == 10.0
    assert frontier.ready_at("nothing-waits.test") == 7.0
    assert lease_urls(frontier, now=20.0) == [url("x")]
    assert frontier.ready_at("a.test") == 10.0
    frontier.delay_host("a.test", 3.0)
    assert frontier.ready_at("a.test") == 3.0


@pytest.mark.parametrize("seconds", [-3600.0, 3600.0])
def test_hosts_sleep_as_long_as_before_when_the_clock_is_put(
    frontier: Frontier, seconds: float
) -> None:
    frontier.add([Candidate(url("x"), 0.9), Candidate(url("y", "b.test"), 0.1)])
    frontier.delay_host("a.test", 10.0)
    frontier.delay_host("b.test", 5.0)
    assert lease_urls(frontier, now=5.0) == [url("y", "b.test")]
    frontier.put_clock(seconds)
    assert frontier.ready_at("a.test") == 10.0 + seconds
    assert frontier.ready_at("never-heard-of.test") is None
    assert frontier.ready_in(6.0 + seconds) == 4.0
    assert lease_urls(frontier, now=9.9 + seconds) == []
    assert lease_urls(frontier, now=10.0 + seconds) == [url("x")]


def test_ready_in_tells_an_empty_frontier_from_a_sleeping_one(frontier: Frontier) -> None:
    assert frontier.ready_in(0.0) is None
    frontier.add([Candidate(url("x"), 0.9)])
    assert frontier.ready_in(0.0) == 0.0


def test_what_a_person_has_asked_for_is_not_ranked_anew(frontier: Frontier) -> None:
    frontier.add([Candidate(url("seed"), 1e18), Candidate(url("link"), 0.5)])
    frontier.requeue([Candidate(url("find"), ASKED_FOR)])
    wanted = {url("seed"): 0.1, url("find"): 0.2, url("link"): 0.9}
    assert frontier.rescore(lambda _: wanted) == 1
    assert lease_urls(frontier, limit=3) == [url("seed"), url("find"), url("link")]


def test_what_is_much_better_and_ready_soon_is_foreseen(frontier: Frontier) -> None:
    assert isinstance(frontier, Foreseeing)
    hosts = {"fair.test": 1.0, "good.test": 1.4, "best.test": 2.0, "late.test": 9.0}
    assert frontier.better_in(0.0, 5.0, 0.5, {}) is None  # nothing is there at all
    frontier.add(Candidate(url("x", host), priority) for host, priority in hosts.items())
    assert frontier.better_in(0.0, 5.0, 0.5, {}) is None  # the best is ready
    for host, until in (("good.test", 1.0), ("best.test", 3.0), ("late.test", 60.0)):
        frontier.delay_host(host, until)
    assert frontier.better_in(0.0, 5.0, 0.5, {}) == 3.0
    assert frontier.better_in(0.0, 5.0, 0.3, {}) == 1.0
    assert frontier.better_in(0.0, 2.0, 0.5, {}) is None
    assert frontier.better_in(0.0, 99.0, 5.0, {}) == 60.0
    assert frontier.better_in(0.0, 5.0, 5.0, {"late.test": 4.5}) == 4.5  # whatever it was promised
    assert frontier.better_in(0.0, 5.0, 0.5, {"late.test": 4.5, "none.test": 0.5}) == 3.0
    assert frontier.better_in(0.0, 5.0, 9.0, {"late.test": 4.5, "none.test": 0.5}) is None
    assert lease_urls(frontier) == [url("x", "fair.test")]
    assert frontier.better_in(0.0, 99.0, 0.0, {}) is None  # nothing is ready: there is no choice


def test_rescoring_reorders_what_waits(frontier: Frontier) -> None:
    frontier.add(Candidate(url(name), 0.5, name.encode()) for name in "abc")

    def reverse(memories: Mapping[str, bytes]) -> Mapping[str, float]:
        return {known: float(memory[0]) for known, memory in memories.items()}

    assert frontier.rescore(reverse) == 3
    assert lease_urls(frontier) == [url("c"), url("b"), url("a")]


def test_rescoring_keeps_the_order_of_ties_and_of_what_it_does_not_mention(
    frontier: Frontier,
) -> None:
    frontier.add(Candidate(url(name), 0.5) for name in "abcd")
    assert frontier.rescore(lambda _: {url("c"): 0.9}) == 1
    assert frontier.rescore(lambda _: None) == 0
    assert lease_urls(frontier) == [url("c"), url("a"), url("b"), url("d")]


def test_stats_count_every_state(frontier: Frontier) -> None:
    frontier.add(Candidate(url(name, f"{name}.test"), 0.5) for name in "abcd")
    leased = lease_urls(frontier, limit=2)
    frontier.finish(leased[0], Outcome.FETCHED)
    stats = frontier.stats()
    assert (stats.waiting, stats.leased, stats.finished, stats.hosts_waiting) == (2, 1, 1, 2)


def test_stats_count_what_was_discovered_in_all(frontier: Frontier) -> None:
    frontier.add(Candidate(url(name), 0.5) for name in "abcd")
    frontier.finish(lease_urls(frontier, limit=1)[0], Outcome.TIMEOUT)
    frontier.mark_seen(url("elsewhere", "b.test"), Outcome.FETCHED)
    assert frontier.stats().discovered == 5


def test_a_priority_that_is_not_a_number_is_refused(frontier: Frontier) -> None:
    with pytest.raises(FrontierError, match=r"priority of http://a\.test/x is not a number"):
        frontier.add([Candidate(url("x"), math.nan)])
    frontier.add([Candidate(url("y", "b.test"), 0.5), Candidate(url("z"), -math.inf)])
    assert lease_urls(frontier) == [url("y", "b.test"), url("z")]


def test_a_host_that_wakes_earlier_after_all_is_ready_then(frontier: Frontier) -> None:
    frontier.add([Candidate(url("x"), 0.9)])
    frontier.delay_host("a.test", 100.0)
    assert lease_urls(frontier, now=1.0) == []
    frontier.delay_host("a.test", 5.0)
    assert frontier.ready_in(1.0) == 4.0
    assert lease_urls(frontier, now=5.0) == [url("x")]


def test_a_sleeping_host_is_forgotten_when_nothing_of_it_waits(frontier: Frontier) -> None:
    frontier.add([Candidate(url("x"), 0.9)])
    frontier.delay_host("a.test", 100.0)
    assert frontier.ready_in(0.0) == 100.0
    frontier.mark_seen(url("x"), Outcome.DUPLICATE)
    assert frontier.ready_in(0.0) is None
    frontier.add([Candidate(url("y"), 0.9)])
    assert frontier.ready_in(0.0) == 100.0
    assert lease_urls(frontier, now=99.0) == []
    assert lease_urls(frontier, now=100.0) == [url("y")]


def test_a_retry_waits_again_and_a_refresh_too(frontier: Frontier) -> None:
    frontier.add([Candidate(url("retry"), 0.5), Candidate(url("fresh"), 0.4)])
    lease_urls(frontier, limit=2)
    frontier.finish(url("fresh"), Outcome.FETCHED)
    again = [Candidate(url("retry"), 0.2), Candidate(url("fresh"), 0.3, b"again")]
    frontier.requeue([*again, Candidate(url("unseen"), 0.1)])
    assert frontier.stats().waiting == 3
    assert frontier.outcome_of(url("fresh")) is None
    assert lease_urls(frontier) == [url("fresh"), url("retry"), url("unseen")]


def test_a_waiting_url_can_be_requeued_lower(frontier: Frontier) -> None:
    frontier.add(Candidate(url(name), 0.5) for name in "abc")
    frontier.requeue([Candidate(url("a"), 0.1)])
    assert lease_urls(frontier) == [url("b"), url("c"), url("a")]


def test_pages_of_a_host_are_its_finished_leases(frontier: Frontier) -> None:
    frontier.add(Candidate(url(name), 0.5) for name in "abc")
    for name in lease_urls(frontier, limit=2):
        frontier.finish(name, Outcome.SERVER_ERROR)
    frontier.mark_seen(url("never-leased"), Outcome.FETCHED)
    assert frontier.pages_of("a.test") == 2
    assert frontier.pages_of("unknown.test") == 0


def test_the_state_of_a_url_says_where_it_is_and_why(frontier: Frontier) -> None:
    seed = Candidate(url("seed"), 9.0)
    link = Candidate(url("link", "b.test"), 0.5, b"belief", url("seed"), 1)
    frontier.add([seed])
    lease_urls(frontier)
    assert frontier.state_of(url("seed")) == UrlState(seed.url, UrlStatus.LEASED, None, seed)
    frontier.mark_seen(url("moved"), Outcome.FETCHED)
    frontier.add([link])
    frontier.finish(url("seed"), Outcome.FETCHED)
    finished = UrlState(seed.url, UrlStatus.FINISHED, Outcome.FETCHED, seed)
    assert frontier.state_of(seed.url) == finished
    assert frontier.state_of(link.url) == UrlState(link.url, UrlStatus.WAITING, None, link)
    moved = UrlState(url("moved"), UrlStatus.FINISHED, Outcome.FETCHED)
    assert frontier.state_of(url("moved")) == moved
    assert frontier.state_of(url("unknown")) is None


def test_an_outcome_marked_twice_stays_but_a_lease_has_the_last_word(frontier: Frontier) -> None:
    frontier.add([Candidate(url("x"), 0.5)])
    lease_urls(frontier)
    frontier.mark_seen(url("x"), Outcome.FETCHED)
    frontier.mark_seen(url("x"), Outcome.ROBOTS)
    assert frontier.outcome_of(url("x")) is Outcome.FETCHED
    assert frontier.stats().leased == 0
    frontier.finish(url("x"), Outcome.DUPLICATE)
    assert frontier.outcome_of(url("x")) is Outcome.DUPLICATE
    assert frontier.stats().finished == 1


def test_rescoring_may_look_at_the_best_only(frontier: Frontier) -> None:
    frontier.add(Candidate(url(f"{n:02}"), n / 100, b"%d" % n) for n in range(50))
    asked: dict[str, bytes] = {}

    def lower(memories: Mapping[str, bytes]) -> Mapping[str, float]:
        assert len(memories) == 10
        assert set(memories) == {name for name, _ in memories.items()}
        assert sorted(memories.values()) == [b"%d" % n for n in range(40, 50)]
        assert memories[url("45")] == b"45"
        assert url("39") not in memories
        asked.update(memories)
        return dict.fromkeys(memories, 0.0)

    assert frontier.rescore(lower, limit=10) == 10
    assert sorted(asked) == [url(str(n)) for n in range(40, 50)]
    assert lease_urls(frontier, limit=2) == [url("39"), url("38")]


def test_a_big_host_and_many_small_ones_leave_in_order(frontier: Frontier) -> None:
    rng = random.Random(4)
    priorities = {url(str(n)): rng.randrange(400) / 7 for n in range(3000)}
    priorities |= {url("only", f"{n}.test"): rng.random() * 60 for n in range(300)}
    names = list(priorities)
    frontier.add(Candidate(name, priorities[name]) for name in names)
    order = sorted(names, key=lambda name: (-priorities[name], names.index(name)))
    assert lease_urls(frontier, limit=1000) == order[:1000]
    frontier.add(Candidate(name, 99.0) for name in order[2000:2100])
    assert lease_urls(frontier, limit=101) == [*order[2000:2100], order[1000]]
    assert lease_urls(frontier, limit=4000) == order[1001:2000] + order[2100:]


@pytest.mark.parametrize("store", sorted(STORES))
@settings(max_examples=40)
@given(seed=st.integers(0, 1_000_000))
def test_any_history_agrees_with_a_plain_list(store: str, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "first"
        first.mkdir()
        FrontierHistory(STORES[store].open, first, seed, durable=store in DURABLE).run()


@pytest.mark.parametrize("store", DURABLE)
def test_everything_survives_a_restart(store: str, tmp_path: Path) -> None:
    frontier = open_store(store, tmp_path)
    link = Candidate("https://b.test/päth?q=1", 0.25, b"\x00belief", url("seed"), 1)
    foreign = Candidate(url("x"), 0.125, b"", "http://unknown.test/", 7)
    frontier.add([Candidate(url("seed"), 1e18), Candidate(url("in-flight"), 1e17)])
    frontier.lease(2, 0.0)
    frontier.mark_seen(url("moved"), Outcome.FETCHED)
    frontier.add([link, foreign])
    frontier.finish(url("seed"), Outcome.FETCHED)
    frontier.delay_host("b.test", 1_700_000_000.5)
    frontier.rescore(lambda _: {foreign.url: 0.75})
    frontier.close()

    frontier = open_store(store, tmp_path)
    assert frontier.stats().discovered == 5
    assert frontier.outcome_of(url("seed")) is Outcome.FETCHED
    assert frontier.outcome_of(url("moved")) is Outcome.FETCHED
    assert frontier.pages_of("a.test") == 1
    assert frontier.ready_at("b.test") == 1_700_000_000.5
    assert frontier.ready_at("a.test") is None
    assert frontier.add([Candidate(url("moved"), 2.0), Candidate(url("seed"), 2e18)]) == 0
    again = frontier.lease(3, 1_700_000_000.0)
    rescored = Candidate(foreign.url, 0.75, b"", foreign.parent, 7)
    assert list(again) == [Candidate(url("in-flight"), 1e17), rescored]
    assert frontier.ready_in(1_700_000_000.0) == 0.5
    assert list(frontier.lease(1, 1_700_000_000.5)) == [link]
    frontier.close()


def test_a_store_that_needs_no_file_opens_without_and_the_other_says_so() -> None:
    MemoryFrontier.open(None).close()
    with pytest.raises(UsageError, match="needs the path"):
        SqliteFrontier.open(None)
