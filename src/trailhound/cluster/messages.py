"""What shards send each other and their driver. All of it travels as bytes or plain structs.

Strategies of shards learn from each other by news of pages, numbered by who tells them. A shard
notes news of each page that it has fetched, and hands them to whoever asks, from the number on that
the asker has heard last. So a letter that is lost is asked for again, one that comes twice is heard
once, and nothing waits for anybody. The newest are kept: whoever was away for longer has missed the
others, which models would have forgotten as well.

Among many shards a page is told to those that own one of its links, and to the others only now and
then: what one shard hears must not grow with their number. Models learn from a sample as well.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Protocol

import msgspec

from trailhound.records import Candidate, CrawledPage, FinishedPage, Outcome, PageEvent
from trailhound.strategies.base import News, Sharing, Strategy

MAX_KEPT = 2_000
"""Pages that a shard can tell of."""
MAX_TOLD = 500
"""In one letter: those of five seconds in which a shard reads a hundred pages each."""
TELL_ALL = 16
"""Of so many shards all pages are told to all; of twice as many every second one, and so on."""

Heard = Mapping[int, tuple[int, int]]
"""By shard: of which of its openings, and up to which number."""


class Letter(msgspec.Struct, frozen=True, array_like=True):
    """News from one shard to another."""

    sender: int
    epoch: int
    """Each time that a shard is opened, its numbers begin anew."""
    last: int
    """Number of the last one; all have rising ones without gaps."""
    news: list[News]


class NewsDesk:
    """Of one shard, beside its crawl; a sink, as it hears of every page.

    For a strategy that does not share, nothing happens. ``letter`` may be asked for in any thread.
    """

    def __init__(
        self, shard: int, epoch: int, owner: Callable[[str], int], shards: int = 1
    ) -> None:
        self._tell_all_every = max(1, shards // TELL_ALL)
        self._lock = threading.Lock()
        self._shard = shard
        self._epoch = epoch
        self._owner = owner
        self._told: deque[tuple[News, frozenset[int]]] = deque(maxlen=MAX_KEPT)
        self._last = 0
        self._sharing: Sharing | None = None
        self.heard: dict[int, tuple[int, int]] = {}
        """What was heard of others. A shard that is opened again hears it again."""

    def serve(self, strategy: Strategy) -> None:
        """Tell what this one learns. Before the first page."""
        if isinstance(strategy, Sharing):
            self._sharing = strategy
            self._sharing.join(lambda url: self._owner(url) == self._shard)

    @property
    def is_of_use(self) -> bool:
        """Whether the strategy shares what it learns."""
        return self._sharing is not None

    def keep(self, finished: FinishedPage) -> None:
        """Note news of a page that was fetched."""
        page, relevance = finished.page, finished.event.relevance
        if self._sharing is None or page is None or relevance is None:
            return
        if finished.event.outcome is not Outcome.FETCHED:
            return
        news = self._sharing.news(CrawledPage(page, relevance, finished.candidate))
        owners = frozenset(self._owner(link.url) for link in page.links)
        if news.for_all:
            with self._lock:
                self._told.append((news, owners))
                self._last += 1

    def close(self) -> None:
        """Nothing is kept."""

    def letter(self, receiver: int, heard: Heard) -> Letter:
        """What ``receiver`` has not heard yet, or the first of it; what its links say if it may."""
        epoch, last = heard.get(self._shard, (self._epoch, 0))
        known = last if epoch == self._epoch else 0
        with self._lock:
            oldest = self._last - len(self._told)
            first = min(max(known, oldest), self._last)
            told = list(islice(self._told, first - oldest, first - oldest + MAX_TOLD))
        news = [
            self._version(each, number, is_owner=receiver in owners)
            for number, (each, owners) in enumerate(told, first)
        ]
        return Letter(self._shard, self._epoch, first + len(news), news)

    def _version(self, news: News, number: int, *, is_owner: bool) -> News:
        """What one receiver is told of a page; of some nothing, so that numbers have no gaps."""
        if is_owner:
            return news
        return News(b"" if number % self._tell_all_every else news.for_all)

    def open(self, letter: Letter) -> Sequence[News]:
        """What is new in a letter, for the crawl to heed between two pages."""
        epoch, last = self.heard.get(letter.sender, (letter.epoch, 0))
        if self._sharing is None or letter.sender == self._shard or epoch > letter.epoch:
            return []
        known = last if epoch == letter.epoch else 0
        count = min(max(0, letter.last - known), len(letter.news))
        if count:
            self.heard[letter.sender] = letter.epoch, letter.last
        return [each for each in letter.news[len(letter.news) - count :] if each.for_all]


class Batch(msgspec.Struct, frozen=True, array_like=True):
    """Links for their owner, in the order in which the sender found them."""

    sender: int
    epoch: int
    """Of the sender: each time its shard is opened, its numbers begin anew."""
    last: int
    """Number of the last link; all of the sender's links to this shard have rising ones."""
    links: list[Candidate]


