"""A crawl waits before its disk is full, goes on when there is room, and can be ended meanwhile."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from live_webs import Resource, Site, TinySite, wait_until

from trailhound.cli.crawl_view import told_to_machines
from trailhound.config.layers import configure, parse_size
from trailhound.counting import in_bytes
from trailhound.crawling.budget import StopReason
from trailhound.crawling.build import OwnParts
from trailhound.crawling.machine import LOOK_EVERY_SECONDS, DiskWatch
from trailhound.errors import ConfigError
from trailhound.topics.runs.crawl import TopicCrawl
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.workspace import Workspace


class Disk:
    """How much is free, as a test says; counts how often somebody looks."""

    def __init__(self, free: float) -> None:
        self.free = free
        self.looks = 0

    def __call__(self, folder: Path) -> float:
        assert folder.is_dir()
        self.looks += 1
        return self.free


def test_it_looks_seldom_and_tells_when_it_waits_and_goes_on(tmp_path: Path) -> None:
    said: list[str] = []
    disk, now = Disk(500.0), [0.0]
    watch = DiskWatch(tmp_path, 500, said.append, free=disk, clock=lambda: now[0])
    assert all(watch.has_room() for _ in range(100))
    assert disk.looks == 1
    disk.free, now[0] = 499.0, LOOK_EVERY_SECONDS
    assert not watch.has_room()
    disk.free, now[0] = 520.0, 10.0
    assert not watch.has_room(), "it would stutter"
    assert watch.state == "waits: only 520 bytes are free"
    disk.free, now[0] = 550.0, 20.0
    assert watch.has_room()
    assert (watch.state, watch.seconds_waited) == ("", 20.0 - LOOK_EVERY_SECONDS)
    assert [line[:9] for line in said] == ["Only 499 ", "There is "]


def test_nothing_is_too_little_for_zero(tmp_path: Path) -> None:
    disk = Disk(0.0)
    assert DiskWatch(tmp_path, 0, free=disk).has_room()
    assert disk.looks == 0


@contextmanager
def crawl_of(tmp_path: Path, disk: Disk, **more: object) -> Iterator[tuple[TopicCrawl, Site]]:
    topic = Workspace(tmp_path / "workspace").folder_for("bees")
    topic.prepare()
    page = Resource(b"<p>honey bee <a href='/a'>a</a> <a href='/b'>b</a>")
    with TinySite({"/": page, "/a": page, "/b": page}) as server:
        site = Site(topic, server.port, "*.tiny.test")
        flags = site.flags(
            crawl__seeds=("http://www.tiny.test/",),
            crawl__strategy="breadth-first",
            judge__kind="keywords:words=honey",
            **more,
        )
        request = CrawlRequest(configure(flags).settings, flags)
        own = OwnParts(free_bytes=disk)
        with open_crawl(topic, request, site.notices.append, own=own) as crawl:
            yield crawl, site


def after_two_looks(disk: Disk, then: Callable[[], None]) -> threading.Thread:
    def watch() -> None:
        wait_until(lambda: disk.looks >= 2)
        then()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_it_goes_on_by_itself(tmp_path: Path) -> None:
    disk = Disk(1e6)
    with crawl_of(tmp_path, disk) as (crawl, site):
        thread = after_two_looks(disk, lambda: setattr(disk, "free", 1e10))
        assert len(list(crawl.run())) == 3
        thread.join()
        told = json.loads(json.dumps(told_to_machines(crawl)))
    assert told["seconds_waited_for_disk"] > 0
    assert any("Only 1 MB are free" in line for line in site.notices)
    assert any("the crawl goes on" in line for line in site.notices)


def test_it_can_be_stopped_while_it_waits(tmp_path: Path) -> None:
    disk = Disk(1e6)
    with crawl_of(tmp_path, disk) as (crawl, _):
        thread = after_two_looks(disk, crawl.stop)
        assert list(crawl.run()) == []
        thread.join()
        assert crawl.stop_reason is StopReason.INTERRUPTED


def test_its_time_runs_while_it_waits(tmp_path: Path) -> None:
    with crawl_of(tmp_path, Disk(1e6), crawl__max_time=0.5) as (crawl, _):
        assert list(crawl.run()) == []
        assert crawl.stop_reason is StopReason.TIME_SPENT
        assert crawl.stats().waiting == 1


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("500MB", 500_000_000), ("1.5 gb", 1_500_000_000), ("2GiB", 2 << 30), ("7k", 7000)],
)
def test_sizes_are_written_as_people_do(text: str, size: int) -> None:
    assert parse_size(text) == size
    assert configure({}, environment={"TRAILHOUND_MIN_FREE": text}).settings.crawl.min_free == size


@pytest.mark.parametrize("text", ["much", "-1", "1e9", "", "5XB", "5 0 MB"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is no size"):
        parse_size(text)


def test_sizes_in_words() -> None:
    assert [in_bytes(size) for size in (0, 999, 5e8, 1.5e9)] == [
        "0 bytes", "999 bytes", "500 MB", "1.5 GB",
    ]  # fmt: skip
