"""How often a host and an address may be asked, and what to do when a server has had enough.

A host is asked by one request at a time, and again only its delay after the last answer. An
address that serves many hosts has a delay of its own. Both hold inside the fetcher, for redirects
and robots.txt too; what a crawl must know beyond one run (when a host may be asked again) goes out
with each result, and the frontier keeps it.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv6Address

from trailhound.fetching.polite_settings import PoliteSettings
from trailhound.fetching.special_addresses import embedded_addresses, parse_address

MAX_BACKOFF_SECONDS = 900.0
"""The longest wait of our own; a server may ask for more."""

_MAX_REMEMBERED = 50_000


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


class Politeness:
    """Turns at hosts and addresses. ``clock`` and ``sleep`` keep the same time."""

    def __init__(
        self,
        settings: PoliteSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._sleep = sleep
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self._addresses: dict[str, float] = {}

    def delay_seconds(self, host: str) -> float:
        """The least time between two requests to ``host``, as far as is known."""
        state = self._hosts.get(host)
        if state is None:
            return self._settings.delay_seconds
        return self._delay(state)

    def free_in(self, host: str) -> float:
        """Seconds until ``host`` may be asked."""
        state = self._hosts.get(host)
        return max(0.0, self._free_at(state) - self._clock()) if state is not None else 0.0

    def wish(self, host: str, seconds: float) -> None:
        """The host's own wish for a delay; more than the cap counts as the cap."""
        self._host(host).wished_seconds = min(seconds, self._settings.max_crawl_delay_seconds)

    def hold(self, host: str, seconds: float) -> None:
        """Leave ``host`` alone for ``seconds`` from now, or longer if that was agreed before."""
        state = self._host(host)
        state.held_until = max(state.held_until, self._clock() + seconds)

    async def begin(self, host: str, address: str) -> bool:
        """Wait for a turn at ``host``; :meth:`end` must follow, with what this returns.

        Raises :class:`NotYetError` rather than wait longer than the settings allow.
        """
        state = self._host(host)
        state.base_seconds = self._base_seconds(address)
        delay = self._delay(state)
        if not delay and state.held_until <= self._clock():
            return False  # this machine: nobody needs to be spared
        queue = state.waiting + state.lock.locked()
        self._check(host, self.free_in(host) + queue * delay)
        state.waiting += 1
        try:
            await state.lock.acquire()
        finally:
            state.waiting -= 1
        try:
            await self._wait(host, state, address)
        except BaseException:
            state.lock.release()
            raise
        return True

    def end(self, host: str, turn: bool) -> None:
        """The request of a turn is over: the delay starts."""
        state = self._host(host)
        state.answered_at = self._clock()
        if turn:
            state.lock.release()

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

    async def _wait(self, host: str, state: _Host, address: str) -> None:
        """Sleep until both host and address are free, and take the address's next slot."""
        key = _address_key(address)
        now = self._clock()
        start = max(now, self._free_at(state), self._addresses.get(key, now))
        self._check(host, start - now)
        if state.base_seconds:
            self._forget_free_addresses(now)
            self._addresses[key] = start + self._address_seconds(address)
        if start > now:
            await self._sleep(start - now)

    def _check(self, host: str, seconds: float) -> None:
        if seconds > self._settings.max_wait_seconds:
            raise NotYetError(seconds, host)

    def _free_at(self, state: _Host) -> float:
        return max(state.held_until, state.answered_at + self._delay(state))

    def _delay(self, state: _Host) -> float:
        base = state.base_seconds
        own = self._settings.delay_seconds if base is None else base
        return max(own, state.wished_seconds)

    def _base_seconds(self, address: str) -> float:
        if is_this_machine(address):
            return self._settings.loopback_delay_seconds
        return self._settings.delay_seconds

    def _address_seconds(self, address: str) -> float:
        if is_this_machine(address):
            return self._settings.loopback_delay_seconds
        return self._settings.address_delay_seconds

    def _host(self, host: str) -> _Host:
        state = self._hosts.get(host)
        if state is None:
            state = self._hosts[host] = _Host()
            self._forget_idle_hosts()
        return state

    def _forget_idle_hosts(self) -> None:
        # The oldest are looked at; one that is in use goes to the end of the line.
        for _ in range(2 if len(self._hosts) > _MAX_REMEMBERED else 0):
            host, state = self._hosts.popitem(last=False)
            if state.waiting or state.lock.locked() or self._free_at(state) > self._clock():
                self._hosts[host] = state

    def _forget_free_addresses(self, now: float) -> None:
        if len(self._addresses) > _MAX_REMEMBERED:
            self._addresses = {key: at for key, at in self._addresses.items() if at > now}


@lru_cache(maxsize=65536)
def is_this_machine(address: str) -> bool:
    """Whether ``address`` is loopback, in whatever form."""
    parsed = parse_address(address)
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    return parsed is not None and parsed.is_loopback


def _address_key(address: str) -> str:
    """What shares a delay: an IPv4 address, or the /64 that one IPv6 site has to itself."""
    parsed = parse_address(address)
    if not isinstance(parsed, IPv6Address):
        return address
    inner = embedded_addresses(parsed)
    return str(inner[0][1]) if inner else f"{int(parsed) >> 64:x}::/64"
