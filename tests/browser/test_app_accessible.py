"""Every view can be used by everybody: axe finds nothing serious, in light, dark and on a phone.

On a phone no page is wider than the screen.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import pytest
from learned_topics import park_session
from playwright.sync_api import Browser, BrowserContext, Page

from app_server import ServedApp, serving_app, wait_until
from chromium import PATIENCE_MS, barriers
from trailhound.portal import Portal
from trailhound.portal.site import write_site
from trailhound.topics.crawls.folder import CrawlFolder

pytestmark = pytest.mark.browser

N_REQUESTS = 60
PHONE = 390
CRAWLED, LEARNED, EMPTY = "bee health (demo)", "bees", f"w{'a' * 80}sps"
"""The last is wider than a phone, and has nowhere to break."""
WAYS: list[tuple[Literal["light", "dark"], int]] = [("light", 1100), ("dark", PHONE)]
"""How a view is looked at: its colours, and pixels across."""


@dataclass(frozen=True)
class Prepared:
    """Where the app, the portal and the site are, with something in all of them."""

    app: ServedApp
    newcomer: ServedApp
    """The same without any topic."""
    portal: str
    site: Path

    def address(self, view: str) -> str:
        """Of a view: ``full/…`` and ``new/…`` are in the apps."""
        where, _, rest = view.partition("/")
        return {
            "full": f"{self.app.base}/#/{rest}",
            "new": f"{self.newcomer.base}/#/{rest}",
            "docs": f"{self.app.base}/docs",
            "portal": f"{self.portal}{rest}",
            "site": f"{self.site.as_uri()}/{rest}",
        }[where]


def of_topic(topic: str, view: str = "") -> str:
    return f"full/topics/{quote(topic)}/{view}".rstrip("/")


VIEWS = {
    "new/": "h1:has-text('Welcome')",
    "full/": "article h2",
    "full/crawls": "article .badge",
    "full/lab": "fieldset label",
    of_topic(EMPTY): ".next h2",
    of_topic(CRAWLED): "table td",
    of_topic(CRAWLED, "session"): ".graph circle.target",
    of_topic(EMPTY, "session"): "text=Nothing was browsed yet",
    of_topic(CRAWLED, "model"): "svg.concepts circle",
    of_topic(EMPTY, "model"): "text=Nothing has been learned yet",
    of_topic(LEARNED, "crawl"): "form legend",
    of_topic(CRAWLED, "crawl"): "polyline",
    of_topic(CRAWLED, "schedule"): "form legend",
    of_topic(CRAWLED, "results"): ".result h3",
    of_topic(LEARNED, "results"): "text=no results yet",
    "docs": "details.card",
    "portal/": "main",
    "portal/?q=bees": ".snippet mark",
    "portal/about": "main",
    "site/index.html": "#filters a",
    "site/index.html#q=bees": ".snippet mark",
    "site/pages/1.html": ".hits li",
}
"""Addresses, and what is there once the view is drawn."""
UNFOLDED = {
    of_topic(CRAWLED, "crawl"): "[aria-label='Hosts'] td",
    of_topic(CRAWLED, "results"): "details option:nth-child(2)",
}
"""What comes when all that is folded is opened."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    """Topics in all states: crawled, learned, and merely named."""
    with ExitStack() as stack:
        app = stack.enter_context(serving_app(tmp_path_factory.mktemp("full")))
        newcomer = stack.enter_context(serving_app(tmp_path_factory.mktemp("new")))
        app.post(f"/api/topics/{EMPTY}")
        app.browsed(park_session(topic=LEARNED))
        job = app.post("/api/playground/topic")["job"]
        assert app.job_done(job)["state"] == "done"
        address = f"/api/topics/{quote(CRAWLED)}"
        app.post(f"{address}/crawl/start", {"max_requests": N_REQUESTS})
        wait_until(lambda: app.get(f"{address}/crawl")["crawl"]["state"] == "ended")
        published = app.put(f"{address}/portal", {"title": "Bees"})
        site = tmp_path_factory.mktemp("site") / "bees"
        write_site(Portal(CrawlFolder(app.workspace.topic(CRAWLED)), "Bees"), site)
        wait_until(lambda: app.get(f"/api/topics/{LEARNED}")["learned"])
        yield Prepared(app, newcomer, published["address"], site)


@pytest.fixture(scope="module")
def context(browser: Browser, prepared: Prepared) -> Iterator[BrowserContext]:
    """A browser that may open both apps."""
    made = browser.new_context()
    made.set_default_timeout(PATIENCE_MS)
    for app in (prepared.app, prepared.newcomer):
        page = made.new_page()
        page.goto(app.address)
        page.wait_for_selector("h1")
        page.close()
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    opened = context.new_page()
    yield opened
    opened.close()


@pytest.mark.parametrize("view", VIEWS)
def test_nobody_is_kept_out(page: Page, prepared: Prepared, view: str) -> None:
    page.goto(prepared.address(view))
    page.wait_for_selector(VIEWS[view])
    page.evaluate(
        "[...document.querySelectorAll('details')].slice(0, 20).forEach(each => each.open = true)"
    )
    page.wait_for_selector(UNFOLDED.get(view, VIEWS[view]), state="attached")
    for scheme, width in WAYS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        check(page)


def test_the_top_of_a_phone_is_the_same_in_all_views(page: Page, prepared: Prepared) -> None:
    page.set_viewport_size({"width": PHONE, "height": 800})
    heights = {}
    for view in ("full/", "full/crawls", "full/lab", of_topic(CRAWLED)):
        page.goto(prepared.address(view))
        page.wait_for_selector(VIEWS[view])
        heights[view] = page.evaluate("document.getElementById('top').offsetHeight")
    assert set(heights.values()) == {heights["full/lab"]}, heights
    assert heights["full/lab"] < 60  # one line


def check(page: Page) -> None:
    assert barriers(page) == []
    across = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert across[0] <= across[1], wide_things(page)


def wide_things(page: Page) -> list[str]:
    """What hangs over the edge."""
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(each => !each.closest('.scroll, svg') && "
        "each.getBoundingClientRect().right > window.innerWidth + 1)"
        ".map(each => each.outerHTML.slice(0, 120))"
    )
    return found[:5]
