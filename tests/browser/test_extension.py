"""The extension in a real Chromium: what it records, what it leaves out, what it looks like."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from html import unescape
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urldefrag, urljoin

import pytest
from playwright.sync_api import Page, Playwright
from recording_browser import (
    RecordingBrowser,
    RunningCollector,
    recording_browser,
    running_collector,
    wait_for,
)

from trailhound.demo import DemoResponse, DemoWeb, DemoWebParameters
from trailhound.demo.server import serve_in_thread
from trailhound.fetching.keyring import read_access
from trailhound.sessions.events import Event, Mark, Submit, Visit
from trailhound.sessions.files import read_session
from trailhound.sessions.page_graph import build_page_graph

pytestmark = pytest.mark.browser

HTML = MappingProxyType({"Content-Type": "text/html; charset=utf-8"})
PATHFINDER = "http://www.pathfinder.demo.test/"
GUILD = "http://www.guildofviols.demo.test/"
ODD = "http://odd.demo.test/"
ODD_PAGES = {
    "": """<title>Odd pages</title><a href=form>form</a> <a href=app>app</a>
        <a href=framed>framed</a> <a href=moved>moved</a> <a href=hostile>hostile</a>""",
    "form": """<title>Form</title><meta name=csrf-token content=meta-secret>
        <input id=name value=preset-secret><input type=password id=password value=old-secret>
        <input type=hidden value=hidden-secret><textarea id=words>area-secret</textarea>
        <div contenteditable id=note>note-secret</div><select><option selected>Spain</select>
        <script>const key = "script-secret"</script><p onclick="x('handler-secret')">Read me</p>""",
    "app": """<title>App</title><h1>One</h1><button id=next>next</button><script>
        document.getElementById("next").onclick = () => {
          history.pushState({}, "", "/app/two"); document.title = "Two";
          document.querySelector("h1").textContent = "Second view"; };</script>""",
    "framed": """<title>Framed</title><iframe src=inner width=400 height=200></iframe>
        <iframe src=tracker width=1 height=1></iframe>""",
    "inner": "<title>Inner</title><p>An inner page</p>",
    "tracker": "<title>Tracker</title>",
    **{f"big{n}": f"<title>Big</title><p>{n}{'word ' * 500_000}" for n in range(5)},
    "target": "<title>Target</title><p>Where it has moved</p>",
    "script": "<title>&lt;img src=x onerror=document.title='hacked'&gt;</title>"
    "<script>setInterval(() => document.querySelector('trailhound-bar')?.click(), 50)</script>",
    "dark": "<title>Dark</title><style>body { background: #000; color: #ddd }</style><p>Night",
    "hostile": """<title>Hostile</title><style>* { all: unset !important; display: none !important }
        html, body, p { display: block !important; transform: scale(.2) !important }
        body { filter: blur(9px); opacity: .1 } :root { font-size: 90px; color: red }
        button, div, trailhound-bar { position: static !important; visibility: hidden !important;
          font-size: 70px !important; pointer-events: none !important; z-index: -1 !important }
        </style><p>Hostile</p><div style="position:fixed;inset:0;z-index:2147483647"></div>""",
}


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    small = DemoWebParameters(universities=2, people_per_department=2, papers_per_person=1)
    made = DemoWeb.generate(parameters=small)
    odd = {ODD + path: DemoResponse(200, HTML, html.encode()) for path, html in ODD_PAGES.items()}
    moved = MappingProxyType({**HTML, "Location": f"{ODD}target"})
    odd[f"{ODD}moved"] = DemoResponse(302, moved, b"")
    return replace(made, responses=MappingProxyType({**made.responses, **odd}))


@pytest.fixture(scope="module")
def browser_with_extension(
    chromium_path: str,
    playwright: Playwright,
    web: DemoWeb,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RecordingBrowser]:
    profile = tmp_path_factory.mktemp("profile")
    with (
        serve_in_thread(web) as port,
        recording_browser(playwright, chromium_path, profile, port) as made,
    ):
        yield made


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[RunningCollector]:
    with running_collector(tmp_path / "workspace") as made:
        yield made


@pytest.fixture
def recording(
    browser_with_extension: RecordingBrowser, collector: RunningCollector
) -> Iterator[RecordingBrowser]:
    """A paired browser without any memory of earlier tests."""
    made = browser_with_extension
    made.worker.evaluate(
        "Promise.all([chrome.storage.local.clear(), chrome.storage.session.clear()])"
    )
    made.pair(collector.pairing.code(collector.port))
    yield made
    for page in made.context.pages[1:]:
        page.close()
    popup = made.popup()
    if popup.is_visible("#submit"):
        popup.click("#submit")
        popup.wait_for_selector("#beginning:not([hidden])")
    popup.close()


def finish(recording: RecordingBrowser, collector: RunningCollector, page: Page) -> list[Event]:
    """Press Submit; the events of the session in order of time."""
    recording.press(page, "submit")
    wait_for(lambda: any("submitted" in line for line in collector.said), "the submit")
    session = read_session(collector.session_file("violins"))
    return sorted(session.events, key=lambda event: event.time)


def brief(event: Event) -> tuple[Any, ...]:
    """What of an event a walk determines."""
    if isinstance(event, Visit):
        return event.url, event.reached.value, event.from_url, event.frame_of
    return ("useful", event.url, event.useful) if isinstance(event, Mark) else ("submit",)


def test_the_session_file_equals_the_walk(
    recording: RecordingBrowser, collector: RunningCollector, web: DemoWeb
) -> None:
    recording.start("violins")
    page = recording.context.new_page()
    page.goto(PATHFINDER)
    recording.settle(1)
    towns = urljoin(PATHFINDER, str(page.locator("main a").last.get_attribute("href")))
    page.locator("main a").last.click()
    recording.settle(2)
    page.go_back()
    recording.settle(2)
    wait_for(lambda: delivered(recording, collector, 3), "the way back")
    page.go_forward()
    wait_for(lambda: delivered(recording, collector, 4), "the way forward")
    with recording.context.expect_page() as opened:
        page.locator("main a").first.click(modifiers=["Control"])
    tab = opened.value
    tab.wait_for_load_state()
    recording.settle(3)
    tab_url = tab.url
    page.bring_to_front()
    page.goto(GUILD)
    recording.settle(6)
    page.frames[1].click("text=About")
    recording.settle(7)
    recording.press(page, "useful")
    wait_for(lambda: recording.pressed(page), "the mark")
    page.goto(f"{GUILD}links.html")
    recording.settle(8)
    recording.press(page, "useful")
    wait_for(lambda: recording.pressed(page), "the mark")
    recording.press(page, "useful")
    wait_for(lambda: not recording.pressed(page), "the mark to go")
    page.reload()
    wait_for(lambda: delivered(recording, collector, 14), "the reload")
    events = finish(recording, collector, page)

    about = f"{GUILD}about.html"
    walk = [brief(event) for event in events]
    frames = {(f"{GUILD}{name}.html", "link", GUILD, GUILD) for name in ("menu", "welcome")}
    assert set(walk[6:8]) == frames
    assert walk[:6] + walk[8:] == [
        (PATHFINDER, "typed", None, None),
        (towns, "link", PATHFINDER, None),
        (PATHFINDER, "back", towns, None),
        (towns, "forward", PATHFINDER, None),
        (tab_url, "link", towns, None),
        (GUILD, "typed", towns, None),
        (about, "link", f"{GUILD}menu.html", GUILD),
        ("useful", about, True),
        (f"{GUILD}links.html", "typed", GUILD, None),
        ("useful", f"{GUILD}links.html", True),
        ("useful", f"{GUILD}links.html", None),
        (f"{GUILD}links.html", "reload", f"{GUILD}links.html", None),
        ("submit",),
    ]
    assert all(event.title for event in events if isinstance(event, Visit))
    check_graph(collector, web, about)


def delivered(recording: RecordingBrowser, collector: RunningCollector, n_events: int) -> bool:
    return recording.is_delivered() and len(session_events(collector)) >= n_events


def session_events(collector: RunningCollector) -> tuple[Event, ...]:
    return read_session(collector.session_file("violins")).events


def check_graph(collector: RunningCollector, web: DemoWeb, target: str) -> None:
    """The page graph has exactly the hyperlinks that the servers' own sources hold."""
    session = read_session(collector.session_file("violins"))
    graph = build_page_graph([session], lambda _: None)
    urls = [page.url for page in graph.pages]
    assert GUILD not in urls  # its frames stand for it
    opens_with = {GUILD: [f"{GUILD}menu.html", f"{GUILD}welcome.html"]}
    expected = set()
    for url in urls:
        source = web.respond(url).body.decode()
        for href in re.findall(r'<a href="([^"]+)"', source):
            linked = urldefrag(urljoin(url, unescape(href))).url
            expected |= {(url, end) for end in opens_with.get(linked, [linked]) if end in urls}
    found = {(urls[source], urls[destination]) for source, destination in graph.edges}
    assert found == {(source, end) for source, end in expected if source != end}
    assert len(found) > 8
    assert [urls[number] for number in graph.targets] == [target]


