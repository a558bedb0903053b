"""The same extension in a real Firefox, and the history that Firefox keeps of the same walk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urljoin

import pytest
from firefox import EXTENSION_HOST, Firefox, find_firefox, running_firefox
from recording_browser import RunningCollector, running_collector, wait_for

from trailhound.collector import extension_folder
from trailhound.demo import DemoResponse, DemoWeb, DemoWebParameters
from trailhound.demo.server import serve_in_thread
from trailhound.sessions.events import Event, Mark, Visit
from trailhound.sessions.files import read_session

pytestmark = pytest.mark.browser

POPUP = f"moz-extension://{EXTENSION_HOST}/popup.html"
PATHFINDER = "http://www.pathfinder.demo.test/"
GUILD = "http://www.guildofviols.demo.test/"
ISSUE = f"{GUILD}newsletter/issue1.html"
ODD = "http://odd.demo.test/"
STRICT = MappingProxyType(
    {"Content-Type": "text/html", "Content-Security-Policy": "default-src 'none'; sandbox"}
)
FORM = b"""<title>Form</title><input id=name value=preset-secret><input type=password id=password>
    <style>* { all: unset !important } button { display: none !important }</style><p>Read me"""
BUTTON = """const bar = document.querySelector("trailhound-bar");
    const button = bar?.openOrClosedShadowRoot.querySelector("button." + arguments[0]);
    if (!button || getComputedStyle(button).display === "none") return null;
    const {x, y, width, height} = button.getBoundingClientRect();
    return [x + width / 2, y + height / 2, width, button.getAttribute("aria-pressed")];"""


@pytest.fixture(scope="module")
def firefox_path() -> str:
    """The browser that the system brings."""
    path = find_firefox()
    if path is not None:
        return path
    reason = "no Firefox on this machine: install the package 'firefox-esr'"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    small = DemoWebParameters(universities=2, people_per_department=2, papers_per_person=1)
    made = DemoWeb.generate(parameters=small)
    moved = MappingProxyType({"Content-Type": "text/html", "Location": f"{GUILD}links.html"})
    odd = {
        f"{ODD}form": DemoResponse(200, STRICT, FORM),
        f"{ODD}moved": DemoResponse(302, moved, b""),
    }
    return replace(made, responses=MappingProxyType({**made.responses, **odd}))


class Person:
    """Uses popup and bar; ``popup`` is open in a tab of its own."""

    def __init__(self, firefox: Firefox, collector: RunningCollector) -> None:
        self.firefox = firefox
        self._collector = collector
        self._popup = firefox.tabs()[0]
        self._n_events = 0

    def begin(self) -> None:
        firefox = self.firefox
        firefox.open(POPUP)
        wait_for(lambda: firefox.is_shown("#code"), "the popup")
        firefox.fill("#code", self._collector.pairing.code(self._collector.port))
        firefox.click("#pairing button")
        wait_for(lambda: firefox.is_shown("#topic"), "pairing")
        firefox.fill("#topic", "violins")
        firefox.click("#beginning button")
        wait_for(lambda: firefox.is_shown("#session"), "the start")

    def is_recorded(self, n_new: int = 1) -> None:
        """Wait for events in the collector's file."""
        self._n_events += n_new
        wait_for(lambda: len(self.events()) >= self._n_events, f"{self._n_events} events", 30)

    def events(self) -> tuple[Event, ...]:
        folder = self._collector.workspace.folder_for("violins").sessions_path
        files = list(folder.glob("*.jsonl"))
        return read_session(files[0]).events if files else ()

    def is_submitted(self) -> None:
        """Wait until the collector knows, and the bar is gone."""
        said = self._collector.said
        wait_for(lambda: any("submitted" in line for line in said), "the submit", seconds=30)
        wait_for(lambda: not self.button("submit"), "the end of the bar")

    def press(self, button: str, pressed: str | None = None) -> None:
        """Press a button of the bar; ``pressed`` is what it is to show then."""
        shown = wait_for(lambda: self.button(button), f"the button {button}")
        self.firefox.click_at(*shown[:2])
        if pressed is not None:
            wait_for(lambda: (self.button(button) or [None])[-1] == pressed, f"'{pressed}'")

    def button(self, name: str) -> list[Any] | None:
        """Middle, width and state; the shadow root is closed to all but the browser itself."""
        found: list[Any] | None = self.firefox.script(BUTTON, name, sandbox="system")
        return found

    def forget_shown_page(self, tab: str) -> None:
        url = self.firefox.url()
        self.firefox.show(self._popup)
        find = "chrome.tabs.query({}).then(all => all.find(tab => tab.url === given[0]).id)"
        self.firefox.open(f"{POPUP}?tab={self.firefox.promised(find, url)}")
        wait_for(lambda: self.firefox.is_shown("#forget"), "the popup")
        look(self.firefox, "firefox-popup")
        self.firefox.click("#forget")
        wait_for(lambda: "not recorded" in self.firefox.text("#page"), "forgetting")
        self.firefox.show(tab)


