"""Pictures of the app for its documentation: ``python -m benchmarks.app_pictures``.

The app is served with the demo web's first topic, learned and crawled, and opened in a Chromium
with the extension: its main views at 1100 pixels in light and dark, and on a phone of 390.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import BrowserContext, Page, sync_playwright

from trailhound.collector import extension_folder
from trailhound.library.app_client import AppClient

FOLDER = Path("docs/images")
SUBJECT = "bee-health"
N_REQUESTS = 250
N_COLOURS = 256
PATIENCE_SECONDS = 300.0
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_HOURS_WEST = (datetime.now(UTC).hour - 16 + 12) % 24 - 12
"""Where it is four in the afternoon."""
_LOADING = ("disable-extensions-except", "load-extension")
_REPLACED = """([from, to]) => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) walk.currentNode.data = walk.currentNode.data.replaceAll(from, to);
}"""


class Look(NamedTuple):
    """How a view is looked at; sizes in pixels."""

    ending: str
    scheme: Literal["light", "dark"]
    width: int
    height: int


class View(NamedTuple):
    """A view, what it shows when it is ready, and what the picture begins with."""

    name: str
    address: str
    ready: str
    top: str = "h1"
    click: str = ""
    """Pressed before the picture is taken."""
    top_on_phone: str = ""


LOOKS = (
    Look("", "light", 1100, 780),
    Look("-dark", "dark", 1100, 780),
    Look("-phone", "light", 390, 780),
)
POPUP_LOOKS = (Look("", "light", 352, 620), Look("-dark", "dark", 352, 620))
VIEWS = (
    View("overview", "", "table td"),
    View("session", "/session", ".graph circle.target", ".legend-row", ".graph circle.target"),
    View("model", "/model", "svg.concepts circle", ".concept-place"),
    View("crawl", "/crawl", "polyline", top_on_phone=".figures"),
    View("results", "/results", ".result h3"),
    View("schedule", "/schedule", "form legend"),
)


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=FOLDER)
    folder: Path = parser.parse_args().out
    with tempfile.TemporaryDirectory(
        prefix="app-pictures-", ignore_cleanup_errors=True
    ) as temporary:
        workspace = Path(temporary) / "workspace"
        with _served(workspace) as (app, address), _browser(Path(temporary)) as context:
            topic = _prepared(app)
            _photograph(context, address, topic, workspace, folder)
            _photograph_popup(context, app, folder)


@contextmanager
def _served(workspace: Path) -> Iterator[tuple[AppClient, str]]:
    """The app in a process of its own, in the afternoon; a client of it, and what its owner opens.

    Otherwise a schedule of nights might begin to crawl.
    """
    told = _trailhound("serve", "--background", "--port=0", "--portal-port=0", workspace=workspace)
    address = next(word for word in told.split() if "#token=" in word)
    try:
        with AppClient.of_workspace(workspace, address.partition("/#")[0]) as app:
            yield app, address
    finally:
        _trailhound("serve", "--stop", workspace=workspace)


def _trailhound(*arguments: str, workspace: Path) -> str:
    command = [sys.executable, "-m", "trailhound", *arguments, f"--workspace={workspace}"]
    there = {**os.environ, "TZ": f"THERE{_HOURS_WEST:+d}"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=there)
    return done.stdout + done.stderr


@contextmanager
def _browser(folder: Path) -> Iterator[BrowserContext]:
    path = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            folder / "profile",
            executable_path=path,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--lang=en-GB",
                *(f"--{each}={extension_folder()}" for each in _LOADING),
            ],
            ignore_default_args=["--disable-extensions"],
            locale="en-GB",
            timezone_id=f"Etc/GMT{_HOURS_WEST:+d}",
        )
        context.set_default_timeout(PATIENCE_SECONDS * 1000)
        yield context
        context.close()


def _prepared(app: AppClient) -> str:
    """A topic of the demo web: learned, crawled, a mark, and a schedule."""
    made = app.ask("create_playground_topic", subject=SUBJECT)
    topic = str(made["topic"])
    _wait_until(lambda: app.ask("show_job", number=made["job"]["id"])["state"] == "done")
    app.ask("begin_crawl", topic=topic, max_requests=N_REQUESTS)
    _wait_until(lambda: app.ask("show_crawl", topic=topic)["crawl"]["state"] == "ended")
    night = {"start": "22:00", "end": "06:00"}
    app.ask("set_schedule", topic=topic, nightly=night, requests=500, delay_seconds=2)
    return topic


def _wait_until(is_so: Any) -> None:
    patience = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > patience:
            raise SystemExit("It did not happen in time.")
        time.sleep(0.2)


def _photograph(
    context: BrowserContext, address: str, topic: str, workspace: Path, folder: Path
) -> None:
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("h1")
    base = address.partition("#")[0]
    for view in VIEWS:
        for look in LOOKS:
            page.goto("about:blank")
            page.set_viewport_size({"width": look.width, "height": look.height})
            page.emulate_media(color_scheme=look.scheme)
            page.goto(f"{base}#/topics/{quote(topic)}{view.address}")
            page.wait_for_selector(view.ready)
            if view.click:
                page.locator(view.click).first.click()
                page.wait_for_selector(".preview h2")
            page.evaluate(_REPLACED, [str(workspace), "/home/you/.local/share/trailhound"])
            top = (view.top_on_phone if look.width < 500 else "") or view.top
            _take(page, f"app-{view.name}{look.ending}", folder, top)


def _photograph_popup(context: BrowserContext, app: AppClient, folder: Path) -> None:
    workers = context.service_workers
    worker = workers[0] if workers else context.wait_for_event("serviceworker")
    page = context.new_page()
    page.goto(worker.url.rpartition("/")[0] + "/popup.html")
    page.fill("#code", app.ask("show_pairing")["code"])
    page.click("#pairing button")
    page.wait_for_selector("#beginning:not([hidden])")
    page.reload()
    page.wait_for_selector("#news li")
    for look in POPUP_LOOKS:
        page.set_viewport_size({"width": look.width, "height": look.height})
        page.emulate_media(color_scheme=look.scheme)
        _take(page, f"app-popup{look.ending}", folder, "header")


def _take(page: Page, name: str, folder: Path, top: str) -> None:
    """The picture begins a little above ``top``, or with the page where that is its head."""
    head = page.locator(top).first
    head.evaluate("each => scrollTo(0, each.getBoundingClientRect().top + scrollY - 80)")
    page.mouse.move(0, 0)
    path = folder / f"{name}.png"
    page.screenshot(path=path, animations="disabled")
    Image.open(path).quantize(N_COLOURS).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
