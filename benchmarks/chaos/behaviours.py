"""What a misbehaving server does with one request, in raw bytes: a well-behaved library cannot."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import NamedTuple

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
PAGE = b"<!doctype html><title>A page</title><p>Words."
BLOCK = b"x" * 65_536

HANG_SECONDS = 60.0
"""Longer than any crawl here waits for an answer."""


class Asked(NamedTuple):
    """One request."""

    host: str
    """As the request names it, in lower case."""
    path: str
    number: int = 1
    """Which of this host's requests it is; the first is 1."""
    inside_port: int = 0
    """Where on this machine a server listens that nobody may reach."""


Behaviour = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]
Body = Callable[[], bytes]


def says(*parts: bytes, close: bool = False) -> Behaviour:
    """Exactly these bytes."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
        if close:
            raise ConnectionAbortedError

    return behave


def answers(body: Callable[[Asked], bytes], headers: bytes = b"") -> Behaviour:
    """A proper answer that depends on the request, made when it is needed."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        content = body(asked)
        writer.write(HEAD + headers + b"Content-Length: %d\r\n\r\n" % len(content))
        writer.write(content)

    return behave


def page(body: bytes = PAGE, headers: bytes = b"") -> Behaviour:
    """A proper answer."""
    return answers(lambda asked: body, headers)


def made(body: Body, headers: bytes = b"") -> Behaviour:
    """A proper answer with a body that is made when it is needed."""
    return answers(lambda asked: body(), headers)


def packed(coding: bytes, body: Body) -> Behaviour:
    """A proper answer with a coded body."""
    return made(body, b"Content-Encoding: " + coding + b"\r\n")


def typed(content_type: bytes, body: bytes) -> Behaviour:
    """An answer of any type."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
    return says(head % (content_type, len(body)), body)


def text(body: Body, headers: bytes = b"") -> Behaviour:
    """A plain text, such as a robots.txt, made when it is needed."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        content = body()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + headers
        writer.write(head + b"Content-Length: %d\r\n\r\n" % len(content) + content)

    return behave


def status(code: int, headers: bytes = b"", body: bytes = b"") -> Behaviour:
    """A bare status, with or without more."""
    return says(
        b"HTTP/1.1 %d Oh\r\n%sContent-Length: %d\r\n\r\n" % (code, headers, len(body)), body
    )


def hangs(start: bytes = b"") -> Behaviour:
    """``start``, and then nothing ever again."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await asyncio.sleep(HANG_SECONDS)

    return behave


def drips(start: bytes, drop: bytes = b"x") -> Behaviour:
    """``start``, and then a drop twenty times a second."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(drop)
            await writer.drain()
            await asyncio.sleep(0.05)

    return behave


def pours(start: bytes, piece: bytes) -> Behaviour:
    """``start``, and then ``piece`` after ``piece`` as fast as it is taken."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.002)  # the other hosts want to be served too

    return behave


def resets(start: bytes = b"") -> Behaviour:
    """``start``, and then a TCP reset instead of an end."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await writer.drain()
        await asyncio.sleep(0.05)
        sock: socket.socket = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        raise ConnectionAbortedError

    return behave


def half_closes(start: bytes) -> Behaviour:
    """``start``, and then the end of what we hear, while the other direction stays open."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        writer.write_eof()
        await asyncio.sleep(HANG_SECONDS)

    return behave


def redirects(
    location: Callable[[Asked], str], extra: bytes = b"", *, code: int = 302
) -> Behaviour:
    """Elsewhere, by what was asked for."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        target = location(asked).encode("utf-8", "surrogateescape")
        writer.write(b"HTTP/1.1 %d Found\r\nLocation: " % code + target + b"\r\n")
        writer.write(extra or b"Content-Length: 0\r\n\r\n")

    return behave


def redirects_to(target: str, *, code: int = 302) -> Behaviour:
    """Always to the same place."""
    return redirects(lambda asked: target, code=code)


def redirects_once(then: Behaviour, start: bytes) -> Behaviour:
    """A first redirect whose body never ends."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path != "/":
            await page()(asked, writer)
            return
        writer.write(start)
        await then(asked, writer)

    return behave


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """One after the other with each request, from the beginning again after the last."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await behaviours[asked.number % len(behaviours)](asked, writer)

    return behave
