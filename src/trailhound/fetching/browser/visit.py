"""One page in the browser: shown, left to settle, used a little as a person would, and read."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.parsers import expat

from trailhound.fetching.browser.parts import Asked, PageParts, shown_headers
from trailhound.records import FetchResult
from trailhound.urls import canonicalize, host_key

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Page, Request, Route

_IN_PAGE = files(__package__).joinpath("in_page.js").read_text("utf-8")
_QUIET_MS = 350
"""A page is at rest when nothing has changed in it for so long, and nothing is on its way."""
_ROUTE_QUIET_MS = 80
_LOOK_SECONDS = 0.02
_MAX_ROUTES = 200
_OPEN_SECONDS = 20.0
LAST_SECONDS = 5.0
"""For reading a page when its time is over."""
_AWAKE_SECONDS = 2.0
"""By then a page answers, unless one of its scripts does not come to an end; a page that gets less
time as a whole has no more for this."""
_XHTML, _HTML = "application/xhtml+xml", "text/html"


@dataclass(frozen=True)
class VisitLimits:
    """Of one page."""

    seconds: float = 15.0
    steps: int = 5
    """Of scrolling and pressing 'load more'."""
    clicks: int = 8
    """On what leads elsewhere without being a link."""
    max_chars: int = 5_000_000


class Tab(NamedTuple):
    """Where pages of one host are shown, one after the other."""

    page: Page
    cdp: CDPSession


class Visit:
    """Renders ``document``, whose parts come from ``parts``, in ``tab``."""

    def __init__(
        self, tab: Tab, document: FetchResult, parts: PageParts, limits: VisitLimits
    ) -> None:
        self.came_to_rest = False
        """Whether the page let itself be read in time: its tab can be used again."""
        self._page, self._cdp = tab
        self._document = document
        self._url = document.final_url
        self._parts = parts
        self._limits = limits
        self._was_shown = False
        self._routes: dict[str, str] = {}
        """Addresses that scripts led to, with the words of what was clicked for them."""
        self._on_their_way = 0
        self._came_at = 0.0
        """When the last part was there."""
        self._world = 0

    async def rendered(self) -> bytes:
        """The document at the end, as HTML. Raises Playwright's errors and TimeoutError."""
        self._page.on("framenavigated", self._note_route)
        async with asyncio.timeout(_OPEN_SECONDS):
            await self._show()
        try:
            async with asyncio.timeout(self._limits.seconds):
                await self._use()
            self.came_to_rest = True
        except TimeoutError:  # what is there by now is read
            async with asyncio.timeout(min(_AWAKE_SECONDS, self._limits.seconds)):
                await self._run("1")
        async with asyncio.timeout(LAST_SECONDS):
            return await self._read()

    def end(self) -> None:
        """What its tab shows from now on is another page."""
        self._page.remove_listener("framenavigated", self._note_route)

    async def answer(self, route: Route) -> None:
        """Answer a request of the page."""
        request = route.request
        if request.is_navigation_request() and (own := self._navigation(request)) is not True:
            if own is None and not self._was_shown:
                self._was_shown = True
                headers = await asyncio.to_thread(_headers_of, self._document)
                await route.fulfill(status=200, headers=headers, body=self._document.body)
                return
            await route.fulfill(status=204)  # the page stays; an error would show one instead
            return
        asked = Asked(
            request.url,
            request.resource_type,
            request.method,
            request.headers,
            is_own_frame=request.is_navigation_request(),
        )
        self._on_their_way += 1
        try:
            given = await self._parts.give(asked)
            if given is None:
                await route.abort("aborted" if asked.is_own_frame else "blockedbyclient")
            else:
                await route.fulfill(status=given.status, headers=given.headers, body=given.body)
                self._came_at = time.monotonic()
        finally:
            self._on_their_way -= 1

    def _navigation(self, request: Request) -> bool | None:
        """``None`` for the page itself, ``True`` for a frame of its host; others are refused."""
        try:
            frame = request.frame
        except Exception:  # of a window that is not there yet
            return False
        if frame.page is not self._page:
            return False
        if frame.parent_frame is not None:
            url = canonicalize(request.url)
            return url is not None and host_key(url) == host_key(self._url)
        if self._was_shown:
            self._found(request.url, "")
            return False
        return None

    def _note_route(self, frame: Frame) -> None:
        if frame is self._page.main_frame:
            self._found(frame.url, "")

    def _found(self, address: str, words: str) -> None:
        url = canonicalize(address, self._url)
        if url is not None and url != self._url and len(self._routes) < _MAX_ROUTES:
            self._routes[url] = self._routes.get(url) or words

    async def _show(self) -> None:
        """In the place of what its tab shows: there is no way back to an earlier page."""
        replace = f"location.replace({json.dumps(self._url)})"
        async with self._page.expect_navigation(wait_until="commit", timeout=0):
            await self._send("Runtime.evaluate", {"expression": replace})

    async def _use(self) -> None:
        """What people do: reject cookies, go down as far as it goes, follow what is clickable."""
        await self._settle()
        if await self._run("inPage.dismissBanners()"):
            await self._settle()
        await self._go_down()
        await self._follow_routes()

    async def _go_down(self) -> None:
        size = 0
        for _ in range(self._limits.steps):
            size = await self._run(f"inPage.goOn({size})")
            if size is None:
                return
            await self._settle()

    async def _follow_routes(self) -> None:
        for _ in range(self._limits.clicks):
            clicked = await self._run("inPage.clickNext()")
            if clicked is None:
                return
            words, here = clicked
            await self._settle(_ROUTE_QUIET_MS)
            there = await self._run("inPage.where()")
            if there != here:
                self._found(str(there), str(words))
                await self._run("inPage.back()")
                await self._settle(_ROUTE_QUIET_MS)

    async def _settle(self, quiet_ms: int = _QUIET_MS) -> None:
        """Wait until nothing has changed or come for so long, and nothing is on its way."""
        while True:
            await self._run(f"inPage.quiet({quiet_ms})")
            left = self._came_at + quiet_ms / 1000 - time.monotonic()
            if left <= 0 and not self._on_their_way:
                return
            await asyncio.sleep(max(left, _LOOK_SECONDS))

    async def _read(self) -> bytes:
        routes = json.dumps(list(self._routes.items()))
        html = await self._run(f"inPage.html({routes}, {self._limits.max_chars})")
        return str(html).encode("utf-8", "replace")

    async def _run(self, expression: str) -> Any:
        """Run a script of ours in the page, in a world that the page's own scripts cannot reach."""
        if not self._world:
            tree = await self._send("Page.getFrameTree")
            frame = {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "trailhound"}
            world = await self._send("Page.createIsolatedWorld", frame)
            await self._evaluate(_IN_PAGE, world["executionContextId"])
            self._world = world["executionContextId"]
        return await self._evaluate(expression, self._world)

    async def _evaluate(self, expression: str, world: int) -> Any:
        answer = await self._send(
            "Runtime.evaluate",
            {
                "expression": expression,
                "contextId": world,
                "returnByValue": True,
                "awaitPromise": True,
            },
        )
        return answer.get("result", {}).get("value")

    async def _send(self, method: str, parameters: dict[str, Any] | None = None) -> Any:
        return await self._cdp.send(method, parameters or {})


def _headers_of(document: FetchResult) -> dict[str, str]:
    """As the browser gets them: of XHTML with an error it would show little but that error, where
    everybody else reads it as HTML."""
    headers = shown_headers(document.headers)
    kind = headers.get("content-type", "").lower()
    if kind.strip().startswith(_XHTML) and not _is_well_formed(document.body):
        headers["content-type"] = kind.replace(_XHTML, _HTML, 1)
    return headers


def _is_well_formed(xml: bytes) -> bool:
    """Whether it is XML, without entities of its own: those may grow without end."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(xml, True)
    except (expat.ExpatError, LookupError, ValueError):  # also encodings that nobody knows
        return False
    return True


def _refuse(*_: object) -> None:
    raise ValueError("an entity of its own")
