"""How often a host and an address may be asked: the one place that knows, for every fetcher.

A host is asked by one request at a time, and again only its delay after the last answer. An
address that serves many hosts has a delay of its own. The engine reserves a host when it leases one
of its URLs, and releases it when the fetch is over; a fetcher takes a turn for each request that it
makes, redirects and robots.txt files included.

What must hold beyond this process goes to the ledger (the frontier) before anything is asked: a
promise to leave the host alone for its delay after the longest that the request may take. While
the process lives the ledger hands out nothing else of that host; when the request is over, the
promise gives way to what is known then. A crawl that is killed in between keeps it after its
restart.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv6Address
from typing import Protocol

from trailhound.fetching.address_guard import embedded_addresses, parse_address
from trailhound.fetching.polite_settings import PoliteSettings

MAX_BACKOFF_SECONDS = 900.0
"""The longest wait of our own; a server may ask for more."""

MAX_PARTS_AT_ONCE = 2
"""Requests to one host for what pages consist of, where a browser renders them."""

_MAX_REMEMBERED = 5_000
"""Hosts, and addresses; of one that is forgotten, the ledger knows when it is free."""
_JUMP_SECONDS = 1.0
"""By so much the wall clock must be put before hosts' times are told anew."""


class HostLedger(Protocol):
    """Remembers, over restarts, when hosts may be asked again. Every frontier does."""

    def delay_host(self, host: str, until: float) -> None:
        """Not before ``until``, in seconds of the wall clock. The last call counts."""
        ...

    def ready_at(self, host: str) -> float | None:
        """That time; ``None`` for a host that was never delayed."""
        ...

    def put_clock(self, seconds: float) -> None:
        """The clock was put forward by ``seconds``, and all these times with it."""
        ...


class _NoLedger:
    """For a fetcher without a crawl around it."""

    def delay_host(self, host: str, until: float) -> None:
        pass

    def ready_at(self, host: str) -> float | None:
        del host
        return None

    def put_clock(self, seconds: float) -> None:
        pass


class AddressTurns(Protocol):
    """Where several crawls may ask one address: agrees with the others who asks it when."""

    async def wait_for_address(
        self, address: str, earliest: float, pause: float, at_most: float
    ) -> float:
        """Wait until ``address`` may be asked, ``earliest`` seconds at least; 0 when it may be now.

        Nobody asks it for ``pause`` seconds before and after. When that would take longer than
        ``at_most`` seconds, nothing is waited for: how long it would take.
        """
        ...


class NotYetError(Exception):
    """The host or address is not free within the time that a fetch may wait."""

    def __init__(self, seconds: float, what: str) -> None:
        super().__init__(f"{what} may be asked again in {seconds:.1f} s")
        self.seconds = seconds


@dataclass(slots=True)
class _Host:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    answered_at: float = float("-inf")
    """When its last request ended; the delay counts from there, even one learned afterwards."""
    held_until: float = float("-inf")
    waiting: int = 0
    wished_seconds: float = 0.0
    """Crawl-delay of its robots.txt, capped."""
    base_seconds: float | None = None
    """Our own delay, once its address has shown whether it is this machine."""
    failures: int = 0
    """Busy answers and time-outs in a row."""
    fetches: int = 0
    """Of its URLs that are under way."""
    promised_until: float = float("-inf")
    """What the ledger says."""
    parts: asyncio.Semaphore | None = None
    """Room for parts of pages; made for the first of them."""

    @property
    def in_use(self) -> bool:
        """Whether something has been asked, or is about to be."""
        return bool(self.fetches or self.waiting or self.lock.locked())


