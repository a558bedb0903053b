"""Connections of those who read what is served: few at once, and none for long without a request.

A server that everybody may reach shares its process, and so its file descriptors, with the app:
strangers who open connections and say nothing must not keep the owner out. Here is also where this
machine is reached by itself, and how that is written in an address.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from trailhound.fetching.connections import OWN_TROUBLE, max_connections

LOOPBACK = "127.0.0.1"
LOOPBACK_6 = "::1"


def in_address(host: str) -> str:
    """A host as addresses have it: those of IPv6 stand in brackets."""
    return f"[{host}]" if ":" in host else host


WAIT_SECONDS = 10.0
"""A connection that has brought no whole request for so long is closed."""
_LOOK_SECONDS = 30.0
"""As often each connection is looked at: who has read nothing of his answer since then never will.

The system takes what is to be sent in large pieces: a slow reader's answer rests for seconds.
"""
_MOST_READERS = 128
_TOLD_EVERY_SECONDS = 60.0

_log = logging.getLogger(__name__)


def most_readers() -> int:
    """Connections that strangers may have: an eighth of this process's descriptors at most."""
    return max(1, min(_MOST_READERS, max_connections() // 2))


class Places:
    """Of a server's connections, ``most`` at a time.

    A newcomer takes the place of whoever is here for longest and has no request being answered.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: dict[asyncio.Transport, asyncio.TimerHandle] = {}
        self._answered: set[asyncio.BaseTransport] = set()

    def __len__(self) -> int:
        """How many are taken."""
        return len(self._taken)

    def given_to(self, inner: asyncio.Protocol) -> asyncio.Protocol:
        """The protocol of a new connection, which ``inner`` would be without these."""
        return _Seated(self, inner)

    @contextmanager
    def answering(self, transport: asyncio.BaseTransport | None) -> Iterator[None]:
        """Meanwhile, nobody takes the place of this connection."""
        if transport is None:  # it is gone
            yield
            return
        self._answered.add(transport)
        try:
            yield
        finally:
            self._answered.discard(transport)

    def take(self, transport: asyncio.Transport) -> None:
        """There is a new connection; one of them ends when there are too many."""
        self._look_later(transport)
        if len(self._taken) > self._most:
            waiting = (each for each in self._taken if each not in self._answered)
            self._end(next(waiting, transport))

    def leave(self, transport: asyncio.Transport) -> None:
        """Its connection has ended."""
        if (timer := self._taken.pop(transport, None)) is not None:
            timer.cancel()

    def _look_later(self, transport: asyncio.Transport, unread: int = 0) -> None:
        loop = asyncio.get_running_loop()
        self._taken[transport] = loop.call_later(_LOOK_SECONDS, self._look_at, transport, unread)

    def _look_at(self, transport: asyncio.Transport, unread_before: int) -> None:
        unread = transport.get_write_buffer_size()
        if unread and unread == unread_before:
            self._end(transport)
        else:
            self._look_later(transport, unread)

    def _end(self, transport: asyncio.Transport) -> None:
        self.leave(transport)
        transport.abort()  # to close it would wait for what nobody reads


class _Seated(asyncio.Protocol):
    """Passes on to another protocol whatever happens, and tells when it begins and ends."""

    def __init__(self, places: Places, inner: asyncio.Protocol) -> None:
        self._places = places
        self._inner = inner
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._inner.connection_made(transport)
        self._places.take(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._places.leave(self._transport)
        self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()


def tell_of_no_room_seldom(loop: asyncio.AbstractEventLoop) -> None:
    """Without descriptors left, asyncio tells of each connection that it cannot take, a hundred
    times a second; a line a minute says as much."""
    before = loop.get_exception_handler()
    told_at = float("-inf")

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal told_at
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in OWN_TROUBLE and "socket" in context):
            before(loop, context) if before is not None else loop.default_exception_handler(context)
        elif loop.time() >= told_at + _TOLD_EVERY_SECONDS:
            told_at = loop.time()
            _log.warning("No connection can be taken right now: %s", error.strerror)

    loop.set_exception_handler(handle)
