"""What the lab measures is what the user runs: the same parts, and the same pages in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from benchmarks.wide_web import SMALL
from live_webs import USER_AGENT, Site, learn

import trailhound as th
from trailhound.config.settings import CrawlSettings, FetchSettings, Settings
from trailhound.crawling.budget import Budget
from trailhound.crawling.build import VIRTUAL, Knowledge, Stores, build_crawl, make_guides
from trailhound.crawling.driving import Driver, VirtualTimeLoop
from trailhound.crawling.engine import Crawler
from trailhound.crawling.gate import LinkGate
from trailhound.demo import DemoWeb
from trailhound.demo.crawl import DemoCrawl, demo_page_graph, demo_settings
from trailhound.demo.server import serve_in_thread
from trailhound.fetching import politeness as politeness_module
from trailhound.fetching.base import Fetcher
from trailhound.fetching.client import Answer, HttpClient
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.politeness import Politeness
from trailhound.fetching.replay import ReplayFetcher, seconds_for
from trailhound.fetching.resolver import MappedResolver
from trailhound.frontier.memory import MemoryFrontier
from trailhound.lab.corpora import Corpus, CorpusWriter
from trailhound.lab.importers import no_progress
from trailhound.lab.importers.demo import record_answers, record_knowledge
from trailhound.lab.runner import SECONDS_PER_REQUEST, TopicBench
from trailhound.lab.topics import topic_source
from trailhound.records import PageEvent
from trailhound.sources import Sources

TOPIC = "bee-health"
REQUESTS = 150


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb.generate(7, SMALL)


@pytest.fixture(scope="module")
def corpus(web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "demo.thc"
    with CorpusWriter(path, "demo") as writer:
        record_answers(web, no_progress, writer)
        record_knowledge(web, writer)
    return path


class SlowedClient(HttpClient):
    """Asks the real server, and lets the answer take as long as a recorded one does."""

    async def get(self, url: str, **options: Any) -> Answer:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        with loop.held():
            answer = await super().get(url, **options)
        await asyncio.sleep(seconds_for(url, SECONDS_PER_REQUEST))
        return answer


def settings(strategy: str) -> Settings:
    """Delays of a live crawl; all hosts of the demo web share one address, so that has none."""
    return Settings(
        crawl=CrawlSettings(strategy=strategy),
        fetch=FetchSettings(
            user_agent=USER_AGENT,
            allow_addresses=("*.demo.test",),
            address_delay_seconds=0.0,
            documents="none",  # a recording has HTML alone
            obey_robots=False,  # a recording has no robots.txt
            allow_impolite=True,
        ),
    )


def crawled(
    web: DemoWeb,
    strategy: str,
    in_scope: Callable[[str], bool],
    make_fetcher: Callable[[Politeness], Fetcher],
) -> list[PageEvent]:
    async def crawl() -> list[PageEvent]:
        chosen = settings(strategy)
        guides = await make_guides(chosen, Knowledge(demo_page_graph(web, TOPIC)), seed=3)
        crawler = build_crawl(
            chosen,
            guides,
            lambda politeness, _: make_fetcher(politeness),
            Stores(MemoryFrontier()),
            in_scope=in_scope,
            clock=VIRTUAL,
        )
        try:
            return [event async for event in crawler.crawl(web.start_urls, Budget(REQUESTS))]
        finally:
            await crawler.fetcher.close()

    driver = Driver(VirtualTimeLoop)
    try:
        return driver.run(crawl())
    finally:
        driver.close()


@pytest.mark.parametrize("strategy", ["trail", "intelligent", "best-first"])
def test_a_crawl_over_http_and_its_replay_fetch_the_same_pages_in_the_same_order(
    web: DemoWeb, corpus: Path, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trailhound.fetching.http.HttpClient", SlowedClient)
    # The demo's server is on this machine, which needs no sparing; here it stands for the web.
    monkeypatch.setattr(politeness_module, "is_test_server", lambda *_: False)
    with Corpus.open(corpus) as recorded, serve_in_thread(web) as port:
        resolver = MappedResolver({"*.demo.test": f"127.0.0.1:{port}"}, use_dns=False)
        over_http = crawled(
            web,
            strategy,
            recorded.__contains__,
            lambda politeness: HttpFetcher.from_settings(
                settings(strategy).fetch, politeness, recorded.__contains__, resolver=resolver
            ),
        )
        replayed = crawled(
            web,
            strategy,
            recorded.__contains__,
            lambda politeness: ReplayFetcher(
                recorded, politeness, seconds_per_request=SECONDS_PER_REQUEST
            ),
        )
    assert len(over_http) > REQUESTS / 2
    assert [told(event) for event in over_http] == [told(event) for event in replayed]


def told(event: PageEvent) -> tuple[object, ...]:
    relevance = event.relevance.relevant if event.relevance is not None else None
    at = round(event.at, 6)
    return (event.url, event.final_url, event.outcome, event.requests_total, relevance, at)


def parts(crawler: Crawler) -> Mapping[str, object]:
    """All that may differ between one crawl and another, but for fetcher and stores."""
    gate = crawler.sinks.sinks[0]
    assert isinstance(gate, LinkGate)
    return {
        "strategy": type(crawler.strategy),
        "judge": type(crawler.judge),
        "frontier": type(crawler.frontier),
        "traps": type(gate.traps),
        "host budgets": type(gate.hosts),
        "duplicates": type(crawler.known_texts),
        "politeness": crawler.politeness.settings,
        "concurrency": crawler.concurrency,
        "workers": crawler.workers,
        "patience": crawler.patience_seconds,
        "nofollow": crawler.obeys_nofollow,
        "sources are charged": crawler.charges_sources,
    }


def test_live_lab_demo_and_library_crawls_have_the_same_parts(
    web: DemoWeb, corpus: Path, tmp_path: Path
) -> None:
    graph = demo_page_graph(web, TOPIC)
    with Corpus.open(corpus) as recorded:
        topic = topic_source(recorded).build(TOPIC, n_seed_sets=1, seed=7)
        bench = TopicBench(recorded, topic)
        in_lab = asyncio.run(bench.crawler("trail", 7, Sources()))
    demo = asyncio.run(DemoCrawl(web, 1, TOPIC, graph, "trail", 10).crawler())
    site = Site(learn(web, TOPIC, tmp_path), 1)
    seeds = web.start_urls[:1]
    with (
        site.begun(crawl__strategy="trail", crawl__seeds=seeds) as live,
        th.crawl(site.topic.path, seeds, tmp_path / "own", user_agent=USER_AGENT) as on_disk,
        th.crawl(site.topic.path, seeds, user_agent=USER_AGENT) as in_memory,
    ):
        built = {"live": live._crawler, "lab": in_lab, "demo": demo}
        built["library"] = on_disk._opened()._crawler
        built["library, in memory"] = in_memory._opened()._crawler
        for name, crawler in built.items():
            assert parts(crawler) == parts(in_lab), name


def test_every_part_can_be_turned_off_by_a_setting(web: DemoWeb) -> None:
    off = {
        "crawl.avoid_traps": False,
        "crawl.host_budgets": False,
        "crawl.near_duplicates": False,
        "crawl.charge_sources": False,
    }
    graph = demo_page_graph(web, TOPIC)
    plain = asyncio.run(DemoCrawl(web, 1, TOPIC, graph, "best-first", 10, off).crawler())
    changed = parts(plain)
    assert changed["traps"] is changed["host budgets"] is changed["duplicates"] is type(None)
    assert changed["sources are charged"] is False
    assert demo_settings("best-first").crawl.avoid_traps