class Politeness:
    """Turns at hosts and addresses.

    ``clock`` never jumps and keeps the same time as ``sleep``; ``wall_clock`` is the ledger's.
    ``address_turns`` has the say at addresses where other crawls ask as well.
    """

    def __init__(
        self,
        settings: PoliteSettings,
        ledger: HostLedger | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        robots_asked: Callable[[], None] = lambda: None,
        address_turns: AddressTurns | None = None,
    ) -> None:
        self.robots_asked = robots_asked
        """To be called before each request for a robots.txt file."""
        self._settings = settings
        self._ledger = ledger or _NoLedger()
        self._clock = clock
        self._wall_clock = wall_clock
        self._sleep = sleep
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self._addresses: dict[str, float] = {}
        self._address_turns = address_turns
        # A virtual clock is both, and runs in the crawl's own loop alone.
        self._wall_offset = 0.0 if wall_clock is clock else wall_clock() - clock()
        """What the wall clock showed above the steady one when the ledger's times were told."""
        self._takes_turns = False
        """Whether the fetcher says itself when a host has been asked."""

    @property
    def settings(self) -> PoliteSettings:
        """What it goes by."""
        return self._settings

    # For the engine

    def reserve(self, host: str) -> None:
        """A URL of ``host`` is about to be fetched: the ledger hands out no other meanwhile.

        A host without a delay may have several fetches under way.
        """
        state = self._host(host)
        state.fetches += 1
        if self._delay(state):
            self._promise(host, state)

    def release(self, host: str, hold_seconds: float = 0.0) -> None:
        """The fetch is over, whatever came of it; leave the host alone for ``hold_seconds``."""
        state = self._host(host)
        state.fetches = max(0, state.fetches - 1)
        if not self._takes_turns:
            state.answered_at = self._clock()
        if hold_seconds:
            self.hold(host, hold_seconds)
        self._settle(host, state)

    def follow_wall_clock(self) -> None:
        """Let the ledger put its times when the wall clock, on which they are, was put.

        Otherwise hosts would sleep longer by as much as it was put back, also those that only an
        earlier run has asked.
        """
        jump = self._jump_seconds()
        if jump:
            self._wall_offset += jump
            self._ledger.put_clock(jump)

    # For fetchers

    async def begin(self, host: str, address: str = "") -> bool:
        """Wait for a turn at ``host``; :meth:`end` must follow, with what this returns.

        Raises :class:`NotYetError` rather than wait longer than the settings allow.
        """
        self.follow_wall_clock()  # also where no crawl goes round yet: sitemaps come before it
        self._takes_turns = True
        state = self._host(host)
        settings = self._settings
        is_test = is_test_server(host, address)
        state.base_seconds = settings.test_delay_seconds if is_test else settings.delay_seconds
        delay = self._delay(state)
        if not delay and state.held_until <= self._clock():
            return False  # nobody needs to be spared
        queue = state.waiting + state.lock.locked()
        self._check(host, self.free_in(host) + queue * delay)
        state.waiting += 1
        try:
            await state.lock.acquire()
        finally:
            state.waiting -= 1
        try:
            await self._wait(host, state, address)
            self._promise(host, state)
        except BaseException:
            state.lock.release()
            self._settle(host, state)
            raise
        return True

    def end(self, host: str, turn: bool) -> None:
        """The request of a turn is over: the delay starts."""
        state = self._host(host)
        state.answered_at = self._clock()
        if turn:
            state.lock.release()
            self._settle(host, state)

    async def begin_part(self, host: str) -> None:
        """Wait for room to ask ``host`` for a part of a page; :meth:`end_part` must follow.

        Scripts and data of a page that is rendered belong to the visit of that page: there is no
        delay between them, but only ``MAX_PARTS_AT_ONCE`` are asked for at once, and the host's
        rest begins after the last. Raises :class:`NotYetError` for a host that wants to be left
        alone.
        """
        self._takes_turns = True
        state = self._host(host)
        self._check(host, state.held_until - self._clock())
        if state.parts is None:
            state.parts = asyncio.Semaphore(MAX_PARTS_AT_ONCE)
        state.waiting += 1
        try:
            await state.parts.acquire()
        finally:
            state.waiting -= 1
        try:
            await self._outwait(host, lambda: state.held_until)
        except BaseException:
            state.parts.release()
            raise
        state.fetches += 1
        self._promise(host, state)

    def end_part(self, host: str) -> None:
        """The part is there: the delay starts anew."""
        state = self._host(host)
        state.answered_at = self._clock()
        state.fetches = max(0, state.fetches - 1)
        if state.parts is not None:
            state.parts.release()
        self._settle(host, state)

    def wish(self, host: str, seconds: float) -> None:
        """The host's own wish for a delay; more than the cap counts as the cap."""
        state, seconds = self._host(host), min(seconds, self._settings.max_crawl_delay_seconds)
        if state.wished_seconds != seconds:
            state.wished_seconds = seconds
            self._settle(host, state)

    def hold(self, host: str, seconds: float) -> None:
        """Leave ``host`` alone for ``seconds`` from now, or longer if that was agreed before."""
        state = self._host(host)
        state.held_until = max(state.held_until, self._clock() + seconds)
        self._settle(host, state)

    def succeeded(self, host: str) -> None:
        """The host answers again: its next failure is its first."""
        self._host(host).failures = 0

    def failed(self, host: str, asked_seconds: float | None = None) -> float:
        """Back off; return for how long.

        Doubles with each failure in a row. ``asked_seconds`` is the server's own wish
        (Retry-After), which counts when it is longer.
        """
        state = self._host(host)
        own = self._settings.backoff_seconds * 2.0 ** min(state.failures, 30)
        state.failures += 1
        seconds = max(min(own, MAX_BACKOFF_SECONDS), asked_seconds or 0.0)
        self.hold(host, seconds)
        return seconds

    def delay_seconds(self, host: str) -> float:
        """The least time between two requests to ``host``, as far as is known."""
        return self._delay(self._host(host))

    def free_in(self, host: str) -> float:
        """Seconds until ``host`` may be asked."""
        return max(0.0, self._free_at(self._host(host)) - self._clock())

    async def _wait(self, host: str, state: _Host, address: str) -> None:
        """Sleep until both host and address are free, and take the address's next slot."""
        key = _address_key(address)
        now = self._clock()
        start = max(now, self._free_at(state), self._addresses.get(key, now) if key else now)
        self._check(host, start - now)
        pause = self._settings.address_delay_seconds if key else 0.0
        if is_test_server(host, address):
            pause = min(pause, self._settings.test_delay_seconds)
        if pause and self._address_turns is not None:
            await self._wait_among_others(host, key, max(0.0, start - now), pause)
        else:
            if pause:
                self._forget_free_addresses(now)
                self._addresses[key] = start + pause
            await self._outwait(host, lambda: start)
        await self._outwait(host, lambda: self._free_at(state))

    async def _outwait(self, host: str, free_at: Callable[[], float]) -> None:
        """Sleep until then, and longer if the host asks for it meanwhile."""
        while (seconds := free_at() - self._clock()) > 0:
            self._check(host, seconds)
            await self._sleep(seconds)

    async def _wait_among_others(
        self, host: str, address: str, earliest: float, pause: float
    ) -> None:
        most = self._settings.max_wait_seconds
        if self._address_turns is not None:
            late = await self._address_turns.wait_for_address(address, earliest, pause, most)
            if late:
                raise NotYetError(late, f"the address of {host}")

    def _check(self, host: str, seconds: float) -> None:
        if seconds > self._settings.max_wait_seconds:
            raise NotYetError(seconds, host)

    def _promise(self, host: str, state: _Host) -> None:
        """Let the ledger keep the host's rest, should a request begin now and the process die.

        With the time that a fetch may wait on top, so that most promises hold for the whole fetch.
        A host that was never asked is promised that alone: it may turn out to need no rest.
        """
        now, delay = self._clock(), self._delay(state)
        request = 0.0 if state.base_seconds is None else self._settings.request_seconds
        if state.promised_until < now + delay + request:
            self._write(host, state, now + delay + request + self._settings.max_wait_seconds)

    def _settle(self, host: str, state: _Host) -> None:
        """Let the ledger know when the host is free; not sooner than promised while it is used."""
        free_at, promised = self._free_at(state), state.promised_until
        is_news = free_at > promised or (free_at < promised and not state.in_use)
        if is_news and max(free_at, promised) > self._clock():
            self._write(host, state, max(free_at, self._clock()))

    def _write(self, host: str, state: _Host, until: float) -> None:
        state.promised_until = until
        self._ledger.delay_host(host, until - self._clock() + self._ledger_time())

    def _ledger_time(self) -> float:
        """The wall clock; as it was before, until the ledger's times have followed it."""
        return self._wall_clock() - self._jump_seconds()

    def _jump_seconds(self) -> float:
        """By how much the wall clock was put since the ledger's times were told; mostly 0."""
        jump = self._wall_clock() - self._clock() - self._wall_offset
        return jump if abs(jump) > _JUMP_SECONDS else 0.0

    def _free_at(self, state: _Host) -> float:
        return max(state.held_until, state.answered_at + self._delay(state))

    def _delay(self, state: _Host) -> float:
        base = state.base_seconds
        own = self._settings.delay_seconds if base is None else base
        return max(own, state.wished_seconds)

    def _host(self, host: str) -> _Host:
        state = self._hosts.get(host)
        if state is None:
            state = self._hosts[host] = _Host()
            agreed = self._ledger.ready_at(host)
            if agreed is not None:  # by an earlier run, or before it was forgotten
                state.held_until = self._clock() + agreed - self._ledger_time()
                state.promised_until = state.held_until
            self._forget_idle_hosts()
        return state

    def _forget_idle_hosts(self) -> None:
        # The oldest are looked at; one that is in use goes to the end of the line.
        for _ in range(2 if len(self._hosts) > _MAX_REMEMBERED else 0):
            host, state = self._hosts.popitem(last=False)
            if state.in_use or self._free_at(state) > self._clock():
                self._hosts[host] = state

    def _forget_free_addresses(self, now: float) -> None:
        if len(self._addresses) > _MAX_REMEMBERED:
            self._addresses = {key: at for key, at in self._addresses.items() if at > now}


@lru_cache(maxsize=4096)
def is_test_server(host: str, address: str) -> bool:
    """Whether ``host`` has a name for tests and ``address`` is loopback, in whatever form."""
    if not host.partition(":")[0].removesuffix(".").endswith(".test"):
        return False
    parsed = parse_address(address)
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    return parsed is not None and parsed.is_loopback


@lru_cache(maxsize=4096)
def _address_key(address: str) -> str:
    """What shares a delay: an IPv4 address, or the /64 that one IPv6 site has to itself."""
    parsed = parse_address(address)
    if not isinstance(parsed, IPv6Address):
        return address
    inner = embedded_addresses(parsed)
    return str(inner[0][1]) if inner else f"{int(parsed) >> 64:x}::/64"
