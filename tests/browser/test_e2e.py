"""The whole promise: browse in Chromium, submit, learn, crawl over HTTP, find what was never seen.

``make e2e`` runs this file alone, for three topics; ``make e2e TOPICS=all`` for every topic of the
demo web, ``TOPICS="a b"`` for some.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

import pytest
from playwright.sync_api import Page, Playwright
from recording_browser import (
    RecordingBrowser,
    RunningCollector,
    recording_browser,
    running_collector,
    wait_for,
)

from trailhound.demo import DemoWeb, DemoWebParameters
from trailhound.demo.server import serve_in_thread
from trailhound.sessions.events import Event, Mark, Reached, Visit

pytestmark = pytest.mark.browser

ALL_TOPICS = (
    "bee-health",
    "bird-migration",
    "glacier-hydrology",
    "tidal-energy",
    "batteries",
    "manuscripts",
    "violin-making",
    "sourdough",
)
# By default the topic with the fewest pages.
CHOSEN = os.environ.get("TRAILHOUND_E2E_TOPICS", "batteries").split()
TOPICS = ALL_TOPICS if CHOSEN == ["all"] else CHOSEN
WEB = DemoWebParameters(universities=4, people_per_department=4)
N_VISITS = 66
N_REQUESTS = 400
LINK_TO = "url => [...document.links].find(link => link.href.split('#')[0] === url)"


class Person:
    """Follows a planned walk with mouse and address bar."""

    def __init__(self, browser: RecordingBrowser) -> None:
        self._browser = browser
        self.page = browser.context.new_page()

    def browse(self, plan: Sequence[Event]) -> None:
        for event in plan:
            if isinstance(event, Visit) and event.frame_of is None:
                self._go(event)
                wait_for(lambda: self._is_recorded(), f"{self.page.url} to be recorded")
            elif isinstance(event, Mark) and event.useful:
                self._browser.press(self.page, "useful")
                wait_for(lambda: self._browser.pressed(self.page), "the mark")

    def submit(self, collector: RunningCollector) -> None:
        self._browser.press(self.page, "submit")
        wait_for(lambda: any("earn" in line for line in collector.said), "learning", seconds=60)

    def _go(self, visit: Visit) -> None:
        if visit.reached is Reached.BACK:
            self.page.go_back(wait_until="domcontentloaded")
        elif visit.reached is Reached.LINK and click_link(
            self.page, visit.requested_url or visit.url
        ):
            self.page.wait_for_url(visit.url, wait_until="domcontentloaded")
        else:
            self.page.goto(visit.url, wait_until="domcontentloaded")

    def _is_recorded(self) -> bool:
        """Whether the page and its frames are written down."""
        shown: bool = self._browser.worker.evaluate(
            "async url => Object.values(await chrome.storage.session.get(null)).some("
            "tab => tab.current === url && !Object.keys(tab.waiting).length)",
            self.page.url,
        )
        return shown


def click_link(page: Page, url: str) -> bool:
    """Click a link to ``url`` in the page or one of its frames, if there is one."""
    for frame in page.frames:
        link = frame.evaluate_handle(LINK_TO, urldefrag(url).url).as_element()
        if link is not None:
            link.evaluate(
                "link => { link.target = '_top'; link.scrollIntoView({block: 'center'}) }"
            )
            link.click()
            return True
    return False


def trailhound(workspace: Path, *arguments: str) -> Any:
    """A command as a user types it; its JSON."""
    command = [sys.executable, "-c", "from trailhound.cli.main import run; run()", *arguments]
    done = subprocess.run(
        [*command, "--json", "--workspace", str(workspace)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def beginning(events: Sequence[Event]) -> list[Event]:
    """The first part of a session."""
    plan: list[Event] = []
    for event in events:
        n_visits = sum(isinstance(each, Visit) and not each.frame_of for each in plan)
        if n_visits >= N_VISITS and isinstance(event, Visit):
            break
        plan.append(event)
    return plan


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    made = DemoWeb.generate(parameters=WEB)
    assert set(made.topics) == set(ALL_TOPICS)
    return made


@pytest.mark.parametrize("topic", TOPICS)
def test_browsing_leads_to_pages_never_seen(
    topic: str,
    web: DemoWeb,
    chromium_path: str,
    playwright: Playwright,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    workspace = tmp_path / "workspace"
    plan = beginning(web.sessions[topic].events)
    with (
        serve_in_thread(web) as port,
        running_collector(workspace, learn=True) as collector,
    ):
        with recording_browser(playwright, chromium_path, tmp_path / "profile", port) as browser:
            browser.pair(collector.pairing.code(collector.port))
            browser.start(topic)
            person = Person(browser)
            person.browse(plan)
            person.submit(collector)
        trailhound(workspace, "crawl", topic, *crawl_options(web, port))
        results = trailhound(workspace, "results", topic, "--new", "--limit", "200")
    seen = {event.url for event in plan if isinstance(event, Visit)}
    found = {result["url"] for result in results}
    new_targets = (found & web.topics[topic]) - seen
    with capsys.disabled():
        sys.stderr.write(
            f"\n{topic}: browsed {len(seen)} pages in Chromium, {collector.said[-1]}\n"
            f"Crawled {N_REQUESTS} addresses; {len(found)} results are new, "
            f"{len(new_targets)} of them on the topic and never visited, of "
            f"{len(web.topics[topic] - seen)} that there are.\n"
        )
    assert not found & seen
    assert len(new_targets) >= 5


def crawl_options(web: DemoWeb, port: int) -> list[str]:
    seeds = [part for url in web.start_urls for part in ("--seed", url)]
    return [
        *seeds,
        *("--max-requests", str(N_REQUESTS)),
        *("--resolve", f"*.demo.test=127.0.0.1:{port}"),
        *("--allow-address", "*.demo.test"),
        *("--user-agent", "e2e (+http://www.demo.test/about)"),
        *("--delay", "0", "--allow-impolite"),
    ]
