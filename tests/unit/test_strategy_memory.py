"""What a strategy learned on the way survives the process."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

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
from trailhound.strategies.baselines import BreadthFirstStrategy
from trailhound.topics.strategy_memory import KEEP_EVERY, StrategyMemory


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
