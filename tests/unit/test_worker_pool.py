"""Crawls whose pages are analysed by worker processes."""

from __future__ import annotations

import asyncio
import errno
import logging
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import cast

import msgspec
import pytest
from worker_parts import (
    PAGES,
    ClumsyJudge,
    CountingStrategy,
    DeadlyJudge,
    LengthJudge,
    MadeUpWeb,
    RelevanceStrategy,
    SlowJudge,
    address,
    deadly_recipe,
    failing_recipe,
)

from trailhound.crawling import worker_pool
from trailhound.crawling.analysis import Analysis, AnalystRecipe
from trailhound.crawling.engine import Crawler
from trailhound.crawling.processes import PageLimits, quiet_command_line, start_process
from trailhound.crawling.worker import LENGTH
from trailhound.errors import ConfigError, TrailhoundError
from trailhound.frontier.memory import MemoryFrontier
from trailhound.judges.base import RelevanceJudge
from trailhound.records import Outcome, Page, PageEvent, Relevance
from trailhound.strategies.base import Strategy


def crawl(
    strategy: Strategy,
    *,
    judge: RelevanceJudge | None = None,
    workers: int = 2,
    concurrency: int = 1,
    web: MadeUpWeb | None = None,
    recipe: AnalystRecipe | None = None,
    known_texts: TextIndex | None = None,
) -> list[PageEvent]:
    crawler = Crawler(
        strategy=strategy,
        frontier=MemoryFrontier(),
        fetcher=web or MadeUpWeb(),
        judge=judge or LengthJudge(),
        workers=workers,
        concurrency=concurrency,
        recipe=recipe,
        known_texts=known_texts,
        clock=lambda: 0.0,
    )
    return list(crawler.run([address(0)]))


class TextIndex:
    """Finds pages with the same fingerprint."""

    def __init__(self) -> None:
        self.urls: dict[int, str] = {}

    def find_or_add(self, fingerprint: int, url: str, *, noindex: bool = False) -> str | None:
        del noindex
        earlier = self.urls.setdefault(fingerprint, url)
        return earlier if earlier != url else None


@pytest.mark.parametrize("strategy", [RelevanceStrategy, CountingStrategy])
def test_workers_change_nothing_in_a_crawl_page_by_page(strategy: Callable[[], Strategy]) -> None:
    texts = TextIndex(), TextIndex()
    alone = crawl(strategy(), workers=1, known_texts=texts[0])
    together = crawl(strategy(), workers=2, known_texts=texts[1])
    assert together == alone
    assert len(alone) > PAGES
    assert texts[0].urls == texts[1].urls
    assert texts[0].urls


def test_pages_are_digested_in_the_order_in_which_their_fetches_completed() -> None:
    web, strategy = MadeUpWeb(), CountingStrategy()
    events = crawl(strategy, judge=SlowJudge(), concurrency=8, web=web)
    assert [event.url for event in events] == web.fetched
    fetched = [event.url for event in events if event.outcome is Outcome.FETCHED]
    assert strategy.seen == fetched
    assert len(fetched) == PAGES


