"""What the shards of a cluster have is gathered into one crawl, which every command reads."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from half_way_crawls import PAGES, TOPIC
from sharded_crawls import HOSTS, ShardedCrawl, sharded

from command_line import Command
from trailhound.errors import StorageError
from trailhound.storage.archive_check import ArchiveCheck
from trailhound.storage.event_log import logged_pages
from trailhound.storage.gathered_results import GatheredResults
from trailhound.storage.results_reading import EventKey, Results
from trailhound.topics.crawls.archived_pages import ArchivedContent
from trailhound.topics.crawls.gathering import Gathered, Gathering, gather_first
from trailhound.topics.crawls.marking import heed_marks, mark_results

FINDS = [number for number in range(PAGES) if number % 3 == 0]


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[ShardedCrawl]:
    with sharded(tmp_path / "workspace") as made:
        yield made


def keys_of(crawl: ShardedCrawl) -> list[EventKey]:
    with Results(crawl.whole.results) as results:
        return list(results.event_keys())


def finds_of(crawl: ShardedCrawl) -> list[str]:
    with Results(crawl.whole.results) as results:
        return [page.address for page in results.ranked()]


def gather(crawl: ShardedCrawl) -> Gathered:
    with Gathering(crawl.whole) as gathering:
        return gathering.settle()


def test_two_shards_become_one_crawl(crawl: ShardedCrawl) -> None:
    crawl.run(0)
    crawl.run(1)
    assert gather(crawl) == Gathered(2 * PAGES, 2)
    keys = keys_of(crawl)
    assert [key.number for key in keys] == list(range(1, 2 * PAGES + 1))
    assert {key.url for key in keys} == {f"http://{h}/{n}" for h in HOSTS for n in range(PAGES)}
    # The second host's pages say what the first one's say.
    assert sorted(finds_of(crawl)) == sorted(f"http://{HOSTS[0]}/{n}" for n in FINDS)
    with Results(crawl.whole.results) as results:
        total = results.summary()
        assert (total.pages, total.requests) == (2 * PAGES, 2 * PAGES)
        assert total.duplicates == len(FINDS)
        assert len(results.search("hives honey")) == len(FINDS)
        assert not results.unsearchable()
    logged = [each for each in logged_pages(crawl.whole.log) if each is not None]
    assert {(each.event.number, each.event.url) for each in logged} == {k[:2] for k in keys}
    archive = ArchiveCheck(crawl.whole.archive)
    assert {fetch.url for fetch in archive.fetches()} == {key.url for key in keys}
    assert archive.is_indexed
    assert not archive.damaged
    assert not archive.left_open


def test_gathering_again_changes_nothing(crawl: ShardedCrawl) -> None:
    crawl.run(0)
    gather(crawl)
    before, size = keys_of(crawl), crawl.whole.log.stat().st_size
    assert gather(crawl) == Gathered(0, 0)
    with GatheredResults(crawl.whole.results) as results:
        results.forget_shards()  # as when the file was made anew
    assert gather(crawl) == Gathered(0, 0)
    with Results(crawl.whole.results) as kept:
        assert kept.summary().requests == PAGES
    assert (keys_of(crawl), crawl.whole.log.stat().st_size >= size) == (before, True)


def test_a_running_shard_is_seen_at_once(crawl: ShardedCrawl) -> None:
    with crawl.opened(0, PAGES) as running, Gathering(crawl.whole) as gathering:
        events = running.run()
        for count in (5, 9):
            for _ in range(count):
                next(events)
            assert gathering.catch_up().pages >= count
            latest = keys_of(crawl)[-1].address
            # Its file is still written to.
            with ArchivedContent(crawl.whole.archive, [latest]) as content:
                page = content.page(latest)
            assert page is not None
            assert page.title.startswith("Page ")
        assert [key.number for key in keys_of(crawl)] == list(range(1, len(keys_of(crawl)) + 1))
        list(events)
    assert gather(crawl).files == 1
    assert len(keys_of(crawl)) == PAGES
    archive = ArchiveCheck(crawl.whole.archive)
    assert len(list(archive.fetches())) == PAGES
    assert archive.is_indexed
    assert not archive.left_open


def test_marks_hold_for_what_is_gathered_later(crawl: ShardedCrawl) -> None:
    crawl.run(0, 10)
    gather(crawl)
    useless, useful = f"http://{HOSTS[0]}/3", f"http://{HOSTS[0]}/1"
    mark_results(crawl.whole, [useless], False, time.time())
    mark_results(crawl.whole, [useful], True, time.time())
    assert useful in finds_of(crawl)
    assert useless not in finds_of(crawl)
    crawl.run(0)
    crawl.run(1)
    gather(crawl)
    assert useful in finds_of(crawl)
    assert useless not in finds_of(crawl)
    # Copies of what is not useful stay folded below it.
    assert len(finds_of(crawl)) == len(FINDS)
    mark_results(crawl.whole, [useless], None, time.time())
    assert useless in finds_of(crawl)
    assert not any(heed_marks(crawl.whole))


def test_a_shard_that_went_back_in_time_is_taken_in_again(crawl: ShardedCrawl) -> None:
    crawl.run(0, 10)
    copy = crawl.shard(0).results.read_bytes()
    crawl.run(0, 20)
    gather(crawl)
    crawl.shard(0).results.write_bytes(copy)  # of a disk that had lost its last writes
    for path in (crawl.shard(0).log, *crawl.shard(0).archive.iterdir(), crawl.shard(0).frontier):
        path.unlink()
    crawl.run(0, 15)
    assert gather(crawl).pages == 5
    keys = keys_of(crawl)
    assert [key.number for key in keys] == list(range(1, 26))


def test_one_gathers_at_a_time_and_readers_do_not_wait(crawl: ShardedCrawl) -> None:
    crawl.run(0, 5)
    with Gathering(crawl.whole):
        assert gather_first(crawl.whole).results.is_file()
        with pytest.raises(StorageError, match="being gathered already"):
            Gathering(crawl.whole, patience_seconds=0.0)
        assert not keys_of(crawl)
    gather_first(crawl.whole)
    assert len(keys_of(crawl)) == 5


def test_notices_of_shards_are_in_the_log(crawl: ShardedCrawl) -> None:
    crawl.run(1, 5)
    gather(crawl)
    lines = crawl.whole.log.read_text("utf-8").splitlines()
    starts = [line for line in lines if '"event":"start"' in line]
    assert len(starts) == 1
    assert '"shard":"001"' in starts[0]


def test_commands_read_a_cluster_as_any_crawl(
    crawl: ShardedCrawl, trailhound: Command, tmp_path: Path
) -> None:
    crawl.run(0, 20)
    crawl.run(1, 10)
    found = trailhound("results", TOPIC, "--json").report
    assert {page["url"] for page in found} == {f"http://{HOSTS[0]}/{n}" for n in FINDS if n < 20}
    told = trailhound("explain", TOPIC, f"http://{HOSTS[1]}/3", "--json").report
    assert (told["verdict"], told["shard"]) == ("fetched", "001")
    told = trailhound("explain", TOPIC, f"http://{HOSTS[1]}/11", "--json").report
    assert (told["verdict"], told["shard"]) == ("waiting", "001")
    marked = trailhound("mark", TOPIC, f"http://{HOSTS[1]}/1", "--json").report
    assert marked["marked"] == [f"http://{HOSTS[1]}/1"]
    done = trailhound("export", TOPIC, "-o", tmp_path / "finds.warc.gz")
    assert done.code == 0, done.err
    assert f"http://{HOSTS[1]}/1" in trailhound("export", TOPIC, "--format", "urls").out
    done = trailhound("forget", TOPIC, "--host", HOSTS[1])
    assert done.code == 0, done.err
    assert gather(crawl).pages == 0
    kept = {key.url for key in keys_of(crawl)}
    assert kept == {f"http://{HOSTS[0]}/{n}" for n in range(20)}
    left = [path for path in crawl.whole.path.rglob("*") if path.is_file()]
    assert not any(HOSTS[1].encode() in path.read_bytes() for path in left)


def test_shards_are_checked_and_mended_too(crawl: ShardedCrawl, trailhound: Command) -> None:
    crawl.run(0, 20)
    crawl.run(1, 10)
    gather(crawl)
    assert trailhound("check", TOPIC).code == 0
    content = bytearray(crawl.shard(1).results.read_bytes())
    content[:4000] = bytes(4000)
    crawl.shard(1).results.write_bytes(content)
    warc = next(crawl.shard(0).archive.glob("*.warc.gz"))
    with warc.open("r+b") as file:  # a link: the whole crawl's is the same file
        file.seek(-200, os.SEEK_END)
        file.truncate()
    told = trailhound("check", TOPIC, "--json")
    assert told.code == 1
    problems = [
        each["what"] for store in json.loads(told.out)["stores"] for each in store["problems"]
    ]
    assert any("in shard 001" in each for each in problems), problems
    done = trailhound("check", TOPIC, "--repair")
    assert done.code == 0, done.out + done.err
    assert "Shard 001: results.db could not be used" in done.err
    assert len(keys_of(crawl)) == 30
    assert trailhound("check", TOPIC).code == 0
