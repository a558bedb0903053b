"""The requests of a crawl never exceed its budget, whatever is in flight."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailhound.config.layers import configure
from trailhound.crawling.budget import Allowance, StopReason
from trailhound.crawling.engine import Crawler
from trailhound.fetching.base import MayGoOn, always
from trailhound.fetching.replay import RecordedResponse, ReplayFetcher
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import FetchResult, Link, Outcome, Page, Relevance
from trailhound.strategies.baselines import BreadthFirstStrategy
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.workspace import Workspace


def test_each_fetch_has_a_request_and_may_ask_for_more() -> None:
    allowance = Allowance(4, lambda: 1)
    allowance.begin("a")
    allowance.begin("b")
    assert allowance.left() == 1
    assert allowance.go_on("a")
    assert not allowance.go_on("b")
    allowance.settle("a")
    assert allowance.left() == 2
    assert allowance.go_on("b")


def test_without_a_limit_everything_is_allowed() -> None:
    allowance = Allowance(None, lambda: 10**9)
    allowance.begin("a")
    assert allowance.left() is None
    assert allowance.go_on("a")


class Web:
    """Page 0 links to the first of each chain of redirects; every chain ends in a page."""

    def __init__(self, hops: list[int]) -> None:
        self._responses: dict[str, RecordedResponse] = {}
        links = tuple(Link(f"http://h.test/{n}-0") for n in range(len(hops)))
        self._add_page("http://h.test/", links)
        for number, length in enumerate(hops):
            for hop in range(length):
                url, target = (f"http://h.test/{number}-{n}" for n in (hop, hop + 1))
                self._responses[url] = RecordedResponse(url, 301, redirect_to=target)
            self._add_page(f"http://h.test/{number}-{length}", ())

    def _add_page(self, url: str, links: tuple[Link, ...]) -> None:
        self._responses[url] = RecordedResponse(url, 200, page=Page(url, links=links))

    @property
    def addresses(self) -> Mapping[str, RecordedResponse]:
        return self._responses

    def lookup(self, url: str) -> RecordedResponse | None:
        return self._responses.get(url)


class SlowReplay(ReplayFetcher):
    """Lets others have their turn before each hop."""

    async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
        await asyncio.sleep(0)
        return await super().fetch(url, may_go_on=may_go_on)


class NeverJudge:
    def judge(self, page: Page) -> Relevance:
        del page
        return Relevance(0.0, False)


@settings(max_examples=40, deadline=None)
@given(
    hops=st.lists(st.integers(0, 4), min_size=1, max_size=6),
    max_requests=st.integers(1, 30),
    concurrency=st.integers(1, 5),
)
def test_requests_stay_within_the_budget_and_nothing_is_lost(
    hops: list[int], max_requests: int, concurrency: int
) -> None:
    web, frontier = Web(hops), MemoryFrontier()
    crawl = Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=frontier,
        fetcher=SlowReplay(web),
        judge=NeverJudge(),
        concurrency=concurrency,
    )
    events = list(crawl.run(["http://h.test/"], max_requests=max_requests))
    assert crawl.requests == sum(event.requests for event in events)
    assert crawl.requests == min(max_requests, len(web.addresses))
    events += crawl.run([], max_requests=1000)
    assert crawl.stop_reason is StopReason.FRONTIER_EMPTY
    assert crawl.requests == len(web.addresses), "no request is made twice"
    fetched = {event.final_url for event in events if event.outcome is Outcome.FETCHED}
    assert len(fetched) == len(hops) + 1


def test_sitemaps_are_asked_for_however_the_clock_is_put(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = Workspace(tmp_path).folder_for("bees")
    topic.prepare()
    flags = {
        "crawl.seeds": ("http://a.test/",),
        "crawl.max_time": 600.0,
        "judge.kind": "keywords:words=bees",
        "fetch.user_agent": "t (+http://a.test/)",
    }
    wall, steady = time.time, time.monotonic
    with open_crawl(topic, CrawlRequest(configure(flags).settings, flags)) as crawl:
        monkeypatch.setattr(time, "time", lambda: wall() + 3600)
        assert crawl._may_ask(0)
        monkeypatch.setattr(time, "monotonic", lambda: steady() + 601)
        assert not crawl._may_ask(1)
        monkeypatch.undo()
