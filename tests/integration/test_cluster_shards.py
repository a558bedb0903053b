"""Shards that work together in one process, without Ray: links, redirects, turns, budgets."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from benchmarks.wide_web import TINY, Asked, WideServer, WideWeb, in_thread
from live_webs import USER_AGENT, TinySite, learn, wait_until
from test_live_crawls import site_of_sitemaps

from trailhound.cluster.layout import ClusterFolder
from trailhound.cluster.messages import Heard, Letter, Receipt, ShardState, Turn, TurnWish
from trailhound.cluster.shard import Shard, shard_settings
from trailhound.config.layers import configure
from trailhound.config.settings import Settings
from trailhound.crawling.engine import SEED_PRIORITY
from trailhound.demo import DemoWeb
from trailhound.records import Outcome
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.workspace import TopicFolder, Workspace

TOPIC = "bee-health"
SHARDS = 3
MAPS = [f"/{number}.xml" for number in range(1, 5)]


@pytest.fixture(scope="module")
def wide() -> WideWeb:
    return WideWeb(DemoWeb.generate(parameters=TINY), 1)


@pytest.fixture(scope="module")
def learned(wide: WideWeb, tmp_path_factory: pytest.TempPathFactory) -> TopicFolder:
    return learn(wide.demo, TOPIC, tmp_path_factory.mktemp("workspace"))


@dataclass
class Together:
    """Shards of one crawl, each in a thread, which call each other."""

    topic: TopicFolder
    request: CrawlRequest
    shards: dict[int, Shard] = field(default_factory=dict)
    threads: list[threading.Thread] = field(default_factory=list)

    def __post_init__(self) -> None:
        folder = ClusterFolder(self.topic)
        placement = folder.placement() if folder.is_sharded() else folder.begin(SHARDS)
        for number in range(placement.shards):
            self.shards[number] = Shard(folder.shard(number), placement, self)

    def start(self, limit: int | None = None) -> None:
        for shard in self.shards.values():
            shard.open(self.request, limit=limit)
        for shard in self.shards.values():
            thread = threading.Thread(target=shard.run)
            thread.start()
            self.threads.append(thread)

    async def deliver(self, shard: int, batch: bytes) -> Receipt:
        return await self.shards[shard].receive(batch)

    async def ask_turn(self, shard: int, wish: TurnWish) -> Turn:
        return self.shards[shard].give_turn(wish)

    async def ask_news(self, shard: int, receiver: int, heard: Heard) -> Letter:
        return self.shards[shard].news_for(receiver, heard)

    def states(self) -> list[ShardState]:
        return [shard.state() for shard in self.shards.values()]

    def is_done(self) -> bool:
        """Nothing has happened between two looks at shards that had nothing to do."""
        first = self.states()
        second = self.states()
        return all(state.is_done for state in (*first, *second)) and [
            state.activity for state in first
        ] == [state.activity for state in second]

    def stop(self) -> None:
        for shard in self.shards.values():
            shard.stop()
        for thread in self.threads:
            thread.join(60)


def _request(port: int, wide: WideWeb, **more: Any) -> CrawlRequest:
    flags = {
        "crawl.seeds": (wide.seed,),
        "crawl.strategy": "breadth-first",
        "fetch.user_agent": USER_AGENT,
        "fetch.resolve": (f"*.demo.test=127.0.0.1:{port}",),
        "fetch.allow_addresses": ("*.demo.test",),
        "output.archive": False,
        **{name.replace("__", "."): value for name, value in more.items()},
    }
    return CrawlRequest(configure(flags).settings, flags)


def _fetched(folder: CrawlFolder) -> list[str]:
    with Results(folder.results) as results:
        return [page.address for page in results.since(0) if page.outcome is Outcome.FETCHED]


def _single(request: CrawlRequest, topic: TopicFolder, folder: Path) -> set[str]:
    with open_crawl(topic, request, folder=CrawlFolder(topic, folder)) as crawl:
        for _ in crawl.run():
            pass
    return set(_fetched(crawl.folder))


def test_shards_fetch_what_one_crawl_fetches_and_nothing_twice(
    wide: WideWeb, learned: TopicFolder, tmp_path: Path
) -> None:
    alone, shared = WideServer(wide), WideServer(wide)
    with in_thread(alone) as port:
        request = _request(port, wide, crawl__max_requests=100_000)
        wanted = _single(request, learned, tmp_path / "alone")
    with in_thread(shared) as port:
        request = _request(port, wide, crawl__max_requests=100_000)
        together = Together(learned, request)
        together.start()
        wait_until(lambda: sum(state.pages for state in together.states()) > 200)
        together.stop()  # and once more, from what is on disk
        together = Together(learned, request)
        together.start()
        wait_until(together.is_done)
        together.stop()
    folders = ClusterFolder(learned).shards()
    fetched = Counter(url for folder in folders for url in _fetched(folder))
    assert set(fetched) == wanted
    assert max(fetched.values()) == 1
    pages = Counter(asked.url for asked in shared.asked)
    assert {url for url in pages if not url.endswith("/robots.txt")} == {
        asked.url for asked in alone.asked if not asked.url.endswith("/robots.txt")
    }


def test_hosts_at_one_address_are_asked_in_turn_whichever_shards_own_them(
    wide: WideWeb, learned: TopicFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[float] = []
    wait = Shard.wait_for_address

    async def noted(shard: Shard, address: str, *times: float) -> float:
        late = await wait(shard, address, *times)
        if not late:
            turns.append(time.monotonic())
        return late

    monkeypatch.setattr(Shard, "wait_for_address", noted)
    server, topic = WideServer(wide), Workspace(tmp_path).folder_for("empty")
    topic.prepare()
    with in_thread(server) as port:
        more = {"fetch__delay_seconds": 0.1, "fetch__allow_impolite": True}
        judge = {"judge__kind": "keywords:words=bees"}
        together = Together(topic, _request(port, wide, **more, **judge))
        together.start(limit=10)
        wait_until(together.is_done)
        assert {state.requests for state in together.states()} == {10}
        asyncio.run(together.shards[0].allow(15))
        wait_until(lambda: together.states()[0].requests == 15)
        together.stop()
    assert len(turns) >= 35
    gaps = [later - sooner for sooner, later in pairwise(turns)]
    assert sum(gaps) >= 0.1 * len(gaps)
    assert min(gaps) >= 0.08, sorted(gaps)[:5]  # a thread may be held up before it tells the time
    by_host: dict[str, list[Asked]] = {}
    for asked in server.asked:
        by_host.setdefault(asked.host, []).append(asked)
    visits = [pairwise(each) for each in by_host.values()]
    assert all(later.at - sooner.done >= 0.1 for each in visits for sooner, later in each)


def test_sitemaps_are_read_with_requests_that_are_granted(tmp_path: Path) -> None:
    topic = Workspace(tmp_path).folder_for("empty")
    topic.prepare()
    flags = {
        "crawl.seeds": ("http://tiny.test/",),
        "crawl.sitemaps": True,
        "judge.kind": "keywords:words=bees",
        "fetch.user_agent": USER_AGENT,
        "fetch.allow_addresses": ("tiny.test",),
        "fetch.delay_seconds": 0.0,
        "fetch.allow_impolite": True,
    }
    with TinySite(site_of_sitemaps()) as server:
        flags["fetch.resolve"] = (f"tiny.test=127.0.0.1:{server.port}",)
        together = Together(topic, CrawlRequest(configure(flags).settings, flags))
        shard = together.shards[ClusterFolder(topic).placement().owner("http://tiny.test/")]
        together.start(limit=0)
        try:
            wait_until(together.is_done)
            assert server.paths() == []
            for limit in (1, 2, 3, 100):  # as a driver grants what a shard wants
                look = asyncio.run(shard.look(0, 0))
                assert look.best == [(1, SEED_PRIORITY)]
                assert look.state.hosts_waiting
                asyncio.run(shard.allow(limit))
                made = min(limit, 13)
                wait_until(lambda made=made: shard.state().requests == made and together.is_done())
        finally:
            together.stop()
        assert server.paths()[:7] == ["/sitemap.xml", "/0.xml", "/moved.xml", *MAPS]
        assert len(server.paths()) == 13
        again = Together(topic, CrawlRequest(configure(flags).settings, flags, resume=True))
        again.start()
        try:
            wait_until(again.is_done)
        finally:
            again.stop()
        assert len(server.paths()) == 13, "opened again, it has what the sitemaps list"


def test_shards_wait_for_no_host_when_time_alone_limits_their_crawl() -> None:
    limits: list[dict[str, Any]] = [{"crawl.max_time": 60.0}, {"crawl.max_requests": 9}]
    waits = [shard_settings(Settings().changed(each)).crawl.wait_for_better for each in limits]
    assert waits == [0.0, Settings().crawl.wait_for_better]
