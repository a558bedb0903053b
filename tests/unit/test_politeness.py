from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailhound.config.settings import FetchSettings
from trailhound.errors import ConfigError
from trailhound.fetching import politeness as politeness_module
from trailhound.fetching.polite_settings import PoliteSettings, check_politeness, polite_settings
from trailhound.fetching.politeness import NotYetError, Politeness

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


class Ledger:
    """What a frontier keeps over a kill."""

    def __init__(self) -> None:
        self.until: dict[str, float] = {}
        self.writes: list[tuple[str, float]] = []

    def delay_host(self, host: str, until: float) -> None:
        self.until[host] = until
        self.writes.append((host, until))

    def ready_at(self, host: str) -> float | None:
        return self.until.get(host)

    def put_clock(self, seconds: float) -> None:
        self.until = {host: until + seconds for host, until in self.until.items()}


class Visits:
    """Asks hosts as told and notes when it was let in."""

    def __init__(self, **settings: float) -> None:
        self.time = Time()
        self.ledger = Ledger()
        self.wall_ahead = 0.0
        self.settings = PoliteSettings(**{"max_wait_seconds": 100.0, **settings})
        self.politeness = self.after_a_kill()
        self.log: list[tuple[str, float]] = []

    def after_a_kill(self) -> Politeness:
        """What the next process starts with: the ledger and the time."""
        return Politeness(
            self.settings,
            self.ledger,
            clock=self.time.clock,
            wall_clock=lambda: self.time.now + self.wall_ahead,
            sleep=self.time.sleep,
        )

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
@pytest.mark.parametrize("host", ["a.test", "a.test:8080", "a.test."])
def test_a_server_for_tests_needs_no_delay_unless_told(host: str, address: str) -> None:
    visits = Visits()
    assert visits.together(*[visits.visit(host, address) for _ in range(2)])[1] == (host, 0.0)
    assert visits.politeness.delay_seconds(host) == 0.0
    visits = Visits(test_delay_seconds=0.25)
    assert visits.together(*[visits.visit(host, address) for _ in range(2)])[1] == (host, 0.25)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("real.example", "127.0.0.1"),
        ("127.0.0.1:8080", "127.0.0.1"),
        ("localhost", "::1"),
        ("[::1]:81", "::1"),
        ("a.test", "10.0.0.1"),
        ("a.test", ADDRESS),
        ("a.test.example", "127.0.0.1"),
    ],
)
def test_a_tunnel_may_listen_at_any_other_name_of_this_machine(host: str, address: str) -> None:
    visits = Visits(delay_seconds=5.0)
    log = visits.together(*[visits.visit(host, address) for _ in range(2)])
    assert log == [(host, 0.0), (host, 5.0)]


def test_a_delay_that_is_asked_for_holds_everywhere() -> None:
    asked = polite_settings(FetchSettings(delay_seconds=5.0))
    assert (asked.delay_seconds, asked.test_delay_seconds) == (5.0, 5.0)
    assert polite_settings(FetchSettings()).test_delay_seconds == 0.0


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
    visits.politeness.wish("a.test", 3.0)
    log = visits.together(*[visits.visit("a.test", "127.0.0.1") for _ in range(2)])
    assert log == [("a.test", 0.0), ("a.test", 3.0)]


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


def polite() -> Visits:
    return Visits(delay_seconds=1.0, max_wait_seconds=5.0)


def test_a_reserved_host_is_promised_a_rest_and_then_gets_its_delay() -> None:
    visits = polite()
    visits.politeness.reserve("a")
    assert visits.ledger.until["a"] >= 1.0, "before anything is asked"
    visits.together(visits.visit("a", takes=2.0))
    assert visits.ledger.until["a"] >= 2.0 + 1.0, "the fetch may go on"
    visits.politeness.release("a")
    assert visits.ledger.until["a"] == 3.0


def test_a_known_host_costs_two_entries_a_page() -> None:
    visits = polite()
    for _ in range(3):
        visits.ledger.writes.clear()
        visits.time.now += 10.0
        visits.politeness.reserve("a")
        visits.together(visits.visit("a"))
        visits.politeness.release("a")
    assert len(visits.ledger.writes) == 2


def test_each_request_of_a_long_fetch_is_promised_for() -> None:
    visits = polite()
    visits.politeness.reserve("a")
    for takes in (9.0, 8.0, 7.0):  # robots.txt, a redirect within the host, the page
        visits.together(visits.visit("a", takes=takes))
        assert visits.after_a_kill().free_in("a") >= 1.0


