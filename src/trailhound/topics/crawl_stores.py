"""What a crawl keeps, on disk or in memory, opened together and closed together."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable
from contextlib import ExitStack

from trailhound import __version__
from trailhound.config.settings import Settings
from trailhound.crawling.build import Stores
from trailhound.crawling.choosing import open_frontier, open_sinks
from trailhound.crawling.sinks import ArchiveSink, Sink, close_sinks
from trailhound.crawling.troubles import Troubles
from trailhound.frontier.memory import MemoryFrontier
from trailhound.storage.event_log import EventLog
from trailhound.storage.results import IN_MEMORY, ResultsStore
from trailhound.storage.warc import ArchiveWriter
from trailhound.text.extract import EXTRACTION_VERSION
from trailhound.topics.crawl_folder import CrawlFolder


class CrawlStores:
    """Frontier, results, log and archive of one crawl; ``stack`` closes them.

    Where nothing is kept on disk, there is neither log nor archive, and the results stay readable.
    ``known`` are the addresses of the pages learned from. Stores are closed in the opposite order.
    What a sink gets is written before the frontier counts the page as finished.
    """

    def __init__(
        self,
        folder: CrawlFolder,
        settings: Settings,
        known: Container[str],
        stack: ExitStack,
        own_sinks: Iterable[Sink] = (),
    ) -> None:
        kept, output = folder.is_kept, settings.output
        folder.make()
        self.frontier = (
            open_frontier(settings.crawl.frontier, folder.frontier) if kept else MemoryFrontier()
        )
        stack.callback(self.frontier.close)
        self.results = ResultsStore(
            folder.results if kept else IN_MEMORY,
            known,
            extraction=EXTRACTION_VERSION if kept and output.archive else None,
        )
        if kept:
            stack.callback(self.results.close)
        self.log = EventLog(folder.log, time.time) if kept and output.log else None
        if self.log is not None:
            stack.callback(self.log.close)
        self.archive = _archive(folder, settings) if kept and output.archive else None
        if self.archive is not None:
            stack.callback(self.archive.close)
        named = open_sinks(output.sinks, folder.topic.name, folder.path if kept else None)
        self.plugged = [*named, *own_sinks]
        """Sinks beside our own."""

    def for_crawl(self, *others: Sink) -> Stores:
        """For the composer. The log gets pages last, as it promises most."""
        sinks: list[Sink] = [ArchiveSink(self.archive)] if self.archive is not None else []
        sinks += [self.results, *others, *self.plugged]
        return Stores(
            self.frontier, [*sinks, self.log] if self.log is not None else sinks, self.results
        )

    async def unplug(self, troubles: Troubles) -> None:
        """Close the sinks beside our own, once, in the crawl's event loop."""
        sinks, self.plugged = self.plugged, []
        await close_sinks(sinks, troubles)


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
        goes_on_from=whole.archive if (whole := folder.whole) else None,
    )