def test_nothing_is_recorded_outside_a_session(
    recording: RecordingBrowser, collector: RunningCollector
) -> None:
    page = recording.context.new_page()
    page.goto(PATHFINDER)
    page.wait_for_timeout(400)
    assert not recording.bar_is_there(page)
    recording.start("violins")
    page.goto(ODD)
    recording.settle(1)
    popup = recording.popup(page)
    popup.click("#pause")
    popup.wait_for_selector("#pause:has-text('Resume')")
    page.bring_to_front()
    page.goto(f"{ODD}dark")
    page.wait_for_timeout(600)
    popup.bring_to_front()
    popup.click("#pause")
    popup.wait_for_selector("#pause:has-text('Pause')")
    popup.close()
    page.goto(f"{ODD}target")
    recording.settle(2)
    events = finish(recording, collector, page)
    page.goto(PATHFINDER)
    page.wait_for_timeout(600)
    assert not recording.bar_is_there(page)
    assert [brief(event) for event in events] == [
        (ODD, "typed", None, None),
        (f"{ODD}dark", "link", None, None),  # on the screen when recording went on
        (f"{ODD}target", "typed", f"{ODD}dark", None),
        ("submit",),
    ]
    assert len(session_events(collector)) == len(events)
    shown = [event.url for event in events if isinstance(event, Visit)]
    assert PATHFINDER not in shown


