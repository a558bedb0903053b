"""Brings links to their owners: one batch at a time to each, again until it is acknowledged."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from trailhound.cluster.epochs import Epoch
from trailhound.cluster.messages import Batch, Peers, encode_batch
from trailhound.cluster.outbox import MAX_BATCH, Outbox
from trailhound.cluster.pace import Pace
from trailhound.crawling.engine import Crawler

GATHER_SECONDS = 5.0
"""Links are gathered for so long at most before they travel, so that they travel together."""
FIRST_RETRY_SECONDS = 0.1
LAST_RETRY_SECONDS = 5.0


class Sending:
    """Empties the outbox of one shard while its crawl runs."""

    def __init__(
        self, number: int, epoch: Epoch, outbox: Outbox, peers: Peers, shards: int
    ) -> None:
        self.sent = 0
        """Links that were acknowledged, for the first time or again."""
        self._number = number
        self._epoch = epoch
        self._outbox = outbox
        self._peers = peers
        # A hundred times the shards would otherwise be a hundred times the messages.
        self._pace = Pace(GATHER_SECONDS * max(1.0, shards / 32))
        self._hurried = asyncio.Event()
        self._senders: dict[int, asyncio.Task[None]] = {}

    def hurry(self, *, is_granted_more: bool = False) -> None:
        """The crawl has nothing else to do: what is gathered goes now.

        One that waits for its next grant goes on soon. Later, when a link more or less changes
        little, what it has found meanwhile travels with the rest.
        """
        if not is_granted_more or self._pace.is_growing:
            self._hurried.set()

    async def run(self, crawler: Crawler) -> None:
        """Until it is cancelled; raises what a shard cannot go on after."""
        try:
            while True:
                for shard in self._outbox.shards():
                    if shard not in self._senders:
                        task = asyncio.create_task(self._send_to(shard, crawler))
                        self._senders[shard] = task
                await self._pause()
                for shard in [each for each, task in self._senders.items() if task.done()]:
                    self._senders.pop(shard).result()
        finally:
            for task in self._senders.values():
                task.cancel()
            if self._senders:
                await asyncio.wait(self._senders.values())

    async def _pause(self) -> None:
        """A little while, or less when the crawl waits."""
        self._hurried.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hurried.wait(), self._pace.seconds)

    async def _send_to(self, shard: int, crawler: Crawler) -> None:
        """All that waits for one shard, batch after batch."""
        retry_seconds = FIRST_RETRY_SECONDS
        taken = 0
        while True:
            last, links = self._outbox.next(shard, taken)
            if not links and not taken:
                return  # what there is will be written with the page that is under way
            self._epoch.check()
            batch = Batch(self._number, self._epoch.number, last, links)
            try:
                receipt = await self._peers.deliver(shard, encode_batch(batch))
            except ConnectionError:
                await asyncio.sleep(retry_seconds)
                retry_seconds = min(2 * retry_seconds, LAST_RETRY_SECONDS)
                taken = 0
                continue
            retry_seconds = FIRST_RETRY_SECONDS
            self.sent += len(links)
            await crawler.between_pages(partial(self._outbox.forget, shard, receipt.kept))
            if receipt.kept >= last and len(links) < MAX_BATCH:
                return
            taken = receipt.taken if receipt.kept < last else 0
            if not links:  # it has them, and could still lose them
                await asyncio.sleep(LAST_RETRY_SECONDS)
