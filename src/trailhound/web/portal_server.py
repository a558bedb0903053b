"""Portals as a server of their own: another port, and nothing on it but what is published.

There is no token, as everybody may read, and no route that the app has: whoever reaches this port
reaches the pages of :mod:`trailhound.portal` and a 404 for all else. Searches have threads of their
own, and connections are few, so that readers, however many, keep the app's owner from nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TypeVar

from aiohttp import hdrs, web

from trailhound.collector.guard import hosts_at
from trailhound.errors import ConfigError, TrailhoundError
from trailhound.portal.pages import CONTENT_SECURITY_POLICY, Portal, asset_named, render
from trailhound.portal.publishing import Publication, published
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.workspace import TopicFolder, Workspace
from trailhound.web.access import SAFE_HEADERS, Handler
from trailhound.web.connections import (
    LOOPBACK,
    LOOPBACK_6,
    WAIT_SECONDS,
    Places,
    in_address,
    most_readers,
)

DEFAULT_PORTAL_PORT = 8918
READERS = 4
"""Searches at the same time; more wait."""
MOST_WAITING = 64
"""Readers that wait for one of them; more are asked to come again."""
_SHUTDOWN_SECONDS = 2.0
_BACKLOG = 32
"""Connections that are taken at once, before any of them can be counted."""
_HEADERS = SAFE_HEADERS | {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
}

Given = TypeVar("Given")


@dataclass(frozen=True)
class PortalListening:
    """Where portals are served."""

    port: int = DEFAULT_PORTAL_PORT
    host: str = LOOPBACK

    def __post_init__(self) -> None:
        if not self.host.strip():  # which the system takes for all addresses
            raise ConfigError(
                "--portal-host is empty. Name an address of this machine, or 0.0.0.0 to let "
                "everybody read the portal."
            )

    @property
    def nameable_host(self) -> str:
        """What to write in an address: all addresses of this machine are none to name."""
        with suppress(ValueError):  # a name
            address = ip_address(self.host)
            if address.is_unspecified:
                return LOOPBACK if address.version == 4 else LOOPBACK_6
        return self.host

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it: then other names for it are DNS rebinding."""
        return self.host in (LOOPBACK, "localhost", LOOPBACK_6)


