"""A real Chromium with the extension loaded, and a collector for it to speak to."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import BrowserContext, CDPSession, Page, Playwright, Worker

from trailhound.collector import Collector, Pairing, extension_folder, load_pairing
from trailhound.topics.workspace import Workspace

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Its windows have pages of their own, and a process waits for the next site: a quarter of all.
    "--disable-features=WebUIOmniboxAimPopup,WebUIOmniboxPopup,SpareRendererForSitePerProcess,PaintHolding",
]
PAIRING_ATTEMPTS = 3
"""A machine that has much to do may not answer a browser in time; people press the button again."""


class RunningCollector:
    """A collector in a thread, which can be stopped and started again at the same port."""

    def __init__(self, folder: Path, *, learn: bool = False) -> None:
        self.workspace = Workspace(folder)
        self.pairing: Pairing = load_pairing(folder)
        self.said: list[str] = []
        self.port = 0
        self._learn = learn
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._collector: Collector | None = None

    def start(self) -> None:
        async def start() -> Collector:
            made = Collector(
                self.workspace, self.pairing, learn=self._learn, report=self.said.append
            )
            self.port = await made.start(self.port)
            return made

        self._collector = asyncio.run_coroutine_threadsafe(start(), self._loop).result(10)

    def stop(self) -> None:
        if self._collector is not None:
            asyncio.run_coroutine_threadsafe(self._collector.stop(), self._loop).result(60)
        self._collector = None

    def session_file(self, topic: str) -> Path:
        (path,) = self.workspace.folder_for(topic).sessions_path.glob("*.jsonl")
        return path

    def close(self) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextmanager
def running_collector(folder: Path, *, learn: bool = False) -> Iterator[RunningCollector]:
    """A collector that listens while the context lasts."""
    collector = RunningCollector(folder, learn=learn)
    try:
        collector.start()
        yield collector
    finally:
        collector.close()


class RecordingBrowser:
    """What a person does with the extension: its popup, and the bar on pages."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        workers = context.service_workers
        self.worker: Worker = workers[0] if workers else context.wait_for_event("serviceworker")
        self.address = self.worker.url.rpartition("/")[0]

    def popup(self, tab: Page | None = None) -> Page:
        """The popup, in a tab of its own; ``tab`` is the page it stands for."""
        page = self.context.new_page()
        query = f"?tab={self.tab_id(tab)}" if tab is not None else ""
        page.goto(f"{self.address}/popup.html{query}")
        page.wait_for_selector("form:not([hidden]), section:not([hidden])")
        return page

    def tab_id(self, page: Page) -> int:
        found: int = self.worker.evaluate(
            "async url => (await chrome.tabs.query({})).find(tab => tab.url === url).id", page.url
        )
        return found

    def pair(self, code: str) -> None:
        popup = self.popup()
        popup.fill("#code", code)
        problems = [self._pairing_problem(popup)]
        while problems[-1]:
            assert len(problems) < PAIRING_ATTEMPTS, problems
            problems.append(self._pairing_problem(popup))
        popup.close()

    def _pairing_problem(self, popup: Page) -> str:
        """What the popup complains about when the code is sent; empty when all is well."""
        popup.click("#pairing button")
        popup.wait_for_selector("#beginning:not([hidden]), #problem:not([hidden])")
        return "" if popup.is_visible("#beginning") else popup.inner_text("#problem")

    def start(self, topic: str) -> None:
        popup = self.popup()
        popup.fill("#topic", topic)
        popup.click("#beginning button")
        popup.wait_for_selector("#session:not([hidden])")
        popup.close()

    def press(self, page: Page, button: Literal["useful", "submit"]) -> None:
        """Click a button of the bar with the mouse."""
        x, y = self.button_middle(page, button)
        page.mouse.click(x, y)

    def button_middle(self, page: Page, button: str) -> tuple[float, float]:
        node = wait_for(lambda: self._button(page, button), f"the button {button} on {page.url}")
        quad = node["quad"]
        return (quad[0] + quad[2]) / 2, (quad[1] + quad[5]) / 2

    def pressed(self, page: Page) -> bool:
        node = self._button(page, "useful")
        return node is not None and "true" in node["attributes"]

    def bar_is_there(self, page: Page) -> bool:
        return self._button(page, "submit") is not None

    def _button(self, page: Page, button: str) -> dict[str, Any] | None:
        """The shadow root is closed to scripts; the debugger sees through it."""
        session = self.context.new_cdp_session(page)
        try:
            return _find_button(session, button)
        finally:
            session.detach()

    def stored(self, name: str) -> Any:
        return self.worker.evaluate(
            "async name => (await chrome.storage.local.get(name))[name]", name
        )

    def settle(self, n_pages: int) -> None:
        """Wait until so many pages are recorded and all is delivered."""
        wait_for(
            lambda: len(self.stored("session")["pages"]) >= n_pages and self.is_delivered(),
            f"{n_pages} recorded pages",
        )

    def is_delivered(self) -> bool:
        queue = self.stored("queue")
        return bool(queue) and queue["first"] == queue["next"]


def _find_button(session: CDPSession, button: str) -> dict[str, Any] | None:
    root = session.send("DOM.getDocument", {"depth": -1, "pierce": True})["root"]
    for node in _nodes(root):
        if node.get("nodeName") == "BUTTON" and button in node.get("attributes", []):
            try:
                model = session.send("DOM.getBoxModel", {"nodeId": node["nodeId"]})["model"]
            except Exception:  # not laid out
                return None
            return {"quad": model["border"], "attributes": node["attributes"]}
    return None


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for name in ("children", "shadowRoots"):
        for child in node.get(name, ()):
            yield from _nodes(child)
    if "contentDocument" in node:
        yield from _nodes(node["contentDocument"])


def wait_for(condition: Callable[[], Any], what: str, seconds: float = 60.0) -> Any:
    """The first true value of ``condition``."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds} s in vain for {what}")


@contextmanager
def recording_browser(
    playwright: Playwright, chromium: str, profile: Path, web_port: int
) -> Iterator[RecordingBrowser]:
    """A browser that finds every host of the demo web at ``web_port`` of this machine."""
    extension = extension_folder()
    context = playwright.chromium.launch_persistent_context(
        profile,
        executable_path=chromium,
        headless=True,
        viewport={"width": 1100, "height": 700},
        args=[
            *ARGUMENTS,
            f"--disable-extensions-except={extension}",
            f"--load-extension={extension}",
            f"--host-resolver-rules=MAP *.demo.test 127.0.0.1:{web_port}",
        ],
        ignore_default_args=["--disable-extensions"],
    )
    try:
        yield RecordingBrowser(context)
    finally:
        context.close()
