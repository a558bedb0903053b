"""A crawl of the demo web in the app, as a person sees it in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from app_server import ServedApp, serving_app, wait_until
from chromium import PATIENCE_MS, barriers
from trailhound.topics.access import Access, named_host
from trailhound.topics.control.running import request_stop, running_crawl, wait_for_end
from trailhound.web.hub import Happening

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    """With a learned topic of the demo web."""
    with serving_app(tmp_path_factory.mktemp("app")) as served:
        made = served.post("/api/playground/topic")
        assert served.job_done(made["job"])["state"] == "done"
        yield served
        folder = served.workspace.topic(made["topic"])
        status = running_crawl(folder)
        if status is not None and status.is_alive:
            request_stop(folder)
            wait_for_end(folder)


@pytest.fixture(scope="module")
def topic(app: ServedApp) -> str:
    (name,) = app.get("/api/playground")["topics"]
    return str(name)


@pytest.fixture
def page(app: ServedApp, browser: Browser) -> Iterator[Page]:
    opened = browser.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    mistakes: list[str] = []
    opened.on("pageerror", lambda error: mistakes.append(str(error)))
    opened.goto(app.address)
    expect(opened.get_by_role("heading", level=1)).to_be_visible()
    yield opened
    opened.close()
    assert mistakes == []


def show(page: Page, app: ServedApp, view: str) -> None:
    page.goto(f"{app.base}/#{view}")


def requests_drawn(page: Page) -> int:
    """At which number of requests the curve of finds ends."""
    words = page.get_by_role("img", name=re.compile("finds? after")).get_attribute("aria-label")
    found = re.search(r"after ([\d,]+) requests?", words or "")
    assert found, words
    return int(found[1].replace(",", ""))


def test_a_crawl_is_started_watched_explained_stopped_and_gone_on_with(
    app: ServedApp, topic: str, page: Page, tmp_path: Path
) -> None:
    access = Access(app.workspace.folder)
    for host in ("cookies.demo.test", "other.demo.test"):
        access.give_headers(named_host(host), [("X-Token", "hush")])
    show(page, app, f"/topics/{quote(topic)}/crawl")
    form = page.get_by_role("form", name="A new crawl")
    expect(form).to_contain_text("This topic is about the demo web")
    expect(form).to_contain_text("useful pages, the nearest")
    expect(form).to_contain_text("goes on learning with every page")
    form.get_by_text("Read as you", exact=True).click()
    form.get_by_role("checkbox", name=re.compile("cookies.demo.test")).check()
    form.get_by_title("Removes the cookies of other.demo.test").click()
    wait_until(lambda: [each.host for each in access.hosts()] == ["cookies.demo.test"])
    assert barriers(page) == []
    seeds = form.get_by_role("group", name="Where to start").get_by_role("checkbox", checked=True)
    for _ in range(seeds.count()):
        seeds.first.uncheck()
    durations = {"": True, "90": True, "90s": True, "1h30m": True, " 1 h 30 m ": True, "1.5H": True}
    durations |= {"1 2 3": False, "1h30": False, "soon": False, "-1h": False}
    at_most = form.get_by_label("Time at most")
    for written, is_right in durations.items():
        at_most.fill(written)
        assert at_most.evaluate("field => field.checkValidity()") is is_right, written
    at_most.fill("")
    form.get_by_role("button", name="Start the crawl").click()
    expect(form.get_by_role("alert")).to_contain_text("Tick or write one")
    form.get_by_role("group", name="Where to start").get_by_role("checkbox").first.check()
    form.get_by_label("Strategy").select_option("breadth-first")
    expect(form).to_contain_text("For small sites that you want whole")
    form.get_by_label("Strategy").select_option("trail")
    delay = form.get_by_label("Seconds between requests")
    delay.fill("0.1")
    form.get_by_role("button", name="Start the crawl").click()
    expect(form.get_by_role("alert")).to_contain_text("impolite")
    delay.fill("1")
    form.get_by_role("button", name="Start the crawl").click()
    stop = page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible()
    assert app.get(f"/api/topics/{quote(topic)}/crawl")["setup"]["as_me"] == ["cookies.demo.test"]
    early = wait_until(lambda: requests_drawn(page))
    wait_until(lambda: requests_drawn(page) > early + 3)
    page.get_by_text("What comes next").click()
    expect(page.get_by_role("region", name="What comes next")).to_be_visible()
    assert barriers(page) == []
    page.screenshot(path=tmp_path / "crawl.png", full_page=True)
    stop.click()
    go_on = page.get_by_role("button", name="Go on")
    expect(go_on).to_be_visible()
    expect(page.get_by_role("status").first).to_contain_text("It was stopped")
    page.get_by_role("button", name="Why http").first.click()
    story = page.get_by_role("dialog")
    expect(story).to_contain_text("It was")
    assert barriers(page) == []
    story.get_by_role("button", name="Close").click()
    before = app.get(f"/api/topics/{quote(topic)}/crawl")["crawl"]["pages"]
    go_on.click()
    expect(stop).to_be_visible()
    wait_until(lambda: app.get(f"/api/topics/{quote(topic)}/crawl")["crawl"]["pages"] > before)
    show(page, app, "/crawls")
    page.get_by_role("button", name=f"Pause {topic}").click()
    expect(page.get_by_role("button", name=f"Go on with {topic}")).to_be_visible()
    assert barriers(page) == []
    last_pages = page.get_by_role("heading", name="Last pages")
    show(page, app, f"/topics/{quote(topic)}/crawl")
    expect(last_pages).to_be_visible()
    page.route("**/crawl", _as_if_just_begun)
    page.reload()
    expect(page.get_by_text("Waits for its hosts.")).to_be_visible()
    expect(last_pages).to_be_hidden()


def _as_if_just_begun(route: Route) -> None:
    view = route.fetch().json()
    view["crawl"] |= {"state": "running", "latest": [], "remark": "waits for its hosts"}
    route.fulfill(json=view)


def test_an_experiment_takes_anothers_place_only_when_asked_to(app: ServedApp, page: Page) -> None:
    runs = [
        {"name": name, "finished": is_finished, "runs_done": 1, "measured": []}
        for name, is_finished in (("first-try", True), ("first-try-2", False))
    ]
    page.route("**/api/lab", lambda route: route.fulfill(json=app.get("/api/lab") | {"runs": runs}))
    begun: list[str] = []

    def begin(route: Route) -> None:
        begun.append(route.request.url.rsplit("/", 1)[-1])
        route.fulfill(json={})

    page.route("**/api/lab/runs/*", begin)
    show(page, app, "/lab")
    name = page.get_by_label("Name of the experiment")
    expect(name).to_have_value("first-try-3")
    name.fill("first-try")
    page.once("dialog", lambda dialog: dialog.dismiss())
    with page.expect_event("dialog") as asking:
        page.get_by_role("button", name="Run").click()
    assert "There is an experiment 'first-try' already" in asking.value.message
    expect(page.locator("button[aria-disabled]")).to_have_count(0)
    assert begun == []
    name.fill("second")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("The experiment has begun.")).to_be_visible()
    assert begun == ["second"]
    runs.append({"name": "second", "finished": True, "runs_done": 1, "measured": []})
    app.server.app.hub.tell(Happening(kind="job"))
    expect(name).to_have_value("second-2")
    page.get_by_label("Requests a crawl").fill("")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_label("Requests a crawl")).to_be_focused()
    assert begun == ["second"]


def _hide(page: Page, is_hidden: bool) -> None:
    page.evaluate(
        """hidden => {
            Object.defineProperty(document, "hidden", { configurable: true, value: hidden });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        is_hidden,
    )


