"""The demo web many times over, linked together: as many hosts and pages as a cluster needs.

    python -m benchmarks.wide_web REPLICAS LOG [--least-bytes N]

In replica 7, ``www.eastmere.demo.test`` is ``www.eastmere.r7.demo.test``. The first page of each
leads on to two more: by a link, and by a redirect to another host. Only the endless calendar is
left out, so that a crawl can come to an end.

Its pages are small (4 KB). With a least size, a page's own words are repeated at its end, without
links, until it has so many bytes: as much to fetch, read, judge and archive as on the web at large.

As a program it serves the web on this machine until its input ends. It prints its port; each
request is a line of LOG: when it came and was answered, in seconds, at which address, and the URL.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from aiohttp import web

from benchmarks.page_server import served_by
from trailhound.demo import DemoWeb, DemoWebParameters
from trailhound.demo.trap import TRAP_HOST

SMALL = DemoWebParameters(
    universities=3,
    people_per_department=3,
    papers_per_person=2,
    articles_per_newspaper=20,
    threads_per_forum=15,
)
"""43 hosts and about 1,500 pages: 48 replicas are 2,065 hosts and some 66,000 pages."""
TINY = DemoWebParameters(
    universities=1,
    session_universities=1,
    departments_per_university=1,
    people_per_department=2,
    papers_per_person=2,
    articles_per_newspaper=3,
    threads_per_forum=3,
    articles_per_club=3,
    products_per_shop=3,
)
"""40 hosts and about 500 pages, for tests."""
CHAIN_HOST = "chain.demo.test"
"""Its pages lead from one to the next for as long as a server is not to be left."""
_HOSTS = re.compile(rb"(?<=\.)demo\.test")
_LINKS = re.compile(rb"</?a\b[^>]*>", re.IGNORECASE)
_BODY = re.compile(rb"<body[^>]*>(.*?)(?=</body>|\Z)", re.IGNORECASE | re.DOTALL)
_REPLICA = re.compile(r"^(.+)\.r([0-9]+)\.demo\.test$")


class Asked(NamedTuple):
    """One request, as the server saw it. Times are in seconds since 1970."""

    at: float
    done: float
    address: str
    url: str

    @property
    def host(self) -> str:
        """Whom it was for."""
        return self.url.split("/", 3)[2]


class WideWeb:
    """``replicas`` copies of one demo web."""

    def __init__(self, demo: DemoWeb, replicas: int, least_bytes: int = 0) -> None:
        self.demo = demo
        self.replicas = replicas
        self.least_bytes = least_bytes
        self.seed = demo.start_urls[0]
        """From here everything can be reached."""

    def answer(self, host: str, path: str) -> web.Response:
        """What a host says."""
        found = _REPLICA.match(host)
        name, number = (f"{found[1]}.demo.test", int(found[2])) if found else (host, 0)
        is_first = self.seed == f"http://{name}/"
        if number >= self.replicas or name == TRAP_HOST:
            return web.Response(status=404)
        if is_first and path == "/next":
            return web.Response(status=302, headers={"Location": self._first(2 * number + 2)})
        response = self.demo.respond(f"http://{name}{path}")
        body, headers = response.body, dict(response.headers)
        if number:
            place = f"r{number}.demo.test"
            body = _HOSTS.sub(place.encode(), body)
            headers = {key: value.replace("demo.test", place) for key, value in headers.items()}
        if is_first and path == "/":
            more = f'<a href="{self._first(2 * number + 1)}">More</a> <a href="/next">Next</a>'
            more += f' <a href="http://{CHAIN_HOST}/0">Chain</a>'
            body += more.encode()
        if headers.get("Content-Type", "").startswith("text/html"):
            body = lengthened(body, self.least_bytes)
        return web.Response(status=response.status, headers=headers, body=body)

    def _first(self, number: int) -> str:
        is_there = 0 < number < self.replicas
        return self.seed.replace("demo.test", f"r{number}.demo.test") if is_there else self.seed


def lengthened(page: bytes, least: int) -> bytes:
    """The page with its own words again at its end, until it has so many bytes."""
    found = _BODY.search(page)
    words = _LINKS.sub(b"", found[1]) if found else b""
    missing = least - len(page)
    if found is None or not words or missing <= 0:
        return page
    return page[: found.end()] + words * -(-missing // len(words)) + page[found.end() :]


class WideServer:
    """Serves a wide web at one port of 127.0.0.1 and the addresses after it."""

    def __init__(self, wide: WideWeb, addresses: int = 1, log: Path | None = None) -> None:
        self._wide = wide
        self._addresses = [f"127.0.0.{number + 1}" for number in range(addresses)]
        self._log = log.open("w", buffering=1) if log is not None else None
        self.asked: list[Asked] = []
        """All requests so far, unless there is a log."""
        self.holds = False
        """While it does, no crawl comes to an end."""

    async def start(self) -> int:
        """Listen; the port."""
        runner = web.ServerRunner(web.Server(self._answer), access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        self._runner, port = runner, 0
        for address in self._addresses:
            listener = socket.create_server((address, port), backlog=512)
            port = listener.getsockname()[1]
            await web.SockSite(runner, listener).start()
        return port

    async def stop(self) -> None:
        """Close everything."""
        await self._runner.cleanup()
        if self._log is not None:
            self._log.close()

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        at, host = time.time(), request.host.partition(":")[0].lower()
        if host == CHAIN_HOST:
            response = self._link_of_chain(request.raw_path)
        else:
            response = self._wide.answer(host, request.raw_path)
        sockname = request.transport.get_extra_info("sockname") if request.transport else None
        address = sockname[0] if sockname else ""
        asked = Asked(at, time.time(), address, f"http://{host}{request.raw_path}")
        if self._log is None:
            self.asked.append(asked)
        else:
            self._log.write("\t".join(map(str, (*asked, response.status))) + "\n")
        return response

    def _link_of_chain(self, path: str) -> web.Response:
        if not path[1:].isdigit():
            return web.Response(status=404)
        link = f'<a href="/{int(path[1:]) + 1}">Next</a>' if self.holds else ""
        body = f"<title>Link {path[1:]}</title>{link}"
        return web.Response(body=body.encode(), content_type="text/html")


def read_log(path: Path) -> list[Asked]:
    """What a server of its own has written."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    rows = (line.rstrip("\n").split("\t") for line in lines if line.endswith("\n"))
    return [Asked(float(row[0]), float(row[1]), row[2], row[3]) for row in rows]


@contextmanager
def in_thread(server: WideServer) -> Iterator[int]:
    """Serve from a thread of its own; the port."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="wide web", daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(server.start(), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def in_process(replicas: int, log: Path, least_bytes: int = 0) -> Iterator[int]:
    """Serve from another process; the port."""
    size = f"--least-bytes={least_bytes}"
    with served_by("benchmarks.wide_web", str(replicas), str(log), size) as port:
        yield port


async def _serve(server: WideServer) -> None:
    print(await server.start(), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await server.stop()


def main() -> None:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wide_web", description=__doc__)
    parser.add_argument("replicas", type=int)
    parser.add_argument("log", type=Path)
    parser.add_argument("--least-bytes", type=int, default=0)
    options = parser.parse_args()
    wide = WideWeb(DemoWeb.generate(parameters=SMALL), options.replicas, options.least_bytes)
    asyncio.run(_serve(WideServer(wide, log=options.log)))


if __name__ == "__main__":
    main()
