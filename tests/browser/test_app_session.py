"""First steps in the app, in a real browser: a topic, its session drawn, marks, and the model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from learned_topics import HOST, park_session
from playwright.sync_api import Browser, Page, Route, expect

from app_server import ServedApp, wait_until
from chromium import PATIENCE_MS, barriers
from trailhound.sessions.events import Event, Mark, Session, Submit, Visit
from trailhound.sessions.files import write_session

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Browser, app: ServedApp) -> Iterator[Page]:
    """The app's first page; whatever the browser complains about fails the test."""
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": 1100, "height": 800})
    context.set_default_timeout(PATIENCE_MS)
    opened = context.new_page()
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("dialog", lambda dialog: dialog.accept())
    opened.goto(app.address)
    opened.wait_for_selector("h1")
    yield opened
    context.close()
    # What is deleted or renamed may have been asked for a moment before.
    assert [each for each in complaints if "404 (Not Found)" not in each] == []


def see(page: Page, text: str) -> None:
    expect(page.locator("main")).to_contain_text(text)


def show(page: Page, app: ServedApp, topic: str, view: str) -> None:
    page.goto(f"{app.base}/#/topics/{quote(topic)}/{view}".rstrip("/"))
    page.wait_for_selector(".tabs [aria-current=page]")


def test_the_demo_web_leads_from_nothing_to_a_learned_topic(page: Page, app: ServedApp) -> None:
    assert barriers(page) == []
    page.get_by_role("link", name="Skip to content").press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    see(page, "Welcome to Trailhound")
    page.goto(f"{app.base}/#/topics/100%")
    see(page, "There is no topic '100%'")
    held: list[Route] = []
    page.route("**/api/home", lambda route: held.append(route))
    page.goto(f"{app.base}/#/")
    expect(page.get_by_role("status").filter(has_text="Loading")).to_be_visible()
    held[0].continue_()
    page.unroute("**/api/home")
    page.get_by_role("button", name="Try it with the demo web").click()
    see(page, "Next: crawl")
    assert page.url.endswith("(demo)")
    expect(page.get_by_role("link", name="Start a crawl")).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("link", name="Model").click()
    see(page, "Concept graph")
    see(page, "Words and their weight")
    assert page.locator("svg.concepts circle").count() >= 3
    assert page.locator("table.heat").count() == 2
    assert barriers(page) == []
    page.get_by_text("Learn with other parameters").click()
    page.get_by_label("Distances").fill("")
    page.get_by_role("button", name="Learn with these").click()
    expect(page.get_by_label("Distances")).to_be_focused()  # where the browser says why
    assert [job["kind"] for job in app.get("/api/jobs")].count("learn") == 1
    page.get_by_label("Distances").fill("3")
    page.get_by_role("button", name="Learn with these").click()
    expect(page.locator("table.heat").first.locator("tbody tr")).to_have_count(3)


def test_sessions_arrive_while_the_topic_is_looked_at(page: Page, app: ServedApp) -> None:
    page.get_by_label("What will you look for?").fill("bees")
    page.get_by_role("button", name="Create").click()
    see(page, "Next: browse")
    assert barriers(page) == []
    app.browsed(Session("wasps", ()))  # by now a browser is paired
    page.reload()
    see(page, "write 'bees' there, and press Start")
    events = park_session().events
    app.browsed(Session("bees", events[:4]))
    expect(page.get_by_text("going on")).to_be_visible()
    see(page, "Next: mark pages")
    app.browsed(Session("bees", events[4:]))
    see(page, "Next: crawl")
    for number in range(2, 23):
        app.browsed(Session("bees", events[:1]), number)
    sessions = page.get_by_label("Sessions of the topic").locator("tbody tr")
    expect(sessions).to_have_count(20)
    page.get_by_role("button", name="Show all 22 sessions").click()
    expect(sessions).to_have_count(22)
    assert barriers(page) == []


