"""What a real Chromium writes down is imported as it was browsed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from trailhound.demo import DemoWeb
from trailhound.demo.server import serve_in_thread
from trailhound.sessions.events import Mark, Reached, Visit
from trailhound.sessions.importers.base import Imported
from trailhound.sessions.importers.browser_histories import ChromeImporter
from trailhound.sessions.importers.har import HarImporter
from trailhound.sessions.page_graph import build_page_graph
from trailhound.topics.importing import useful_pages

pytestmark = pytest.mark.browser

_QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="module")
def demo(web: DemoWeb) -> DemoWeb:
    return web


@pytest.fixture(scope="module")
def port(demo: DemoWeb) -> Iterator[int]:
    with serve_in_thread(demo) as number:
        yield number


def visits(found: Imported) -> list[Visit]:
    (session,) = found.sessions
    return [event for event in session.events if isinstance(event, Visit)]


def walk(page: Page, demo: DemoWeb) -> list[str]:
    """Type an address, follow two links; the addresses shown."""
    start = next(url for url in demo.start_urls)
    page.goto(start)
    shown = [page.url]
    for _ in range(2):
        links = page.eval_on_selector_all("a[href]", "links => links.map(link => link.href)")
        host = "/".join(start.split("/")[:3])
        pages = {url for url, answer in demo.responses.items() if answer.status == 200}
        target = next(
            url for url in links if url.startswith(host) and url not in shown and url in pages
        )
        page.eval_on_selector_all(
            "a[href]", "(links, url) => links.find(link => link.href === url).click()", target
        )
        page.wait_for_url(target)
        shown.append(page.url)
    return shown


@pytest.fixture
def launched(chromium_path: str, browser: Browser, port: int) -> Iterator[Browser]:
    """A browser that finds the demo web's hosts on this machine."""
    rules = f"--host-resolver-rules=MAP *.test 127.0.0.1:{port}"
    opened = browser.browser_type.launch(executable_path=chromium_path, args=[*_QUIET, rules])
    yield opened
    opened.close()


def test_a_har_recorded_by_chromium_is_the_walk(
    launched: Browser, demo: DemoWeb, tmp_path: Path
) -> None:
    har = tmp_path / "walk.har"
    context = launched.new_context(record_har_path=har)
    shown = walk(context.new_page(), demo)
    context.close()
    found = HarImporter().read(har, "bees")
    assert [visit.url for visit in visits(found)] == shown
    assert [visit.reached for visit in visits(found)] == [
        Reached.TYPED,
        Reached.LINK,
        Reached.LINK,
    ]
    assert [visit.from_url for visit in visits(found)] == [None, *shown[:2]]
    assert all(visit.html and visit.title for visit in visits(found))
    session = useful_pages([shown[-1]], None).marked(next(iter(found.sessions)))
    assert [event.url for event in session.events if isinstance(event, Mark)] == [shown[-1]]
    graph = build_page_graph([session], lambda _: None)
    assert len(graph.pages) == 3
    assert {(0, 1), (1, 2)} <= set(graph.edges)


def test_the_history_of_chromium_is_the_walk(
    chromium_path: str, browser: Browser, demo: DemoWeb, port: int, tmp_path: Path
) -> None:
    profile = tmp_path / "profile"
    rules = f"--host-resolver-rules=MAP *.test 127.0.0.1:{port}"
    context = browser.browser_type.launch_persistent_context(
        str(profile), executable_path=chromium_path, args=[*_QUIET, rules]
    )
    page = context.pages[0]
    shown = walk(page, demo)
    page.go_back()
    page.wait_for_url(shown[1])
    redirect = next(
        url
        for url, answer in demo.responses.items()
        if answer.status == 301 and answer.headers.get("Location", "") in demo.responses
    )
    page.goto(redirect)
    shown.append(page.url)
    page.wait_for_timeout(500)
    context.close()
    (history,) = profile.rglob("History")
    found = visits(ChromeImporter().read(history, "bees"))
    assert [visit.url for visit in found if visit.reached is not Reached.BACK] == shown
    assert [visit.url for visit in found if visit.reached is Reached.BACK] == [shown[1]]
    assert [visit.from_url for visit in found[1:3]] == shown[:2]
    assert found[-1].requested_url == redirect
    assert all(visit.title for visit in found)
    assert ChromeImporter().read(history.parent, "bees").tally.kept == len(found)
