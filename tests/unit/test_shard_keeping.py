"""Shards that are kept elsewhere, and stores that fail now and then."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from trailhound.cluster.checkpoints import Checkpoint
from trailhound.cluster.keeping import (
    Keeper,
    refresh_copies,
    refresh_what_is_there,
    scratch_folder,
    shard_url,
)
from trailhound.cluster.layout import ClusterFolder, actor_name
from trailhound.cluster.messages import Batch, Heard, Letter, Receipt, Turn, TurnWish
from trailhound.cluster.outbox import Inbox, Outbox
from trailhound.cluster.places import Place
from trailhound.cluster.shard import Shard
from trailhound.config.layers import configure
from trailhound.errors import StorageError
from trailhound.frontier.reading import all_urls
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.records import Candidate, Outcome, PageEvent
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.workspace import TopicFolder, Workspace


class Hiccup(Place):
    """A store that does not give one file, once."""

    def __init__(self, url: str, file: str) -> None:
        super().__init__(url)
        self._file: str | None = file

    def read(self, name: str) -> bytes:
        if self._file is not None and name.startswith(self._file):
            self._file = None
            raise StorageError("The store did not answer.")
        return super().read(name)


class Nobody:
    """The others of a shard that is alone."""

    async def deliver(self, shard: int, batch: bytes) -> Receipt:
        raise ConnectionError

    async def ask_turn(self, shard: int, wish: TurnWish) -> Turn:
        raise ConnectionError

    async def ask_news(self, shard: int, receiver: int, heard: Heard) -> Letter:
        raise ConnectionError


@pytest.fixture
def url(tmp_path: Path) -> str:
    return (tmp_path / "kept").as_uri()


@pytest.fixture
def topic(tmp_path: Path) -> TopicFolder:
    made = Workspace(tmp_path).folder_for("bees")
    made.prepare()
    return made


def request() -> CrawlRequest:
    flags = {
        "crawl.seeds": ("http://a.test/",),
        "judge.kind": "keywords:words=bees",
        "fetch.user_agent": "t (+http://a.test/)",
    }
    return CrawlRequest(configure(flags).settings, flags)


def shard_in(folder: Path, topic: TopicFolder, url: str) -> Shard:
    """The only one of a crawl, on another machine."""
    placement = ClusterFolder(topic).begin(1, url)
    here = folder / "shards" / "000"
    here.mkdir(parents=True)
    return Shard(CrawlFolder(topic, here), placement, Nobody(), kept_at=url)


LAST = b"what comes last"


@pytest.mark.parametrize("file", ["manifests/", f"chunks/{sha256(LAST).hexdigest()}"])
def test_a_shard_is_restored_as_a_whole_however_often_that_is_tried(
    file: str, topic: TopicFolder, url: str, tmp_path: Path
) -> None:
    first = shard_in(tmp_path / "first", topic, url)
    first.open(request(), limit=0)
    first._crawl.begin()
    first._crawl.close()
    folder = tmp_path / "first" / "shards" / "000"
    (folder / "some-page.bin").write_bytes(LAST)
    Checkpoint(url).save(folder, first.epoch.number)

    second, there = shard_in(tmp_path / "second", topic, url), tmp_path / "second/shards/000"
    keeper = second._keeper
    assert isinstance(keeper, Keeper)
    keeper._checkpoint.place = Hiccup(url, file)
    (there / "left-over.bin").touch()
    with pytest.raises(StorageError, match="did not answer"):
        second.open(request(), limit=0)
    second.open(request(), limit=0)
    second._crawl.close()
    assert (there / "some-page.bin").read_bytes() == LAST
    assert not (there / "left-over.bin").exists()


@pytest.fixture
def copies(url: str, tmp_path: Path) -> dict[int, Path]:
    """Where two shards are copied to, which are kept."""
    for number in range(2):
        keep(url, number, b"first")
    return {number: tmp_path / "copies" / str(number) for number in range(2)}


def keep(url: str, number: int, content: bytes) -> None:
    checkpoint = Checkpoint(shard_url(url, number))
    source = Path(checkpoint.place.url.removeprefix("file://") + "-source")
    source.mkdir(parents=True, exist_ok=True)
    (source / "log.jsonl").write_bytes(content)
    (source / "results.json").write_bytes(content * 2)
    checkpoint.save(source, checkpoint.fence.current() or checkpoint.fence.advance())


def test_a_checkpoint_that_is_renewed_while_it_is_copied_is_copied_as_it_is_then(
    copies: dict[int, Path], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch, late = Checkpoint._fetch, [b"2", b"3", b"4"]

    def slow(self: Checkpoint, *given: Any) -> None:
        while late:
            keep(url, 0, late.pop(0))
        fetch(self, *given)

    monkeypatch.setattr(Checkpoint, "_fetch", slow)
    refresh_copies(url, copies)
    assert (copies[0] / "log.jsonl").read_bytes() == b"4"
    assert (copies[0] / "results.json").read_bytes() == b"44"
    assert (copies[1] / "log.jsonl").read_bytes() == b"first"


def test_what_a_store_does_not_give_is_copied_the_next_time(
    copies: dict[int, Path], url: str, caplog: pytest.LogCaptureFixture
) -> None:
    refresh_copies(url, copies)
    for number in copies:
        keep(url, number, b"later")
    place = Place(shard_url(url, 0))
    lacking = f"chunks/{sha256(b'later' * 2).hexdigest()}"
    content = place.read(lacking)
    place.remove(lacking)
    refresh_what_is_there(url, copies)
    assert "could not be copied" in caplog.text
    assert (copies[1] / "results.json").read_bytes() == b"laterlater"
    with pytest.raises(StorageError, match="cannot be read"):
        refresh_copies(url, copies)
    place.write(lacking, content)
    place.remove(f"chunks/{sha256(b'later').hexdigest()}")  # what is here is not fetched again
    refresh_copies(url, copies)
    assert (copies[0] / "log.jsonl").read_bytes() == b"later"
    assert (copies[0] / "results.json").read_bytes() == b"laterlater"


def test_links_count_as_kept_when_a_checkpoint_has_them(url: str, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    frontier = SqliteFrontier(folder / "frontier.db")
    Outbox(frontier)
    inbox, keeper = Inbox(frontier), Keeper(url, folder, Checkpoint(url).fence.advance())
    with pytest.raises(ConnectionError, match="Send again"):
        keeper.kept_of(1, 7)
    inbox.take_in(Batch(1, 7, 500, [Candidate("http://x.test/", 0.5)]), frontier.add)
    for is_on_disk in (False, True):
        keeper._save()  # as its thread does at any moment
        Checkpoint(url).restore(tmp_path / "copy")
        assert list(all_urls(tmp_path / "copy" / "frontier.db")) == (
            [("http://x.test/", None)] if is_on_disk else []
        )
        assert keeper.kept_of(1, 7) == (500 if is_on_disk else 0)
        frontier.commit()
    frontier.close()


@pytest.mark.parametrize("name", ["bees/wasps", "[bees]", "honey: bees?", "../bees", "ä" * 150])
def test_a_shard_of_any_topic_has_a_folder_of_its_own(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    called = actor_name(Workspace(tmp_path).folder_for(name), 7)
    first = scratch_folder(called, 7)
    second = scratch_folder(called, 7)
    assert not first.exists()
    assert second.is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["scratch"]
    assert len(list((tmp_path / "scratch").iterdir())) == 1


def test_an_actor_of_a_topic_with_a_plain_name_is_called_by_it(tmp_path: Path) -> None:
    assert actor_name(Workspace(tmp_path).folder_for("bees"), 7).startswith("bees-")


def test_a_page_that_comes_while_a_shard_is_looked_at_is_told_once(
    topic: TopicFolder, url: str, tmp_path: Path
) -> None:
    shard = shard_in(tmp_path / "first", topic, url)
    pages = [
        PageEvent(n, f"http://a.test/{n}", "", Outcome.FETCHED, None, 0, 1.0, 1, n)
        for n in range(4)
    ]

    class Crowded(deque[PageEvent]):
        """The crawl's thread has another page just when these are looked at."""

        def __iter__(self) -> Iterator[PageEvent]:
            if pages:
                crawl = threading.Thread(target=shard._note, args=(pages.pop(0),))
                crawl.start()
                crawl.join(0.05)
                threads.append(crawl)
            yield from list(super().__iter__())

    shard._note(pages.pop(0))
    shard._events = Crowded(shard._events)
    told, seen, threads = list[str](), 0, list[threading.Thread]()
    for _ in range(5):
        look = asyncio.run(shard.look(shard.epoch.number, seen))
        seen = look.told
        told += [event.url for event in look.events]
        for thread in threads:
            thread.join()
    assert told == [f"http://a.test/{n}" for n in range(4)]
