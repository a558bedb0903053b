"""How a run ends: plug-ins are closed, the last counts are written, and what went wrong is told."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from trailhound.crawling.budget import StopReason
from trailhound.crawling.engine import Crawler
from trailhound.crawling.progress import CrawlProgress
from trailhound.errors import PLUGIN_FAULTS, StorageError
from trailhound.fetching.base import Hampered
from trailhound.records import Outcome
from trailhound.topics.crawl_folder import CrawlFolder, CrawlRecord
from trailhound.topics.crawl_stores import CrawlStores
from trailhound.topics.failures import NOTHING_WRONG, Failure, failures_of
from trailhound.topics.notices import CrawlNotices
from trailhound.topics.strategy_memory import StrategyMemory


@dataclass(frozen=True)
class CrawlEnd:
    """Leaves a crawl in order, however it ends."""

    crawler: Crawler
    progress: CrawlProgress
    stores: CrawlStores
    memory: StrategyMemory
    notices: CrawlNotices

    async def unplug(self) -> None:
        """Close fetcher and sinks, and tell what plug-ins have failed at."""
        troubles = self.crawler.troubles
        try:
            await self.crawler.fetcher.close()
        except PLUGIN_FAULTS as error:
            troubles.note("The fetcher, being closed,", error)
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
