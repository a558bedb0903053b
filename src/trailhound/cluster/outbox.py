"""A shard's frontier: its own URLs wait in it, those of others in an outbox until their owner has
them.

Outbox and inbox are tables in the frontier's own file. A page that is finished, the links that wait
here and those that travel are thus on disk together or not at all; so are links that have arrived
and the note that they have. A batch that comes twice changes nothing. Links are brought to their
owners one batch at a time to each, again until it is acknowledged.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial

from trailhound.cluster.granting import Pace
from trailhound.cluster.messages import Batch, Peers, encode_batch
from trailhound.cluster.places import Epoch
from trailhound.crawling.engine import Crawler
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.records import Candidate, Outcome

MAX_BATCH = 500
"""Links that travel together. One batch at a time is under way to each shard."""
MAX_OUTGOING = 50_000
"""Links in the outbox beyond which a shard fetches nothing."""
_MAX_REMEMBERED = 50_000
"""Links whose sending is remembered: most pages of a site lead to the same places elsewhere."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS outgoing (shard INTEGER, number INTEGER, url TEXT, priority REAL, "
    "memory BLOB, parent TEXT, depth INTEGER, PRIMARY KEY (shard, number)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS received (sender INTEGER PRIMARY KEY, epoch INTEGER, last INTEGER)",
)
_SEND = "INSERT INTO outgoing VALUES (?, ?, ?, ?, ?, ?, ?)"
_NEXT = (
    "SELECT number, url, priority, memory, parent, depth FROM outgoing "
    "WHERE shard = ? AND number > ? ORDER BY number LIMIT ?"
)
_FORGET = "DELETE FROM outgoing WHERE shard = ? AND number <= ?"
_COUNT = "SELECT shard, count(*), max(number) FROM outgoing GROUP BY shard"
_RECEIVED = "INSERT OR REPLACE INTO received VALUES (?, ?, ?)"


class Outbox:
    """Links on their way to other shards, in the file of ``frontier``."""

    def __init__(self, frontier: SqliteFrontier) -> None:
        self._frontier = frontier
        for statement in _TABLES:
            frontier.keep_beside(statement, [()])
        frontier.commit()
        self._waiting: Counter[int] = Counter()
        self._last = 0
        for shard, count, last in frontier.look_beside(_COUNT):
            self._waiting[shard] = count
            self._last = max(self._last, last)
        self._sent: dict[str, float] = {}
        self._forgotten: Counter[int] = Counter()
        """By shard, the number up to which its links are gone."""

    def __len__(self) -> int:
        return self._waiting.total()

    @property
    def has_room(self) -> bool:
        """Whether more pages may be fetched."""
        return len(self) < MAX_OUTGOING

    def shards(self) -> list[int]:
        """Those that links wait for."""
        return [shard for shard, count in self._waiting.items() if count]

    def add(self, links: Sequence[tuple[int, Candidate]]) -> int:
        """Send candidates to shards, unless they were sent under a priority as high; how many."""
        rows = []
        for shard, link in links:
            before = self._sent.get(link.url)
            if before is not None and before >= link.priority:
                continue
            self._remember(link)
            self._last += 1
            self._waiting[shard] += 1
            rows.append(
                (shard, self._last, link.url, link.priority, link.memory, link.parent, link.depth)
            )
        if rows:
            self._frontier.keep_beside(_SEND, rows)
        return len(rows)

    def _remember(self, link: Candidate) -> None:
        if len(self._sent) >= _MAX_REMEMBERED:
            self._sent.clear()
        self._sent[link.url] = link.priority

    def next(self, shard: int, after: int) -> tuple[int, list[Candidate]]:
        """Links for ``shard`` behind the one numbered ``after``, and the number of the last."""
        rows = self._frontier.look_beside(_NEXT, (shard, after, MAX_BATCH))
        links = [Candidate(*row[1:]) for row in rows]
        return (rows[-1][0] if rows else after), links

    def forget(self, shard: int, last: int) -> int:
        """Their owner has them for good, up to this number; how many."""
        query = "SELECT count(*) FROM outgoing WHERE shard = ? AND number > ? AND number <= ?"
        values = (shard, self._forgotten[shard], last)
        ((count,),) = self._frontier.look_beside(query, values)
        if count:
            self._frontier.keep_beside(_FORGET, [(shard, last)])
            self._waiting[shard] -= count
            self._forgotten[shard] = last
        return int(count)


class Inbox:
    """What has arrived from other shards, in the file of ``frontier``."""

    def __init__(self, frontier: SqliteFrontier) -> None:
        self._frontier = frontier
        rows = frontier.look_beside("SELECT sender, epoch, last FROM received")
        self.last: dict[int, tuple[int, int]] = {row[0]: (row[1], row[2]) for row in rows}
        """By sender: its epoch, and its last link that is here."""

    def take_in(self, batch: Batch, add: Callable[[Iterable[Candidate]], object]) -> int:
        """Queue with ``add`` what is new; the number of the last link that is here.

        To be called between two pages; what was added is committed with the note of it.
        """
        epoch, last = self.last.get(batch.sender, (-1, 0))
        if epoch == batch.epoch and last >= batch.last:
            return last
        add(batch.links)
        self.last[batch.sender] = batch.epoch, batch.last
        self._frontier.keep_beside(_RECEIVED, [(batch.sender, batch.epoch, batch.last)])
        return batch.last


class RoutedFrontier:
    """A frontier that lets candidates of other shards into the outbox; else it is as it was.

    ``owner`` tells whose a URL is.
    """

    def __init__(
        self,
        inner: SqliteFrontier,
        outbox: Outbox,
        owner: Callable[[str], int],
        number: int,
        epoch: Epoch,
    ) -> None:
        self._inner = inner
        self._outbox = outbox
        self._owner = owner
        self._number = number
        self._epoch = epoch
        self.requeue = inner.requeue
        self.lease = inner.lease
        self.mark_seen = inner.mark_seen
        self.outcome_of = inner.outcome_of
        self.state_of = inner.state_of
        self.delay_host = inner.delay_host
        self.ready_at = inner.ready_at
        self.put_clock = inner.put_clock
        self.pages_of = inner.pages_of
        self.note_page = inner.note_page
        self.last_page = inner.last_page
        self.ready_in = inner.ready_in
        self.better_in = inner.better_in
        self.rescore = inner.rescore
        self.stats = inner.stats
        self.commit = inner.commit
        self.close = inner.close

    def finish(self, url: str, outcome: Outcome) -> None:
        """End a lease, unless another process has the shard now."""
        self._epoch.check_now_and_then()
        self._inner.finish(url, outcome)

    def add(self, candidates: Iterable[Candidate]) -> int:
        """Queue own URLs here, and those of others in the outbox; how many were new, or sent."""
        theirs: list[tuple[int, Candidate]] = []
        new = self._inner.add(self._own(candidates, theirs))
        return new + self._outbox.add(theirs)

    def _own(
        self, candidates: Iterable[Candidate], theirs: list[tuple[int, Candidate]]
    ) -> Iterator[Candidate]:
        for candidate in candidates:
            owner = self._owner(candidate.url)
            if owner == self._number:
                yield candidate
            else:
                theirs.append((owner, candidate))


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
