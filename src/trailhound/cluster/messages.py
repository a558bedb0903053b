"""What shards send each other and their driver. All of it travels as bytes or plain structs."""

from __future__ import annotations

from typing import Protocol

import msgspec

from trailhound.cluster.news import Heard, Letter
from trailhound.records import Candidate, PageEvent


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
