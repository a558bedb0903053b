"""Where a topic's crawl lives.

::

    TOPIC/crawl.lock          one crawl at a time
          running.json        how it is, or how it ended: see status
          crawl/crawl.json    settings, and how the last run ended
                frontier.db   every URL seen
                strategy.bin  what the strategy has learned on the way, if it does
                results.db    every page dealt with
                archive/      WARC files and their index
                log.jsonl     one line per event
                shards/000/ … of a crawl on a cluster: crawl folders that are gathered here
          crawl-1/ …          earlier crawls that were set aside
          backlinks.db        who links to a page, as far as a source was asked; its pages
          crawl-links.db      links between archived pages, when they were asked for
          edges-….db          a file of edges, sorted
          traces/             indices of access logs
          exports/            files that the app has written for downloads
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Any, Self

import msgspec

from trailhound import __version__
from trailhound.config.settings import Settings, with_new_names
from trailhound.errors import UNREADABLE, StorageError, UsageError, unknown_name
from trailhound.storage.files import explaining, write_whole
from trailhound.storage.locks import Ownership
from trailhound.storage.results import may_hold_pages
from trailhound.topics.workspace import TopicFolder

KEPT_BACKLINKS = "backlinks.db"
CRAWL_LINKS = "crawl-links.db"
EDGE_INDICES = "edges-*.db*"
TRACES = "traces"
EXPORTS = "exports"
"""The last export of each format that the app has written."""

SHARDS = "shards"

FORMAT_NAME = "trailhound-crawl"
FORMAT_VERSION = 1


class CrawlRecord(msgspec.Struct, frozen=True, kw_only=True):
    """``crawl.json``."""

    topic: str
    settings: Settings
    created_at: float
    """Seconds since 1970."""
    states: int
    """Hidden states of the model it began with: what candidates remember depends on it."""
    model: str
    """Checksum of that model."""
    own_parts: dict[str, str] = {}
    """Parts that only the program has which crawled with them, by kind, with their names."""
    ended: str = ""
    """Why the last run ended; empty while it runs, or when it was killed."""
    ended_at: float | None = None
    made_by: str = f"trailhound {__version__}"
    format: str = FORMAT_NAME
    version: int = FORMAT_VERSION


class _Format(msgspec.Struct):
    format: str
    version: int
    settings: dict[str, Any] = {}


class CrawlFolder:
    """One topic's crawl on disk; it need not exist yet.

    It is in the topic's folder, or at the ``path`` that a program has named.
    """

    def __init__(self, topic: TopicFolder, path: Path | None = None) -> None:
        self.topic = topic
        self.is_kept = True
        """Whether it is on disk at all."""
        self.is_the_topics_own = path is None
        """Whether it is where commands look for it."""
        self.path = path or topic.path / "crawl"
        self.frontier = self.path / "frontier.db"
        self.results = self.path / "results.db"
        self.archive = self.path / "archive"
        self.log = self.path / "log.jsonl"
        self.strategy = self.path / "strategy.bin"
        self.record_path = self.path / "crawl.json"
        is_shard = self.path.parent.name == SHARDS
        self.lock_path = (self.path if is_shard else topic.path) / "crawl.lock"
        """Held while it is crawled: of a topic's crawls one runs at a time, in all its shards."""

    @property
    def whole(self) -> CrawlFolder | None:
        """Of a shard: the whole crawl, with pages from before it was in shards."""
        is_shard = self.path.parent.name == SHARDS
        return CrawlFolder(self.topic, self.path.parent.parent) if is_shard else None

    @property
    def whole_results(self) -> Path | None:
        """Of a shard: the results of the whole crawl."""
        return whole.results if (whole := self.whole) else None

    def shards(self) -> list[CrawlFolder]:
        """Those that the crawl was begun in, in order; none for a crawl on one machine."""
        found = (self.path / SHARDS).glob("[0-9]*/")
        return [CrawlFolder(self.topic, path) for path in sorted(found)]

    @property
    def secrets_home(self) -> Path:
        """Where secrets are kept, such as the one by which people of a trace are named: in the
        workspace."""
        is_in_workspace = self.path.parent == self.topic.path  # also one that was set aside
        return self.topic.path.parent.parent if is_in_workspace else self.path

    def crawls(self) -> list[Path]:
        """Folders of the topic's crawls, those that were set aside included."""
        if not self.is_the_topics_own:
            return [self.path] if self.exists() else []
        return sorted(self.topic.path.glob("crawl*/"))

    def named(self, name: str) -> CrawlFolder:
        """One of :meth:`crawls` by its name, such as ``crawl-1``; UsageError tells which exist."""
        known = {path.name: path for path in self.crawls()}
        if name not in known:
            raise unknown_name(f"crawl of '{self.topic.name}'", name, known)
        return self if known[name] == self.path else CrawlFolder(self.topic, known[name])

    def archives(self) -> list[Path]:
        """Of this crawl, and of the topic's crawls that were set aside."""
        return [path for crawl in self.crawls() if (path := crawl / "archive").is_dir()]

    def exists(self) -> bool:
        """Whether there is a crawl to resume, or results to look at."""
        return self.record_path.is_file()

    def require(self) -> Self:
        """Itself; UsageError when the topic has not been crawled."""
        if not self.exists():
            if self._holds_pages():
                raise StorageError(
                    f"{self.record_path} is missing, and with it how the crawl was set up. Let "
                    f"'trailhound check {quote(self.topic.name)} --repair' take it from the log, "
                    "or begin anew with --restart."
                )
            seed = "" if self.topic.is_learned() else " --seed URL"
            raise UsageError(
                f"The topic '{self.topic.name}' has not been crawled yet. Begin with: "
                f"trailhound crawl {quote(self.topic.name)}{seed}"
            )
        return self

    def require_files(self) -> None:
        """UsageError when there is nothing of a crawl, not even something damaged."""
        if not self.has_files():
            self.require()

    def has_files(self) -> bool:
        """Whether anything of a crawl is there."""
        return any(path.exists() for path in (self.results, self.frontier, self.log))

    def make(self) -> None:
        """Make the folder."""
        with explaining(self.path):
            self.path.mkdir(parents=True, exist_ok=True)

    def set_aside(self) -> Path | None:
        """Move what is there to ``crawl-1``, ``crawl-2``, …; where to, if there was anything.

        What a crawl has left that never began is removed. A folder that a program has named stays
        where it is.
        """
        self._remove_unbegun()
        if not (self.is_the_topics_own and self.path.exists()):
            return None
        candidates = (self.path.with_name(f"crawl-{number}") for number in count(1))
        aside = next(path for path in candidates if not path.exists())
        with explaining(self.path):
            self.path.rename(aside)
        return aside

    def put_back(self, aside: Path | None) -> None:
        """Undo :meth:`set_aside`, unless a crawl has begun since; files without one are deleted."""
        self._remove_unbegun()
        if aside is not None and not self.exists():
            shutil.rmtree(self.path, ignore_errors=True)
            with explaining(self.path):
                aside.rename(self.path)

    def _remove_unbegun(self) -> None:
        """A crawl that could not be opened, on a full disk say, leaves files with nothing in them:
        to every command they are no crawl. Only our own go, and only when they are worthless.
        """
        if self.exists() or not self.is_the_topics_own or self._holds_pages():
            return
        for name in ("frontier.db*", "results.db*", "log.jsonl", "archive/archive.lock"):
            for path in self.path.glob(name):
                with suppress(OSError):
                    path.unlink()
        for folder in (self.archive, self.path):
            with suppress(OSError):  # something else is in it
                folder.rmdir()

    def _holds_pages(self) -> bool:
        """Whether something was fetched, or may have been."""
        if any(self.archive.glob("*.warc.gz*")) or any(_read_some(self.log)):
            return True
        return self.results.exists() and may_hold_pages(self.results)

    def write(self, record: CrawlRecord) -> None:
        """Keep the record."""
        content = msgspec.json.format(msgspec.json.encode(record), indent=1)
        write_whole(self.record_path, content)

    def read(self) -> CrawlRecord:
        """The record; StorageError says what is wrong with it."""
        try:
            content = self.record_path.read_bytes()
            found = msgspec.json.decode(content, type=_Format)
            if found.format != FORMAT_NAME or found.version > FORMAT_VERSION:
                raise StorageError(
                    f"{self.record_path} has format '{found.format}' version {found.version}, and "
                    f"this Trailhound reads '{FORMAT_NAME}' up to {FORMAT_VERSION}. Upgrade "
                    "Trailhound."
                )
            settings = with_new_names(found.settings)
            record = {**msgspec.json.decode(content), "settings": settings}
            return msgspec.convert(record, CrawlRecord)
        except OSError as error:
            raise StorageError(
                f"{self.record_path} cannot be read: {error.strerror or error}. Check that you may "
                "read it."
            ) from error
        except UNREADABLE as error:
            raise StorageError(
                f"{self.record_path} is damaged: {error}. Let 'trailhound check "
                f"{quote(self.topic.name)} --repair' take it from the log, or begin anew with "
                "--restart."
            ) from error


