"""Shards that are kept elsewhere, and stores that fail now and then."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from trailhound.cluster.checkpoints import Checkpoint
from trailhound.cluster.keeping import Keeper
from trailhound.cluster.layout import ClusterFolder
from trailhound.cluster.places import Place
from trailhound.cluster.shard import Shard
from trailhound.config import configure
from trailhound.errors import StorageError
from trailhound.topics.crawl_folder import CrawlFolder
from trailhound.topics.crawl_plan import CrawlRequest
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
    return Shard(CrawlFolder(topic, here), placement, None, kept_at=url)  # type: ignore[arg-type]


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