def test_a_recording_is_imported(page: Page, app: ServedApp, tmp_path: Path) -> None:
    file = tmp_path / "walk.jsonl"
    write_session(park_session(), file)
    app.post("/api/topics/walks")
    show(page, app, "walks", "")
    page.get_by_role("button", name="Import a recording").click()
    page.get_by_label("File").set_input_files(file)
    expect(page.get_by_label("What it is")).to_have_value("session")
    expect(page.get_by_label("Whose log it is")).to_be_hidden()
    assert barriers(page) == []
    for name, start, kind in (
        ("access.log", "1286536309.586 921 192.168.0.68 TCP_MISS/200 1 GET", "squid"),
        ("a-access.log", '10.0.0.1 - - [10/Oct/2026:13:55:36 +0000] "GET /', "combined"),
    ):
        (tmp_path / name).write_text(start)
        page.get_by_label("File").set_input_files(tmp_path / name)
        expect(page.get_by_label("What it is")).to_have_value(kind)
    expect(page.get_by_label("Whose log it is")).to_be_visible()
    page.get_by_label("File").set_input_files(file)
    expect(page.get_by_label("What it is")).to_have_value("session")
    page.get_by_role("button", name="Import", exact=True).click()
    see(page, "Next: learn")


def test_what_is_unfolded_stays_so_when_something_else_happens(page: Page, app: ServedApp) -> None:
    unfold = page.locator("summary", has_text="Pair your browser")
    for topic, is_open in (("wasps", True), ("bees", False), ("hornets", True)):
        app.post(f"/api/topics/{topic}")
        see(page, topic)
        expect(page.locator("details")).to_have_js_property("open", is_open)
        unfold.click()


def test_a_page_is_chosen_marked_and_forgotten(page: Page, app: ServedApp) -> None:
    app.browsed(park_session())
    wait_until(lambda: app.get("/api/topics/bees")["learned"])
    show(page, app, "bees", "session")
    expect(page.locator(".graph circle")).to_have_count(10)
    assert page.locator(".graph circle.target").count() == 3
    assert page.locator(".graph circle.dead").count() >= 2
    assert barriers(page) == []
    page.locator(".graph circle", has_text="The bee4").click()
    expect(page.locator(".preview")).to_contain_text("swarms of bees leave the hive")
    useful = page.locator(".preview").get_by_role("button", name="Useful", exact=True)
    useful.press("Enter")
    expect(page.locator(".graph circle.target")).to_have_count(4)
    expect(useful).to_have_attribute("aria-pressed", "true")
    expect(useful).to_be_focused()
    see(page, "4 marked useful")
    expect(page.locator(".graph circle.chosen")).to_have_count(1)
    see(page, "changed since the last learning")
    assert barriers(page) == []
    page.get_by_role("button", name="Learn again").click()
    wait_until(lambda: app.get("/api/topics/bees/model")["diagnosis"]["n_targets"] == 4)
    search = page.get_by_role("searchbox")
    search.fill("no such page")
    see(page, "No page has this in its title or address.")
    expect(page.get_by_role("region", name="Visited pages")).to_have_count(0)
    search.fill("Car1")
    app.browsed(Session("bees", (Visit(50.0, f"{HOST}late", "Late", html="<p>late bees"),)), 2)
    expect(page.locator(".graph circle")).to_have_count(11)
    expect(search).to_have_value("Car1")
    expect(search).to_be_focused()
    expect(page.locator(".preview")).to_contain_text("swarms of bees leave the hive")
    expect(page.locator(".graph circle.chosen")).to_have_count(1)
    page.get_by_role("button", name="The car1").click()
    page.get_by_role("button", name="Forget this page").click()
    expect(page.locator(".graph circle")).to_have_count(10)


