"""A cluster's crawl as one: what its shards have is gathered into the crawl's own folder.

A cluster's crawl is in shards, each a crawl folder of its own (``crawl/shards/000`` …). Gathering
brings their results, log and archive into the crawl's folder, where every command looks for them:
only what is new, page by page, so that it can be done at any time and by anybody, and stops
anywhere. Whoever drives a cluster gathers every few seconds: the work is the same in the end, each
page is taken in once, and copies of pages are looked for in memory that is filled once. Readers
find the file as they know it, some seconds old; they gather themselves when nobody else does, after
a driver was killed, say.

Frontiers stay in the shards, where they are of use, until a crawl on one machine wants to go on:
see :mod:`trailhound.topics.uniting`.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from trailhound.errors import StorageError
from trailhound.storage import event_log
from trailhound.storage.cdxj import merge_index
from trailhound.storage.event_log import EventLog
from trailhound.storage.gathered_archive import GatheredArchive
from trailhound.storage.gathered_results import GatheredResults
from trailhound.storage.locks import Ownership
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import SHARDS, CrawlFolder

if TYPE_CHECKING:
    from trailhound.crawling.digestion import DuplicateFinder


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
        self._archive = GatheredArchive(folder.archive)
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
