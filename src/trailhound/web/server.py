"""The app as a server: API, pages and collector under one address, on loopback by default."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from aiohttp import hdrs, web

from trailhound.collector import DEFAULT_PORT, Collector, Pairing
from trailhound.collector.guard import MAX_BODY_BYTES as COLLECTOR_BODY_BYTES
from trailhound.collector.guard import hosts_at
from trailhound.errors import ConfigError, UsageError
from trailhound.topics.control.scheduler import TICK_SECONDS, Scheduler, keep_schedules
from trailhound.topics.workspace import Workspace
from trailhound.web.access import AppToken, Gatekeeper, gated
from trailhound.web.api import describe, handler_of
from trailhound.web.connections import (
    LOOPBACK,
    LOOPBACK_6,
    WAIT_SECONDS,
    in_address,
    tell_of_no_room_seldom,
)
from trailhound.web.hub import CrawlWatcher, Happening, Hub
from trailhound.web.jobs import Jobs
from trailhound.web.learning import learn_after_submit
from trailhound.web.portal_server import PortalServer
from trailhound.web.routes import ALL_ROUTES
from trailhound.web.routes.imports import clear_imports
from trailhound.web.state import DOCUMENTS_AT, App

STATIC = Path(__file__).parent / "static"
_SHUTDOWN_SECONDS = 2.0
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}

Report = Callable[[str], None]


@dataclass(frozen=True)
class Listening:
    """Where the app listens, and under which names it may be reached."""

    port: int = DEFAULT_PORT
    host: str = LOOPBACK
    names: tuple[str, ...] = ()
    """Besides 127.0.0.1 and localhost: what users type when it listens wider."""
    certificate: Path | None = None
    key: Path | None = None
    allow_plain: bool = False
    """Whether others than this machine may speak to it without encryption."""

    @property
    def scheme(self) -> str:
        """Of its addresses."""
        return "https" if self.certificate is not None else "http"

    def check(self) -> None:
        """UsageError when the token would travel in the open without anybody having said so."""
        if self.host not in (LOOPBACK, "localhost", "::1") and not (
            self.certificate or self.allow_plain
        ):
            raise UsageError(
                f"--host {self.host} lets other machines reach the app, and its token would travel "
                "unencrypted. Give --certificate and --key, or say --insecure if something in "
                "front of it encrypts."
            )

    def context(self) -> ssl.SSLContext | None:
        """For TLS, if it is wanted; ConfigError when the certificate cannot be used."""
        if self.certificate is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(
                f"The certificate {self.certificate} cannot be used: {error}. Give a PEM file with "
                "the whole chain, and its key with --key."
            ) from error
        return context


class AppServer:
    """Serves a workspace to its owner's browser.

    ::

        async with AppServer(workspace, pairing, token) as server:
            await server.start(Listening(port=0))
            ...  # server.address(token) is what the user opens
    """

    def __init__(
        self,
        workspace: Workspace,
        pairing: Pairing,
        token: AppToken,
        *,
        learn: bool = True,
        report: Report = lambda _: None,
        portal: PortalServer | None = None,
        scheduler: Scheduler | None = None,
        tick_seconds: float = TICK_SECONDS,
    ) -> None:
        self._token = token
        self._keeper = Gatekeeper(token)
        hub = Hub()
        workspace.folder.mkdir(parents=True, exist_ok=True)
        clear_imports(workspace.folder)
        jobs = Jobs(workspace.folder, hub)
        scheduler = scheduler or Scheduler(workspace, report=self._tell_of_schedule)
        portal = portal or PortalServer(workspace)
        self.app = App(workspace, pairing, hub, jobs, portal, scheduler)
        self._report = report

        def tell(text: str) -> None:
            report(text)
            hub.tell(Happening(kind="session", text=text))

        self._collector = Collector(
            workspace,
            pairing,
            learn=learn and (lambda topic: learn_after_submit(self.app, topic)),
            report=tell,
            arrived=lambda topic: hub.tell(Happening(kind="session", topic=topic)),
        )
        self._tick_seconds = tick_seconds
        self._tasks: list[asyncio.Task[None]] = []
        self._runner: web.AppRunner | None = None
        self._listening = Listening()

    @property
    def port(self) -> int:
        """Where it listens; 0 while it does not."""
        return self.app.port

    def address(self) -> str:
        """What its owner opens; the token is behind a ``#``, which browsers send to nobody."""
        name = self._listening.names[0] if self._listening.names else self._own_names[0]
        return f"{self._listening.scheme}://{name}:{self.port}/#token={self._token.value}"

    @property
    def _own_names(self) -> tuple[str, ...]:
        """Of this machine, in addresses: the first reaches it wherever it listens."""
        if self._listening.host == LOOPBACK_6:
            return in_address(LOOPBACK_6), "localhost"
        return LOOPBACK, "localhost"

    async def start(self, listening: Listening) -> int:
        """Listen; the port."""
        listening.check()
        context = listening.context()
        tell_of_no_room_seldom(asyncio.get_running_loop())
        runner = web.AppRunner(
            self._application(),
            access_log=None,
            shutdown_timeout=_SHUTDOWN_SECONDS,
            keepalive_timeout=WAIT_SECONDS,
        )
        await runner.setup()
        try:
            site = web.TCPSite(runner, listening.host, listening.port, ssl_context=context)
            await site.start()
        except OSError as error:
            await runner.cleanup()
            raise ConfigError(
                f"The app cannot listen at {listening.host}:{listening.port}: "
                f"{error.strerror or error}. Is it, or 'trailhound collect', running already? Stop "
                "that, or choose another port with --port."
            ) from error
        self._runner, self._listening = runner, listening
        self._serve_at(int(runner.addresses[0][1]))
        await self._open_portal()
        watcher = CrawlWatcher(self.app.workspace, self.app.hub)
        keeping = keep_schedules(self.app.scheduler, self._tick_seconds)
        self._tasks = [asyncio.create_task(watcher.run()), asyncio.create_task(keeping)]
        self.app.session_pictures.prepare_latest(self.app.workspace)
        return self.port

    def _tell_of_schedule(self, text: str) -> None:
        self._report(text)
        self.app.hub.tell(Happening(kind="schedule", text=text))

    async def _open_portal(self) -> None:
        try:
            await self.app.portal.follow()
        except ConfigError as error:
            if self.app.portal.is_asked_for:
                raise
            self._report(str(error))

    def _serve_at(self, port: int) -> None:
        names = (*self._own_names, *self._listening.names)
        scheme = self._listening.scheme
        self.app.port = port
        hosts = hosts_at(names, port, scheme)
        self._keeper.origins = frozenset(f"{scheme}://{host}" for host in hosts) | {
            f"{scheme}://{name}"
            for name in self._listening.names  # behind a proxy
        }
        self._collector.listen_at(port)

    async def stop(self) -> None:
        """Stop listening, end what goes on in order, close all files. Crawls go on."""
        for task in self._tasks:
            task.cancel()
        if self._runner is not None:
            await self._runner.cleanup()
        self._runner, self.app.port = None, 0
        await self._collector.stop()
        await self.app.portal.stop()
        await asyncio.to_thread(self.app.jobs.finish, 10.0)
        await asyncio.to_thread(self.app.playground.stop)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def _application(self) -> web.Application:
        application = web.Application(
            middlewares=[gated(self._keeper)], client_max_size=COLLECTOR_BODY_BYTES
        )
        description = describe(ALL_ROUTES)

        async def described(_: web.Request) -> web.Response:
            return web.json_response(description)

        application.router.add_get("/api/openapi.json", described)
        for route in ALL_ROUTES:
            application.router.add_route(route.method, route.path, handler_of(route, self.app))
        application.router.add_get(DOCUMENTS_AT + "{ticket}", self.app.documents.serve)
        application.add_subapp("/v1", self._collector.application())
        application.router.add_get("/{path:.*}", _file)
        return application


async def _file(request: web.Request) -> web.StreamResponse:
    """A page, script or picture of the app's own; there is nothing private among them."""
    wanted = request.match_info["path"] or "index.html"
    wanted = "docs.html" if wanted == "docs" else wanted
    path = _own_file(wanted)
    if path is None:
        raise web.HTTPNotFound(reason="There is no such page.")
    content = await asyncio.to_thread(path.read_bytes)
    return web.Response(body=content, headers={hdrs.CONTENT_TYPE: _TYPES[path.suffix]})


def _own_file(wanted: str) -> Path | None:
    """A file below ``static``; ``None`` for whatever else a path may name."""
    with suppress(OSError, ValueError):  # names too long, or with a zero byte
        path = (STATIC / wanted).resolve()
        if path.is_relative_to(STATIC.resolve()) and path.suffix in _TYPES and path.is_file():
            return path
    return None
