"""Turns at IP addresses that hosts of several shards share.

Each address has one office: the shard that it hashes to. Whoever wants to ask the address gets a
stretch of time there. An address that one shard alone has asked for lately is its own for some
seconds, within which it keeps the pause itself; one that several want is given out request by
request. No clocks are compared: a turn ends by what has passed since it was asked for, never less
than the office counts, and begins when its whole wait has passed since the answer. An answer that
was under way for too long leaves no time to begin: the turn is lost then, never used late.

Whoever is told to come again later has a place in a queue until then, and a moment longer: else a
shard that is nearer to the office would be there first, each time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from trailhound.cluster.messages import Turn, TurnWish

ALONE_SECONDS = 4.0
"""How long an address belongs to a shard that alone wants it."""
AHEAD_SECONDS = 2.0
"""Turns are given out so long before they begin, at most."""
SHARED_SECONDS = 300.0
"""An address that two have wanted counts as shared for so long."""
EXPECTED_SECONDS = 1.0
"""Whoever was told to come again is waited for so long; the address may be free meanwhile."""
SLACK_SECONDS = 0.05
"""By so much a request may begin late. Doubled each time that it was too little, and then brought
down slowly: where several want an address, it is free for so long in vain."""
_SLACK_DECAY = 0.9
_MAX_SLACK_SECONDS = ALONE_SECONDS
_LONGEST_PROMISE = AHEAD_SECONDS + ALONE_SECONDS
_MAX_REMEMBERED = 5_000
_UNREACHED_SECONDS = 2.0
"""When the office does not answer, the address is asked for again then."""


@dataclass(slots=True)
class _Waiting:
    since: float
    due: float
    """When it was told to come again."""


@dataclass(slots=True)
class _Address:
    asker: tuple[int, int]
    free_at: float
    shared_until: float = float("-inf")
    queue: dict[int, _Waiting] = field(default_factory=dict)
    """By shard: those that were told to come again."""

    def before(self, shard: int, now: float) -> int:
        """How many shards have waited for longer, and are still expected.

        One that comes too late has lost nothing but that others were let pass meanwhile.
        """
        own = self.queue.get(shard)
        since = own.since if own is not None else now
        return sum(
            waiting.since < since and now <= waiting.due + EXPECTED_SECONDS
            for waiting in self.queue.values()
        )

    def expect(self, shard: int, now: float, due: float) -> None:
        """Keep its place for a shard that was told to come again."""
        own = self.queue.get(shard)
        self.queue[shard] = _Waiting(now if own is None else own.since, due)


class AddressOffice:
    """Gives out turns at the addresses of one shard; forgets those that are long free.

    A shard that was reopened does not know whom it had promised what, and gives out nothing until
    the longest promise is over.
    """

    def __init__(
        self, *, is_reopened: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._addresses: dict[str, _Address] = {}
        self._opens_at = clock() + _LONGEST_PROMISE if is_reopened else float("-inf")

    def ask(self, wish: TurnWish) -> Turn:
        """When the asker may ask the address, and for how long."""
        now = self._clock()
        known = self._known(wish, now)
        if known.asker[0] != wish.asker[0]:
            known.shared_until = now + SHARED_SECONDS
        is_holder = known.asker == wish.asker
        # Within its own stretch the asker keeps the pause itself: its wish says how.
        free_at = now if is_holder and now >= known.shared_until else known.free_at
        free_at = max(free_at, self._opens_at + wish.pause)
        start = max(now + wish.earliest, free_at)
        shard = wish.asker[0]
        before = known.before(shard, now)
        if before or start - now > min(wish.at_most, AHEAD_SECONDS):
            start += before * (wish.slack + wish.pause)
            if before or free_at > now + wish.earliest:  # else it is its own host that it waits for
                known.expect(shard, now, start)
            return Turn(start - now, 0.0)
        known.queue.pop(shard, None)
        known.asker = wish.asker
        hold = wish.slack if now < known.shared_until else ALONE_SECONDS
        known.free_at = start + hold + wish.pause
        return Turn(start - now, hold)

    def _known(self, wish: TurnWish, now: float) -> _Address:
        known = self._addresses.get(wish.address)
        if known is None:
            self._forget(now)
            known = self._addresses[wish.address] = _Address(wish.asker, now)
        return known

    def _forget(self, now: float) -> None:
        if len(self._addresses) >= _MAX_REMEMBERED:
            self._addresses = {
                name: each
                for name, each in self._addresses.items()
                if each.free_at > now or each.shared_until > now
            }


@dataclass(slots=True)
class _Hold:
    until: float
    free_at: float
    """When the next request may be planned for."""
    begun_at: float = float("-inf")
    """When the last one really began: planned ones may begin late."""


class SharedAddresses:
    """The asker's side: waits for turns, and keeps the pause at addresses that it has alone.

    ``ask`` reaches the office; ``ConnectionError`` when it does not.
    """

    def __init__(
        self,
        asker: tuple[int, int],
        ask: Callable[[TurnWish], Awaitable[Turn]],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._asker = asker
        self._ask = ask
        self._clock = clock
        self._sleep = sleep
        self._holds: dict[str, _Hold] = {}
        self._slack = SLACK_SECONDS

    async def wait(self, address: str, earliest: float, pause: float, at_most: float) -> float:
        """See :class:`~trailhound.fetching.politeness.AddressTurns`."""
        begun = self._clock()
        while True:
            now = self._clock()
            hold = self._holds.get(address)
            if hold is None or max(begun + earliest, hold.free_at, now) >= hold.until:
                late = await self._new_hold(address, begun + earliest, pause, at_most)
                if late:
                    return late
                continue
            start = max(begun + earliest, hold.free_at, now)
            if start - now > at_most:
                return start - now
            hold.free_at = start + pause
            while (early := max(start, hold.begun_at + pause) - self._clock()) > 0:
                await self._sleep(early)
            if self._clock() < hold.until:
                hold.begun_at = self._clock()
                return 0.0
            self._learn_slack(False)

    def _learn_slack(self, was_enough: bool) -> None:
        slack = self._slack * (_SLACK_DECAY if was_enough else 2.0)
        self._slack = min(max(slack, SLACK_SECONDS), _MAX_SLACK_SECONDS)

    async def _new_hold(self, address: str, earliest: float, pause: float, at_most: float) -> float:
        """Ask the office; 0 when a stretch of time was given, else when to come again."""
        asked_at = self._clock()
        last = self._holds.get(address)
        own = max(earliest, last.free_at if last is not None else asked_at)
        wish = TurnWish(address, self._asker, max(0.0, own - asked_at), pause, self._slack, at_most)
        try:
            turn = await self._ask(wish)
        except ConnectionError:
            return max(_UNREACHED_SECONDS, at_most)
        if not turn.hold:
            return turn.seconds
        self._forget(asked_at)
        free_at, until = self._clock() + turn.seconds, asked_at + turn.seconds + turn.hold
        self._learn_slack(free_at < until)
        begun_at = float("-inf")
        if (last := self._holds.get(address)) is not None:  # another may have asked meanwhile
            free_at, begun_at = max(free_at, last.free_at), last.begun_at
        self._holds[address] = _Hold(until, free_at, begun_at)
        return 0.0

    def _forget(self, now: float) -> None:
        if len(self._holds) >= _MAX_REMEMBERED:
            self._holds = {name: each for name, each in self._holds.items() if each.until > now}
