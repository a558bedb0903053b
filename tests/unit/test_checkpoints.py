"""Shards kept elsewhere: only what is new goes there, and only its owner may write."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from uuid import uuid4

import pytest
from kept_pages import addresses, keep

from trailhound.cluster import checkpoints
from trailhound.cluster.checkpoints import Checkpoint
from trailhound.cluster.places import Fence, FencedError, Place
from trailhound.errors import StorageError, UsageError
from trailhound.storage.results import ResultsStore

CHUNK = 1000


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "CHUNK_BYTES", CHUNK)


@pytest.fixture(params=["memory", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    is_file = request.param == "file"
    return (tmp_path / "elsewhere").as_uri() if is_file else f"memory://{uuid4().hex}/000"


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    """A shard with a database and an archive that somebody writes to."""
    folder = tmp_path / "shard"
    (folder / "archive").mkdir(parents=True)
    (folder / "archive" / "a-00001.warc.gz.open").write_bytes(b"w" * 3 * CHUNK + b"end")
    (folder / "log.jsonl").write_bytes(b"{}\n")
    (folder / "frontier.db.lock").touch()
    return folder


def test_a_restored_folder_is_as_it_was(shard: Path, url: str, tmp_path: Path) -> None:
    checkpoint = Checkpoint(url)
    epoch = checkpoint.fence.advance("node-1")
    store = ResultsStore(shard / "results.db")  # it stays open: what is in its log counts
    keep(store, "a", score=0.9)
    checkpoint.save(shard, epoch)
    store.close()
    assert Checkpoint(url).restore(tmp_path / "other", Checkpoint(url).fence.advance())
    assert addresses(tmp_path / "other" / "results.db") == ["a"]
    warc = tmp_path / "other" / "archive" / "a-00001.warc.gz.open"
    assert warc.read_bytes() == b"w" * 3 * CHUNK + b"end"
    assert not (tmp_path / "other" / "frontier.db.lock").exists()


def test_only_what_is_new_is_uploaded_and_fetched(shard: Path, url: str, tmp_path: Path) -> None:
    checkpoint, copy = Checkpoint(url), tmp_path / "copy"
    epoch = checkpoint.fence.advance()
    # Equal chunks are one.
    assert checkpoint.save(shard, epoch).uploaded == CHUNK + len(b"end") + len(b"{}\n")
    assert checkpoint.restore(copy)
    assert checkpoint.save(shard, epoch).uploaded == 0
    growing = shard / "archive" / "a-00001.warc.gz.open"
    growing.write_bytes(growing.read_bytes() + b"x" * CHUNK)
    growing.rename(shard / "archive" / "a-00001.warc.gz")  # it is complete
    assert checkpoint.save(shard, epoch).uploaded <= CHUNK + len(b"end")
    assert checkpoint.restore(copy)
    assert (copy / "archive" / "a-00001.warc.gz").read_bytes().endswith(b"end" + b"x" * CHUNK)
    assert not (copy / "archive" / "a-00001.warc.gz.open").exists()


def test_a_file_that_was_cut_is_kept_as_it_is_now(shard: Path, url: str, tmp_path: Path) -> None:
    checkpoint = Checkpoint(url)
    epoch = checkpoint.fence.advance()
    checkpoint.save(shard, epoch)
    path = shard / "archive" / "a-00001.warc.gz.open"
    for content in (b"w" * CHUNK, b"w" * 2 * CHUNK + b"v" * 2 * CHUNK):
        path.write_bytes(content)
        checkpoint.save(shard, epoch)
        checkpoint.restore(tmp_path / "copy")
        assert (tmp_path / "copy" / "archive" / path.name).read_bytes() == content


def test_a_writer_that_was_believed_dead_is_refused(shard: Path, url: str, tmp_path: Path) -> None:
    slow, other = Checkpoint(url), tmp_path / "other"
    first = slow.fence.advance("node-1")
    slow.save(shard, first)
    successor = Checkpoint(url)
    second = successor.fence.advance("node-2")
    assert successor.fence.owner() == "node-2"
    successor.restore(other, second)
    (shard / "log.jsonl").write_bytes(b"{}\n{}\n")
    with pytest.raises(FencedError, match="epoch 2; this one has 1"):
        slow.save(shard, first)
    (other / "log.jsonl").write_bytes(b"new\n")
    successor.save(other, second)
    Checkpoint(url).restore(tmp_path / "third")
    assert (tmp_path / "third" / "log.jsonl").read_bytes() == b"new\n"


def test_what_a_slow_writer_had_begun_to_keep_is_never_restored(
    shard: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, successor = Checkpoint(url), Checkpoint(url)
    first = slow.fence.advance()
    slow.save(shard, first)
    second = successor.fence.advance()
    successor.restore(tmp_path / "other", second)
    monkeypatch.setattr(slow.fence, "check", lambda _: None)  # it was asked a moment before
    (shard / "log.jsonl").write_bytes(b"late\n")
    for _ in range(4):
        slow.save(shard, first)
    Checkpoint(url).restore(tmp_path / "third", successor.fence.advance())
    assert (tmp_path / "third" / "log.jsonl").read_bytes() == b"{}\n"


def test_old_checkpoints_leave_nothing(shard: Path, url: str) -> None:
    checkpoint = Checkpoint(url)
    epoch = checkpoint.fence.advance()
    for number in range(6):
        (shard / "log.jsonl").write_bytes(b"%d\n" % number)
        checkpoint.save(shard, epoch)
    place = Place(url)
    assert len(place.names("manifests")) == 2
    assert len(place.names("chunks")) == 2 + 2  # two of the archive, and the last two logs


def test_a_manifest_that_is_half_written_does_not_count(
    shard: Path, url: str, tmp_path: Path
) -> None:
    checkpoint = Checkpoint(url)
    checkpoint.save(shard, checkpoint.fence.advance())
    Place(url).write("manifests/000000000001-000000000001.json", b'{"epoch": 1, "ser')
    assert Checkpoint(url).restore(tmp_path / "copy")
    assert (tmp_path / "copy" / "log.jsonl").exists()


def test_damage_is_told(shard: Path, url: str, tmp_path: Path) -> None:
    checkpoint = Checkpoint(url)
    checkpoint.save(shard, checkpoint.fence.advance())
    place = Place(url)
    place.write(f"chunks/{place.names('chunks')[0]}", b"something else")
    with pytest.raises(StorageError, match="is damaged"):
        Checkpoint(url).restore(tmp_path / "copy")


def test_a_database_that_is_written_to_is_taken_at_one_moment(
    shard: Path, url: str, tmp_path: Path
) -> None:
    with sqlite3.connect(shard / "outbox.db", isolation_level=None) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE batch (number INTEGER)")
        writer.execute("INSERT INTO batch VALUES (1)")
        writer.execute("BEGIN")
        writer.execute("INSERT INTO batch VALUES (2)")
        checkpoint = Checkpoint(url)
        checkpoint.save(shard, checkpoint.fence.advance())
        writer.execute("COMMIT")
    checkpoint.restore(tmp_path / "copy")
    with sqlite3.connect(tmp_path / "copy" / "outbox.db") as reader:
        assert reader.execute("SELECT number FROM batch").fetchall() == [(1,)]


def test_an_archive_that_is_begun_meanwhile_is_kept_with_the_results(
    shard: Path, url: str, tmp_path: Path
) -> None:
    begun = shard / "archive" / "a-00002.warc.gz.open"

    class Busy(Place):
        """While results are kept, a page of them is archived in a new file."""

        def write(self, name: str, content: bytes) -> None:
            begun.write_bytes(b"page")
            super().write(name, content)

    checkpoint = Checkpoint(url)
    checkpoint.place = Busy(url)
    checkpoint.save(shard, checkpoint.fence.advance())
    checkpoint.restore(tmp_path / "copy")
    assert (tmp_path / "copy" / "archive" / begun.name).read_bytes() == b"page"


def test_epochs_only_rise(url: str) -> None:
    fence = Fence(url)
    assert (fence.current(), fence.owner()) == (0, "")
    assert [fence.advance("a"), fence.advance("b"), Fence(url).advance("c")] == [1, 2, 3]
    Fence(url).check(3)
    for wrong in (1, 2, 4):
        with pytest.raises(FencedError):
            fence.check(wrong)


def test_a_kind_of_address_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError, match="nowhere://x"):
        Place("nowhere://x")
