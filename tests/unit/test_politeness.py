from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest

from trailhound.errors import ConfigError
from trailhound.fetching.politeness import NotYetError, Politeness, PoliteSettings, check_politeness

ADDRESS = "93.184.216.34"
OTHER_ADDRESS = "93.184.216.35"


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        event = asyncio.Event()
        self._sleepers.append((self.now + seconds, event))
        await event.wait()

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do ``work``, jumping from one waking-up to the next."""
        task = asyncio.ensure_future(work)
        while not task.done():
            for _ in range(20):
                await asyncio.sleep(0)
            if self._sleepers and not task.done():
                self._sleepers.sort(key=lambda sleeper: sleeper[0])
                self.now, event = self._sleepers.pop(0)
                event.set()
        await task


class Visits:
    """Asks hosts as told and notes when it was let in."""

    def __init__(self, **settings: float) -> None:
        self.time = Time()
        self.politeness = Politeness(
            PoliteSettings(**{"max_wait_seconds": 100.0, **settings}),
            clock=self.time.clock,
            sleep=self.time.sleep,
        )
        self.log: list[tuple[str, float]] = []

    async def visit(self, host: str, address: str = ADDRESS, takes: float = 0.0) -> None:
        turn = await self.politeness.begin(host, address)
        self.log.append((host, self.time.now))
        if takes:
            await self.time.sleep(takes)
        self.politeness.end(host, turn)

    def together(self, *visits: Coroutine[Any, Any, None]) -> list[tuple[str, float]]:
        async def work() -> None:
            await asyncio.gather(*visits)

        asyncio.run(self.time.run(work()))
        return self.log


def test_a_host_is_asked_once_per_delay() -> None:
    visits = Visits(delay_seconds=2.0)
    log = visits.together(*[visits.visit("a") for _ in range(3)])
    assert log == [("a", 0.0), ("a", 2.0), ("a", 4.0)]


def test_the_delay_starts_with_the_answer_and_requests_do_not_overlap() -> None:
    visits = Visits(delay_seconds=2.0)
    log = visits.together(*[visits.visit("a", takes=5.0) for _ in range(2)])
    assert log == [("a", 0.0), ("a", 7.0)]


def test_hosts_at_different_addresses_do_not_wait_for_each_other() -> None:
    visits = Visits()
    log = visits.together(visits.visit("a"), visits.visit("b", OTHER_ADDRESS))
    assert log == [("a", 0.0), ("b", 0.0)]


def test_hosts_at_one_address_share_its_delay() -> None:
    visits = Visits(delay_seconds=2.0, address_delay_seconds=0.5)
    log = visits.together(*[visits.visit(host) for host in "abc"])
    assert log == [("a", 0.0), ("b", 0.5), ("c", 1.0)]


@pytest.mark.parametrize(
    ("one", "other", "second"),
    [
        ("2606:4700::1", "2606:4700::2", 0.5),
        ("2606:4700::1", "2606:4700:0:1::1", 0.0),
        ("::ffff:93.184.216.34", ADDRESS, 0.5),
    ],
)
def test_what_counts_as_one_address(one: str, other: str, second: float) -> None:
    visits = Visits()
    log = visits.together(visits.visit("a", one), visits.visit("b", other))
    assert log == [("a", 0.0), ("b", second)]


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_needs_no_delay_unless_told(address: str) -> None:
    visits = Visits()
    assert visits.together(*[visits.visit("a", address) for _ in range(2)])[1] == ("a", 0.0)
    assert visits.politeness.delay_seconds("a") == 0.0
    visits = Visits(loopback_delay_seconds=0.25)
    assert visits.together(*[visits.visit("a", address) for _ in range(2)])[1] == ("a", 0.25)


def test_a_site_may_wish_for_more_but_not_for_less() -> None:
    visits = Visits(delay_seconds=2.0)
    visits.politeness.wish("a", 7.0)
    visits.politeness.wish("b", 0.1)
    log = visits.together(
        *[visits.visit("a") for _ in range(2)],
        *[visits.visit("b", OTHER_ADDRESS) for _ in range(2)],
    )
    assert sorted(log) == [("a", 0.0), ("a", 7.0), ("b", 0.0), ("b", 2.0)]


def test_a_wish_is_capped() -> None:
    visits = Visits(max_crawl_delay_seconds=60.0)
    visits.politeness.wish("a", 86_400.0)
    assert visits.politeness.delay_seconds("a") == 60.0


def test_a_wish_holds_on_this_machine_too() -> None:
    visits = Visits()
    visits.politeness.wish("a", 3.0)
    log = visits.together(*[visits.visit("a", "127.0.0.1") for _ in range(2)])
    assert log == [("a", 0.0), ("a", 3.0)]


def test_back_off_doubles_until_an_answer_and_has_an_end() -> None:
    politeness = Visits(backoff_seconds=10.0).politeness
    assert [politeness.failed("a") for _ in range(8)] == [10, 20, 40, 80, 160, 320, 640, 900]
    assert politeness.free_in("a") == 900.0
    politeness.succeeded("a")
    assert politeness.failed("a") == 10.0
    assert politeness.free_in("a") == 900.0  # what was agreed before still holds


def test_what_the_server_asks_for_counts_when_it_is_longer() -> None:
    politeness = Visits(backoff_seconds=10.0).politeness
    assert politeness.failed("a", 5.0) == 10.0
    assert politeness.failed("a", 7200.0) == 7200.0
    assert politeness.free_in("a") == 7200.0


def test_too_long_a_wait_is_postponed_and_says_until_when() -> None:
    visits = Visits(delay_seconds=2.0, max_wait_seconds=5.0)
    visits.politeness.hold("a", 30.0)
    with pytest.raises(NotYetError, match=r"a may be asked again in 30\.0 s") as caught:
        visits.together(visits.visit("a"))
    assert caught.value.seconds == 30.0
    assert visits.log == []


def test_a_long_queue_is_postponed() -> None:
    visits = Visits(delay_seconds=2.0, max_wait_seconds=5.0)

    async def visit() -> None:
        try:
            await visits.visit("a")
        except NotYetError as error:
            visits.log.append(("postponed", error.seconds))

    visits.together(*[visit() for _ in range(5)])
    assert [host for host, _ in visits.log].count("a") == 3
    assert ("a", 4.0) in visits.log
    assert ("postponed", 6.0) in visits.log


def test_a_crowded_address_is_postponed_without_taking_its_slot() -> None:
    visits = Visits(address_delay_seconds=3.0, max_wait_seconds=5.0)

    async def visit(host: str) -> None:
        try:
            await visits.visit(host)
        except NotYetError:
            visits.log.append((f"not {host}", visits.time.now))

    visits.together(*[visit(host) for host in "abc"])
    assert sorted(visits.log) == [("a", 0.0), ("b", 3.0), ("not c", 0.0)]
    visits.together(visit("d"))
    assert visits.log[-1] == ("d", 6.0)


def test_a_cancelled_wait_leaves_the_host_usable() -> None:
    visits = Visits(delay_seconds=2.0)

    async def work() -> None:
        await visits.visit("a")
        waiting = asyncio.ensure_future(visits.visit("a"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await visits.visit("a")

    visits.together(work())
    assert len(visits.log) == 2


def test_an_unknown_host_has_the_usual_delay() -> None:
    politeness = Visits(delay_seconds=2.0).politeness
    assert politeness.delay_seconds("new") == 2.0
    assert politeness.free_in("new") == 0.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("delay_seconds", 0.4),
        ("delay_seconds", 0.0),
        ("address_delay_seconds", 0.1),
        ("max_crawl_delay_seconds", 1.0),
    ],
)
def test_impolite_values_need_the_flag(name: str, value: float) -> None:
    settings = replace(PoliteSettings(), **{name: value})
    with pytest.raises(ConfigError, match=f"{name}.*impolite.*allow_impolite"):
        check_politeness(settings, obey_robots=True, allow_impolite=False)
    assert check_politeness(settings, obey_robots=True, allow_impolite=True) is settings


def test_ignoring_robots_needs_the_flag() -> None:
    with pytest.raises(ConfigError, match=r"obey_robots.*allow_impolite"):
        check_politeness(PoliteSettings(), obey_robots=False, allow_impolite=False)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_times_that_are_none_are_refused_even_with_the_flag(value: float) -> None:
    with pytest.raises(ConfigError, match="backoff_seconds"):
        check_politeness(
            PoliteSettings(backoff_seconds=value), obey_robots=True, allow_impolite=True
        )


def test_the_defaults_are_polite() -> None:
    check_politeness(PoliteSettings(), obey_robots=True, allow_impolite=False)
