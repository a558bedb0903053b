"""What a strategy learned on the way survives the process."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import ClassVar

import pytest

from trailhound.cluster.uniting import unite
from trailhound.config.settings import Settings
from trailhound.records import (
    Candidate,
    CrawledPage,
    FetchResult,
    FinishedPage,
    Link,
    Outcome,
    Page,
    PageEvent,
    Relevance,
)
from trailhound.storage.results import ResultsStore
from trailhound.strategies.baselines import BreadthFirstStrategy
from trailhound.topics.crawls.folder import SHARDS, CrawlFolder, CrawlRecord
from trailhound.topics.runs.strategy_memory import (
    KEEP_EVERY,
    StrategyMemory,
    crawl_to_learn_from,
    latest_snapshot,
)
from trailhound.topics.workspace import Workspace


class Counting(BreadthFirstStrategy):
    name: ClassVar[str] = "counting"

    def __init__(self) -> None:
        self.count = 0
        self.fails = False

    def observe(self, crawled: CrawledPage) -> None:
        if self.fails:
            raise ValueError(crawled.page.url)
        self.count += 1

    def snapshot(self) -> bytes:
        return str(self.count).encode()

    def restore(self, snapshot: bytes) -> None:
        self.count = int(snapshot)


def finished(number: int) -> FinishedPage:
    url = "http://h.test/"
    event = PageEvent(number, url, url, Outcome.FETCHED, None, 0, 1.0, 1, number)
    return FinishedPage(event, Candidate(url, 1.0), FetchResult(url, Outcome.FETCHED, url))


def test_a_snapshot_is_kept_every_few_pages_and_given_back(tmp_path: Path) -> None:
    path, strategy = tmp_path / "strategy.bin", Counting()
    memory = StrategyMemory(strategy, path)
    for number in range(1, KEEP_EVERY + 2):
        strategy.count += 1
        memory.keep(finished(number))
    later = Counting()
    StrategyMemory(later, path).restore(lambda _: None)
    assert later.count == KEEP_EVERY
    memory.write()
    StrategyMemory(later, path).restore(lambda _: None)
    assert later.count == KEEP_EVERY + 1


def test_pages_after_the_snapshot_are_shown_again(tmp_path: Path) -> None:
    path, strategy = tmp_path / "strategy.bin", Counting()
    memory = StrategyMemory(strategy, path)
    memory.keep(finished(40))
    memory.write()
    later = StrategyMemory(strategy, path)
    later.restore(lambda _: None)
    asked: list[int] = []

    def pages_since(number: int) -> list[tuple[int, CrawledPage]]:
        asked.append(number)
        page = Page("http://h.test/", links=(Link("http://h.test/a"),))
        crawled = CrawledPage(page, Relevance(0.5, False), Candidate(page.url, 1.0))
        return [(41, crawled), (43, crawled)]

    later.catch_up(pages_since)
    assert asked == [40]
    assert (strategy.count, later.known_until) == (2, 43)
    strategy.fails = True
    later.catch_up(pages_since)
    assert later.known_until == 43, "an error costs the page and nothing else"
    StrategyMemory(BreadthFirstStrategy(), path).catch_up(pages_since)
    assert asked == [40, 43], "nothing is read for a strategy that remembers nothing"


def test_one_that_left_out_links_is_shown_pages_of_the_snapshot_too(tmp_path: Path) -> None:
    class Rereader(Counting):
        read = 0

        def read_again(self, crawled: CrawledPage) -> None:
            self.read += 1

    path, strategy = tmp_path / "strategy.bin", Rereader()
    memory = StrategyMemory(strategy, path)
    memory.keep(finished(40))
    memory.write()
    later = StrategyMemory(strategy, path)
    later.restore(lambda _: None)
    page = Page("http://h.test/")
    crawled = CrawledPage(page, Relevance(0.5, False), Candidate(page.url, 1.0))
    later.catch_up(lambda first: [(first + 1, crawled), (40, crawled), (41, crawled)])
    assert (strategy.read, strategy.count, later.known_until) == (2, 1, 41)


def test_a_snapshot_of_an_earlier_version_is_taken_as_it_is(tmp_path: Path) -> None:
    path, strategy = tmp_path / "strategy.bin", Counting()
    path.write_bytes(b"7")
    memory = StrategyMemory(strategy, path)
    memory.restore(lambda _: None)
    assert strategy.count == 7
    assert memory.known_until > 1_000_000, "nothing is shown again"


def test_a_snapshot_that_makes_no_sense_is_told_and_passed_over(tmp_path: Path) -> None:
    path, told = tmp_path / "strategy.bin", list[str]()
    path.write_bytes(b"nonsense")
    strategy = Counting()
    StrategyMemory(strategy, path).restore(told.append)
    assert strategy.count == 0
    assert "learns anew" in told[0]


def test_nothing_is_kept_of_a_strategy_that_learns_nothing(tmp_path: Path) -> None:
    memory = StrategyMemory(BreadthFirstStrategy(), tmp_path / "strategy.bin")
    memory.write()
    memory.restore(lambda _: None)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def sharded(tmp_path: Path) -> CrawlFolder:
    """A crawl whose second shard has dealt with most pages, and the first has the largest file."""
    topic = Workspace(tmp_path).folder_for("bees")
    topic.prepare()
    whole = CrawlFolder(topic)
    record = CrawlRecord(topic="bees", settings=Settings(), created_at=1.0, states=0, model="m")
    for number, pages in enumerate((1, 3, 2)):
        shard = CrawlFolder(topic, whole.path / SHARDS / f"{number:03d}")
        shard.make()
        shard.write(record)
        shard.strategy.write_bytes(f"shard {number}".encode() + b"." * (9 - number))
        with closing(ResultsStore(shard.results)) as results:
            for page in range(1, pages + 1):
                results.keep(finished(page))
    whole.write(record)
    return whole


def test_a_crawl_in_shards_has_learned_what_its_largest_shard_has(sharded: CrawlFolder) -> None:
    largest = sharded.path / SHARDS / "001" / "strategy.bin"
    assert latest_snapshot(sharded) == largest
    sharded.strategy.write_bytes(b"before there were shards")
    assert latest_snapshot(sharded) == largest
    assert unite(sharded) == 3
    assert sharded.strategy.read_bytes().endswith(b"shard 1........")
    assert latest_snapshot(sharded) == sharded.strategy


def test_shards_that_have_no_page_have_learned_nothing(sharded: CrawlFolder) -> None:
    for shard in sharded.shards():
        shard.results.unlink()
    assert latest_snapshot(sharded) is not None
    sharded.strategy.write_bytes(b"before there were shards")
    assert latest_snapshot(sharded) == sharded.strategy


def test_a_new_crawl_in_shards_begins_with_what_an_earlier_one_has_learned(
    sharded: CrawlFolder,
) -> None:
    new = CrawlFolder(sharded.topic, sharded.path / SHARDS / "001")
    assert crawl_to_learn_from(new, Settings(), "m") is None  # a shard of the same crawl
    alone = crawl_to_learn_from(sharded, Settings(), "m")
    aside = sharded.set_aside()
    assert aside is not None
    in_shards = crawl_to_learn_from(new, Settings(), "other")
    assert alone == (new.strategy, True)
    assert in_shards == (aside / SHARDS / "001" / "strategy.bin", False)
