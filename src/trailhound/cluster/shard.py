"""One shard: an ordinary crawl of the hosts that it owns, which knows of the other shards.

It runs in a thread of its own; everybody else talks to it from other threads and event loops. It
needs nothing of Ray: :class:`~trailhound.cluster.messages.Peers` is how it reaches the others. One
whose stores are mended is not run: links of others go into its outbox.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Coroutine, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from functools import partial
from inspect import CORO_CREATED, getcoroutinestate
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from trailhound.cluster.addresses import AddressOffice, SharedAddresses
from trailhound.cluster.granting import MAX_TOLD, Pace, Steps, steps
from trailhound.cluster.keeping import Keeper
from trailhound.cluster.layout import ClusterFolder, Placement
from trailhound.cluster.messages import (
    Batch,
    Heard,
    Letter,
    Look,
    NewsDesk,
    Peers,
    Receipt,
    ShardState,
    Turn,
    TurnWish,
    decode_batch,
)
from trailhound.cluster.outbox import Inbox, Outbox, RoutedFrontier, Sending
from trailhound.cluster.places import Epoch
from trailhound.config.settings import Settings
from trailhound.crawling.budget import StopReason
from trailhound.crawling.build import Knowledge, OwnParts
from trailhound.crawling.engine import SEED_PRIORITY, Crawler
from trailhound.errors import UsageError
from trailhound.frontier.base import Frontier
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.records import PageEvent
from trailhound.strategies.base import News
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest

T = TypeVar("T")

NEWS_SECONDS = 5.0
"""In which all others are asked once what they have learned; less at first."""
HEARD_TOGETHER = 16
"""Shards that are asked at once: news of many pages cost less together."""
KEPT_EVENTS = 10_000
"""Pages that are remembered for whoever watches; earlier ones are in the results."""
GRANT_LOOK_SECONDS = 0.1
"""Whether there is a request for sitemaps."""
ANSWER_SECONDS = 30.0
"""Longer than that nobody waits for the crawl's event loop."""


