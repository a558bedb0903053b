"""Where a cluster's crawl lives: its files, and which shard owns a URL.

::

    TOPIC/crawl.lock            held by its driver
          crawl/crawl.json      settings, as of any crawl
                cluster.json    the number of shards, for ever
                log.jsonl       what the driver saw: shards opened, lost, moved; requests granted
                shards/000/     an ordinary crawl: crawl.json frontier.db results.db archive/ …
                           crawl.lock  held by the process that has it open
                           epochs/     counts its openings: see places
                       001/ …

Shards are virtual: their number is fixed when a crawl begins, and they move between machines as
wholes. All hosts under one registered domain are in the same shard, so that what a site redirects
to and links to most is at home, and its hosts are asked by one crawl. A shard also says who gives
out turns at an address.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import msgspec

from trailhound.errors import UNREADABLE, StorageError, UsageError
from trailhound.storage.files import write_whole
from trailhound.topics.crawls.folder import SHARDS, CrawlFolder
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.workspace import TopicFolder
from trailhound.urls import host_key, registered_domain

DEFAULT_SHARDS = 8
MAX_SHARDS = 1_000
_MAX_HOSTS = 16_384
"""Whose owners are remembered."""


@dataclass(frozen=True)
class Placement:
    """A web in so many shards, numbered from 0. The same in every process, for ever."""

    shards: int
    _owners: _Owners = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_owners", _Owners(self.shards))

    def owner(self, url: str) -> int:
        """The shard that asks for a canonical URL."""
        return self._owners[host_key(url)]

    def owner_of_address(self, address: str) -> int:
        """The shard that says who may ask an address next, whatever hosts are there."""
        return _part(f"address {address}", self.shards)


class _Owners(dict[str, int]):
    """By host. Every link is asked for, so that it is found out once."""

    def __init__(self, shards: int) -> None:
        super().__init__()
        self._shards = shards

    def __missing__(self, host: str) -> int:
        if len(self) >= _MAX_HOSTS:
            self.clear()
        owner = _part(registered_domain(f"http://{host}/").removesuffix("."), self._shards)
        self[host] = owner
        return owner


def _part(name: str, parts: int) -> int:
    """An even, stable choice; Python's own hash differs from process to process."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % parts


FORMAT_NAME = "trailhound-cluster"
FORMAT_VERSION = 1


class ClusterRecord(msgspec.Struct, frozen=True, kw_only=True):
    """``cluster.json``."""

    shards: int
    checkpoint: str = ""
    """Where shards are kept, when machines have them on disks of their own."""
    requests: int = 0
    """Those that the crawl had made before it was put into shards, which count from 0."""
    format: str = FORMAT_NAME
    version: int = FORMAT_VERSION


@dataclass(frozen=True)
class ShardSpec:
    """What an actor must know to open a shard. The workspace has one path on all machines."""

    workspace: Path
    topic: str
    number: int
    shards: int
    request: CrawlRequest
    limited: bool
    """Whether it waits for the driver to grant it requests."""
    reopened: bool
    """Whether other shards have been running without it."""
    kept_at: str = ""
    """Where the shard is kept, when it is to be on its machine's own disk."""


def actor_name(topic: TopicFolder, number: int) -> str:
    """Under which a shard's actor is found by everybody in the cluster; files may be called so."""
    place = blake2b(os.fsencode(topic.path.resolve()), digest_size=6).hexdigest()
    return f"{topic.path.name}-{place}-{number:03d}"


class ClusterFolder(CrawlFolder):
    """The crawl of a topic on a cluster, as a whole."""

    def __init__(self, topic: TopicFolder) -> None:
        super().__init__(topic)
        self.cluster_path = self.path / "cluster.json"

    def is_sharded(self) -> bool:
        """Whether the topic's crawl is one in shards."""
        return self.cluster_path.is_file()

    def begin(self, shards: int, checkpoint: str = "", requests: int = 0) -> Placement:
        """Fix the number of shards, and where they are kept, of a crawl that has made ``requests``.

        Those are requests that no shard knows of: none in a new crawl.
        """
        if not 1 <= shards <= MAX_SHARDS:
            raise UsageError(
                f"--shards {shards} is no number of shards. Give 1 to {MAX_SHARDS:,}; more than "
                "there are processors lets the cluster grow."
            )
        self.make()
        record = ClusterRecord(shards=shards, checkpoint=checkpoint, requests=requests)
        write_whole(self.cluster_path, msgspec.json.encode(record))
        return Placement(shards)

    def put_back(self, aside: Path | None) -> None:
        """Undo :meth:`set_aside`; of a crawl that could not be opened, nothing stays."""
        if not self.exists():
            shutil.rmtree(self.path, ignore_errors=True)
        super().put_back(aside)

    def placement(self) -> Placement:
        """How the crawl is split."""
        return Placement(self.record().shards)

    def record(self) -> ClusterRecord:
        """``cluster.json``; StorageError when it cannot be read."""
        try:
            return msgspec.json.decode(self.cluster_path.read_bytes(), type=ClusterRecord)
        except (OSError, *UNREADABLE) as error:
            raise StorageError(
                f"{self.cluster_path} cannot be read: {error}. It says in how many shards the "
                f'crawl is: write {{"shards": N}} with the number of folders in '
                f"{self.path / SHARDS}."
            ) from error

    def shard(self, number: int) -> CrawlFolder:
        """One shard; it need not exist yet."""
        return CrawlFolder(self.topic, self.path / SHARDS / f"{number:03d}")
