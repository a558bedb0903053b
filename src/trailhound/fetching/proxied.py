"""Connections through proxies, under the same guard as direct ones as far as that can be.

A SOCKS5 proxy is given the address that was judged here, so that the guard's promise holds as for
a direct connection. A proxy for HTTP is given the host's name, after its addresses were judged
here; what it makes of the name is its own affair (docs/security.md). The proxy itself may be
anywhere: the user has named it.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from base64 import b64encode
from importlib.util import find_spec
from typing import Any

import aiohttp
from aiohttp import hdrs
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import AddrInfoType

from trailhound.errors import ConfigError
from trailhound.fetching.address_guard import AddressGuard, AddressRefusedError, parse_address
from trailhound.fetching.connections import (
    SessionMaker,
    ThriftyConnector,
    guarded_socket,
    required_attempt,
)
from trailhound.fetching.proxies import Proxy
from trailhound.fetching.resolver import AddressBook

_INSIDE = ("localhost", "local", "internal", "intranet", "lan", "home.arpa", "corp", "private")


class ProxySessions:
    """One session of kept-alive connections for each proxy, opened by its first request.

    ``book`` knows where the hosts are that are asked for; ``resolver`` where proxies are. With
    ``proxy_resolves``, the proxies look up names.
    """

    def __init__(
        self,
        make_session: SessionMaker,
        guard: AddressGuard,
        book: AddressBook,
        resolver: AbstractResolver | None,
        *,
        proxy_resolves: bool,
    ) -> None:
        self._make_session = make_session
        self._guard = guard
        self._book = book
        self._resolver = resolver
        self.proxy_resolves = proxy_resolves
        self._sessions: dict[Proxy, aiohttp.ClientSession] = {}
        self._books: list[AddressBook] = []
        self._guards: dict[Proxy, AddressGuard] = {}

    def session(self, proxy: Proxy) -> aiohttp.ClientSession:
        """That of ``proxy``."""
        opened = self._sessions.get(proxy)
        if opened is None:
            connector = self._socks(proxy) if proxy.is_socks else self._to_proxy(proxy)
            opened = self._sessions[proxy] = self._make_session(connector)
        return opened

    def guard_of(self, proxy: Proxy) -> AddressGuard:
        """What may be connected to on behalf of requests: the proxy that the user has named."""
        guard = self._guards.get(proxy)
        if guard is None:
            guard = self._guards[proxy] = AddressGuard([proxy.host])
        return guard

    def check_unseen(self, host: str) -> str:
        """``host``, which the proxy will look up; AddressRefusedError for what is surely inside."""
        if parse_address(host) is not None:
            self._guard.check(host, host)
            return host
        name = host.lower().rstrip(".")
        is_inside = "." not in name or name.endswith(tuple(f".{each}" for each in _INSIDE))
        if is_inside and self._guard.refusal(name, "127.0.0.1") is not None:
            raise AddressRefusedError(
                f"{host} is a name of an inside network; allow_addresses can permit it by name"
            )
        return name

    async def close(self) -> None:
        """Close all connections."""
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()
        for book in self._books:
            await book.close()
        self._books.clear()

    def _to_proxy(self, proxy: Proxy) -> ThriftyConnector:
        book = AddressBook(self.guard_of(proxy), self._resolver)
        self._books.append(book)
        return ThriftyConnector(book, guarded_socket)

    def _socks(self, proxy: Proxy) -> ThriftyConnector:
        return _SocksConnector(proxy, _Unresolved() if self.proxy_resolves else self._book)


class _SocksConnector(ThriftyConnector):
    """Lets a SOCKS5 proxy connect to the addresses that the resolver gives, one after the other."""

    def __init__(self, proxy: Proxy, resolver: AbstractResolver) -> None:
        super().__init__(resolver, guarded_socket)
        self._proxy = proxy
        check_socks(proxy)

    async def _wrap_create_connection(
        self,
        *args: Any,
        addr_infos: list[AddrInfoType],
        req: ClientRequest,
        timeout: aiohttp.ClientTimeout,
        client_error: type[Exception] = aiohttp.ClientConnectorError,
        **kwargs: Any,
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        address, port = str(addr_infos[0][4][0]), int(addr_infos[0][4][1])
        attempt = required_attempt()
        if parse_address(address) is not None:
            attempt.begin_connection(address)
        else:  # the proxy looks it up
            attempt.begin_unseen()
        try:
            async with asyncio.timeout(timeout.sock_connect):
                tunnel = await self._tunnel(address, port)
                try:
                    loop = asyncio.get_running_loop()
                    return await loop.create_connection(*args, **kwargs, sock=tunnel)
                except BaseException:
                    tunnel.close()
                    raise
        except ssl.CertificateError as error:
            raise aiohttp.ClientConnectorCertificateError(req.connection_key, error) from error
        except ssl.SSLError as error:
            raise aiohttp.ClientConnectorSSLError(req.connection_key, error) from error
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError("the proxy gave no connection") from error
        except OSError as error:
            attempt.blame_us(error)
            raise client_error(req.connection_key, error) from error

    async def _tunnel(self, address: str, port: int) -> socket.socket:
        from python_socks import ProxyError, ProxyType
        from python_socks.async_.asyncio import Proxy as Socks

        proxy, login = self._proxy, self._proxy.login
        name, password = (login.user, login.password) if login is not None else (None, None)
        socks = Socks(ProxyType.SOCKS5, proxy.host, proxy.port, name, password, rdns=True)
        try:
            connected: socket.socket = await socks.connect(dest_host=address, dest_port=port)
        except ProxyError as error:  # its words are the proxy's: no login is in them
            raise OSError(f"the proxy {proxy.address} refuses: {error}") from None
        return connected


class _Unresolved(AbstractResolver):
    """Leaves names as they are."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [ResolveResult(hostname=host, host=host, port=port, family=family, proto=0, flags=0)]

    async def close(self) -> None:
        pass


def proxy_options(proxy: Proxy) -> dict[str, Any]:
    """What aiohttp is told of a proxy for HTTP."""
    if proxy.login is None:
        return {"proxy": proxy.address}
    login = b64encode(f"{proxy.login.user}:{proxy.login.password}".encode()).decode()
    return {
        "proxy": proxy.address,
        # aiohttp makes Proxy-Authorization of it, where that belongs.
        "proxy_headers": {hdrs.AUTHORIZATION: f"Basic {login}"},
    }


def check_socks(proxy: Proxy) -> None:
    """ConfigError when what SOCKS needs is not installed."""
    if proxy.is_socks and find_spec("python_socks") is None:
        raise ConfigError(
            f"The proxy {proxy.address} speaks SOCKS, which needs an extra: pip install "
            "'trailhound[socks]'"
        )
