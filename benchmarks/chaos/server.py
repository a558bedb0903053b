"""Serves a hostile web, with healthy hosts in it, from one process.

    python -m benchmarks.chaos.server SEED HOSTS HEAVY LOG

It prints its ports as JSON, writes each request to LOG (when, host, path; seconds of a clock that
all processes of this machine share), and ends when its input does.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.chaos.behaviours import Asked, Behaviour, status
from benchmarks.chaos.bombs import make_bombs
from benchmarks.chaos.kind import Kind
from benchmarks.chaos.kinds import KINDS
from benchmarks.chaos.web import ChaosWeb

INSIDE = "(inside)"
"""Stands in the log for the host of a connection that should never have been made."""
MAX_PAGES = 12
"""A hostile host has so many pages at most: a crawl of many of them must come to an end."""

_no_page = status(404)


class HostileServer:
    """Answers by the kind that the host's name begins with.

    ``others`` answers for all hosts that are of no kind; ``heard`` is told of each request.
    """

    def __init__(
        self,
        kinds: Mapping[str, Kind],
        others: Behaviour,
        heard: Callable[[Asked], None],
        max_pages: int | None = None,
    ) -> None:
        self._kinds = kinds
        self._others = others
        self._heard = heard
        self._max_pages = max_pages
        self._requests: Counter[str] = Counter()
        self.inside_port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Deal with one connection, request by request."""
        try:
            while True:
                request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                asked = self._read(request)
                self._heard(asked)
                await self._behaviour(asked)(asked, writer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    def _read(self, request: str) -> Asked:
        path = request.split(" ", 2)[1]
        host = request.lower().split("host: ", 1)[1].split("\r\n", 1)[0]
        self._requests[host] += 1
        return Asked(host, path, self._requests[host], self.inside_port)

    def _behaviour(self, asked: Asked) -> Behaviour:
        kind = self._kinds.get(asked.host.partition(".")[0])
        if kind is None:
            return self._others
        if asked.path == "/robots.txt":
            return kind.robots or _no_page
        if self._max_pages is not None and asked.number > self._max_pages:
            return _no_page
        return kind.page


class Ports(NamedTuple):
    """Where what listens."""

    web: int
    closed: int
    """Nobody does."""
    deaf: int
    """Connections are taken, and nothing is ever read."""
    slam: int
    """They are closed at once."""
    inside: int
    """No crawl may come here."""


async def _serve(web: ChaosWeb, log: Path) -> None:
    make_bombs()
    with log.open("a", buffering=1) as lines:

        def note(host: str, path: str) -> None:
            lines.write(f"{time.monotonic():.6f} {host} {path[:500]}\n")

        def slam(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()

        def trip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            note(INSIDE, str(writer.get_extra_info("sockname")))
            writer.close()

        server = HostileServer(
            KINDS, web.healthy_answer, lambda asked: note(asked.host, asked.path), MAX_PAGES
        )
        closed, deaf = socket.socket(), socket.create_server(("127.0.0.1", 0), backlog=100)
        closed.bind(("127.0.0.1", 0))  # nobody else gets it, and nobody listens
        ports = {"closed": closed.getsockname()[1], "deaf": deaf.getsockname()[1]}
        ports["web"] = await _listen(server.answer)
        ports["slam"] = await _listen(slam)
        ports["inside"] = server.inside_port = await _listen(trip)
        print(json.dumps(ports), flush=True)
        await asyncio.to_thread(sys.stdin.read)


async def _listen(
    answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None] | None],
) -> int:
    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=2**20, backlog=512)
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    _servers.append(server)
    return int(server.sockets[0].getsockname()[1])


_servers: list[asyncio.Server] = []
"""Kept from the garbage collector."""


@contextmanager
def running_server(web: ChaosWeb, log: Path) -> Iterator[Ports]:
    """Serve a web from another process."""
    facts = [str(int(fact)) for fact in (web.seed, web.hosts, web.heavy)]
    command = [sys.executable, "-m", "benchmarks.chaos.server", *facts, str(log)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        if server.stdin is None or server.stdout is None:
            raise RuntimeError("the server has no pipes")
        try:
            yield Ports(**json.loads(server.stdout.readline()))
        finally:
            server.stdin.close()
            server.kill()  # some of its answers would take another minute


if __name__ == "__main__":
    seed, hosts, heavy = map(int, sys.argv[1:4])
    asyncio.run(_serve(ChaosWeb(seed, hosts, heavy=bool(heavy)), Path(sys.argv[4])))
