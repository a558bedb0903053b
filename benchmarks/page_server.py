"""A small HTTP server for benchmarks, in a process of its own: pages from memory, kept alive.

    python -m benchmarks.page_server FILE

It prints its port and serves on all addresses of the loopback network until its input ends.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measured_web import N_HOSTS, load_web, with_port

_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n"


class _Connection(asyncio.Protocol):
    """Answers GETs; that is all that a crawler sends."""

    def __init__(self, answers: dict[bytes, bytes]) -> None:
        self._answers = answers
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self._received = (self._received + data).split(b"\r\n\r\n")
        for request in requests:
            path = request.split(b" ", 2)[1]
            if self._transport is not None:
                self._transport.write(self._answers.get(path, _NOT_FOUND))


def _answer(body: bytes) -> bytes:
    head = (
        "HTTP/1.1 200 OK\r\nServer: pages\r\nContent-Type: text/html; charset=utf-8\r\n"
        f"Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _listeners() -> list[socket.socket]:
    """One socket for each host, all with the same port."""
    first = socket.create_server(("127.0.0.1", 0), backlog=512)
    port = first.getsockname()[1]
    hosts = [f"127.0.0.{number}" for number in range(2, N_HOSTS + 1)]
    return [first, *(socket.create_server((host, port), backlog=512) for host in hosts)]


async def _serve(path: Path) -> None:
    listeners = _listeners()
    port = listeners[0].getsockname()[1]
    pages = load_web(path).pages
    answers = {page.encode(): _answer(with_port(body, port)) for page, body in pages.items()}
    loop = asyncio.get_running_loop()
    for listener in listeners:
        await loop.create_server(lambda: _Connection(answers), sock=listener)
    print(port, flush=True)
    await asyncio.to_thread(sys.stdin.read)


@contextmanager
def running_server(path: Path) -> Iterator[int]:
    """Serve the web in ``path`` from another process; the port."""
    with served_by("benchmarks.page_server", str(path)) as port:
        yield port


@contextmanager
def served_by(module: str, *arguments: str) -> Iterator[int]:
    """Run a module that tells its port and serves until its input ends; the port."""
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        if server.stdin is None or server.stdout is None:
            raise RuntimeError("the server has no pipes")
        try:
            yield int(server.stdout.readline())
        finally:
            server.stdin.close()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
