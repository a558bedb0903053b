"""What a run keeps, on disk or in memory, opened together; and how it is left in order at the end.

Plug-ins are closed, the last counts are written, and what went wrong is told.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import msgspec

from trailhound import __version__
from trailhound.config.settings import Settings
from trailhound.crawling.answers import Troubles, answered, is_ours
from trailhound.crawling.budget import StopReason
from trailhound.crawling.build import Stores
from trailhound.crawling.choosing import open_frontier, open_sinks
from trailhound.crawling.engine import Crawler
from trailhound.crawling.progress import CrawlProgress
from trailhound.crawling.sinks import ArchiveSink, Sink, close_sinks
from trailhound.errors import StorageError, plugin_faults
from trailhound.fetching.base import Hampered
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import Outcome
from trailhound.storage.event_log import EventLog
from trailhound.storage.results import IN_MEMORY, ResultsStore
from trailhound.storage.warc import ArchiveWriter
from trailhound.text.extract import EXTRACTION_VERSION
from trailhound.topics.crawls.folder import CrawlFolder, CrawlRecord
from trailhound.topics.crawls.notices import NOTHING_WRONG, CrawlNotices, Failure, failures_of
from trailhound.topics.runs.strategy_memory import StrategyMemory


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
        self._plugin_seconds = settings.crawl.plugin_seconds

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
        await close_sinks(sinks, troubles, self._plugin_seconds)


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


@dataclass(frozen=True)
class CrawlEnd:
    """Leaves a crawl in order, however it ends."""

    crawler: Crawler
    progress: CrawlProgress
    stores: CrawlStores
    memory: StrategyMemory
    notices: CrawlNotices

    async def unplug(self, *, in_a_hurry: bool = False) -> None:
        """Close fetcher and sinks, and tell what plug-ins have failed at.

        ``in_a_hurry`` closes no more than a fetcher of our own, which takes no time.
        """
        crawler, troubles = self.crawler, self.crawler.troubles
        if is_ours(crawler.fetcher) or not in_a_hurry:
            try:
                await answered(crawler.fetcher.close(), crawler.plugin_seconds)
            except plugin_faults() as error:
                troubles.note("The fetcher, being closed,", error)
        if in_a_hurry:
            self.stores.plugged.clear()  # nor are they waited for when the stores are closed
        await self.stores.unplug(troubles)
        for sentence in troubles.summary():
            self.notices.tell_trouble(sentence)

    def write(self, folder: CrawlFolder, record: CrawlRecord) -> None:
        """Keep what the next run goes on from, and why this one ended."""
        crawler, progress = self.crawler, self.progress
        progress.requests = crawler.requests
        reason = crawler.stop_reason
        with suppress(StorageError):  # when the disk is full, that is what the user must hear of
            self.stores.results.settle(crawler.requests, crawler.ledger.robots)
            # With a page half way the last snapshot is better: what came after it is shown again.
            if self.memory.known_until == crawler.pages:
                self.memory.write()
            self.notices.log(
                "end",
                reason=reason,
                pages=progress.pages,
                requests=progress.requests,
                relevant=progress.relevant,
                outcomes=dict(progress.outcomes),
            )
            ended = reason.value if reason else ""
            folder.write(msgspec.structs.replace(record, ended=ended, ended_at=time.time()))

    def failures(self) -> list[Failure]:
        """What went wrong in this run, and how often."""
        return failures_of(self.progress, self.crawler.in_trouble, self.crawler.troubles)

    def why_in_vain(self, *, is_new: bool) -> str:
        """Why the run as a whole was in vain; empty when it was not.

        A resumed crawl that has nothing left to ask for is no failure, unless no run has fetched
        anything; a new one is.
        """
        outcomes = self.progress.outcomes
        if outcomes[Outcome.BROKEN] and not outcomes[Outcome.FETCHED]:
            return "Every page that was fetched was lost to an error."
        asleep = self.crawler.stop_reason is StopReason.HOSTS_ASLEEP
        tried = asleep or is_new or self.failures()
        if not any(outcomes[outcome] for outcome in NOTHING_WRONG):
            ended = self.crawler.stop_reason is StopReason.FRONTIER_EMPTY
            if tried or (ended and not self.stores.results.has_pages()):
                return "Nothing was fetched."
        if isinstance(self.crawler.fetcher, Hampered) and self.crawler.fetcher.is_in_vain:
            return "No page was rendered."
        return " ".join(f"{who} failed on every page." for who in self.crawler.sinks.useless)
