"""Proxies on this machine for tests: HTTP with CONNECT, and SOCKS5; and what they were asked."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class TestProxy:
    """What both kinds share: where names lead, whom they let in, what they were told."""

    __test__ = False

    def __init__(
        self,
        names: dict[str, int],
        login: tuple[str, str] | None = None,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self.asked: list[str] = []
        """``CONNECT name:port``, ``GET http://…``, or the address of a SOCKS request."""
        self.port = 0
        self._names = names
        """Ports of this machine, by ``name:port``; nothing else is connected to."""
        self._login = login
        self._context = context
        """Of a proxy that is itself spoken to over TLS."""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[TestProxy]:
        server = await asyncio.start_server(self._safely, "127.0.0.1", 0, ssl=self._context)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()

    async def _safely(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Cancelled when the test is over: that is no error to tell of.
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self.answer(reader, writer)
        writer.close()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError

    async def reach(self, place: str) -> Streams:
        return await asyncio.open_connection("127.0.0.1", self._names[place])


async def pipe_both(here: Streams, there: Streams) -> None:
    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    await asyncio.gather(pipe(here[0], there[1]), pipe(there[0], here[1]))


class HttpProxy(TestProxy):
    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        self.asked.append(f"{method} {target}")
        if self._login is not None:
            told = base64.b64encode(":".join(self._login).encode())
            if b"Proxy-Authorization: Basic " + told not in head:
                writer.write(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
                return
        place = target if method == "CONNECT" else f"{target.split('/')[2]}:80"
        if place not in self._names:
            writer.write(b"HTTP/1.1 502 Acc\xe8s refus\xe9\r\nContent-Length: 0\r\n\r\n")
            return
        there = await self.reach(place)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        else:
            there[1].write(head)
        await pipe_both((reader, writer), there)


class SocksProxy(TestProxy):
    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        methods = (await reader.readexactly(2))[1]
        await reader.readexactly(methods)
        writer.write(b"\x05\x02" if self._login is not None else b"\x05\x00")
        if self._login is not None:
            user, password = await self._text(reader, skip=1), await self._text(reader)
            is_known = (user, password) == self._login
            writer.write(b"\x01\x00" if is_known else b"\x01\x01")
            if not is_known:
                return
        place = await self._place(reader)
        self.asked.append(place)
        if place not in self._names:
            writer.write(b"\x05\x04\x00\x01" + bytes(6))
            return
        there = await self.reach(place)
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        await pipe_both((reader, writer), there)

    async def _text(self, reader: asyncio.StreamReader, skip: int = 0) -> str:
        await reader.readexactly(skip)
        return (await reader.readexactly((await reader.readexactly(1))[0])).decode()

    async def _place(self, reader: asyncio.StreamReader) -> str:
        kind = (await reader.readexactly(4))[3]
        if kind == 3:
            host = await self._text(reader)
        else:
            family, size = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
            host = socket.inet_ntop(family, await reader.readexactly(size))
        return f"{host}:{int.from_bytes(await reader.readexactly(2))}"
