"""A cluster's crawl as one: what its shards have is gathered into the crawl's own folder.

A cluster's crawl is in shards, each a crawl folder of its own (``crawl/shards/000`` …). Gathering
brings their results, log and archive into the crawl's folder, where every command looks for them:
only what is new, page by page, so that it can be done at any time and by anybody, and stops
anywhere. Whoever drives a cluster gathers every few seconds: the work is the same in the end, each
page is taken in once, and copies of pages are looked for in memory that is filled once. Readers
find the file as they know it, some seconds old; they gather themselves when nobody else does, after
a driver was killed, say.

Files of an archive are linked, not copied, under names that say the shard: they take no room twice,
and what a shard goes on to write is seen at once. Only the lines of their indexes are copied, with
the new names. Where a file system has no such links, complete files are copied, and those that are
still written to come later.

Frontiers stay in the shards, where they are of use, until a crawl on one machine wants to go on:
see :mod:`trailhound.cluster.uniting`.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from trailhound.errors import StorageError
from trailhound.storage import event_log
from trailhound.storage.cdxj import INDEX_NAME, PART_SUFFIX, merge_index, write_part
from trailhound.storage.event_log import EventLog
from trailhound.storage.files import OPEN_SUFFIX, PARTIAL_SUFFIX, explaining, replace_file
from trailhound.storage.gathered_results import GatheredResults
from trailhound.storage.locks import Ownership
from trailhound.storage.results_reading import Results
from trailhound.storage.warc_repair import WARC_SUFFIX, gathered_name
from trailhound.topics.crawls.folder import SHARDS, CrawlFolder

if TYPE_CHECKING:
    from trailhound.crawling.digestion import DuplicateFinder

_OPEN = WARC_SUFFIX + OPEN_SUFFIX


class _GatheredArchive:
    """The whole crawl's archive in ``target``, to which those of shards are added."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._copied: dict[Path, int] = {}
        """Bytes of each growing index that are here."""

    def take(self, shard: str, source: Path) -> int:
        """Bring in what is new in a shard's archive; how many files were completed."""
        if not source.is_dir():
            return 0
        with explaining(self._target):
            self._target.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in source.glob(f"*{WARC_SUFFIX}*")}
        completed = 0
        for name in sorted(names):
            with suppress(FileNotFoundError):  # it gets its final name at this moment
                if name.endswith(WARC_SUFFIX):
                    completed += self._complete(shard, source / name)
                elif name.endswith(_OPEN):
                    self._grow(shard, source / name)
        self._drop_strays(shard, names)
        return completed

    def _complete(self, shard: str, path: Path) -> bool:
        here = self._target / gathered_name(path.name, shard)
        is_there = here.exists()
        if is_there and _is_same(path, here):
            return False
        if is_there:  # it was mended since
            self._drop_lines(here.name)
        part = path.name.removesuffix(WARC_SUFFIX) + PART_SUFFIX
        lines = list(_renamed(_lines_about(path), path.name, here.name))
        write_part(self._target / gathered_name(part, shard), lines)
        _bring(path, here)
        self._drop_open(here.name)
        return True

    def _grow(self, shard: str, path: Path) -> None:
        here = self._target / gathered_name(path.name, shard)
        if not here.exists() and not _link(path, here):
            return
        final = path.name.removesuffix(OPEN_SUFFIX)
        index = path.with_name(final.removesuffix(WARC_SUFFIX) + PART_SUFFIX + OPEN_SUFFIX)
        own = self._target / gathered_name(index.name, shard)
        renamed = gathered_name(final, shard)
        with index.open("rb") as lines, explaining(own), own.open("ab") as out:
            lines.seek(self._copied_of(own, len(renamed) - len(final)))
            new = lines.read()
            whole = new[: new.rfind(b"\n") + 1]
            out.writelines(_renamed(whole.splitlines(keepends=True), final, renamed))
            self._copied[own] += len(whole)

    def _copied_of(self, own: Path, longer: int) -> int:
        """Bytes of a shard's index that are in ``own``, whose lines are longer by some bytes."""
        if own not in self._copied:
            content = own.read_bytes() if own.exists() else b""
            self._copied[own] = max(0, len(content) - longer * content.count(b"\n"))
        return self._copied[own]

    def _drop_open(self, name: str) -> None:
        """A file is complete: what was linked while it grew is of no use any more."""
        index = self._target / (name.removesuffix(WARC_SUFFIX) + PART_SUFFIX + OPEN_SUFFIX)
        with explaining(self._target):
            (self._target / (name + OPEN_SUFFIX)).unlink(missing_ok=True)
            index.unlink(missing_ok=True)
        self._copied.pop(index, None)

    def _drop_strays(self, shard: str, names: set[str]) -> None:
        """Files that grew in a shard, and that are not there any more."""
        for path in self._target.glob(f"*.s{shard}{_OPEN}"):
            name = path.name.replace(f".s{shard}{_OPEN}", _OPEN)
            if name not in names:
                self._drop_open(path.name.removesuffix(OPEN_SUFFIX))

    def _drop_lines(self, name: str) -> None:
        index = self._target / INDEX_NAME
        if index.exists():
            replace_file(index, _lines_without(index, _about(name)))