def test_what_was_typed_and_excluded_and_forgotten_stays_in_the_browser(
    recording: RecordingBrowser, collector: RunningCollector
) -> None:
    recording.start("violins")
    popup = recording.popup()
    popup.click("summary")
    popup.fill("#hosts", "https://www.pathfinder.demo.test/x")
    popup.click("#exclude")
    wait_for(lambda: recording.stored("excluded") == ["www.pathfinder.demo.test"], "the exclusion")
    popup.close()
    page = recording.context.new_page()
    page.goto(f"{ODD}form")
    page.fill("#name", "typed-secret")
    page.fill("#password", "typed-secret")
    recording.settle(1)
    page.goto(PATHFINDER)
    page.wait_for_timeout(500)
    page.goto(f"{ODD}dark")
    recording.settle(2)
    forget_page(recording, page)
    wait_for(lambda: recording.is_delivered(), "forgetting")
    page.goto(f"{ODD}target")
    recording.settle(2)
    events = finish(recording, collector, page)
    text = collector.session_file("violins").read_text("utf-8")
    assert "secret" not in text
    assert "Read me" in text
    assert "pathfinder" not in text
    assert "dark" not in text
    assert [brief(event)[:3] for event in events] == [
        (f"{ODD}form", "typed", None),
        (f"{ODD}target", "typed", None),
        ("submit",),
    ]


def forget_page(recording: RecordingBrowser, page: Page) -> None:
    popup = recording.popup(page)
    popup.wait_for_selector("#page:has-text('Dark')")
    popup.click("#forget")
    popup.wait_for_selector("#page:has-text('not recorded')")
    popup.close()
    page.bring_to_front()