def test_a_page_that_is_hidden_or_closed_costs_nothing(app: ServedApp, page: Page) -> None:
    hub = app.server.app.hub
    wait_until(lambda: hub.has_listeners)
    _hide(page, True)
    wait_until(lambda: not hub.has_listeners)
    _hide(page, False)
    wait_until(lambda: hub.has_listeners)
    page.close()
    wait_until(lambda: not hub.has_listeners)


def test_an_app_that_is_gone_is_told_until_it_is_back(
    app: ServedApp, topic: str, page: Page
) -> None:
    show(page, app, f"/topics/{quote(topic)}/schedule")
    expect(page.get_by_role("button", name="Save")).to_be_visible()
    page.route("**/api/**", lambda route: route.abort())
    _hide(page, True)
    _hide(page, False)
    told = page.get_by_role("alert").filter(has_text="The app does not answer; trying again")
    expect(told).to_be_visible()
    assert barriers(page) == []
    show(page, app, "/crawls")
    expect(page.get_by_role("heading", name="That did not work")).to_be_visible()
    page.unroute("**/api/**")
    expect(page.get_by_role("heading", name="Crawls")).to_be_visible()
    expect(told).to_have_count(0)


def test_a_wrong_token_is_told_and_a_right_one_brings_everything(
    app: ServedApp, browser: Browser
) -> None:
    hub = app.server.app.hub
    wait_until(lambda: not hub.has_listeners)
    page = browser.new_page()
    page.goto(app.base)
    field = page.get_by_label("Address or token")
    field.wait_for()
    expect(page.get_by_role("alert")).to_have_count(0)
    field.fill("nonsense")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("alert")).to_contain_text("does not know this token")
    page.goto(app.address)  # in the same tab: nothing is loaded anew
    expect(page.get_by_role("heading", name="Topics")).to_be_visible()
    wait_until(lambda: hub.has_listeners)
    page.close()


def test_a_schedule_is_set_and_told_in_words(app: ServedApp, topic: str, page: Page) -> None:
    show(page, app, f"/topics/{quote(topic)}/schedule")
    expect(page.get_by_text("It is crawled only when you start it.")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("nothing is scheduled")
    expect(page.locator("main .badge").first).to_have_text("off")
    page.get_by_label("Every night").check()
    page.get_by_label("From", exact=True).fill("03:00")
    page.get_by_label("To", exact=True).fill("03:30")
    page.get_by_label("Sun").uncheck()
    page.get_by_label("Crawl this topic by itself").uncheck()
    page.get_by_role("button", name="Save").click()
    delay = page.get_by_label("Seconds between requests to one site")
    delay.fill("1000000000")
    page.get_by_role("button", name="Save").click()
    expect(delay).to_be_focused()
    assert not delay.evaluate("field => field.validity.valid")
    words = page.get_by_role("status").first
    expect(words).to_contain_text("from 03:00 to 03:30")
    expect(words).to_contain_text("Switched off at present")
    assert barriers(page) == []
    kept = app.get(f"/api/topics/{quote(topic)}/schedule")["schedule"]
    assert kept["nightly"] == {"start": "03:00", "end": "03:30", "days": [0, 1, 2, 3, 4, 5]}