def test_an_error_in_a_worker_costs_its_page_and_is_explained(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        events = {event.url: event for event in crawl(RelevanceStrategy(), judge=ClumsyJudge())}
    broken = events[address(4)]
    assert broken.outcome is Outcome.BROKEN
    assert broken.why == "the judge failed: ValueError: page four is too much"
    assert broken.title == "Page 4"
    assert "worker_parts.py" in caplog.text
    assert "in judge" in caplog.text
    others = [event for event in events.values() if event.outcome is Outcome.FETCHED]
    assert len(others) == PAGES - 1 - unreachable_without(4)


def unreachable_without(number: int) -> int:
    """Pages that only this page links to, directly or not."""
    known, waiting = {0}, [0]
    while waiting:
        page = waiting.pop()
        for target in (2 * page + 1, 2 * page + 2, (7 * page + 3) % (PAGES + 5)):
            if target not in known and target < PAGES:
                known.add(target)
                waiting += [target] if target != number else []
    return PAGES - len(known)


def test_a_page_that_kills_its_worker_is_given_up_and_the_crawl_goes_on() -> None:
    events = {
        event.url: event for event in crawl(RelevanceStrategy(), judge=DeadlyJudge(), concurrency=6)
    }
    broken = events[address(4)]
    assert broken.outcome is Outcome.BROKEN
    assert broken.why == "2 worker processes died on this page (exit code 9)"
    others = [event for event in events.values() if event.outcome is Outcome.FETCHED]
    assert len(others) == PAGES - 1 - unreachable_without(4)


def test_an_answer_that_comes_when_its_worker_is_being_killed_is_no_other_pages() -> None:
    class Killed:
        pid = os.getpid()

        def kill(self) -> None: ...

    async def answers() -> list[bool]:
        pool = worker_pool.WorkerPool(failing_recipe, 1, PageLimits(1.0, 1))
        worker = worker_pool._Worker(pool, cast(SpawnProcess, Killed()))
        loop = asyncio.get_running_loop()
        jobs = [worker_pool._Job(address(n), b"", loop.create_future()) for n in range(2)]
        for job in jobs:
            worker.give(job)
        worker.has_started = True
        worker._kill_late()
        answer = msgspec.msgpack.encode(Analysis(page=Page(address(0))))
        worker.data_received(LENGTH.pack(len(answer)) + answer)
        return [job.answer.done() for job in jobs]

    assert asyncio.run(answers()) == [True, False]


def test_a_worker_that_dies_for_another_reason_costs_nothing(tmp_path: Path) -> None:
    judge = DeadlyJudge(tmp_path / "diary")
    events = crawl(RelevanceStrategy(), judge=judge, concurrency=6)
    assert (tmp_path / "diary").exists()
    assert sum(event.outcome is Outcome.FETCHED for event in events) == PAGES
    assert not any(event.outcome is Outcome.BROKEN for event in events)


@pytest.mark.parametrize(
    ("recipe", "reason"),
    [
        (failing_recipe, "could not start: FileNotFoundError: there is no model"),
        (deadly_recipe, r"die while they start \(exit code 5\)"),
    ],
)
def test_workers_that_cannot_start_end_the_crawl_with_the_reason(
    recipe: AnalystRecipe, reason: str
) -> None:
    with pytest.raises(TrailhoundError, match=reason):
        crawl(RelevanceStrategy(), recipe=recipe)
    assert not multiprocessing.active_children()


def test_a_worker_that_this_machine_cannot_start_now_is_started_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(worker_pool, "_LAUNCH_AGAIN_SECONDS", 0.0)
    failures = [OSError(errno.EMFILE, "Too many open files")]

    def start_later(process: SpawnProcess, *, imports_main: bool) -> None:
        if failures:
            raise failures.pop()
        start_process(process, imports_main=imports_main)

    monkeypatch.setattr(worker_pool, "start_process", start_later)
    events = crawl(RelevanceStrategy())
    assert sum(event.outcome is Outcome.FETCHED for event in events) == PAGES
    assert "Too many open files" in caplog.text
    failures += [OSError(errno.EMFILE, "Too many open files")] * 3
    with pytest.raises(TrailhoundError, match=r"Too many open files.*--workers 1"):
        crawl(RelevanceStrategy())
    assert not multiprocessing.active_children()


@pytest.mark.skipif(sys.platform == "win32", reason="handles are passed on differently")
@pytest.mark.parametrize("orders", [b"", pickle.dumps({"name": "worker"})[:-5]])
def test_a_worker_whose_parent_dies_before_it_has_its_orders_ends_quietly(orders: bytes) -> None:
    reader, writer = os.pipe()
    try:
        os.write(writer, orders)
        os.close(writer)
        command = quiet_command_line(tracker_fd=reader, pipe_handle=reader)
        ended = subprocess.run(command, pass_fds=[reader], capture_output=True, timeout=60)
    finally:
        os.close(reader)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, b"", b"")


def test_parts_that_cannot_travel_are_named() -> None:
    class LocalJudge:
        def judge(self, page: Page) -> Relevance:
            return Relevance(float(len(page.text)), False)

    with pytest.raises(ConfigError, match=r"LocalJudge.*--workers 1"):
        crawl(RelevanceStrategy(), judge=LocalJudge())


def test_no_process_is_left_behind_by_a_crawl_that_is_abandoned() -> None:
    crawler = Crawler(
        strategy=RelevanceStrategy(),
        frontier=MemoryFrontier(),
        fetcher=MadeUpWeb(),
        judge=LengthJudge(),
        workers=2,
        concurrency=4,
    )
    events = crawler.run([address(0)])
    next(events)
    assert len(multiprocessing.active_children()) == 2
    events.close()
    assert not multiprocessing.active_children()