class PortalServer:
    """Serves all topics that are published, at ``/NAME/`` each, as long as there are any.

    ``more`` are published while it runs, without that being kept.
    """

    def __init__(
        self,
        workspace: Workspace,
        listening: PortalListening | None = None,
        more: Mapping[str, Publication] | None = None,
    ) -> None:
        self._workspace = workspace
        self._listening = listening or PortalListening()
        self.more = dict(more or {})
        """By topic."""
        self._portals: dict[str, tuple[Publication, Portal]] = {}
        self._runner: web.AppRunner | None = None
        self._listener: asyncio.Server | None = None
        self._places = Places(most_readers())
        self._following = asyncio.Lock()
        self._threads = ThreadPoolExecutor(READERS, "trailhound-portal")
        self._waiting = 0
        self.port = 0
        """Where it listens; 0 while it does not."""

    @property
    def is_asked_for(self) -> bool:
        """Whether it was started for certain topics, and is of no use without them."""
        return bool(self.more)

    @property
    def readers(self) -> int:
        """Connections that there are."""
        return len(self._places)

    def publications(self) -> dict[str, tuple[TopicFolder, Publication]]:
        """What is published now, by its name in addresses."""
        found = {how.name: (topic, how) for topic, how in published(self._workspace)}
        for name, how in self.more.items():
            found[how.name] = self._workspace.folder_for(name), how
        return found

    def address(self, name: str = "") -> str:
        """Of a portal, or of all of them; empty while nothing is served."""
        host = in_address(self._listening.nameable_host)
        return f"http://{host}:{self.port}/{f'{name}/' if name else ''}" if self.port else ""

    async def follow(self) -> None:
        """Listen when something is published, and stop when nothing is. ConfigError when the port
        is taken."""
        async with self._following:
            wanted = bool(await asyncio.to_thread(self.publications))
            if wanted and self._runner is None:
                await self._start()
            elif not wanted:
                await self._stop_listening()

    async def _start(self) -> None:
        runner = web.AppRunner(
            self._application(),
            access_log=None,
            shutdown_timeout=_SHUTDOWN_SECONDS,
            keepalive_timeout=WAIT_SECONDS,
        )
        await runner.setup()
        try:
            self._listener = await self._listen(runner)
        except OSError as error:
            await runner.cleanup()
            raise ConfigError(
                f"The portal cannot listen at {self._listening.host}:{self._listening.port}: "
                f"{error.strerror or error}. Choose another port with --portal-port."
            ) from error
        self._runner, self.port = runner, int(self._listener.sockets[0].getsockname()[1])

    async def _listen(self, runner: web.AppRunner) -> asyncio.Server:
        make = runner.server
        if make is None:
            raise RuntimeError("the portal is not set up")
        return await asyncio.get_running_loop().create_server(
            lambda: self._places.given_to(make()),
            self._listening.host,
            self._listening.port,
            backlog=_BACKLOG,
        )

    async def _stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.close()
        if self._runner is not None:
            await self._runner.cleanup()
        self._listener, self._runner, self.port = None, None, 0

    async def stop(self) -> None:
        """For good."""
        await self._stop_listening()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._guarded], client_max_size=1)
        application.router.add_get("/", self._list)
        application.router.add_get("/{part}", self._asset)
        application.router.add_get("/{name}/", self._search)
        application.router.add_get("/{name}/{part}", self._part)
        return application

    @property
    def _own_names(self) -> set[str]:
        return hosts_at((LOOPBACK, "localhost", in_address(LOOPBACK_6)), self.port)

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        hosts = request.headers.getall(hdrs.HOST, [])
        if self._listening.is_local and (
            len(hosts) != 1 or hosts[0].lower() not in self._own_names
        ):
            response: web.StreamResponse = _said(403, "This host is not served here.")
        else:
            with self._places.answering(request.transport):
                response = await self._answered(request, handler)
        response.headers.update(_HEADERS)
        return response

    async def _answered(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except web.HTTPException as error:
            return _said(404 if error.status == 405 else error.status, error.reason)
        except TrailhoundError:
            return _said(503, "This portal cannot be read right now. Come again later.")

    async def _list(self, _: web.Request) -> web.Response:
        found = await self._in_thread(self.publications)
        if len(found) == 1:
            return web.Response(status=302, headers={hdrs.LOCATION: f"/{next(iter(found))}/"})
        portals = [(name, how.title or topic.name) for name, (topic, how) in found.items()]
        return _page(render("portals.html.j2", portals=portals))

    async def _search(self, request: web.Request) -> web.Response:
        portal, asked = await self._portal(request), request.query
        number = asked.get("page", "1")
        return _page(
            await self._in_thread(
                portal.search_page,
                asked.get("q", ""),
                int(number) if number.isascii() and number.isdigit() and len(number) < 9 else 1,
                dict(asked),
                "newest" if asked.get("order") == "newest" else "best",
            )
        )

    async def _part(self, request: web.Request) -> web.Response:
        portal, part = await self._portal(request), request.match_info["part"]
        if part == "about":
            return _page(await self._in_thread(portal.about_page))
        if part in ("feed.rss", "feed.atom"):
            kind = part.partition(".")[2]
            home = f"{request.scheme}://{request.host}/{request.match_info['name']}/"
            feed = await self._in_thread(portal.feed, kind, home)
            return web.Response(body=feed, content_type=f"application/{kind}+xml", charset="utf-8")
        return await self._asset(request)

    async def _asset(self, request: web.Request) -> web.Response:
        asset = asset_named(request.match_info["part"])
        if asset is None:
            raise _nothing()
        return web.Response(body=asset.content, headers={hdrs.CONTENT_TYPE: asset.media_type})

    async def _portal(self, request: web.Request) -> Portal:
        """The one that is asked for; 404 unless it is published at this moment."""
        name = request.match_info["name"]
        topic, how = (await self._in_thread(self.publications)).get(name, (None, None))
        if topic is None or how is None or not CrawlFolder(topic).exists():
            raise _nothing()
        known = self._portals.get(name)
        if known is None or known[0] != how or known[1].folder.topic.path != topic.path:
            known = how, Portal(CrawlFolder(topic), how.title, how.description)
            self._portals[name] = known
        return known[1]

    async def _in_thread(self, work: Callable[..., Given], *given: object) -> Given:
        if self._waiting >= MOST_WAITING:
            raise web.HTTPServiceUnavailable(reason="Too many readers at once. Come again soon.")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._threads, lambda: work(*given)
            )
        finally:
            self._waiting -= 1


def _nothing() -> web.HTTPNotFound:
    return web.HTTPNotFound(reason="There is no such page.")


def _page(html: str) -> web.Response:
    return web.Response(text=html, content_type="text/html")


def _said(status: int, words: str) -> web.Response:
    return web.Response(status=status, text=words)