def test_applications_frames_and_redirects_are_visits(
    recording: RecordingBrowser, collector: RunningCollector
) -> None:
    recording.start("violins")
    page = recording.context.new_page()
    page.goto(ODD)
    recording.settle(1)
    page.click("text=app")
    recording.settle(2)
    page.click("#next")
    recording.settle(3)
    page.go_back()
    page.goto(ODD)
    page.click("text=framed")
    recording.settle(5)
    page.goto(ODD)
    page.wait_for_timeout(400)
    page.click("text=moved")
    recording.settle(6)
    events = finish(recording, collector, page)
    visits = {event.url: event for event in reversed(events) if isinstance(event, Visit)}
    second = visits[f"{ODD}app/two"]
    assert (second.title, second.from_url) == ("Two", f"{ODD}app")
    assert "Second view" in (second.html or "")
    assert (visits[f"{ODD}inner"].frame_of, visits[f"{ODD}inner"].title) == (
        f"{ODD}framed",
        "Inner",
    )
    assert f"{ODD}tracker" not in visits
    assert visits[f"{ODD}target"].requested_url == f"{ODD}moved"
    assert (f"{ODD}app", "back", f"{ODD}app/two", None) in [brief(event) for event in events]


def test_a_collector_that_is_down_and_a_worker_that_is_stopped_lose_nothing(
    recording: RecordingBrowser, collector: RunningCollector
) -> None:
    recording.start("violins")
    collector.stop()
    page = recording.context.new_page()
    page.goto(ODD)
    wait_for(lambda: recording.stored("problem"), "a complaint")
    popup = recording.popup(page)
    popup.wait_for_selector("#problem:has-text('does not answer')")
    popup.wait_for_selector("#queue:has-text('1 events wait')")
    stop_worker(recording, popup)
    collector.start()
    page.bring_to_front()
    page.goto(f"{ODD}dark")
    popup.bring_to_front()
    popup.wait_for_selector("#pages:has-text('2')")
    popup.wait_for_selector("#problem", state="hidden")
    popup.click("#submit")
    popup.wait_for_selector("#last:has-text('2 pages')")
    wait_for(lambda: any("submitted" in line for line in collector.said), "the submit")
    shown = [event.url for event in session_events(collector) if isinstance(event, Visit)]
    assert shown == [ODD, f"{ODD}dark"]
    assert isinstance(session_events(collector)[-1], Submit)


def test_a_full_queue_keeps_pages_without_content_and_says_so(
    recording: RecordingBrowser, collector: RunningCollector
) -> None:
    recording.start("violins")
    collector.stop()
    page = recording.context.new_page()
    for number in range(5):
        page.goto(f"{ODD}big{number}")
        wait_for(partial(has_pages, recording, number + 1), "the page")
    popup = recording.popup(page)
    popup.wait_for_selector("#queue:has-text('pages are kept without their content')")
    look(popup, "popup-full")
    collector.start()
    page.goto(f"{ODD}target")  # what is sent next takes along what waits
    wait_for(partial(is_all_sent, recording), "the queue")
    page.goto(f"{ODD}big4")
    wait_for(lambda: lengths(collector).count(2_000_000) == 4, "its content")
    popup.click("#submit")
    wait_for(lambda: any("submitted" in line for line in collector.said), "the submit")
    assert lengths(collector)[:5] == [2_000_000] * 3 + [0] * 2


def lengths(collector: RunningCollector) -> list[int]:
    events = session_events(collector)
    return [len(event.html or "") for event in events if isinstance(event, Visit)]


def is_all_sent(recording: RecordingBrowser) -> bool:
    queue = recording.stored("queue")
    return bool(queue["first"] == queue["next"])


def has_pages(recording: RecordingBrowser, n_pages: int) -> bool:
    return len(recording.stored("session")["pages"]) >= n_pages


def stop_worker(recording: RecordingBrowser, popup: Page) -> None:
    """As browsers do after half a minute of rest."""
    session = recording.context.new_cdp_session(popup)
    session.send("ServiceWorker.enable")
    session.send("ServiceWorker.stopAllWorkers")
    popup.wait_for_timeout(300)
    session.detach()
    wait_for(lambda: recording.context.service_workers, "the worker")
    recording.worker = recording.context.service_workers[-1]