class Shard:
    """Opens and runs one shard, once. It is the ``Neighbours`` of its own crawl.

    ``is_reopened``: other shards have been running meanwhile, and may have been promised turns at
    addresses that nobody here remembers. ``owner`` says on which machine it is, and ``kept_at``
    where it is kept when its folder is only this machine's.
    """

    def __init__(
        self,
        folder: CrawlFolder,
        placement: Placement,
        peers: Peers,
        *,
        is_reopened: bool = False,
        owner: str = "",
        kept_at: str = "",
    ) -> None:
        self.number = int(folder.path.name)
        self.epoch = Epoch.claim(folder.path, owner, kept_at=kept_at)
        self._keeper = Keeper(kept_at, folder.path, self.epoch.number) if kept_at else None
        self.finished = threading.Event()
        """Set when the crawl has ended, and everything is closed."""
        self._folder = folder
        self._placement = placement
        self._peers = peers
        self._office = AddressOffice(is_reopened=is_reopened)
        self._office_lock = threading.Lock()
        self._addresses = SharedAddresses((self.number, self.epoch.number), self._ask_turn)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._crawler: Crawler | None = None
        self._waits_for: StopReason | None = None
        self._was_waiting = False
        """When it was looked at, and was granted nothing since."""
        self._reads_lists = self._lists_wait = False
        """Whether sitemaps are still to be read, and whether they wait for a grant."""
        self._desk = NewsDesk(self.number, self.epoch.number, placement.owner, placement.shards)
        self._events: deque[PageEvent] = deque(maxlen=KEPT_EVENTS)
        self._told = self._received = self._relevant = 0
        self._events_lock = threading.Lock()
        """Pages are noted in the crawl's thread, and looked at in others."""
        self._failure = ""
        self._last = self._now()

    def open(
        self, request: CrawlRequest, known: Knowledge | None = None, *, limit: int | None = None
    ) -> None:
        """Open its stores, mended if need be. ``limit``: requests that it may make, in all."""
        if self._keeper is not None:
            self._keeper.restore(request.settings.fetch)
        exists = self._folder.exists()
        request = replace(
            request,
            settings=shard_settings(request.settings),
            flags={key: each for key, each in request.flags.items() if key not in _FOR_DRIVER},
            resume=exists,
            restart=False,
            may_be_spent=True,
        )
        own = OwnParts(neighbours=self, sinks=(self._desk,))
        self._crawl = open_crawl(
            self._folder.topic, request, folder=self._folder, known=known, own=own
        )
        self._crawl.allow(limit)
        self._desk.serve(self._crawl.strategy)
        # A shard that is opened again, elsewhere perhaps, has them in its queue.
        lists = self._crawl.sitemaps
        self._reads_lists = lists is not None and not lists.are_read

    def run(self) -> None:
        """Crawl until :meth:`stop`, or until something fails, which is raised."""
        try:
            with self._crawl as crawl:
                if self._keeper is not None:
                    self._keeper.begin(self.stop)
                for event in crawl.run():
                    self._note(event)
                self._last = self._now()
            if self._keeper is not None:
                self._keeper.end()
        except BaseException as error:
            self._failure = f"{type(error).__name__}: {error}"
            raise
        finally:
            self.finished.set()

    def _note(self, event: PageEvent) -> None:
        with self._events_lock:
            self._events.append(event)
            self._told += 1
        self._relevant += event.is_find

    def stop(self) -> None:
        """End soon: what is in flight is dealt with, what waits stays."""
        self._crawl.stop()

    # For the other shards and the driver, from any thread

    async def receive(self, batch: bytes) -> Receipt:
        """Links from another shard; ConnectionError while they cannot be taken in."""
        links = decode_batch(batch)
        kept: int | None = None
        if self._keeper is not None:
            kept = self._keeper.kept_of(links.sender, links.epoch, hurry=not links.links)
        taken = await self._in_crawl(self._take_in(links))
        return Receipt(taken, taken if kept is None else kept)

    def give_turn(self, wish: TurnWish) -> Turn:
        """A turn at an address that this shard has the office of."""
        with self._office_lock:
            return self._office.ask(wish)

    async def allow(self, limit: int | None) -> None:
        """Set how many requests it may make in all; what holds, as some may have been made."""
        await self._in_crawl(self._allow(limit))

    def state(self) -> ShardState:
        """How it is."""
        if self.finished.is_set():
            reason = self._crawl.stop_reason
            why = self._failure or (reason.value if reason is not None else "")
            ended = "failed" if self._failure else "ended"
            return msgspec.structs.replace(self._last, state=ended, why=why)
        return self._now()

    def _now(self) -> ShardState:
        crawler = self._crawler
        if crawler is None:
            return ShardState(shard=self.number, epoch=self.epoch.number, pid=os.getpid())
        stats = self._crawl.stats()
        is_busy = stats.leased or (self._reads_lists and not self._lists_wait)
        waits_for = self._waits_for if not is_busy else None
        return ShardState(
            shard=self.number,
            epoch=self.epoch.number,
            state="running" if waits_for is None else "waiting",
            why="" if waits_for is None else waits_for.value,
            pages=crawler.pages,
            requests=crawler.requests,
            limit=crawler.limit,
            relevant=self._relevant,
            robots_requests=crawler.ledger.robots,
            waiting=stats.waiting,
            leased=stats.leased,
            finished=stats.finished,
            hosts_waiting=max(stats.hosts_waiting, int(self._reads_lists)),
            outgoing=len(self._outbox),
            sent=self._sending.sent,
            received=self._received,
            pid=os.getpid(),
            kept=self._keeper.uploaded if self._keeper is not None else 0,
            put_off=len(crawler.put_off),
            remark=self._crawl.disk.state,
        )

    async def look(self, epoch: int, seen: int) -> Look:
        """How it is, with the pages behind the first ``seen`` of the opening ``epoch``."""
        best = None
        with suppress(ConnectionError):
            best = await self._in_crawl(self._best())
        with self._events_lock:
            told, events = self._told, list(self._events)
        new = told - (seen if epoch == self.epoch.number else 0)
        unseen = events[max(0, len(events) - new) :] if new > 0 else []
        return Look(self.state(), told, unseen, best)

    async def _best(self) -> Steps:
        """Sitemaps come before everything else."""
        self._hurry_at_the_end()
        return steps([SEED_PRIORITY] if self._reads_lists else self._frontier.best(MAX_TOLD))

    def _hurry_at_the_end(self) -> None:
        """A shard that still waits when it is looked at again is granted nothing more soon."""
        is_waiting = self._waits_for is not None
        if is_waiting and self._was_waiting:
            self._sending.hurry()
        self._was_waiting = is_waiting

    async def _in_crawl(self, work: Coroutine[Any, Any, T]) -> T:
        """What comes of ``work`` in the crawl's own event loop."""
        loop = self._loop
        if loop is None or self.finished.is_set():
            work.close()
            raise ConnectionError(f"Shard {self.number} is not open.")
        try:
            future = asyncio.run_coroutine_threadsafe(work, loop)
        except RuntimeError as error:  # the loop is closed
            work.close()
            raise ConnectionError(f"Shard {self.number} has ended.") from error
        try:
            await asyncio.wait([asyncio.wrap_future(future)], timeout=ANSWER_SECONDS)
            return future.result(timeout=0)
        except (TimeoutError, CancelledError, UsageError) as error:
            raise ConnectionError(f"Shard {self.number} does not answer.") from error
        finally:
            future.cancel()
            if getcoroutinestate(work) == CORO_CREATED:  # the loop was closed before its turn came
                work.close()

    # In the crawl's event loop

    async def _take_in(self, batch: Batch) -> int:
        crawler = self._opened()
        self._waits_for = None
        add = crawler.frontier.add
        taken = await crawler.between_pages(partial(self._inbox.take_in, batch, add))
        await asyncio.to_thread(_sync, self._folder.frontier)
        self._received += len(batch.links)
        return taken

    async def _allow(self, limit: int | None) -> None:
        self._waits_for, self._was_waiting = None, False
        allowed = self._opened().allow(limit)
        self._crawl.allow(allowed)

    def _opened(self) -> Crawler:
        if self._crawler is None:
            raise ConnectionError(f"Shard {self.number} is not open yet.")
        return self._crawler

    # Neighbours

    def around(self, frontier: Frontier) -> Frontier:
        """The frontier with a way out."""
        if not isinstance(frontier, SqliteFrontier):
            raise UsageError(
                "A crawl on a cluster keeps what waits in SQLite. Leave out [crawl] frontier."
            )
        self._frontier = frontier
        self._outbox, self._inbox = Outbox(frontier), Inbox(frontier)
        self._sending = Sending(
            self.number, self.epoch, self._outbox, self._peers, self._placement.shards
        )
        return RoutedFrontier(
            frontier, self._outbox, self._placement.owner, self.number, self.epoch
        )

    def own(self, url: str) -> bool:
        """Whether the URL is another shard's."""
        return self._placement.owner(url) != self.number

    def have_room(self) -> bool:
        """Whether the outbox has, and sitemaps are read."""
        return self._outbox.has_room and not self._reads_lists

    def may_bring_more(self, reason: StopReason) -> bool:
        """It waits; the driver says when all have nothing left to do."""
        self._waits_for = reason
        self._sending.hurry(is_granted_more=reason is StopReason.REQUESTS_SPENT)
        return True

    async def work(self, crawler: Crawler) -> None:
        """Send links to their owners."""
        self._loop, self._crawler = asyncio.get_running_loop(), crawler
        async with asyncio.TaskGroup() as all_of_it:
            all_of_it.create_task(self._sending.run(crawler))
            all_of_it.create_task(self._hear_news(crawler))
            if self._reads_lists:
                all_of_it.create_task(self._read_lists(crawler))

    async def _read_lists(self, crawler: Crawler) -> None:
        """Read the seeds' sitemaps, with requests that are granted as any others are."""
        if self._crawl.sitemaps is not None:
            await self._crawl.sitemaps.queue(partial(self._wait_for_grant, crawler))
        self._waits_for, self._reads_lists = None, False
        await crawler.between_pages(lambda: None)  # it goes on at once

    async def _wait_for_grant(self, crawler: Crawler, requests: int) -> None:
        """Until one more may follow so many."""
        while crawler.limit is not None and requests >= crawler.limit:
            self._lists_wait = True
            await asyncio.sleep(GRANT_LOOK_SECONDS)
        self._lists_wait = False

    async def _hear_news(self, crawler: Crawler) -> None:
        """Learn what the others have learned, from some after the other."""
        others = [shard for shard in range(self._placement.shards) if shard != self.number]
        pace = Pace(NEWS_SECONDS)
        while self._desk.is_of_use:
            for first in range(0, max(1, len(others)), HEARD_TOGETHER):
                some = others[first : first + HEARD_TOGETHER]
                await asyncio.sleep(pace.seconds * len(some) / max(1, len(others)))
                heard = await asyncio.gather(*map(self._news_of, some))
                if news := [each for letter in heard for each in letter]:
                    await crawler.between_pages(partial(crawler.heed, news))

    async def _news_of(self, shard: int) -> Sequence[News]:
        with suppress(ConnectionError):
            letter = await self._peers.ask_news(shard, self.number, self._desk.heard)
            return self._desk.open(letter)
        return ()

    def news_for(self, receiver: int, heard: Heard) -> Letter:
        """What another shard may learn."""
        return self._desk.letter(receiver, heard)

    async def wait_for_address(
        self, address: str, earliest: float, pause: float, at_most: float
    ) -> float:
        """A turn at an address, of its office."""
        return await self._addresses.wait(address, earliest, pause, at_most)

    async def _ask_turn(self, wish: TurnWish) -> Turn:
        office = self._placement.owner_of_address(wish.address)
        if office == self.number:
            return self.give_turn(wish)
        return await self._peers.ask_turn(office, wish)