def test_pages_come_again_after_the_last_was_forgotten(page: Page, app: ServedApp) -> None:
    def visit(title: str) -> Session:
        html = f"<title>{title}</title><p>{title} bees"
        return Session("bees", (Visit(1.0, f"{HOST}{title}", title, html=html),))

    app.browsed(visit("Early"))
    show(page, app, "bees", "session")
    page.get_by_role("button", name="Early").click()
    page.get_by_role("button", name="Forget this page").click()
    see(page, "Nothing was browsed yet")
    app.browsed(visit("Late"), 2)
    see(page, "1 page with 0 links between them")
    expect(page.locator(".preview")).to_contain_text("Choose a page")
    page.get_by_role("button", name="Late").click()
    expect(page.locator(".preview")).to_contain_text("Late bees")


def test_the_picture_moves_and_zooms_by_keyboard_mouse_and_buttons(
    page: Page, app: ServedApp
) -> None:
    app.browsed(park_session())
    show(page, app, "bees", "session")
    drawing = page.locator(".graph svg")
    views = [drawing.get_attribute("viewBox")]

    def has_changed() -> None:
        wait_until(lambda: drawing.get_attribute("viewBox") != views[-1])
        views.append(drawing.get_attribute("viewBox"))

    page.locator(".graph").focus()
    for key in ("ArrowLeft", "ArrowDown", "+", "-"):
        page.keyboard.press(key)
        has_changed()
    box = drawing.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.wheel(0, -100)
    has_changed()
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 70, steps=4)
    page.mouse.up()
    has_changed()
    page.get_by_role("button", name="Zoom in").click()
    has_changed()
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Fit").click()
    wait_until(lambda: drawing.get_attribute("viewBox") == views[0])
    page.get_by_label("Way of a session").select_option(index=1)
    assert page.locator(".graph .trail").get_attribute("d")


def test_what_pages_say_stays_text(page: Page, app: ServedApp) -> None:
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    html = f"<title>{evil.replace('<', '&lt;')}</title><p>{evil.replace('<', '&lt;')} text"
    events: list[Event] = [
        Visit(1.0, HOST, evil, html=html),
        Visit(2.0, f'{HOST}x?a=<b>%27"', evil, from_url=HOST, html=html + " more"),
        Mark(3.0, HOST),
        Submit(4.0),
    ]
    app.browsed(Session("bees", tuple(events)))
    wait_until(lambda: app.get("/api/topics/bees")["learned"])
    show(page, app, "bees", "session")
    expect(page.locator(".graph circle")).to_have_count(2)
    page.locator(".graph circle").first.click()
    expect(page.locator(".preview h2")).to_contain_text("<img src=x")
    show(page, app, "bees", "model")
    see(page, "Concept graph")
    assert page.locator("main img, main script").count() == 0


def test_a_topic_is_renamed_merged_and_deleted(page: Page, app: ServedApp) -> None:
    app.browsed(park_session())
    app.post("/api/topics/wasps")
    show(page, app, "bees", "")
    page.get_by_text("Rename, merge, delete").click()
    page.get_by_label("Merge into another topic").select_option("wasps")
    page.get_by_role("button", name="Copy the sessions").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("wasps")
    assert app.get("/api/topics/wasps")["sessions"] == 1
    page.get_by_text("Rename, merge, delete").click()
    with page.expect_response("**/rename"):
        page.get_by_role("button", name="Rename").click()  # to the name that it has
    app.browsed(Session("wasps", (Visit(50.0, f"{HOST}late", "Late", html="<p>late bees"),)), 2)
    expect(page.locator("main table tbody tr")).to_have_count(2)
    other = page.context.new_page()
    show(other, app, "wasps", "results")
    see(other, "has not been crawled")
    page.bring_to_front()
    page.get_by_label("Another name").fill("hornets")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("hornets")
    see(other, "There is no topic 'wasps'. It may have been renamed or deleted.")
    other.reload()
    see(other, "There is no topic 'wasps'")
    other.close()
    page.get_by_text("Rename, merge, delete").click()
    page.get_by_role("button", name="Delete the topic").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Topics")
    assert [each["topic"] for each in app.get("/api/home")["topics"]] == ["bees"]
