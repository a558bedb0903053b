"""Where hosts live: asked once, judged, and then kept to.

The book is the resolver that aiohttp connects by. It hands out only addresses that the guard
permits, and the same ones for ``ttl_seconds``: what was judged is what is connected to.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import DefaultResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from trailhound.fetching.address_guard import AddressGuard, AddressRefusedError
from trailhound.fetching.special_addresses import parse_address

_Key = tuple[str, int]


@dataclass(slots=True)
class _Entry:
    places: list[ResolveResult]
    refusal: str | None
    """Set when DNS answered and no address was permitted."""
    expires: float


class AddressBook(AbstractResolver):
    """Resolves through ``resolver`` (the system's DNS by default) and keeps what ``guard`` permits.

    Of mixed answers the permitted addresses stay; when none is left the host is refused. The
    latest ``max_hosts`` hosts are remembered.
    """

    def __init__(
        self,
        guard: AddressGuard,
        resolver: AbstractResolver | None = None,
        *,
        ttl_seconds: float = 300.0,
        max_hosts: int = 20_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._guard = guard
        self._resolver = resolver
        self._own_resolver: AbstractResolver | None = None
        self._ttl_seconds = ttl_seconds
        self._max_hosts = max_hosts
        self._clock = clock
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()
        self._asking: dict[_Key, asyncio.Task[_Entry]] = {}

    async def first_address(self, host: str, port: int) -> str:
        """The address that a connection to ``host`` will try first.

        Raises :class:`AddressRefusedError`, or ``OSError`` when the name leads nowhere.
        """
        if parse_address(host) is not None:  # aiohttp asks no resolver about these
            self._guard.check(host, host)
            return host
        return (await self._places(host, port))[0]["host"]

    def known_address(self, host: str, port: int) -> str | None:
        """What :meth:`first_address` will say, if that is known and needs no waiting."""
        entry = self._entries.get((host, port))
        if entry is None or entry.refusal is not None or entry.expires <= self._clock():
            return None
        return entry.places[0]["host"]

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The permitted addresses of ``host``, for aiohttp; ``family`` 0 means both kinds."""
        places = await self._places(host, port)
        return [place for place in places if family in (socket.AF_UNSPEC, place["family"])]

    def prefer(self, host: str, port: int, address: str) -> None:
        """Try ``address`` first from now on: the others did not answer."""
        entry = self._entries.get((host, port))
        if entry is not None and entry.places and entry.places[0]["host"] != address:
            entry.places.sort(key=lambda place: place["host"] != address)

    async def close(self) -> None:
        """Forget all, and release the system's resolver if it was used."""
        for task in list(self._asking.values()):
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)
        self._entries.clear()
        if self._own_resolver is not None:
            await self._own_resolver.close()
            self._own_resolver = None

    async def _places(self, host: str, port: int) -> list[ResolveResult]:
        key = (host, port)
        entry = self._entries.get(key)
        if entry is None or entry.expires <= self._clock():
            entry = await self._ask_together(key)
        if entry.refusal is not None:
            raise AddressRefusedError(entry.refusal)
        return entry.places

    async def _ask_together(self, key: _Key) -> _Entry:
        """One question for all who wait; who gives up waiting does not stop it."""
        task = self._asking.get(key)
        if task is None:
            task = asyncio.ensure_future(self._ask(key))
            self._asking[key] = task
            task.add_done_callback(lambda done: self._answered(key, done))
        return await asyncio.shield(task)

    def _answered(self, key: _Key, task: asyncio.Task[_Entry]) -> None:
        del self._asking[key]
        if task.cancelled() or task.exception() is not None:
            return
        self._entries[key] = task.result()
        self._entries.move_to_end(key)
        if len(self._entries) > self._max_hosts:
            self._entries.popitem(last=False)

    async def _ask(self, key: _Key) -> _Entry:
        host, port = key
        answers = await self._dns().resolve(host, port, socket.AF_UNSPEC)
        if not answers:
            raise OSError(f"the host name {host} has no address")
        reasons = [self._guard.refusal(host, answer["host"]) for answer in answers]
        places = [answer for answer, reason in zip(answers, reasons, strict=True) if reason is None]
        refusal = None if places else reasons[0]
        return _Entry(places, refusal, self._clock() + self._ttl_seconds)

    def _dns(self) -> AbstractResolver:
        if self._resolver is not None:
            return self._resolver
        if self._own_resolver is None:  # not in the constructor: it needs the running loop
            self._own_resolver = DefaultResolver()
        return self._own_resolver