def _lines_about(path: Path) -> Iterator[bytes]:
    """The index of a complete file: of its own, or as part of its archive's."""
    part = path.with_name(path.name.removesuffix(WARC_SUFFIX) + PART_SUFFIX)
    about = _about(path.name)
    for index in (part, path.with_name(INDEX_NAME)):
        with suppress(FileNotFoundError), index.open("rb") as lines:
            yield from (line for line in lines if about in line)


def _lines_without(index: Path, about: bytes) -> Iterator[bytes]:
    with index.open("rb") as lines:
        yield from (line for line in lines if about not in line)


def _about(name: str) -> bytes:
    return b'"filename":"%b"' % name.encode()


def _renamed(lines: Iterable[bytes], old: str, new: str) -> Iterator[bytes]:
    return (line.replace(_about(old), _about(new)) for line in lines)


def _is_same(path: Path, here: Path) -> bool:
    theirs, ours = path.stat(), here.stat()
    if theirs.st_ino == ours.st_ino and theirs.st_dev == ours.st_dev:
        return True
    return theirs.st_size == ours.st_size and ours.st_mtime_ns >= theirs.st_mtime_ns


def _bring(path: Path, here: Path) -> None:
    """Link a complete file, or copy it; one that is there is replaced."""
    partial = here.with_name(f".{here.name}{PARTIAL_SUFFIX}")
    with explaining(here):
        partial.unlink(missing_ok=True)
        if not _link(path, partial):
            shutil.copy2(path, partial)
        partial.replace(here)
        partial.unlink(missing_ok=True)  # two links of one file are left as they are


def _link(path: Path, here: Path) -> bool:
    try:
        os.link(path, here)
    except FileNotFoundError:
        raise
    except OSError:
        return False
    return True


class Gathered(NamedTuple):
    """What was new."""

    pages: int
    files: int
    """Of the archive, that were completed."""


class Gathering:
    """The right to gather, and what that needs. Close it, or use it in a ``with`` statement.

    StorageError when somebody else is gathering, longer than ``patience_seconds``.
    """

    def __init__(self, folder: CrawlFolder, patience_seconds: float = 60.0) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._stack.enter_context(_lock(folder, patience_seconds))
        try:
            self._results = self._stack.enter_context(GatheredResults(folder.results))
        except BaseException:
            self._stack.close()
            raise
        self._archive = _GatheredArchive(folder.archive)
        self._copies: DuplicateFinder | None = None

    def catch_up(self) -> Gathered:
        """Take in what is new; what the log lacks is written from the results."""
        pages = files = 0
        for shard in self._folder.shards():
            name = shard.path.name
            files += self._archive.take(name, shard.archive)
            if shard.results.is_file():
                pages += self._take_results(name, shard)
        if self._keeps_log():
            with closing(EventLog(self._folder.log, time.time)) as log:
                for shard in self._folder.shards():
                    self._take_log(shard.path.name, shard.log, log)
                self._log_pages(log)
        return Gathered(pages, files)

    def settle(self) -> Gathered:
        """The same when the shards have ended: the archive gets one index."""
        gathered = self.catch_up()
        if self._folder.archive.is_dir():
            merge_index(self._folder.archive)
        return gathered

    def _take_results(self, name: str, shard: CrawlFolder) -> int:
        try:
            return self._results.take(name, shard.results, self._find_copy)
        except StorageError:
            if shard.exists():
                raise
            return 0  # it has just begun

    def _find_copy(self, fingerprint: int, address: str, noindex: bool) -> str | None:
        if self._copies is None:
            # Here and not above: it needs NumPy, and most crawls have nothing to gather.
            from trailhound.crawling.digestion import DuplicateFinder

            self._copies = DuplicateFinder(self._results.fingerprints())
        return self._copies.find_or_add(fingerprint, address, noindex=noindex)

    def _take_log(self, name: str, source: Path, log: EventLog) -> None:
        """Lines of a shard that are about no page, with its name."""
        taken = self._results.taken(name)
        lines, end = event_log.other_lines(source, taken.log)
        for line in lines:
            log.note_again(line | {"shard": name})
        if end != taken.log:
            self._results.note(name, taken._replace(log=end))

    def _log_pages(self, log: EventLog) -> None:
        """Pages that the log lacks, as the results tell them: by the numbers of the whole crawl."""
        last = event_log.last_number(self._folder.log) or 0
        with Results(self._folder.results) as results:
            for kept in results.events_after(last):
                log.keep_again(kept.event, kept.status)

    def _keeps_log(self) -> bool:
        with suppress(StorageError):
            return self._folder.read().settings.output.log
        return self._folder.log.exists()

    def close(self) -> None:
        """Let others gather."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def gather_first(folder: CrawlFolder) -> CrawlFolder:
    """The folder, with what its shards have, unless somebody gathers all the time.

    Costs nothing for crawls on one machine. Where nothing can be written, what is there is there.
    """
    if (folder.path / SHARDS).is_dir() and folder.exists():
        with suppress(StorageError), Gathering(folder, patience_seconds=0.0) as gathering:
            gathering.catch_up()
    return folder


def _lock(folder: CrawlFolder, patience_seconds: float) -> Ownership:
    path = folder.path / "gather.lock"
    in_use = StorageError(
        f"What the shards of '{folder.topic.name}' have found is being gathered already. Wait "
        "until that has ended, and try again."
    )
    return Ownership(
        path,
        in_use=in_use,
        patience_seconds=patience_seconds,
    )
