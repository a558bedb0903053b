"""A crawl goes from a cluster to one machine and back, and stays the same crawl."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from half_way_crawls import PAGES, TOPIC
from sharded_crawls import HOSTS, ShardedCrawl, sharded

from command_line import Command
from trailhound.cluster.status import StatusBoard
from trailhound.cluster.uniting import scatter, unite
from trailhound.errors import UsageError
from trailhound.frontier.reading import all_urls
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import SHARDS, CrawlFolder
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest

ALL = {f"http://{host}/{number}" for host in HOSTS for number in range(PAGES)}


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[ShardedCrawl]:
    with sharded(tmp_path / "workspace") as made:
        yield made


def fetched(folder: CrawlFolder) -> list[str]:
    with Results(folder.results) as results:
        return [key.url for key in results.event_keys()]


def owner(url: str) -> int:
    return HOSTS.index(url.split("/")[2])


def test_one_machine_goes_on_with_a_cluster_s_crawl(
    crawl: ShardedCrawl, trailhound: Command
) -> None:
    crawl.run(0, 20)
    crawl.run(1, 10)
    with sqlite3.connect(crawl.shard(1).frontier) as outbox:  # a link that was on its way
        outbox.execute(
            "CREATE TABLE outgoing (shard INTEGER, number INTEGER, url TEXT, priority REAL, "
            "memory BLOB, parent TEXT, depth INTEGER)"
        )
        row = (0, 1, f"http://{HOSTS[0]}/39", 0.5, b"", f"http://{HOSTS[1]}/1", 1)
        outbox.execute("INSERT INTO outgoing VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    with pytest.raises(UsageError, match="is in shards"):
        open_crawl(crawl.topic, CrawlRequest(resume=True))
    spent = trailhound("crawl", TOPIC, "--resume", "--max-requests", "30")
    assert (spent.code, "has made 30 requests" in spent.err) == (2, True), spent.err
    other = trailhound("crawl", TOPIC, "--resume", "--strategy", "best-first")
    assert (other.code, "Resume without --strategy" in other.err) == (2, True), other.err
    assert len(crawl.whole.shards()) == 2, "what cannot go on stays as it is"
    StatusBoard(crawl.whole).write()
    done = trailhound("crawl", TOPIC, "--resume", "--max-requests", "200")
    assert done.code == 0, done.err
    assert trailhound("cluster", "status", TOPIC).code == 2
    assert "The 2 shards of the crawl are in one piece now." in done.err
    assert "mended" not in done.err
    assert not (crawl.whole.path / SHARDS).exists()
    urls = fetched(crawl.whole)
    assert len(urls) == len(set(urls))
    assert set(urls) == ALL
    checked = trailhound("check", TOPIC)
    assert checked.code == 0, checked.out


def test_a_cluster_goes_on_with_one_machine_s_crawl(
    crawl: ShardedCrawl, trailhound: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = SimpleNamespace(time=lambda: 1_772_366_400.0)  # files of the archive: one second
    monkeypatch.setattr("trailhound.topics.runs.stores.time", at_once)
    crawl.run(0, 20)
    crawl.run(1, 10)
    assert unite(crawl.whole) == 2
    assert unite(crawl.whole) == 0
    before = dict(all_urls(crawl.whole.frontier))
    record = crawl.whole.read()
    unseeded = record.settings.changed({"crawl.seeds": ()})  # a real shard leaves others' alone
    record = msgspec.structs.replace(record, settings=unseeded)
    scatter(crawl.whole, 2, owner, record)
    assert not crawl.whole.frontier.exists()
    shards = [dict(all_urls(shard.frontier)) for shard in crawl.whole.shards()]
    assert shards[0] | shards[1] == before
    checked = trailhound("check", TOPIC)
    assert checked.code == 0, checked.out
    crawl.run(0)
    crawl.run(1)
    assert unite(crawl.whole) == 2
    urls = fetched(crawl.whole)
    assert len(urls) == len(set(urls))
    assert set(urls) == ALL
    with Results(crawl.whole.results) as results:
        assert results.summary().requests == 2 * PAGES
        assert [key.number for key in results.event_keys()] == list(range(1, 2 * PAGES + 1))
    checked = trailhound("check", TOPIC)
    assert checked.code == 0, checked.out


def test_what_a_killed_shard_has_not_queued_is_taken_in(
    crawl: ShardedCrawl, trailhound: Command
) -> None:
    crawl.run(0, 10)
    earlier = crawl.shard(0).frontier.read_bytes()
    crawl.run(0, 12)
    crawl.shard(0).frontier.write_bytes(earlier)  # its last two pages are not in it
    done = trailhound("crawl", TOPIC, "--resume", "--max-requests", "100")
    assert done.code == 0, done.err
    assert "2 pages taken into the queue again" in done.err
    urls = fetched(crawl.whole)
    assert sorted(urls) == sorted(f"http://{HOSTS[0]}/{number}" for number in range(PAGES))
    checked = trailhound("check", TOPIC)
    assert checked.code == 0, checked.out