_FOR_DRIVER: dict[str, Any] = {
    "crawl.max_requests": None,
    "crawl.max_time": None,
    "crawl.give_up_after": None,
    "crawl.seeds_from": "",
    "output.metrics_port": None,
}
"""When to end is a matter of the whole crawl; what these are in a shard."""


def shard_settings(settings: Settings) -> Settings:
    """What a shard goes by."""
    waits = {"crawl.wait_for_better": settings.crawl.seconds_for_better}
    return settings.changed({**_FOR_DRIVER, **waits})


def _sync(path: Path) -> None:
    """Let what was committed to an SQLite file survive a power cut: its log goes to the disk."""
    log = path.with_name(path.name + "-wal")
    try:
        file = os.open(log, os.O_RDWR)
    except OSError:  # checkpointed meanwhile, which syncs
        return
    try:
        os.fsync(file)
    finally:
        os.close(file)


def parts_to_mend(folder: CrawlFolder) -> OwnParts:
    """What opening a shard needs besides its folder; nothing for a crawl on one machine."""
    cluster = ClusterFolder(folder.topic)
    if folder.whole_results is None or not cluster.is_sharded():
        return OwnParts()
    return OwnParts(neighbours=Shard(folder, cluster.placement(), _Nobody()))


class _Nobody:
    """The other shards are not at work."""

    async def deliver(self, shard: int, batch: bytes) -> Receipt:
        del batch
        raise ConnectionError(f"Shard {shard} is not open.")

    async def ask_turn(self, shard: int, wish: TurnWish) -> Turn:
        del wish
        raise ConnectionError(f"Shard {shard} is not open.")

    async def ask_news(self, shard: int, receiver: int, heard: Heard) -> Letter:
        del receiver, heard
        raise ConnectionError(f"Shard {shard} is not open.")
