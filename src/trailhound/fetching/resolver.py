"""Where hosts live: asked of DNS or of the settings, judged once, and then kept to.

:class:`AddressBook` is the resolver that aiohttp connects by. It hands out only addresses that the
guard permits, and the same ones for ``ttl_seconds``: what was judged is what is connected to.

Behind it, :class:`MappedResolver` lets chosen names lead to chosen addresses, as the demo web's do:
with ``{"*.demo.test": "127.0.0.1:8080"}``, ``http://cs.north.demo.test/`` reaches a server on this
machine with nothing in the system's hosts file. aiohttp connects to the port that a resolver
returns, so the URL keeps its default port.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from trailhound.errors import ConfigError
from trailhound.fetching.address_guard import AddressGuard, AddressRefusedError, parse_address

_Key = tuple[str, int]
_MAX_LOOKUPS = 256
"""Names that the system is asked for at once."""


@dataclass(slots=True)
class _Entry:
    places: list[ResolveResult]
    refusal: str | None
    """Set when DNS answered and no address was permitted."""
    expires: float


class SystemResolver(AbstractResolver):
    """Asks the system, in a thread for each name.

    The threads of an event loop are few, and a name whose servers never answer keeps one for half a
    minute: some such names would hold up all others. None of these keeps the program from ending.
    """

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(_MAX_LOOKUPS)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """What the system knows of ``host``."""
        ask = partial(
            socket.getaddrinfo, host, port, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG
        )
        async with self._room:
            found = await _in_a_thread(ask)
        return [
            ResolveResult(
                hostname=host,
                host=_with_zone(address),
                port=int(address[1]),
                family=kind,
                proto=protocol,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for kind, _, protocol, _, address in found
            if kind in (socket.AF_INET, socket.AF_INET6)
        ]

    async def close(self) -> None:
        """Nothing is kept open."""


def _with_zone(address: tuple[Any, ...]) -> str:
    """An IPv6 address of one link alone says of which."""
    zone = address[3] if len(address) > 3 else 0
    return f"{address[0]}%{zone}" if zone else str(address[0])


async def _in_a_thread(ask: Callable[[], list[Any]]) -> list[Any]:
    """What ``ask`` returns or raises; a thread that nobody waits for any more ends by itself."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[Any]] = loop.create_future()

    def settle(found: list[Any] | BaseException) -> None:
        if answer.done():
            return
        if isinstance(found, BaseException):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    def run() -> None:
        found: list[Any] | BaseException
        try:
            found = ask()
        except Exception as error:  # of any kind: it is the caller's
            found = error
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, found)

    threading.Thread(target=run, name="trailhound-dns", daemon=True).start()
    return await answer


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
        max_hosts: int = 5_000,
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
        if parse_address(host) is not None:
            return host if self._guard.refusal(host, host) is None else None
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
            self._own_resolver = SystemResolver()
        return self._own_resolver


_ADDRESS = re.compile(r"\[(?P<v6>[^\]]+)\](?::(?P<p6>[0-9]+))?|(?P<v4>[^:]+)(?::(?P<p4>[0-9]+))?")


_EVERY_HOST = ""
"""What is left of ``*`` without its star."""


@dataclass(frozen=True, slots=True)
class _Endpoint:
    address: str
    port: int | None
    """``None``: the port of the URL."""

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AF_INET6 if ":" in self.address else socket.AF_INET


class MappedResolver(AbstractResolver):
    """Maps names (``www.demo.test``) and suffixes (``*.demo.test``) to ``address[:port]``.

    The exact name wins, then the longest suffix, then ``*``, which is every host. Other names go
    to the system's DNS, or nowhere when ``use_dns`` is false: then nothing leaves the mapped
    addresses. Whether an address may be visited at all is for the address guard to say, as ever.
    """

    def __init__(self, hosts: Mapping[str, str], *, use_dns: bool = True) -> None:
        self._endpoints = {_pattern(name): _endpoint(name, where) for name, where in hosts.items()}
        self._use_dns = use_dns
        self._dns: AbstractResolver | None = None

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The mapped address of ``host``, or what DNS says."""
        endpoint = self._find(host.lower().rstrip("."))
        if endpoint is not None:
            return [_result(host, endpoint, port)]
        if not self._use_dns:
            raise OSError(f"the host name {host} is not mapped and DNS is switched off")
        if self._dns is None:  # not in the constructor: it needs the running loop
            self._dns = SystemResolver()
        return await self._dns.resolve(host, port, family)

    async def close(self) -> None:
        """Release the system resolver, if it was used."""
        if self._dns is not None:
            await self._dns.close()
            self._dns = None

    def _find(self, host: str) -> _Endpoint | None:
        found = self._endpoints.get(host)
        dot = host.find(".")
        while found is None and dot >= 0:
            found = self._endpoints.get(host[dot:])
            dot = host.find(".", dot + 1)
        return found or self._endpoints.get(_EVERY_HOST)


def _pattern(name: str) -> str:
    """``name`` as it is looked up: a whole name, or the end of one that begins with a dot."""
    pattern = name.lower().removeprefix("*")
    if "*" in pattern or (name.startswith("*") and pattern and not pattern.startswith(".")):
        raise ConfigError(
            f"'{name}' is no host. Write a name (www.example.org), all names below one "
            "(*.example.org), or * for every host."
        )
    return pattern


def _endpoint(name: str, where: str) -> _Endpoint:
    """``where`` as address and port."""
    match = _ADDRESS.fullmatch(where)
    try:
        if match is None:
            raise ValueError("it is neither address nor address:port")
        address = ipaddress.ip_address(match["v6"] or match["v4"])
        port = match["p6"] or match["p4"]
        if port is not None and not 0 < int(port) < 65536:
            raise ValueError("the port is not between 1 and 65535")
    except ValueError as error:
        raise ConfigError(
            f"Cannot map host '{name}' to '{where}': {error}. "
            "Write an IP address with an optional port, for example 127.0.0.1:8080 or [::1]:8080."
        ) from error
    return _Endpoint(str(address), int(port) if port else None)


def _result(host: str, endpoint: _Endpoint, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=endpoint.address,
        port=endpoint.port or port,
        family=endpoint.family,
        proto=socket.IPPROTO_TCP,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )


def mapped_resolver(entries: Iterable[str]) -> MappedResolver | None:
    """Where hosts are that the settings place, ``HOST=ADDRESS`` each; ``None`` without any."""
    hosts = {}
    for entry in entries:
        host, equals, address = entry.partition("=")
        if not (host and equals and address):
            raise ConfigError(
                f"'{entry}' does not say where a host is. Write HOST=ADDRESS or "
                "HOST=ADDRESS:PORT, for example '*.demo.test=127.0.0.1:8080'."
            )
        hosts[host.strip()] = address.strip()
    return MappedResolver(hosts) if hosts else None
