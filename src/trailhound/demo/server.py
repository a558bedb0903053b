"""The demo web for other programs: a server on loopback, and files of what people did in it.

It is a real HTTP server, in which the ``Host`` header chooses the host. ``trailhound learn`` reads
the recorded sessions like anybody's own, ``--trace`` a proxy's access log like any proxy's.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from aiohttp import web

from trailhound.demo.web import DemoWeb
from trailhound.sessions.events import Event, Session, Visit
from trailhound.sessions.files import SESSION_SUFFIX, write_session
from trailhound.storage.files import cannot_write, write_whole
from trailhound.text.encoding import decode


class DemoServer:
    """Serves a demo web under all its host names at one port of 127.0.0.1.

    ::

        async with DemoServer(web) as server:
            ...  # connect to 127.0.0.1:server.port and name a host of the web in ``Host``
    """

    def __init__(self, demo_web: DemoWeb) -> None:
        self._web = demo_web
        self._runner: web.ServerRunner | None = None
        self.port = 0
        """Where it listens; 0 while it does not."""

    async def start(self, port: int = 0) -> int:
        """Listen, by default at a free port; the port."""
        server = web.Server(self._answer)
        runner = web.ServerRunner(server, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        self._runner = runner
        self.port = int(runner.addresses[0][1])
        return self.port

    async def stop(self) -> None:
        """Close all connections. Does nothing when the server is not running."""
        if self._runner is not None:
            await self._runner.cleanup()
        self._runner, self.port = None, 0

    async def __aenter__(self) -> DemoServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        url = request.raw_path
        # A browser that uses this server as its proxy names the whole address.
        if not url.startswith("http://"):
            url = f"http://{request.host.partition(':')[0].lower()}{url}"
        found = self._web.respond(url)
        return web.Response(status=found.status, headers=dict(found.headers), body=found.body)


@contextmanager
def serve_in_thread(demo_web: DemoWeb, port: int = 0) -> Iterator[int]:
    """Serve from a thread of its own, for code that is not asynchronous; yields the port."""
    loop = asyncio.new_event_loop()
    server = DemoServer(demo_web)
    thread = threading.Thread(target=loop.run_forever, name="demo web", daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(server.start(port), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


ACCESS_LOG = "access.log"


def write_demo_sessions(web: DemoWeb, folder: Path) -> list[Path]:
    """Write one file per topic, ``TOPIC.jsonl``, and return their paths in order of topic."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    paths = []
    for topic in sorted(web.sessions):
        path = folder / f"{topic}{SESSION_SUFFIX}"
        write_session(with_sources(web.sessions[topic], web), path)
        paths.append(path)
    return paths


def write_access_log(web: DemoWeb, folder: Path) -> Path:
    """Write who read what, in Squid's native format, as ``access.log``; return its path."""
    path = folder / ACCESS_LOG
    accesses = sorted(
        (time, reading.user, url) for reading in web.readings for time, url in reading.accesses()
    )
    lines = (
        f"{time:.3f} 90 {user} TCP_MISS/200 {len(web.respond(url).body)} GET {url} - "
        "HIER_DIRECT/192.0.2.1 text/html\n"
        for time, user, url in accesses
    )
    write_whole(path, "".join(lines).encode("ascii"))
    return path


def with_sources(session: Session, web: DemoWeb) -> Session:
    """The session with each page's source in its first visit, as a browser would record it."""
    seen: set[str] = set()
    events: list[Event] = []
    for event in session.events:
        if isinstance(event, Visit) and event.url not in seen:
            seen.add(event.url)
            response = web.respond(event.url)
            if response.status == 200:
                source = decode(response.body, response.headers.get("Content-Type", "")).text
                event = msgspec.structs.replace(event, html=source)
        events.append(event)
    return msgspec.structs.replace(session, events=tuple(events))
