"""The browser itself: found, started without a network, and started again after it died."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from trailhound.errors import ConfigError
from trailhound.fetching.browser.visit import Tab, Visit

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Page, Playwright, Route

_log = logging.getLogger(__name__)

WITHOUT_NETWORK = True
"""Whether the system is asked for a browser without any network, beside the flags."""
SHELLS = ("chromium-headless-shell", "chrome-headless-shell", "headless_shell")
"""Chromium without windows: the same engine, and a page takes two thirds of the CPU."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_BEFORE_PAGE = files(__package__).joinpath("before_page.js").read_text("utf-8")
_START_SECONDS = 60.0
_CLOSE_SECONDS = 5.0
_MAX_FAILED_STARTS = 3
_SCRIPT_HEAP_MB = 512

_NO_NETWORK = (
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
)
_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-notifications",
    "--deny-permission-prompts",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-ipc-flooding-protection",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--disable-background-timer-throttling",
    "--disable-search-engine-choice-screen",
    "--disable-remote-fonts",
    "--blink-settings=imagesEnabled=false",
    "--mute-audio",
    "--hide-scrollbars",
    "--password-store=basic",
    "--use-mock-keychain",
    "--metrics-recording-only",
    f"--js-flags=--max-old-space-size={_SCRIPT_HEAP_MB}",
    "--disable-features=AutofillServerCommunication,BackForwardCache,CertificateTransparencyComponentUpdater,"
    "DialMediaRouteProvider,HttpsUpgrades,MediaRouter,OptimizationHints,PaintHolding,Prerender2,"
    "SpareRendererForSitePerProcess,SpeculationRulesPrefetchFuture,Translate,WebTransport,"
    # Each context has a window, and with these each window two pages of its own, which take
    # three times as long as ours.
    "WebUIOmniboxAimPopup,WebUIOmniboxPopup",
)


@dataclass(frozen=True)
class BrowserOptions:
    """How the browser is run."""

    executable: str
    user_agent: str = ""
    sandbox: bool = True
    max_memory: int = 1_000_000_000
    """Bytes that one process of a page may hold; Linux only."""
    pages_per_context: int = 50
    contexts: int = 16
    """That are kept, each with a tab: a new one costs as much as a page."""


def find_browser(chosen: Path | None = None) -> str:
    """The path of a Chromium; ConfigError when there is none, or no Playwright."""
    if find_spec("playwright") is None:
        raise ConfigError(
            "Pages are rendered with Playwright, which is not installed. Run "
            "pip install 'trailhound[browser]', or crawl with --render never."
        )
    if chosen is not None:
        if not chosen.is_file():
            raise ConfigError(f"There is no browser {chosen}. Give the path of a Chromium.")
        return str(chosen)
    found = next(filter(None, map(shutil.which, SHELLS + NAMES)), None) or _brought_by_playwright()
    if found is None:
        raise ConfigError(
            "Pages are rendered with Chromium, which is not installed. Install the package "
            "'chromium-headless-shell' or 'chromium', or run 'playwright install chromium', or "
            "crawl with --render never."
        )
    return found


def _brought_by_playwright() -> str | None:
    """The newest that ``playwright install chromium`` has left, if possible one without windows."""
    home = Path.home()
    places = (
        Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")),
        home / ".cache/ms-playwright",
        home / "Library/Caches/ms-playwright",
        home / "AppData/Local/ms-playwright",
    )
    for names in (SHELLS, ("chrome", "Chromium")):
        found = [
            path
            for place in places
            if place.name
            for name in names
            for path in (
                *place.glob(f"chromium*/**/{name}"),
                *place.glob(f"chromium*/**/{name}.exe"),
            )
            if path.is_file()
        ]
        if found:
            return str(max(found, key=lambda path: path.stat().st_mtime))
    return None


