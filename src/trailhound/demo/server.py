"""A real HTTP server for the demo web, on loopback. The ``Host`` header chooses the host."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web

from trailhound.demo.web import DemoWeb


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