class Receipt(msgspec.Struct, frozen=True, array_like=True):
    """What a shard has of a sender's links."""

    taken: int
    """The last link that waits in its frontier, or is known there."""
    kept: int
    """The last one that it cannot lose any more: the sender may forget up to here."""


class TurnWish(msgspec.Struct, frozen=True, array_like=True):
    """A shard wants to ask an address. Times are in seconds from the moment it asks."""

    address: str
    asker: tuple[int, int]
    """Shard and epoch."""
    earliest: float
    pause: float
    """Between any two requests to that address."""
    slack: float
    """By so much it may begin late."""
    at_most: float
    """Later than that is of no use."""


class Turn(msgspec.Struct, frozen=True, array_like=True):
    """An address may be asked from ``seconds`` after the wish on, for ``hold`` seconds."""

    seconds: float
    hold: float
    """With the pause after each request; 0: not at all, and the wish is to be repeated then."""


NOT_OPEN = ("starting", "failed")
"""States of shards that cannot tell what they have made: others know it."""


class ShardState(msgspec.Struct, frozen=True, kw_only=True):
    """How one shard is. Counts of all runs, unless they say otherwise."""

    shard: int
    epoch: int = 0
    state: str = "starting"
    """``starting``, ``running``, ``waiting``, ``ended`` or ``failed``."""
    why: str = ""
    """What it waits for, why it has ended, or what failed."""
    pages: int = 0
    requests: int = 0
    limit: int | None = None
    """Requests that it may make in all."""
    relevant: int = 0
    """Of this opening."""
    robots_requests: int = 0
    waiting: int = 0
    leased: int = 0
    finished: int = 0
    hosts_waiting: int = 0
    outgoing: int = 0
    """Links that their owners do not have for good yet."""
    sent: int = 0
    """Links sent, in this opening."""
    received: int = 0
    """Links received, in this opening."""
    node: str = ""
    pid: int = 0
    kept: int = 0
    """Bytes that went to where it is kept, in this opening."""
    put_off: int = 0
    """Hosts that are to be asked again later."""
    remark: str = ""
    """What holds it up at the moment."""

    @property
    def is_done(self) -> bool:
        """Whether it has nothing to do, and nothing that others should have."""
        return self.state in ("waiting", "ended") and not self.outgoing

    @property
    def activity(self) -> tuple[int, int, int, int]:
        """Another one whenever it has done something in between."""
        return self.epoch, self.pages, self.sent, self.received


class Look(msgspec.Struct, frozen=True, array_like=True):
    """What the driver sees of a shard when it looks."""

    state: ShardState
    told: int = 0
    """Pages of this opening."""
    events: list[PageEvent] = []
    """Those that the driver has not seen yet, as far as they are remembered."""
    best: list[tuple[int, float]] | None = None
    """Its best links: see :mod:`trailhound.cluster.granting`."""


class Peers(Protocol):
    """How a shard reaches the others; whatever fails raises ``ConnectionError``."""

    async def deliver(self, shard: int, batch: bytes) -> Receipt:
        """Hand a :class:`Batch` (msgpack) to its owner."""
        ...

    async def ask_turn(self, shard: int, wish: TurnWish) -> Turn:
        """Ask the shard that gives out turns at an address."""
        ...

    async def ask_news(self, shard: int, receiver: int, heard: Heard) -> Letter:
        """What a shard has learned that the receiver has not heard of."""
        ...


encode_batch = msgspec.msgpack.Encoder().encode
decode_batch = msgspec.msgpack.Decoder(Batch).decode
encode_look = msgspec.msgpack.Encoder().encode
decode_look = msgspec.msgpack.Decoder(Look).decode
encode_letter = msgspec.msgpack.Encoder().encode
decode_letter = msgspec.msgpack.Decoder(Letter).decode
