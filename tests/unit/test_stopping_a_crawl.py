"""A crawl can be told to stop, and does not wait for hosts for ever."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator

import pytest

from trailhound.crawling.budget import StopReason
from trailhound.crawling.driving import drive
from trailhound.crawling.engine import Crawler
from trailhound.errors import UsageError
from trailhound.fetching.base import MayGoOn, always
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import FetchResult, Link, Outcome, Page, Relevance
from trailhound.strategies.baselines import BreadthFirstStrategy


class EndlessWeb:
    """Every page links to two more; each takes a moment."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds

    async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
        await asyncio.sleep(self._seconds)
        links = tuple(Link(f"{url}{name}") for name in "ab")
        return FetchResult(url, Outcome.FETCHED, url, page=Page(url, links=links))

    async def close(self) -> None:
        pass


class NoJudge:
    def judge(self, page: Page) -> Relevance:
        return Relevance(0.0, False)


def crawler(
    frontier: MemoryFrontier | None = None, patience: float | None = None, seconds: float = 0.0
) -> Crawler:
    return Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=frontier or MemoryFrontier(),
        fetcher=EndlessWeb(seconds),
        judge=NoJudge(),
        concurrency=3,
        patience_seconds=patience,
    )


def test_what_is_in_flight_is_dealt_with_and_nothing_new_begins() -> None:
    frontier = MemoryFrontier()
    crawl = crawler(frontier, seconds=0.01)
    events = []
    for event in crawl.run(["http://h.test/"]):
        events.append(event)
        if len(events) == 5:
            crawl.stop()
    assert 5 <= len(events) <= 8
    assert frontier.stats().leased == 0
    assert crawl.stop_reason is StopReason.INTERRUPTED


def test_redirects_are_left_for_the_next_run_when_a_crawl_is_stopped() -> None:
    asked: list[bool] = []

    class Redirecting(EndlessWeb):
        async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
            while may_go_on(url):
                asked.append(True)
                if len(asked) == 5:
                    crawl.stop()
                await asyncio.sleep(0)
            return FetchResult(url, Outcome.POSTPONED, f"{url}next", len(asked), 301)

    frontier = MemoryFrontier()
    crawl = crawler(frontier)
    crawl.fetcher = Redirecting()
    (event,) = crawl.run(["http://h.test/"])
    assert event.outcome is Outcome.POSTPONED
    assert len(asked) == 5
    assert frontier.stats().waiting == 1


def test_a_crawl_that_has_had_its_time_follows_no_redirect() -> None:
    now = [0.0]

    class Slow(EndlessWeb):
        async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
            hops = 1
            while may_go_on(url):
                hops, now[0] = hops + 1, now[0] + 10
                await asyncio.sleep(0)
            return FetchResult(url, Outcome.POSTPONED, f"{url}next", hops, 301)

    crawl = Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=MemoryFrontier(),
        fetcher=Slow(),
        judge=NoJudge(),
        steady=lambda: now[0],
    )
    (event,) = crawl.run(["http://h.test/"], max_seconds=25)
    assert (event.requests, crawl.stop_reason) == (4, StopReason.TIME_SPENT)


def test_the_reason_to_stop_is_the_one_given_and_the_next_run_is_free() -> None:
    crawl = crawler()
    for _ in crawl.run(["http://h.test/"]):
        crawl.stop(StopReason.BARREN)
    reasons = [crawl.stop_reason]
    assert len(list(crawl.run([], max_requests=crawl.requests + 5))) == 5
    reasons.append(crawl.stop_reason)
    assert reasons == [StopReason.BARREN, StopReason.REQUESTS_SPENT]


def test_another_thread_can_stop_a_crawl_that_waits_for_a_host() -> None:
    frontier = MemoryFrontier()
    frontier.delay_host("h.test", time.time() + 3600)
    crawl = crawler(frontier)
    threading.Timer(0.1, crawl.stop).start()
    assert list(crawl.run(["http://h.test/"])) == []
    assert crawl.stop_reason is StopReason.INTERRUPTED
    assert frontier.stats().waiting == 1


def test_patience_ends_when_all_hosts_sleep_for_longer() -> None:
    frontier = MemoryFrontier()
    frontier.delay_host("h.test", time.time() + 3600)
    crawl = crawler(frontier, patience=60.0)
    assert list(crawl.run(["http://h.test/"])) == []
    assert crawl.stop_reason is StopReason.HOSTS_ASLEEP


def test_a_short_sleep_is_waited_for() -> None:
    frontier = MemoryFrontier()
    frontier.delay_host("h.test", time.time() + 0.05)
    assert len(list(crawler(frontier, patience=60.0).run(["http://h.test/"], max_requests=1))) == 1


def test_seeds_are_taken_as_people_write_them_but_must_be_web_addresses() -> None:
    (event,) = crawler().run(["HTTP://H.test#top"], max_requests=1)
    assert event.url == "http://h.test/"
    with pytest.raises(UsageError, match="no web address"):
        list(crawler().run(["h.test"]))


def test_driving_closes_what_it_drives() -> None:
    closed = []

    async def numbers() -> AsyncGenerator[int]:
        try:
            for number in range(10):
                await asyncio.sleep(0)
                yield number
        finally:
            closed.append("events")

    async def close() -> None:
        closed.append("rest")

    assert list(drive(numbers(), close)) == list(range(10))
    assert closed == ["events", "rest"]
    driven = drive(numbers())
    assert next(driven) == 0
    driven.close()
    assert closed == ["events", "rest", "events"]
