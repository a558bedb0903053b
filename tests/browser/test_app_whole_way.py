"""The whole way of a person who never opens a terminal, in one browser with the extension.

First run, a topic, a session, a crawl by day and one by night, marks, what is new, and what others
may read. The web is the demo web on this machine; only the scheduler's clock is made up.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest
from person import Person, beginning
from playwright.sync_api import Locator, Page, Playwright, expect
from recording_browser import RecordingBrowser, recording_browser, wait_for

from app_server import ServedApp, serving_app
from chromium import PATIENCE_MS
from trailhound.demo import DemoWeb, DemoWebParameters
from trailhound.demo.server import serve_in_thread
from trailhound.sessions.events import Event
from trailhound.topics.control.running import request_stop, running_crawl, wait_for_end
from trailhound.topics.control.scheduler import Scheduler
from trailhound.topics.workspace import Workspace

pytestmark = pytest.mark.browser

SUBJECT, TOPIC = "bee-health", "bee health"
WEB = DemoWebParameters(universities=4, people_per_department=4)
N_VISITS = 32
N_REQUESTS, N_AT_NIGHT = 150, 100
ADDRESS = f"/api/topics/{quote(TOPIC)}"


class EveningClock:
    """It is six in the evening until the test lets night fall."""

    def __init__(self) -> None:
        self._now = datetime(2026, 11, 16, 18, 0, tzinfo=UTC).timestamp()

    def __call__(self) -> float:
        return self._now

    def let_night_fall(self) -> None:
        self._now += 5 * 3600


@pytest.fixture
def clock() -> EveningClock:
    return EveningClock()


@pytest.fixture
def web() -> DemoWeb:
    return DemoWeb.generate(parameters=WEB)


@pytest.fixture
def web_port(web: DemoWeb) -> Iterator[int]:
    with serve_in_thread(web) as port:
        yield port


@pytest.fixture
def app(tmp_path: Path, clock: EveningClock) -> Iterator[ServedApp]:
    """An app without topics, whose schedules are looked at often."""
    folder = tmp_path / "workspace"
    scheduler = Scheduler(Workspace(folder), clock=clock, zone=UTC)
    with serving_app(folder, scheduler=scheduler, tick_seconds=0.2) as served:
        yield served
    topic = served.workspace.folder_for(TOPIC)
    status = running_crawl(topic) if topic.exists() else None
    if status is not None and status.is_alive:
        request_stop(topic)
        wait_for_end(topic)


@pytest.fixture
def browser_with_extension(
    playwright: Playwright, chromium_path: str, tmp_path: Path, web_port: int
) -> Iterator[RecordingBrowser]:
    with recording_browser(playwright, chromium_path, tmp_path / "profile", web_port) as made:
        made.context.set_default_timeout(PATIENCE_MS)
        yield made


@pytest.fixture
def page(browser_with_extension: RecordingBrowser, app: ServedApp) -> Iterator[Page]:
    """The app, opened as a person does; whatever the browser complains about fails the test."""
    complaints: list[str] = []
    opened = browser_with_extension.context.new_page()
    opened.on("console", lambda message: complaints.append(f"{message.text} {message.location}"))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.goto(app.address)
    yield opened
    assert complaints == []


def test_from_nothing_to_a_portal(
    page: Page,
    app: ServedApp,
    browser_with_extension: RecordingBrowser,
    web: DemoWeb,
    web_port: int,
    clock: EveningClock,
    tmp_path: Path,
) -> None:
    browser = browser_with_extension
    browser.pair(create_topic(page))
    record_session(browser, page, beginning(web.sessions[SUBJECT].events, N_VISITS))
    assert [job["kind"] for job in app.get("/api/jobs") if job["state"] == "done"] == ["learn"]
    finds = crawl(page, web_port)
    assert finds >= 5
    mark_results(page)
    see_all_news(browser)
    crawl_at_night(page, app, clock)
    read_news(browser)
    search_portal(browser, page)
    search_site(browser, page, tmp_path)


def see(place: Page | Locator, text: str | re.Pattern[str]) -> None:
    shown = place.locator("main") if isinstance(place, Page) else place
    expect(shown).to_contain_text(text)


def tab(page: Page, name: str) -> None:
    """Show a part of the topic."""
    page.bring_to_front()
    page.get_by_role("navigation", name="Parts of the topic").get_by_role("link", name=name).click()
    page.wait_for_selector(f".tabs [aria-current=page]:text-is('{name}')")


def create_topic(page: Page) -> str:
    """From the first page to an empty topic; the pairing code that is shown there."""
    see(page, "Welcome to Trailhound")
    page.get_by_label("What will you look for?").fill(TOPIC)
    page.get_by_role("button", name="Create").click()
    see(page, "Next: browse")
    page.get_by_role("button", name="Pair your browser").click()
    code = page.locator("li", has_text="enter the pairing code").locator("code")
    expect(code).to_be_visible()
    return code.inner_text()


def record_session(browser: RecordingBrowser, page: Page, plan: list[Event]) -> None:
    """Browse with the extension; the app tells of it while it goes on, and learns at the end."""
    browser.start(TOPIC)
    person = Person(browser)
    person.browse(plan)
    page.bring_to_front()
    see(page, "going on")
    see(page, "Next: learn")
    person.page.bring_to_front()
    person.submit()
    page.bring_to_front()
    see(page, "Next: crawl")
    person.page.close()


def crawl(page: Page, web_port: int) -> int:
    """Start a crawl of the web on this machine, and watch its curve grow; the finds."""
    page.get_by_role("link", name="Start a crawl").click()
    form = page.get_by_role("form", name="A new crawl")
    form.wait_for()
    assert form.get_by_role("checkbox", checked=True).count() >= 3, "suggested seeds"
    form.get_by_label("Requests at most").fill(str(N_REQUESTS))
    form.get_by_label("Who is crawling").fill("whole-way (+http://www.demo.test/about)")
    form.get_by_text("Where it may go").click()
    form.get_by_label("Hosts of your own network").fill("*.demo.test")
    form.get_by_label("Where hosts are").fill(f"*.demo.test=127.0.0.1:{web_port}")
    form.get_by_role("button", name="Start the crawl").click()
    curve = page.get_by_role("img", name=re.compile("finds? after"))
    curve.wait_for()
    wait_for(lambda: figures(curve)[1] == N_REQUESTS, "the curve to grow", PATIENCE_MS / 1000)
    points = (page.locator("polyline").first.get_attribute("points") or "").split()
    assert len(points) > 20
    expect(page.locator("main .badge").first).to_have_text("ended")
    return figures(curve)[0]


def figures(curve: Locator) -> list[int]:
    """Finds and requests, as the chart says in words."""
    return [int(each) for each in re.findall(r"\d+", curve.get_attribute("aria-label") or "")]


def mark_results(page: Page) -> None:
    """A near miss becomes a find, and a find goes."""
    tab(page, "Results")
    finds = page.get_by_role("region", name="Finds")
    misses = page.get_by_role("region", name="Near misses")
    missed, wrong = first_address(misses), first_address(finds)
    result(misses, missed).get_by_role("button", name=re.compile("^Useful: ")).click()
    expect(result(misses, missed)).to_have_count(0)
    result(finds, wrong).get_by_role("button", name="Not useful: ").click()
    expect(result(finds, wrong)).to_have_count(0)
    page.get_by_label("Show").select_option("Marked not useful")
    expect(finds.locator(".result")).to_have_count(1)
    page.get_by_label("Show").select_option("Marked useful")
    expect(result(finds, missed)).to_have_count(1)
    expect(result(finds, wrong)).to_have_count(0)
    page.get_by_label("Show").select_option("All finds")


def first_address(place: Locator) -> str:
    return place.locator(".result h3 a").first.get_attribute("href") or ""


def result(place: Locator, address: str) -> Locator:
    return place.locator(".result", has=place.page.locator(f'h3 a[href="{address}"]'))


def see_all_news(browser: RecordingBrowser) -> None:
    """What the crawl by day has found is no news any more."""
    popup = browser.popup()
    popup.click(f"[aria-label='All seen: {TOPIC}']")
    popup.wait_for_selector("#news section", state="detached")
    popup.close()


def crawl_at_night(page: Page, app: ServedApp, clock: EveningClock) -> None:
    """The schedule goes on with the crawl when night falls."""
    tab(page, "Schedule")
    page.get_by_label("Every night").check()
    page.get_by_label("Requests a night").fill(str(N_AT_NIGHT))
    page.get_by_role("button", name="Save").click()
    see(page, f"Every night from 22:00 to 06:00, up to {N_AT_NIGHT} requests")
    see(page, "Nothing has been crawled by the schedule yet.")
    clock.let_night_fall()
    see(page, re.compile("a crawl was started for the night.*It ended because"))
    assert app.get(f"{ADDRESS}/crawl")["crawl"]["started_by"] == "schedule"
    tab(page, "Crawl")
    expect(
        page.get_by_role("img", name=f"after {N_REQUESTS + N_AT_NIGHT} requests")
    ).to_be_visible()


def read_news(browser: RecordingBrowser) -> None:
    """What the night has brought is in the popup, and can be marked there."""
    popup = browser.popup()
    popup.wait_for_selector("#news li")
    title = popup.locator("#news li > a").first.inner_text()
    see(popup.locator("#news"), re.compile(r"\d+ new"))
    popup.click(f'[aria-label="Useful: {title}"]')
    popup.wait_for_selector(f'[aria-label="Useful: {title}"]', state="detached")
    popup.close()


def search_portal(browser: RecordingBrowser, page: Page) -> None:
    """Publish the finds, and search them as a stranger does."""
    tab(page, "Results")
    page.locator("summary", has_text="Portal").click()
    page.get_by_label("Title").fill("Bees, in health and illness")
    page.get_by_role("button", name="Publish").click()
    with browser.context.expect_page() as opened:
        page.get_by_role("link", name="http://127.0.0.1").click()
    portal = opened.value
    see(portal.locator("body"), "Bees, in health and illness")
    portal.get_by_role("searchbox").fill("bees")
    portal.get_by_role("searchbox").press("Enter")
    see(portal.locator(".snippet mark").first, re.compile("bee", re.IGNORECASE))
    portal.close()


def search_site(browser: RecordingBrowser, page: Page, folder: Path) -> None:
    """Download the finds as a site, and search it from disk."""
    page.locator("summary", has_text="Export").click()
    page.get_by_label("Format").select_option("site")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Export").click()
    with zipfile.ZipFile(downloading.value.path()) as packed:
        packed.extractall(folder / "site")
    site = browser.context.new_page()
    site.goto((folder / "site" / "index.html").as_uri())
    site.locator("#q").fill("bees")
    site.locator("#q").press("Enter")
    see(site.locator(".snippet mark").first, re.compile("bee", re.IGNORECASE))
    assert site.locator("#hits h2 a").first.get_attribute("href", timeout=PATIENCE_MS)
    site.close()
