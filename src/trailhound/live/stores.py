"""What a crawl keeps on disk, opened together and closed together."""

from __future__ import annotations

import time
from collections.abc import Container
from contextlib import ExitStack

from trailhound import __version__
from trailhound.config.settings import Settings
from trailhound.crawling.archiving import ArchiveKeeper, RefusalKeeper
from trailhound.crawling.duplicates import DuplicateFinder
from trailhound.crawling.gate import LinkGate
from trailhound.crawling.guarded_frontier import GuardedFrontier
from trailhound.crawling.keeping import Keeper
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.storage.event_log import EventLog
from trailhound.storage.results import ResultsStore
from trailhound.storage.warc import ArchiveWriter
from trailhound.topics.crawl_folder import CrawlFolder


class CrawlStores:
    """Frontier, results, log and archive of one crawl; ``stack`` closes them.

    ``known`` are the addresses of the pages learned from.
    They are closed in the opposite order. What a keeper gets is written before the frontier
    counts the page as finished.
    """

    def __init__(
        self, folder: CrawlFolder, settings: Settings, known: Container[str], stack: ExitStack
    ) -> None:
        folder.make()
        frontier = SqliteFrontier(folder.frontier)
        stack.callback(frontier.close)
        self.duplicates = DuplicateFinder()
        self.results = ResultsStore(folder.results, self.duplicates.fingerprint_of, known)
        stack.callback(self.results.close)
        for address, fingerprint in self.results.fingerprints():
            self.duplicates.find_or_add(fingerprint, address)
        self.log = EventLog(folder.log, time.time) if settings.output.log else None
        if self.log is not None:
            stack.callback(self.log.close)
        self.archive = _archive(folder, settings) if settings.output.archive else None
        if self.archive is not None:
            stack.callback(self.archive.close)
        self._gate = LinkGate(store=self.results)
        self._refusals = RefusalKeeper(self._gate, self.results)
        stack.callback(self._gate.close)
        stack.callback(self._refusals.close)
        self.frontier = GuardedFrontier(frontier, self._gate)

    def keepers(self) -> list[Keeper]:
        """In the order in which they get a page; the log comes last, as it promises most."""
        keepers: list[Keeper] = [ArchiveKeeper(self.archive)] if self.archive is not None else []
        keepers += [self._refusals, self.results, self._gate]
        return [*keepers, self.log] if self.log is not None else keepers


def _archive(folder: CrawlFolder, settings: Settings) -> ArchiveWriter:
    return ArchiveWriter(
        folder.archive,
        folder.topic.name,
        started_at=time.time(),
        info={
            "software": f"trailhound/{__version__}",
            "http-header-user-agent": settings.fetch.user_agent,
            "robots": "obey" if settings.fetch.obey_robots else "ignore",
        },
        max_file_bytes=settings.output.archive_file_bytes,
    )