def _read_some(path: Path) -> bytes:
    with suppress(OSError), path.open("rb") as file:
        return file.read(64)
    return b""


class NoCrawlFolder(CrawlFolder):
    """Of a crawl that keeps everything in memory: nothing is there, and nothing is written."""

    def __init__(self, topic: str) -> None:
        super().__init__(TopicFolder(Path(), topic), Path())
        self.is_kept = False

    def exists(self) -> bool:
        """Never."""
        return False

    def make(self) -> None:
        """Make nothing."""

    def write(self, record: CrawlRecord) -> None:
        """Keep nothing."""


_PATIENCE_SECONDS = 0.3
"""Whoever looks whether a crawl is alive holds its lock for some microseconds."""


class CrawlLock(Ownership):
    """One crawl per topic at a time; per ``path``, where several share a topic's work.

    ``named`` is the folder that a program has named for the crawl, which no command knows.
    """

    def __init__(
        self, topic: TopicFolder, path: Path | None = None, named: Path | None = None
    ) -> None:
        path = path or topic.path / "crawl.lock"
        in_use = (
            f"Another crawl of the topic '{topic.name}' is running. Wait until it has ended, or "
            f"stop it: trailhound stop {quote(topic.name)} ('trailhound results' works meanwhile)."
        )
        if named is not None:
            in_use = (
                f"Another crawl is running in the folder {named}. Wait until it has ended, end it "
                "where it was begun, with its stop() or close(), or name another folder."
            )
        super().__init__(
            path,
            in_use=StorageError(in_use),
            unwritable=lambda reason: _no_lock(path, reason),
            patience_seconds=_PATIENCE_SECONDS,
        )


class RejudgeLock(Ownership):
    """Held while the pages of a crawl are judged again."""

    def __init__(self, folder: CrawlFolder) -> None:
        path, name = folder.path / "rejudge.lock", folder.topic.name
        super().__init__(
            path,
            in_use=StorageError(
                f"The pages of '{name}' are being judged again already. Wait until that has ended."
            ),
        )


def _no_lock(path: Path, reason: str) -> StorageError:
    return StorageError(
        f"{path} cannot be written ({reason}). Check that you may write in that folder and that "
        "the disk is not full, or choose another place with --workspace."
    )
