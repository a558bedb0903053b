"""Placement of URLs, turns at shared addresses, outbox and inbox: the parts of a shard."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import Command
from trailhound.cluster.addresses import (
    ALONE_SECONDS,
    EXPECTED_SECONDS,
    AddressOffice,
    SharedAddresses,
)
from trailhound.cluster.fleet import least_loaded, next_move
from trailhound.cluster.layout import Placement
from trailhound.cluster.messages import Batch, Turn, TurnWish
from trailhound.cluster.outbox import Inbox, Outbox, RoutedFrontier
from trailhound.cluster.places import Epoch, FencedError
from trailhound.crawling.driving import Driver, VirtualTimeLoop, loop_time
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.records import Candidate, Outcome

PAUSE = 0.5


def test_a_domain_is_in_one_shard_and_domains_are_in_all() -> None:
    placement = Placement(8)
    assert placement.owner("https://news.bbc.co.uk/x") == placement.owner("http://bbc.co.uk:8080/")
    assert placement.owner("https://bbc.co.uk./") == placement.owner("https://bbc.co.uk/")
    counts = Counter(placement.owner(f"https://www.site{n}.org/") for n in range(8_000))
    assert len(counts) == 8
    assert max(counts.values()) < 1.2 * min(counts.values())


def test_placement_never_changes() -> None:
    """Shards on disk were filled by it."""
    owners = [Placement(16).owner(f"https://site{n}.org/") for n in range(6)]
    assert owners == [6, 8, 3, 13, 5, 9]


Asks = list[tuple[int, float, float]]
"""Which shard asks, how long after the one before, and how long question and answer travel."""


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.floats(0, 3), st.floats(0, 1)), min_size=2, max_size=25
    )
)
def test_shards_keep_the_pause_at_an_address_whatever_the_wire_does(asks: Asks) -> None:
    driver = Driver(VirtualTimeLoop)
    try:
        asked_at = driver.run(_requests(asks))
    finally:
        driver.close()
    gaps = [later - sooner for sooner, later in pairwise(asked_at)]
    assert all(gap >= PAUSE - 1e-6 for gap in gaps), gaps
    assert len(asked_at) == len(asks)


async def _requests(asks: Asks) -> list[float]:
    """When an address was asked by shards that share it."""
    office, asked_at = AddressOffice(clock=loop_time), []
    travels = {shard: 0.0 for shard, _, _ in asks}

    async def over_the_wire(wish: TurnWish) -> Turn:
        seconds = travels[wish.asker[0]]
        await asyncio.sleep(seconds)
        turn = office.ask(wish)
        await asyncio.sleep(seconds)
        return turn

    shards = {
        shard: SharedAddresses((shard, 1), over_the_wire, clock=loop_time) for shard in travels
    }

    async def request(shard: int) -> None:
        while late := await shards[shard].wait("192.0.2.1", 0.0, PAUSE, 5.0):
            await asyncio.sleep(late)
        asked_at.append(loop_time())

    tasks = []
    for shard, after, seconds in asks:
        await asyncio.sleep(after)
        travels[shard] = seconds
        tasks.append(asyncio.create_task(request(shard)))
    await asyncio.gather(*tasks)
    return asked_at


def test_an_address_that_one_shard_wants_is_asked_for_seldom() -> None:
    office, questions = AddressOffice(clock=loop_time), 0

    async def ask(wish: TurnWish) -> Turn:
        nonlocal questions
        questions += 1
        return office.ask(wish)

    async def requests() -> float:
        alone = SharedAddresses((0, 1), ask, clock=loop_time)
        for _ in range(100):
            assert not await alone.wait("192.0.2.1", 0.0, PAUSE, 5.0)
        return loop_time()

    driver = Driver(VirtualTimeLoop)
    seconds = driver.run(requests())
    driver.close()
    assert 99 * PAUSE <= seconds <= 101 * PAUSE
    assert questions <= 2 + seconds / ALONE_SECONDS


@pytest.mark.parametrize("at_most", [0.0, 1.0, 60.0])
def test_whoever_is_far_from_the_office_gets_its_share_of_turns(at_most: float) -> None:
    office, travels = AddressOffice(clock=loop_time), (0.0, 0.005, 0.05)
    counts = Counter[int]()

    async def requests(shard: int, until: float) -> None:
        async def ask(wish: TurnWish) -> Turn:
            await asyncio.sleep(travels[shard] / 2)
            turn = office.ask(wish)
            await asyncio.sleep(travels[shard] / 2)
            return turn

        addresses = SharedAddresses((shard, 1), ask, clock=loop_time)

        async def worker() -> None:
            while loop_time() < until:
                if late := await addresses.wait("192.0.2.1", 0.0, PAUSE, at_most):
                    await asyncio.sleep(late)
                else:
                    counts[shard] += 1

        await asyncio.gather(*(worker() for _ in range(4)))

    async def all_shards() -> None:
        until = loop_time() + 120.0
        await asyncio.gather(*(requests(shard, until) for shard in range(len(travels))))

    driver = Driver(VirtualTimeLoop)
    driver.run(all_shards())
    driver.close()
    assert min(counts.values()) > 0.7 * max(counts.values()), counts
    assert counts.total() > 0.75 * 120.0 / PAUSE


def test_a_shard_that_does_not_come_again_holds_nobody_up_for_long() -> None:
    now = 0.0
    office = AddressOffice(clock=lambda: now)

    def ask(shard: int) -> Turn:
        return office.ask(TurnWish("192.0.2.1", (shard, 1), 0.0, PAUSE, 0.05, 0.0))

    assert ask(0).hold
    due = ask(1).seconds
    now = due + EXPECTED_SECONDS / 2
    later = ask(0)
    assert not later.hold
    assert later.seconds > 0
    now = due + 1.1 * EXPECTED_SECONDS
    assert ask(0).hold


def test_a_shard_that_waits_for_its_own_host_holds_nobody_up() -> None:
    office = AddressOffice(clock=lambda: 0.0)
    assert not office.ask(TurnWish("192.0.2.1", (0, 1), 4.5, PAUSE, 0.05, 5.0)).hold
    assert office.ask(TurnWish("192.0.2.1", (1, 1), 0.0, PAUSE, 0.05, 5.0)).hold


def test_an_office_that_was_reopened_keeps_promises_that_it_does_not_know() -> None:
    office = AddressOffice(is_reopened=True, clock=lambda: 0.0)
    turn = office.ask(TurnWish("192.0.2.1", (0, 1), 0.0, PAUSE, 0.25, 5.0))
    assert not turn.hold
    assert turn.seconds >= ALONE_SECONDS


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[SqliteFrontier]:
    opened = SqliteFrontier(tmp_path / "frontier.db")
    yield opened
    opened.close()


def _candidate(url: str, priority: float = 0.5) -> Candidate:
    return Candidate(url, priority, b"memory", "https://parent.org/", 3)


def _routed(path: Path, folder: Path) -> tuple[SqliteFrontier, Outbox, RoutedFrontier]:
    inner = SqliteFrontier(path)
    outbox = Outbox(inner)
    return inner, outbox, RoutedFrontier(inner, outbox, _owner, 0, Epoch.claim(folder))


def _owner(url: str) -> int:
    return 1 if "theirs" in url else 0


def test_links_of_others_wait_in_the_outbox_with_the_page_that_has_them(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    _, outbox, routed = _routed(path, tmp_path)
    routed.add([_candidate("https://ours.org/")])
    assert routed.lease(1, 0.0)
    theirs = [_candidate(f"https://theirs.org/{n}") for n in range(3)]
    assert routed.add([*theirs, theirs[0], _candidate("https://ours.org/2")]) == 4
    routed.finish("https://ours.org/", Outcome.FETCHED)
    assert outbox.next(1, 0) == (3, theirs)
    routed.close()
    inner, outbox, _ = _routed(path, tmp_path)
    assert (len(outbox), outbox.shards()) == (3, [1])
    assert outbox.next(1, 2) == (3, theirs[2:])
    assert outbox.forget(1, 2) == 2
    assert outbox.forget(1, 3) == 1
    inner.commit()
    assert (outbox.next(1, 0), len(outbox)) == ((0, []), 0)
    inner.close()


def test_a_page_that_is_not_finished_sends_nothing(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    inner, _, routed = _routed(path, tmp_path)
    routed.add([_candidate("https://theirs.org/")])
    inner._store.close(commit=False)  # as a kill does
    inner, outbox, _ = _routed(path, tmp_path)
    assert not len(outbox)
    inner.close()


def test_what_was_sent_is_sent_again_only_when_it_matters_more(tmp_path: Path) -> None:
    inner, _, routed = _routed(tmp_path / "frontier.db", tmp_path)
    url = "https://theirs.org/"
    added = [routed.add([_candidate(url, priority)]) for priority in (0.5, 0.5, 0.4, 0.9, 0.8)]
    assert added == [1, 0, 0, 1, 0]
    inner.close()


def test_a_batch_that_comes_twice_is_taken_in_once(frontier: SqliteFrontier) -> None:
    Outbox(frontier)
    inbox, added = Inbox(frontier), list[Candidate]()
    batch = Batch(4, 1, 7, [_candidate("https://ours.org/")])
    assert [inbox.take_in(batch, added.extend) for _ in range(2)] == [7, 7]
    frontier.commit()
    assert Inbox(frontier).take_in(batch, added.extend) == 7
    assert len(added) == 1
    # A sender that was opened again counts anew.
    assert inbox.take_in(Batch(4, 2, 1, batch.links), added.extend) == 1
    assert len(added) == 2


def test_whoever_opened_a_shard_before_is_out(tmp_path: Path) -> None:
    first = Epoch.claim(tmp_path / "000")
    first.check()
    second = Epoch.claim(tmp_path / "000")
    second.check()
    with pytest.raises(FencedError, match="given to another worker"):
        first.check()


def test_shards_are_as_many_as_a_machine_has_processors_to_bear() -> None:
    capacity = {"large": 4.0, "small": 2.0}
    owners: dict[int, str] = {}
    for shard in range(6):
        owners[shard] = least_loaded(owners, capacity)
    assert Counter(owners.values()) == {"large": 4, "small": 2}
    assert next_move(owners, capacity) is None


def test_a_machine_that_joins_gets_its_share_and_no_more() -> None:
    owners, moves = dict.fromkeys(range(7), "first"), 0
    capacity = {"first": 1.0, "second": 1.0, "third": 1.0}
    while (move := next_move(owners, capacity)) is not None:
        owners[move.shard] = move.machine
        moves += 1
    assert (moves, sorted(Counter(owners.values()).values())) == (4, [2, 2, 3])
    assert next_move(dict.fromkeys(range(3), "gone"), capacity) is None


def test_without_ray_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, trailhound: Command
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    judge = ("--judge", "keywords:words=bees", "--user-agent", "bot (+http://www.example.org/)")
    seed = ("--seed", "http://www.example.org/")
    done = trailhound("crawl", "bees", *seed, *judge, "--cluster", "local")
    assert done.code == 2
    assert "pip install 'trailhound[cluster]'" in done.err.replace("\n", " ")