@dataclass(frozen=True)
class Walked:
    """A walk with Firefox, and where Firefox was."""

    events: tuple[Event, ...]
    text: str
    profile: Path
    bar_width: float
    towns: str
    in_new_tab: str


@pytest.fixture(scope="module")
def walked(
    firefox_path: str, web: DemoWeb, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Walked]:
    """One walk for all tests: Firefox needs seconds to start."""
    folder = tmp_path_factory.mktemp("firefox")
    with (
        serve_in_thread(web) as port,
        running_collector(folder / "workspace") as collector,
    ):
        with running_firefox(firefox_path, folder / "profile", port) as firefox:
            firefox.install(extension_folder())
            made = walk(Person(firefox, collector))
        file = collector.session_file("violins")
        yield replace(made, events=read_session(file).events, text=file.read_text("utf-8"))


def walk(person: Person) -> Walked:
    """Type, follow, go back and forward, open a tab, cross a frameset, mark and unmark, forget."""
    firefox = person.firefox
    person.begin()
    tab = firefox.tab()
    firefox.type_address(PATHFINDER)
    person.is_recorded()
    href = firefox.script("return document.querySelector('main a').getAttribute('href')")
    firefox.click("main a")
    person.is_recorded()
    firefox.back()
    person.is_recorded()
    firefox.forward()
    person.is_recorded()
    known = firefox.tabs()
    firefox.click_with_control("main a")
    (new_tab,) = wait_for(lambda: set(firefox.tabs()) - set(known), "the new tab")
    person.is_recorded()
    firefox.show(new_tab)
    in_new_tab = firefox.url()
    firefox.show(tab)
    firefox.type_address(GUILD)
    person.is_recorded(3)
    firefox.enter_frame("frame")
    firefox.click("a[href*=about]")
    firefox.leave_frame()
    person.is_recorded()
    person.press("useful", "true")
    firefox.type_address(f"{ODD}form")
    person.is_recorded(2)
    firefox.fill("#name", "typed-secret")
    firefox.fill("#password", "typed-secret")
    width = wait_for(lambda: person.button("useful"), "the bar on a strict page")[2]
    look(firefox, "firefox-bar")
    person.press("useful", "true")
    person.press("useful", "false")
    person.is_recorded(2)
    firefox.reload()
    person.is_recorded()
    firefox.type_address(ISSUE)
    person.is_recorded()
    bookmark(firefox, ISSUE)
    person.forget_shown_page(tab)
    firefox.type_address(f"{ODD}moved")
    wait_for(lambda: firefox.url().endswith("links.html"), "the redirect")
    wait_for(lambda: person.events()[-1:] and "links" in last_url(person), "the last page")
    person.press("submit")
    person.is_submitted()
    return Walked((), "", firefox.profile, width, urljoin(PATHFINDER, href), in_new_tab)


