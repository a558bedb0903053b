"""Servers on this machine for as long as a test needs them, and names for where they are."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from trailhound.fetching.resolver import MappedResolver


@contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """The port at which ``handler`` answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def posts_taken() -> Iterator[tuple[int, list[Any]]]:
    """The port of a server that takes JSON, and what it was sent."""
    got: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with served(Handler) as port:
        yield port, got


@asynccontextmanager
async def answering(
    answer: Callable[[web.Request], Awaitable[web.StreamResponse]],
) -> AsyncIterator[MappedResolver]:
    """Every ``….test`` host gives this answer, in the running event loop."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        where = f"127.0.0.1:{runner.addresses[0][1]}"
        yield MappedResolver({"*.test": where}, use_dns=False)
    finally:
        await runner.cleanup()


def place(host: str, address: str, port: int) -> ResolveResult:
    """What DNS says of a host."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(
        hostname=host, host=address, port=port, family=family, proto=socket.IPPROTO_TCP, flags=0
    )


class Moving(AbstractResolver):
    """Hosts with other addresses each time they are asked for; the last answer stays."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = answers
        self.asked = 0

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        answer = self._answers[min(self.asked, len(self._answers) - 1)]
        self.asked += 1
        await asyncio.sleep(0)
        return [place(host, address, port) for address in answer]

    async def close(self) -> None:
        pass