def test_a_wish_that_robots_txt_has_just_brought_outlives_a_kill() -> None:
    visits = polite()
    visits.politeness.reserve("a")
    visits.together(visits.visit("a", takes=0.5))
    visits.politeness.wish("a", 5.0)
    visits.together(visits.visit("a", takes=4.0))
    assert visits.after_a_kill().free_in("a") >= 5.0


def test_a_host_that_a_redirect_leads_to_is_promised_a_rest_too() -> None:
    visits = polite()
    seen: list[float] = []

    async def killed_in_the_middle() -> None:
        turn = await visits.politeness.begin("b", ADDRESS)
        await visits.time.sleep(9.0)
        seen.append(visits.after_a_kill().free_in("b"))
        visits.politeness.end("b", turn)

    visits.together(killed_in_the_middle())
    assert seen[0] >= 1.0
    assert visits.ledger.until["b"] == 10.0


def test_the_end_of_a_fetch_takes_nothing_back_while_another_asks_its_host() -> None:
    visits = polite()
    visits.politeness.reserve("a")
    left: list[float] = []

    async def redirected_here() -> None:
        turn = await visits.politeness.begin("a", ADDRESS)
        visits.politeness.release("a")  # robots.txt has refused the URL that was leased
        left.append(visits.after_a_kill().free_in("a"))
        visits.politeness.end("a", turn)

    visits.together(redirected_here())
    assert left[0] >= 1.0
    assert visits.ledger.until["a"] == 1.0


def test_who_gives_up_waiting_leaves_no_promise_behind() -> None:
    visits = polite()

    async def give_up() -> None:
        with pytest.raises(NotYetError):
            await visits.visit("a")

    async def hold() -> None:
        turn = await visits.politeness.begin("a", ADDRESS)
        await visits.time.sleep(2.0)
        visits.politeness.failed("a")
        visits.politeness.end("a", turn)

    visits.together(hold(), give_up())
    assert visits.ledger.until["a"] == 12.0


def test_hosts_without_a_delay_may_be_fetched_together() -> None:
    visits = polite()
    visits.politeness.reserve("a.test")
    visits.together(visits.visit("a.test", "127.0.0.1"))
    visits.politeness.release("a.test")
    assert visits.ledger.until["a.test"] <= visits.time.now
    visits.ledger.writes.clear()
    for _ in range(2):
        visits.politeness.reserve("a.test")
    log = visits.together(*[visits.visit("a.test", "127.0.0.1", takes=3.0) for _ in range(2)])
    assert log[-2:] == [("a.test", 0.0), ("a.test", 0.0)]
    visits.politeness.release("a.test", 30.0)  # the first was told to come back later
    assert visits.ledger.writes == [("a.test", 33.0)], "nobody else is sent there"
    visits.politeness.release("a.test")
    assert visits.ledger.until["a.test"] == 33.0


def test_a_refusal_that_asked_nothing_costs_no_delay() -> None:
    visits = polite()
    visits.together(visits.visit("elsewhere"))  # the fetcher takes turns
    visits.politeness.reserve("a")
    visits.politeness.release("a")
    assert visits.ledger.until["a"] == visits.time.now


def test_a_fetcher_that_takes_no_turns_is_believed_to_have_asked() -> None:
    visits = polite()
    visits.politeness.reserve("a")
    visits.time.now = 3.0
    visits.politeness.release("a")
    assert visits.ledger.until["a"] == 4.0


def test_retry_after_is_kept_over_a_kill_also_without_a_request() -> None:
    visits = polite()
    visits.politeness.failed("a", 7200.0)  # DNS is in trouble
    assert visits.after_a_kill().free_in("a") == 7200.0


def test_forgotten_hosts_are_known_from_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(politeness_module, "_MAX_REMEMBERED", 3)
    visits = polite()
    visits.politeness.reserve("used")
    visits.politeness.hold("held", 100.0)
    visits.politeness.wish("idle", 7.0)
    for number in range(10):
        visits.politeness.succeeded(f"passing {number}")
    assert visits.politeness.delay_seconds("idle") == 1.0, "forgotten"
    assert visits.politeness.free_in("held") == 100.0
    visits.together(visits.visit("used"))
    visits.politeness.release("used")
    assert visits.ledger.until["used"] == 1.0


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_a_wall_clock_that_jumps_shortens_no_delay(jump: float) -> None:
    visits = polite()
    visits.together(visits.visit("a"))
    visits.wall_ahead = jump
    visits.together(visits.visit("a"))
    assert visits.log == [("a", 0.0), ("a", 1.0)]
    assert visits.ledger.until["a"] == jump + 2.0


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_a_host_that_answers_before_the_jump_is_noticed_rests_as_long_as_others(
    jump: float,
) -> None:
    visits = polite()
    visits.ledger.delay_host("earlier", 8.0)

    async def visit_while_the_clock_is_put() -> None:
        turn = await visits.politeness.begin("a", ADDRESS)
        visits.wall_ahead = jump
        visits.politeness.end("a", turn)

    visits.together(visit_while_the_clock_is_put())
    assert visits.politeness.free_in("earlier") == 8.0
    visits.politeness.follow_wall_clock()
    assert visits.ledger.until == {"a": jump + 1.0, "earlier": jump + 8.0}


