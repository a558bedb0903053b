"""The whole promise: browse in Chromium, submit, learn, crawl over HTTP, find what was never seen.

``make e2e`` runs this file alone, for three topics; ``make e2e TOPICS=all`` for every topic of the
demo web, ``TOPICS="a b"`` for some.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from person import Person, beginning
from playwright.sync_api import Playwright
from recording_browser import recording_browser, running_collector, wait_for

from trailhound.demo import DemoWeb, DemoWebParameters
from trailhound.demo.server import serve_in_thread
from trailhound.sessions.events import Visit

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
N_VISITS = 36
N_REQUESTS = 150


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
    plan = beginning(web.sessions[topic].events, N_VISITS)
    with (
        serve_in_thread(web) as port,
        running_collector(workspace, learn=True) as collector,
    ):
        with recording_browser(playwright, chromium_path, tmp_path / "profile", port) as browser:
            browser.pair(collector.pairing.code(collector.port))
            browser.start(topic)
            person = Person(browser)
            person.browse(plan)
            person.submit()
            wait_for(lambda: any("earn" in line for line in collector.said), "learning")
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