class HostContext:
    """Cookies and storage of one host; one page at a time is open in it.

    Its tab is kept: a new one costs half as much as the page in it.
    """

    def __init__(self, browser: Browser, user_agent: str) -> None:
        self.lock = asyncio.Lock()
        self.pages = 0
        self._browser = browser
        self._user_agent = user_agent
        self._context: BrowserContext | None = None
        self._visit: Visit | None = None
        self._page: Page | None = None
        self._kept: Tab | None = None
        self._closing: set[asyncio.Future[None]] = set()

    @property
    def is_alive(self) -> bool:
        """Whether its browser runs."""
        return self._browser.is_connected()

    async def open_tab(self) -> Tab:
        """An empty one; whatever else opens is closed."""
        self.pages += 1
        tab, self._kept = self._kept, None
        if tab is not None and not tab.page.is_closed():
            return tab
        if self._context is None:
            self._context = await self._guarded()
        self._page = None
        self._page = page = await self._context.new_page()
        cdp = await self._context.new_cdp_session(page)
        await _take_bars_away(cdp)
        return Tab(page, cdp)

    async def _guarded(self) -> BrowserContext:
        """A context that lets nothing past us."""
        context = await self._browser.new_context(
            user_agent=self._user_agent or None,
            accept_downloads=False,
            service_workers="block",
            java_script_enabled=True,
            permissions=[],
            viewport={"width": 1280, "height": 1600},
        )
        context.on("page", self._close_others)
        await context.add_init_script(_BEFORE_PAGE)
        await context.route("**/*", self._answer)
        return context

    async def leave(self, tab: Tab, *, keep: bool) -> None:
        """End the page in ``tab``, and keep the tab for the next one, or close it."""
        self._visit = None
        if keep:
            with suppress(Exception):  # it is closed then
                await tab.page.goto("about:blank")
                await tab.cdp.send("Page.resetNavigationHistory")  # nothing before the next page
                self._kept = tab
                return
        await tab.page.close()

    def show(self, visit: Visit) -> None:
        """Requests are those of ``visit`` from now on."""
        self._visit = visit

    async def close(self) -> None:
        """Forget everything."""
        if self._context is not None:
            await self._context.close()

    def _close_others(self, page: Page) -> None:
        if self._page is not None and page is not self._page:
            closing = asyncio.ensure_future(_closed(page))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def _answer(self, route: Route) -> None:
        with suppress(Exception):  # the page may be gone
            if self._visit is None:
                await route.abort()
            else:
                await self._visit.answer(route)


async def _take_bars_away(cdp: CDPSession) -> None:
    """Tabs and address bar of a window are drawn anew for every page: a sixth of its CPU."""
    with suppress(Exception):  # a shell has no windows
        window = await cdp.send("Browser.getWindowForTarget")
        bounds = {"windowState": "fullscreen"}
        await cdp.send(
            "Browser.setWindowBounds", {"windowId": window["windowId"], "bounds": bounds}
        )


async def _closed(page: Page) -> None:
    with suppress(Exception):
        await page.close()