def last_url(person: Person) -> str:
    visits = [event.url for event in person.events() if isinstance(event, Visit)]
    return visits[-1]


def bookmark(firefox: Firefox, url: str) -> None:
    firefox.command("Marionette:SetContext", value="chrome")
    firefox.promised(
        "PlacesUtils.bookmarks.insert({parentGuid: 'menu________', url: given[0], title: 'News'})",
        url,
    )
    firefox.command("Marionette:SetContext", value="content")


def look(firefox: Firefox, name: str) -> None:
    """Keep a picture to look at where TRAILHOUND_SCREENSHOTS names a folder."""
    folder = os.environ.get("TRAILHOUND_SCREENSHOTS")
    if folder:
        firefox.picture(Path(folder) / f"{name}.png")


def brief(event: Event) -> tuple[Any, ...]:
    """What of an event a walk determines."""
    if isinstance(event, Visit):
        return event.url, event.reached.value, event.from_url, event.frame_of
    return ("useful", event.url, event.useful) if isinstance(event, Mark) else ("submit",)


def test_the_session_file_equals_the_walk(walked: Walked) -> None:
    events = sorted(walked.events, key=lambda event: event.time)
    walk = [brief(event) for event in events]
    frames = {(f"{GUILD}{name}.html", "link", GUILD, GUILD) for name in ("menu", "welcome")}
    assert set(walk[6:8]) == frames
    about, form, links = f"{GUILD}about.html", f"{ODD}form", f"{GUILD}links.html"
    assert walk[:6] + walk[8:] == [
        (PATHFINDER, "typed", None, None),
        (walked.towns, "link", PATHFINDER, None),
        (PATHFINDER, "back", walked.towns, None),
        (walked.towns, "forward", PATHFINDER, None),
        (walked.in_new_tab, "link", walked.towns, None),
        (GUILD, "typed", walked.towns, None),
        (about, "link", f"{GUILD}menu.html", GUILD),
        ("useful", about, True),
        (form, "typed", GUILD, None),
        ("useful", form, True),
        ("useful", form, None),
        (form, "reload", form, None),
        (links, "typed", None, None),
        ("submit",),
    ]
    last = events[-2]
    assert isinstance(last, Visit)
    assert last.requested_url == f"{ODD}moved"
    assert all(event.title and event.html for event in events[:2] if isinstance(event, Visit))


def test_what_was_typed_or_forgotten_stays_in_the_browser(walked: Walked) -> None:
    assert "Read me" in walked.text
    assert "typed-secret" not in walked.text
    assert "preset-secret" not in walked.text
    assert not [event for event in walked.events if "issue1" in getattr(event, "url", "")]


def test_the_bar_keeps_its_shape_where_a_page_forbids_styles(walked: Walked) -> None:
    assert 50 < walked.bar_width < 120


def test_the_history_of_firefox_is_the_walk(walked: Walked, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from trailhound.cli.main import run; run()", "import"]
    options = ["--topic", "violins", "--useful", "bookmarks", "--workspace", str(tmp_path)]
    done = subprocess.run(
        [*command, "firefox", str(walked.profile), *options, "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    (file,) = tmp_path.rglob("sessions/*.jsonl")
    events = read_session(file).events
    visits = [event for event in events if isinstance(event, Visit)]
    shown = [(visit.url, visit.reached.value, visit.from_url) for visit in visits]
    assert shown[:4] == [
        (PATHFINDER, "typed", None),
        (walked.towns, "link", PATHFINDER),
        (walked.in_new_tab, "link", walked.towns),
        (GUILD, "typed", None),
    ]
    assert visits[-1].url == f"{GUILD}links.html"
    assert visits[-1].requested_url == f"{ODD}moved"
    assert [event.url for event in events if isinstance(event, Mark)] == [ISSUE]
    assert told["kept"] == len(visits)
    assert told["read"] > told["kept"]
