"""What a crawl tells of itself, whatever its parts do in the thread that tells it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from live_webs import wait_until

from trailhound.crawling.budget import Budget, StopReason
from trailhound.crawling.progress import CrawlProgress
from trailhound.errors import StorageError
from trailhound.frontier.base import FrontierStats
from trailhound.topics.crawls.notices import Failure
from trailhound.topics.crawls.status import (
    STATUS,
    CrawlState,
    Notice,
    RecentPage,
    RunningCrawl,
    Wish,
    forget_status,
    read_status,
    read_wish,
    write_status,
    write_wish,
)
from trailhound.topics.runs.beacon import CrawlBeacon
from trailhound.topics.runs.refreshing import Refresh
from trailhound.topics.upkeep.forgetting import one_host, one_url


class FussyCrawl:
    """Its frontier answers in one thread only, as a stranger's may."""

    def __init__(self) -> None:
        self.budget = Budget(100)
        self.progress = CrawlProgress(self.budget, 0.0)
        self.before = type("Before", (), {"requests": 0, "pages": 0, "finds": 2})()
        self.disk = type("Disk", (), {"state": ""})()
        self.results = self
        self.is_stopping = False
        self.refresh = Refresh()
        self.failed = ""
        self.stop_reason = StopReason.INTERRUPTED
        self._thread = threading.current_thread()

    def stats(self) -> FrontierStats:
        if threading.current_thread() is not self._thread:
            raise OSError("not here")
        return FrontierStats(7, 0, 1, 3)

    def failures(self) -> list[Any]:
        return []

    def finds(self) -> int:
        raise StorageError("the disk is full")

    def stop(self) -> None:
        self.is_stopping = True


def test_a_stranger_s_frontier_keeps_nobody_from_being_heard(tmp_path: Path) -> None:
    crawl: Any = FussyCrawl()
    with CrawlBeacon(tmp_path, "bees", "app:run-1") as beacon:
        starting = read_status(tmp_path)
        assert starting is not None
        assert (starting.run, starting.state) == ("run-1", CrawlState.STARTING)
        beacon.begin(crawl)
        beacon.noting(lambda _: None)("A notice.")
        write_wish(tmp_path, "another", Wish.STOP)
        assert read_wish(tmp_path, "run-1") is None
        write_wish(tmp_path, "run-1", Wish.PAUSE)
        wait_until(lambda: crawl.is_stopping)
        wait_until(lambda: (now := read_status(tmp_path)) is not None and now.state == "stopping")
        now = read_status(tmp_path)
        assert now is not None
        assert (now.waiting, now.hosts_waiting) == (7, 3), "as the thread of the crawl saw it"
        assert now.notices[0].text == "A notice."
        beacon.end()
    ended = read_status(tmp_path)
    assert ended is not None
    assert (ended.state, ended.asked_to, ended.finds) == (CrawlState.PAUSED, Wish.PAUSE, 2)


def test_a_run_that_was_to_stop_before_it_began_ends_at_once(tmp_path: Path) -> None:
    crawl: Any = FussyCrawl()
    with CrawlBeacon(tmp_path, "bees", "app:run-1") as beacon:
        write_wish(tmp_path, "run-1", Wish.STOP)
        wait_until(lambda: beacon.is_to_stop)
        beacon.begin(crawl)
        assert crawl.is_stopping
        beacon.end()


def test_a_run_that_cannot_begin_leaves_what_was_told(tmp_path: Path) -> None:
    with CrawlBeacon(tmp_path, "bees", "app"):
        pass
    assert read_status(tmp_path) is None
    crawl: Any = FussyCrawl()
    with CrawlBeacon(tmp_path, "bees", "terminal") as beacon:
        beacon.begin(crawl)
        beacon.end()
    before = (tmp_path / STATUS).read_bytes()
    with CrawlBeacon(tmp_path, "bees", "app"):
        starting = read_status(tmp_path)
        assert starting is not None
        assert starting.waiting == 7, "as large as it was"
    assert (tmp_path / STATUS).read_bytes() == before
    (tmp_path / f".{STATUS}.1.partial").write_bytes(b"half")
    forget_status(tmp_path, one_url("http://a.test/"))
    assert [path.name for path in tmp_path.iterdir()] == [STATUS]
    left = read_status(tmp_path)
    assert left is not None
    assert (left.waiting, left.latest, left.notices, left.went_wrong) == (7, (), (), ())


SECRET = "http://secret.test/x_(1)"


@pytest.mark.parametrize("forgotten", [one_url(SECRET), one_host("secret.test")])
def test_what_is_forgotten_leaves_what_was_told_and_the_rest_stays(
    tmp_path: Path, forgotten: Callable[[str], bool]
) -> None:
    told = (
        f"The seed {SECRET} was not fetched: no.",
        f"See '{SECRET}'.",
        f"A plug-in failed: url={SECRET}: no",
        f"({SECRET.upper().replace('/X_', '/x_')}), and more",
        "http://secret.test/x_… is too long",
    )
    kept = ("It begins with what was learned.", "The seed http://a.test/ was not fetched: no.")
    pages = [RecentPage(url, "", "fetched", 0.5, True, 1.0) for url in (SECRET, "http://a.test/")]
    failures = [Failure("no such page", 1, f"{url}: no") for url in (SECRET, "http://a.test/")]
    status = RunningCrawl(
        topic="bees",
        run="1",
        state=CrawlState.ENDED,
        latest=tuple(pages),
        notices=tuple(Notice(1.0, text) for text in (*told, *kept)),
        went_wrong=tuple(failures),
        waiting=7,
    )
    assert write_status(tmp_path, status)
    forget_status(tmp_path, forgotten)
    left = read_status(tmp_path)
    assert left is not None
    assert left.latest == (pages[1],)
    assert tuple(each.text for each in left.notices) == kept
    assert left.went_wrong == (failures[1],)
    assert left.waiting == 7
    assert b"secret" not in (tmp_path / STATUS).read_bytes()


def test_a_forgotten_host_is_named_by_nobody(tmp_path: Path) -> None:
    told = ("secret.test: busy", "'*.secret.test' is out of scope", "www.secret.test:8080 rests.")
    notices = tuple(Notice(1.0, text) for text in (*told, "a.test: busy"))
    status = RunningCrawl(topic="bees", run="1", state=CrawlState.ENDED, notices=notices)
    assert write_status(tmp_path, status)
    forget_status(tmp_path, one_host("secret.test"))
    left = read_status(tmp_path)
    assert left is not None
    assert left.notices == notices[-1:]