class Chromium:
    """A browser that is started when it is first needed, and anew when it is gone."""

    def __init__(self, options: BrowserOptions) -> None:
        self._options = options
        self._starting = asyncio.Lock()
        self._driver: Playwright | None = None
        self._browser: Browser | None = None
        self._pid = 0
        self.has_started = False
        """Whether it ever ran."""
        self._failed_starts = 0
        self._nowhere: socket.socket | None = None
        self._profile = ""
        self._contexts: OrderedDict[str, HostContext] = OrderedDict()

    async def context(self, host: str) -> HostContext:
        """That of ``host``; a new one after some pages, or after the browser was gone."""
        async with self._starting:
            try:
                async with asyncio.timeout(_START_SECONDS):
                    return await self._context(host)
            except BaseException:  # it does not start, or does not listen
                await self.kill()
                raise

    async def _context(self, host: str) -> HostContext:
        if not self.is_alive:
            await self._start_or_tell()
        found = self._contexts.get(host)
        if found is not None and self._is_used_up(found):
            await self._contexts.pop(host).close()
            found = None
        if found is None:
            if self._browser is None:
                raise RuntimeError("the browser is not running")
            found = HostContext(self._browser, self._options.user_agent)
            self._contexts[host] = found
            await self._forget_oldest()
        self._contexts.move_to_end(host)
        return found

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._browser is not None and self._browser.is_connected()

    def _is_used_up(self, context: HostContext) -> bool:
        return context.pages >= self._options.pages_per_context and not context.lock.locked()

    async def _forget_oldest(self) -> None:
        for host in list(self._contexts)[: max(0, len(self._contexts) - self._options.contexts)]:
            if not self._contexts[host].lock.locked():
                await self._contexts.pop(host).close()

    async def _start_or_tell(self) -> None:
        """A browser that cannot be had is told of once, and tried for a few times only."""
        if self._failed_starts >= _MAX_FAILED_STARTS:
            raise RuntimeError("the browser does not start")
        try:
            await self._start()
        except Exception as error:
            self._failed_starts += 1
            if self._failed_starts == _MAX_FAILED_STARTS:
                reason = str(error).strip().partition("\n")[0]
                _log.warning("Pages are not rendered, as the browser does not start: %s", reason)
            raise
        self.has_started = True
        self._failed_starts = 0

    async def _start(self) -> None:
        from playwright.async_api import async_playwright

        await self.close()
        # Where its proxy would be, if it came to ask one: our own port, where nobody listens.
        self._nowhere = nowhere = socket.socket()
        nowhere.bind(("127.0.0.1", 0))
        executable, arguments = self._command(nowhere.getsockname()[1])
        self._driver = await async_playwright().start()
        self._browser = await self._driver.chromium.launch(
            executable_path=executable,
            args=arguments,
            ignore_default_args=True,
            # Where it puts a socket, whose path may not be long.
            env={name: value for name, value in os.environ.items() if name != "TMPDIR"},
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=_START_SECONDS * 1000,
        )
        cdp = await self._browser.new_browser_cdp_session()
        running = await cdp.send("SystemInfo.getProcessInfo")
        self._pid = next(each["id"] for each in running["processInfo"] if each["type"] == "browser")
        await cdp.detach()

    def _command(self, port: int) -> tuple[str, list[str]]:
        """Executable and arguments: of the browser, or where we have one of its keeper."""
        options = self._options
        self._profile = profile = tempfile.mkdtemp(prefix="trailhound-browser-")
        flags = [
            *_FLAGS,
            *_NO_NETWORK,
            f"--proxy-server=http://127.0.0.1:{port}",
            f"--user-data-dir={profile}",
        ]
        if not options.sandbox:
            flags.append("--no-sandbox")
        if not sys.platform.startswith("linux"):
            return options.executable, flags
        keeper = str(Path(__file__).with_name("keeper.py"))
        limits = [str(os.getpid()), profile, str(options.max_memory)]
        limits.append("none" if WITHOUT_NETWORK else "flags")
        return sys.executable, ["-I", keeper, *limits, options.executable, *flags]

    async def kill(self) -> None:
        """End a browser that does not listen any more."""
        if self._pid and hasattr(os, "killpg"):
            with suppress(OSError):
                os.killpg(self._pid, signal.SIGKILL)
        await self.close()

    async def close(self) -> None:
        """End it; it starts again when it is needed."""
        browser, self._browser = self._browser, None
        driver, self._driver = self._driver, None
        self._contexts.clear()
        for ending in (browser.close() if browser else None, driver.stop() if driver else None):
            if ending is not None:
                with suppress(Exception):
                    await asyncio.wait_for(ending, _CLOSE_SECONDS)
        if self._pid and hasattr(os, "killpg"):
            with suppress(OSError):  # mostly it is gone
                os.killpg(self._pid, signal.SIGKILL)
        self._pid = 0
        if self._nowhere is not None:
            self._nowhere.close()
            self._nowhere = None
        if self._profile:  # which its keeper takes away, where we have one
            shutil.rmtree(self._profile, ignore_errors=True)
            self._profile = ""
