"""What a crawl tells of itself, whatever its parts do in the thread that tells it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from live_webs import wait_until

from trailhound.crawling.budget import Budget, StopReason
from trailhound.crawling.progress import CrawlProgress
from trailhound.errors import StorageError
from trailhound.frontier.base import FrontierStats
from trailhound.topics.crawl_beacon import CrawlBeacon
from trailhound.topics.crawl_status import (
    STATUS,
    CrawlState,
    Wish,
    forget_status,
    read_status,
    read_wish,
    write_wish,
)


class FussyCrawl:
    """Its frontier answers in one thread only, as a stranger's may."""

    def __init__(self) -> None:
        self.budget = Budget(100)
        self.progress = CrawlProgress(self.budget, 0.0)
        self.before = type("Before", (), {"requests": 0, "pages": 0, "finds": 2})()
        self.disk = type("Disk", (), {"state": ""})()
        self.results = self
        self.is_stopping = False
        self.looked_at_again: frozenset[str] = frozenset()
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
    forget_status(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [STATUS], "with figures alone"
    left = read_status(tmp_path)
    assert left is not None
    assert (left.waiting, left.latest, left.notices, left.went_wrong) == (7, (), (), ())
