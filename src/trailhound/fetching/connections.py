"""Guarded connections: aiohttp's session with the address guard at its two seams.

Each request runs as an :class:`Attempt`, which knows the host name that the guard may permit by.
``socket_factory`` sees the address that a socket is about to connect to; :class:`_GuardedRequest`
sees the peer of the connection, new or kept alive, before the request is written.

Connections are few enough for the descriptors that this process may have: a quarter of them for
requests, as many for connections that are kept alive.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ClientRequest, ClientResponse, ConnectionKey
from aiohttp.connector import AddrInfoType, Connection, SocketFactoryType

from trailhound.fetching.address_guard import AddressGuard, AddressRefusedError

_MAX_HEADER_BYTES = 32_768  # some sites send policies far above aiohttp's 8 KB
_MAX_HEADERS = 200

OWN_TROUBLE = frozenset([errno.EMFILE, errno.ENFILE, errno.ENOBUFS])
"""Errors of a socket that are no fault of the host: we have too many of them open."""
_USUAL_DESCRIPTORS = 1024  # where the system does not tell
_MOST_DESCRIPTORS = 16_384  # no crawl needs more

_STANDSTILL_SECONDS = 2.0
_BEAT_SECONDS = 0.5

_CODINGS = "gzip, deflate, br, zstd"
_ACCEPT = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"


class StandstillWatch:
    """Notices when this process stands still: suspended, or with something holding up its loop.

    Time-outs run meanwhile, and servers hang up; that is no fault of theirs.
    """

    def __init__(self) -> None:
        self._watchers = 0
        self._ended_at = float("-inf")
        """Of the last standstill."""
        self._timer: asyncio.TimerHandle | None = None

    @contextmanager
    def watching(self) -> Iterator[Callable[[], bool]]:
        """Gives a function that tells whether there was a standstill since."""
        began_at = asyncio.get_running_loop().time()
        self._watchers += 1
        if self._timer is None:
            self._await_beat()
        try:
            yield lambda: self._ended_at > began_at
        finally:
            self._watchers -= 1
            if not self._watchers and self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _await_beat(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_BEAT_SECONDS, self._beat)

    def _beat(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._timer is not None and now - self._timer.when() > _STANDSTILL_SECONDS:
            self._ended_at = now
        self._await_beat()


@dataclass(slots=True)
class Attempt:
    """One request on its way: for which host, and where it went."""

    guard: AddressGuard
    host: str
    peer: str = ""
    """The address that the request was sent to; empty while it was not."""
    refusal: str = ""
    """The guard's reason, when it stopped the request."""
    is_new: bool = False
    """Whether a connection was opened for it."""
    was_sent: bool = False
    own_trouble: str = ""
    """Why we could not open a socket, when that is our own fault."""
    is_tunnelled: bool = False
    """Whether the other end is a SOCKS proxy, which is told to go to an address judged before."""

    def begin_connection(self, address: str) -> None:
        """Raise unless a new connection to ``address`` may be made for it."""
        self.check(address)
        self.begin_unseen()

    def begin_unseen(self) -> None:
        """The same where a proxy looks up the host, whose name was judged before."""
        if self.was_sent:
            raise _hung_up()
        self.is_new = True

    def blame_us(self, error: OSError) -> None:
        """Remember an error of a socket that is our own fault."""
        if error.errno in OWN_TROUBLE:
            self.own_trouble = error.strerror or str(error)

    def send_once(self) -> None:
        """Raise the second time: aiohttp asks again at once when a connection breaks off."""
        if self.was_sent:
            raise _hung_up()
        self.was_sent = True

    def check(self, address: str) -> None:
        """Raise when ``address`` may not be used, and remember why."""
        reason = self.guard.refusal(self.host, address)
        if reason is not None:
            self.refusal = reason
            raise AddressRefusedError(reason)


current_attempt: ContextVar[Attempt | None] = ContextVar("current_attempt", default=None)
"""Set around each request; tasks that aiohttp starts for it inherit it."""


class _GuardedRequest(ClientRequest):
    """Looks at the connection's other end before anything is sent to it."""

    async def send(self, conn: Connection) -> ClientResponse:
        attempt = required_attempt()
        if not attempt.is_tunnelled:
            peer = conn.transport.get_extra_info("peername") if conn.transport is not None else None
            address = peer[0] if peer else ""
            attempt.check(address)
            attempt.peer = address
        attempt.send_once()
        return await super().send(conn)


class ThriftyConnector(aiohttp.TCPConnector):
    """Keeps connections to so many hosts alive as may be asked at once; aiohttp limits only those
    in use.

    A host is asked by one request at a time, so that this is nearly the number of connections.
    """

    def __init__(self, resolver: AbstractResolver, guard: SocketFactoryType) -> None:
        # The book keeps the answers; a second memory would forget at other times.
        super().__init__(limit=0, resolver=resolver, use_dns_cache=False, socket_factory=guard)
        self._max_idle_hosts = max_connections()

    def _release(
        self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False
    ) -> None:
        super()._release(key, protocol, should_close=should_close)
        self.close_idle(self._max_idle_hosts)

    def close_idle(self, most_hosts: int) -> None:
        """Close those that have been idle for longest."""
        while len(self._conns) > most_hosts:
            for protocol, _ in self._conns.pop(next(iter(self._conns))):
                protocol.close()


def close_idle_connections(session: aiohttp.ClientSession) -> None:
    """Give descriptors free that nobody uses now."""
    if isinstance(session.connector, ThriftyConnector):
        session.connector.close_idle(0)


def max_connections() -> int:
    """How many requests may be under way at once, by this process's limit of descriptors."""
    try:
        import resource  # not on Windows

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    except ImportError:
        soft = _USUAL_DESCRIPTORS
    # A request may try two addresses at once, and files, databases and workers need some too.
    return max(1, (soft if 0 < soft < _MOST_DESCRIPTORS else _MOST_DESCRIPTORS) // 4)


SessionMaker = Callable[[ThriftyConnector], aiohttp.ClientSession]


def open_session(
    user_agent: str,
    timeout: aiohttp.ClientTimeout,
    headers: Mapping[str, str],
    connector: ThriftyConnector,
) -> aiohttp.ClientSession:
    """A session whose every connection is guarded; no cookies, no proxy from the environment.

    ``headers`` go along with every request. Bodies come as they are on the wire: their codings are
    undone, within limits, by :mod:`.content_coding`.
    """
    return aiohttp.ClientSession(
        connector=connector,
        request_class=_GuardedRequest,
        timeout=timeout,
        headers={
            "User-Agent": user_agent,
            "Accept": _ACCEPT,
            "Accept-Encoding": _CODINGS,
            **headers,
        },
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        max_line_size=_MAX_HEADER_BYTES,
        max_field_size=_MAX_HEADER_BYTES,
        max_headers=_MAX_HEADERS,
    )


def guarded_socket(place: AddrInfoType) -> socket.socket:
    """A socket for exactly this place, if the guard permits it."""
    family, kind, protocol, _, address = place
    attempt = required_attempt()
    attempt.begin_connection(str(address[0]))
    try:
        return socket.socket(family=family, type=kind, proto=protocol)
    except OSError as error:
        attempt.blame_us(error)
        raise


def _hung_up() -> ConnectionResetError:
    return ConnectionResetError(errno.ECONNRESET, "the server hung up")


def required_attempt() -> Attempt:
    """The request on behalf of which a connection is made; AddressRefusedError without one."""
    attempt = current_attempt.get()
    if attempt is None:  # nobody said what for: better no connection than an unguarded one
        raise AddressRefusedError("a connection outside of any request")
    return attempt
