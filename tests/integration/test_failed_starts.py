"""A crawl that could not begin is no dead end, and a damaged one never blocks a new one."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from live_webs import learn, options, small_disk

from command_line import Command
from trailhound.demo import DemoWeb
from trailhound.errors import StorageError
from trailhound.storage.results import RESULTS, ResultsStore
from trailhound.storage.sqlite import transaction


@pytest.fixture
def new(web: DemoWeb, port: int) -> list[str]:
    """Options of a crawl from the beginning."""
    seeds = [option for seed in web.start_urls for option in ("--seed", seed)]
    limits = ["--max-requests", "20", "--min-free", "0"]
    return [*seeds, "--strategy", "best-first", *limits, *options(port)]


@pytest.mark.skipif(sys.platform == "win32", reason="mounts of POSIX")
@pytest.mark.parametrize("room_kilobytes", [0, 8, 48, 160])
def test_a_disk_full_at_the_first_start_leaves_no_crawl(
    trailhound: Command, web: DemoWeb, new: list[str], tmp_path: Path, room_kilobytes: int
) -> None:
    with small_disk(tmp_path / "disk", "100m") as disk:
        topic = learn(web, min(web.topics), disk)
        size = _remounted(disk, room_kilobytes)
        for start in ([*new], [*new, "--restart"]):
            done = trailhound("crawl", topic.name, *start, "--workspace", disk)
            assert done.code == 1, f"{size} should be too little: {done.err}"
            assert "disk" in done.err or "No space left" in done.err
            assert "bug" not in done.err
        done = trailhound("crawl", topic.name, "--resume", "--workspace", disk)
        assert done.code == 1 or (done.code == 2 and "has not been crawled yet" in done.err)
        subprocess.run(["mount", "-o", "remount,size=100m", str(disk)], check=True)
        begun = (topic.path / "crawl" / "crawl.json").exists()
        again = ["--resume", "--max-requests", "30"] if begun else new
        done = trailhound("crawl", topic.name, *again, "--workspace", disk)
        assert done.code == 0, done.err
        assert not list(topic.path.glob("crawl-*"))


def _remounted(disk: Path, kilobytes: int) -> str:
    """Leave room for so much more; the size of the disk then."""
    used = sum(path.stat().st_blocks // 2 for path in disk.rglob("*"))
    size = f"{used + kilobytes}k"
    subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)
    return size


def test_what_a_start_that_was_killed_leaves_is_no_crawl(
    trailhound: Command, web: DemoWeb, new: list[str], workspace_folder: Path
) -> None:
    topic = learn(web, min(web.topics), workspace_folder)
    crawl = topic.path / "crawl"
    for half_made in (_empty_frontier, _empty_stores):
        half_made(crawl)
        assert trailhound("crawl", topic.name, "--resume").code == 2
        done = trailhound("crawl", topic.name, *new)
        assert done.code == 0, done.err
        assert "earlier crawl" not in done.err
        assert not list(topic.path.glob("crawl-*"))
        for path in sorted(crawl.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()


def _empty_frontier(crawl: Path) -> None:
    crawl.mkdir(exist_ok=True)
    (crawl / "frontier.db").write_bytes(b"")


def _empty_stores(crawl: Path) -> None:
    _empty_frontier(crawl)
    ResultsStore(crawl / "results.db").close()
    (crawl / "log.jsonl").write_bytes(b"")


def _shortened(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _other_header(path: Path) -> None:
    path.write_bytes(b"\xfe" * 100 + path.read_bytes()[100:])


def _zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _hole(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096 : 4 * 4096] = b"\xa5" * (3 * 4096)
    path.write_bytes(content)


def _numbers_without_sense(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE url SET site = 1000000 WHERE number = 3")
        connection.commit()


DAMAGES = [_shortened, _other_header, _zeroed, _hole, _numbers_without_sense]


def test_a_damaged_frontier_is_told_of_and_never_blocks_a_new_crawl(
    trailhound: Command, web: DemoWeb, new: list[str], workspace_folder: Path
) -> None:
    topic = learn(web, min(web.topics), workspace_folder)
    assert trailhound("crawl", topic.name, *new).code == 0
    frontier = topic.path / "crawl" / "frontier.db"
    for number, damage in enumerate(DAMAGES, start=1):
        _damage(frontier, damage)
        results = (topic.path / "crawl" / "results.db").read_bytes()
        done = trailhound("crawl", topic.name, "--resume", "--max-requests", "30")
        assert done.code == 1, damage
        assert "damaged" in done.err
        assert f"check {topic.name} --repair" in done.err.replace("\n", " ")
        done = trailhound("crawl", topic.name, *new, "--restart")
        assert done.code == 0, done.err
        aside = topic.path / f"crawl-{number}"
        assert f"The earlier crawl is now in {aside}" in done.err
        assert (aside / "results.db").read_bytes() == results
        assert list((aside / "archive").glob("*.warc.gz"))


def _damage(path: Path, damage: Callable[[Path], None]) -> None:
    damage(path)
    for name in ("-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)


def test_what_fails_in_a_transaction_is_told_not_that_it_cannot_be_undone(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    with closing(RESULTS.open(path)) as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with (
            pytest.raises(StorageError, match=r"disk is full\. Make room"),
            RESULTS.explaining(path),
            transaction(connection),
        ):
            connection.execute("INSERT INTO state VALUES ('x', zeroblob(1000000))")
        assert not connection.in_transaction