def test_pages_can_neither_reach_the_collector_nor_press_the_bar(
    recording: RecordingBrowser, collector: RunningCollector
) -> None:
    recording.start("<img src=x onerror=document.title='hacked'>")
    page = recording.context.new_page()
    page.goto(f"{ODD}script")
    recording.settle(1)
    attack = """async ([port, token, mode]) => {
        const message = {session: "20260101t120000-00ff00ff00ff", topic: "evil", events: [
            {event: "visit", time: 1, url: "http://evil.example/"}]};
        try {
            const answer = await fetch(`http://127.0.0.1:${port}/v1/events`, {method: "POST", mode,
                headers: {"Content-Type": mode === "cors" ? "application/json" : "text/plain",
                    ...(mode === "cors" && {Authorization: `Bearer ${token}`})},
                body: JSON.stringify(message)});
            return await answer.text();
        } catch (error) { return "refused"; }
    }"""
    for mode in ("cors", "no-cors"):
        read = page.evaluate(attack, [collector.port, collector.pairing.token, mode])
        assert read in ("refused", "")
    assert collector.workspace.topics() == ("<img src=x onerror=document.title='hacked'>",)
    assert not recording.pressed(page)
    assert page.evaluate("document.querySelector('trailhound-bar').shadowRoot") is None
    popup = recording.popup(page)
    popup.wait_for_selector("#page:has-text('onerror')")
    assert popup.title() == "Trailhound"
    assert popup.locator("img").count() == 1
    look(popup, "popup-script")


@pytest.mark.parametrize("path", ["", "dark", "hostile"])
def test_the_bar_can_be_used_on_every_page(
    recording: RecordingBrowser, collector: RunningCollector, path: str
) -> None:
    recording.start("violins")
    page = recording.context.new_page()
    page.goto(ODD + path)
    recording.settle(1)
    x, y = recording.button_middle(page, "useful")
    top = page.evaluate("([x, y]) => document.elementFromPoint(x, y).localName", [x, y])
    assert top == "trailhound-bar"
    box = page.evaluate(
        "(({width, height}) => [width, height])"
        "(document.querySelector('trailhound-bar').getBoundingClientRect())"
    )
    assert 100 < box[0] < 400
    assert 20 < box[1] < 60
    recording.press(page, "useful")
    wait_for(lambda: recording.pressed(page), "the mark")
    look(page, f"bar-{path or 'light'}")
    page.emulate_media(color_scheme="dark")
    look(page, f"bar-{path or 'light'}-at-night")
    popup = recording.popup(page)
    popup.set_viewport_size({"width": 352, "height": 480})
    popup.emulate_media(color_scheme="dark" if path else "light")
    look(popup, f"popup-{path or 'light'}")


def look(page: Page, name: str) -> None:
    """Keep a picture to look at where TRAILHOUND_SCREENSHOTS names a folder."""
    folder = os.environ.get("TRAILHOUND_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")


def test_cookies_of_one_host_are_handed_over_when_its_button_is_pressed(
    recording: RecordingBrowser, collector: RunningCollector
) -> None:
    domain = {"domain": ".demo.test", "path": "/", "name": "all", "value": "of-the-domain"}
    deep = {"domain": "odd.demo.test", "path": "/deep", "name": "deep", "value": "own-deep"}
    other = {"domain": "www.pathfinder.demo.test", "path": "/", "name": "x", "value": "of-another"}
    below = {"domain": ".low.odd.demo.test", "path": "/", "name": "x", "value": "of-another"}
    cookies: list[Any] = [domain, deep, other, below]
    recording.context.add_cookies(cookies)
    page = recording.context.new_page()
    page.goto(f"{ODD}dark")
    popup = recording.popup(page)
    popup.click("#asYou summary")
    assert "read there" in popup.inner_text("#asYou")
    assert popup.inner_text("#handOver") == "Let Trailhound read odd.demo.test as you"
    asked_for = "chrome.permissions.contains({ permissions: ['cookies'] })"
    assert recording.worker.evaluate(asked_for) is False
    popup.click("#handOver")
    popup.wait_for_selector("#handed:has-text('2 cookies of odd.demo.test')")
    assert recording.worker.evaluate(asked_for) is False  # given back
    popup.close()
    access = collector.workspace.folder / "access.json"
    kept = read_access(access).hosts
    assert list(kept) == ["odd.demo.test"]
    assert {each.value for each in kept["odd.demo.test"].cookies} == {"of-the-domain", "own-deep"}
    assert access.stat().st_mode & 0o077 == 0 or os.name == "nt"
    assert not any("own-deep" in line or "of-the" in line for line in collector.said)
    assert "own-deep" not in str(recording.worker.evaluate("chrome.storage.local.get(null)"))
    # A page that is not on the web has no such button.
    popup = recording.popup()
    assert popup.is_hidden("#asYou")
    popup.close()