def test_the_next_request_notices_that_the_clock_was_put() -> None:
    visits = polite()
    visits.ledger.delay_host("earlier", 8.0)
    visits.wall_ahead = -3600.0
    visits.together(visits.visit("a"))
    assert visits.ledger.until["earlier"] == 8.0 - 3600.0


@pytest.mark.parametrize(("asked", "on_tests"), [(None, 0.0), (1.0, 1.0), (3.0, 3.0)])
def test_a_delay_that_was_asked_for_holds_on_tests(asked: float | None, on_tests: float) -> None:
    delays = polite_settings(FetchSettings(delay_seconds=asked))
    assert (delays.delay_seconds, delays.test_delay_seconds) == (asked or 1.0, on_tests)


def test_hosts_of_an_earlier_run_sleep_no_longer_when_the_clock_is_put_back() -> None:
    visits = polite()
    visits.politeness.follow_wall_clock()
    visits.together(visits.visit("a"))
    visits.ledger.delay_host("earlier", 8.0)
    visits.wall_ahead = -3600.0
    visits.politeness.follow_wall_clock()
    assert visits.ledger.until == {"a": 1.0 - 3600.0, "earlier": 8.0 - 3600.0}
    assert visits.politeness.free_in("earlier") == 8.0


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.sampled_from([0.0, 0.2, 1.0, 4.0, 10.0]),  # how long the request takes
            st.sampled_from([0.0, 0.0, 3.0, 8.0]),  # what robots.txt turns out to wish
            st.booleans(),  # leased, or met by a redirect
        ),
        min_size=1,
        max_size=8,
    )
)
def test_no_kill_lets_a_host_be_asked_too_soon(
    visits_made: list[tuple[str, float, float, bool]],
) -> None:
    visits = polite()
    asking: dict[str, int] = {}

    def check() -> None:
        """Killed now: the next process may not ask sooner than the delay from now."""
        restarted = visits.after_a_kill()
        for host in (host for host, requests in asking.items() if requests):
            delay = visits.politeness.delay_seconds(host)
            assert restarted.free_in(host) >= delay - 1e-9

    async def fetch(host: str, takes: float, wish: float, leased: bool) -> None:
        if leased:
            visits.politeness.reserve(host)
        try:
            turn = await visits.politeness.begin(host, ADDRESS)
            asking[host] = asking.get(host, 0) + 1
            check()
            await visits.time.sleep(takes)
            check()
            asking[host] -= 1
            visits.politeness.end(host, turn)
            visits.politeness.wish(host, wish)
            restarted = visits.after_a_kill()
            assert restarted.free_in(host) >= visits.politeness.free_in(host) - 1e-9
        except NotYetError:
            pass
        finally:
            if leased:
                visits.politeness.release(host)

    visits.together(*[fetch(*visit) for visit in visits_made])
    for host, until in visits.ledger.until.items():
        assert until <= visits.time.now + visits.politeness.free_in(host) + 1e-9, "all is settled"


def test_parts_and_turns_heed_a_hold_that_arrives_while_they_wait() -> None:
    time = Time()
    settings = PoliteSettings(max_wait_seconds=5.0, delay_seconds=4.0)
    polite = Politeness(settings, clock=time.clock, wall_clock=time.clock, sleep=time.sleep)
    waited: list[float] = []

    async def parts() -> None:
        await polite.begin_part("a.test")
        await polite.begin_part("a.test")
        third = asyncio.ensure_future(polite.begin_part("a.test"))
        await asyncio.sleep(0)
        polite.failed("a.test", 600.0)
        polite.end_part("a.test")
        with pytest.raises(NotYetError):
            await third
        polite.hold("b.test", 3.0)
        await polite.begin_part("b.test")
        waited.append(time.now)

    async def turns() -> None:
        polite.end("c.test", await polite.begin("c.test", ADDRESS))
        second = asyncio.ensure_future(polite.begin("c.test", ADDRESS))
        await asyncio.sleep(0)
        polite.failed("c.test", 600.0)
        with pytest.raises(NotYetError):
            await second

    asyncio.run(time.run(parts()))
    assert waited == [3.0]
    asyncio.run(time.run(turns()))
