"""Shards that bring links to their owners, tell news and wait for grants crawl as one does."""

from __future__ import annotations

from collections import Counter

import pytest
from benchmarks.shard_harvest import ShardedCrawl, Sharding
from tiny_lab_web import write_tiny_web

from trailhound.crawling.driving import Driver, VirtualTimeLoop
from trailhound.lab.corpora import Corpus
from trailhound.lab.results import RunTask
from trailhound.lab.runner import FinishedCrawl, TopicBench
from trailhound.lab.topics import topic_source
from trailhound.records import Outcome


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> TopicBench:
    corpus = Corpus.open(write_tiny_web(tmp_path_factory.mktemp("lab") / "tiny.thc"))
    return TopicBench(corpus, topic_source(corpus).build("bees", 1, 7))


def crawled(bench: TopicBench, sharding: Sharding, budget: int, strategy: str) -> FinishedCrawl:
    driver = Driver(VirtualTimeLoop)
    try:
        crawl = ShardedCrawl(bench, sharding, 1)
        return driver.run(crawl.run(strategy, bench.topic.seed_sets[0], budget))
    finally:
        driver.close()


def fetched(crawl: FinishedCrawl) -> set[str]:
    return {each.final_url for each in crawl.events if each.outcome is Outcome.FETCHED}


def test_run_to_exhaustion_shards_fetch_what_one_crawl_does(bench: TopicBench) -> None:
    one = bench.crawl(RunTask("bees", 0, "trail"), 1, 1000)
    four = crawled(bench, Sharding(4, by_address=True), 1000, "trail")
    assert fetched(four) == fetched(one)
    assert max(Counter(event.url for event in four.events).values()) == 1


@pytest.mark.parametrize("strategy", ["trail", "best-first"])
def test_shards_stay_within_the_budget_of_all(bench: TopicBench, strategy: str) -> None:
    crawl = crawled(bench, Sharding(4, by_address=True), 30, strategy)
    assert crawl.events[-1].requests_total == sum(each.requests for each in crawl.events) == 30
