"""Crawls in the app: real processes on a web of this machine, controlled from both sides."""

from __future__ import annotations

import http.client
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from live_webs import Resource, TinySite, endless

from app_server import PATIENCE_SECONDS, RefusedError, ServedApp, serving_app, wait_until
from command_line import COMMAND, Command
from trailhound.demo.crawl import DEMO_USER_AGENT
from trailhound.topics.control.running import request_stop, running_crawl, wait_for_end
from trailhound.web.hub import CrawlWatcher, Hub

TOPIC = "bees & wasps"
OTHER = "wasps"
CRAWL = f"/api/topics/{quote(TOPIC)}/crawl"

pytest_plugins = ("app_server",)


@pytest.fixture
def site() -> Iterator[TinySite]:
    pages = {f"/{number}": endless(number) for number in range(3000)}
    pages["/2"] = Resource(b"gone", 410)
    with TinySite(pages) as served:
        yield served


@pytest.fixture
def workspace_folder(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


@pytest.fixture
def crawled(app: ServedApp) -> Iterator[ServedApp]:
    """With two topics; whatever a test leaves running is ended."""
    for name in (TOPIC, OTHER):
        app.post(f"/api/topics/{quote(name)}")
    yield app
    for name in (TOPIC, OTHER):
        topic = app.workspace.topic(name)
        status = running_crawl(topic)
        if status is not None and status.is_alive:
            request_stop(topic)
            wait_for_end(topic)


@pytest.fixture
def wanted(site: TinySite) -> dict[str, Any]:
    """Slow enough to be caught at it."""
    return {
        "seeds": ["http://www.bees.test/0", ""],
        "strategy": "breadth-first",
        "max_requests": 2500,
        "words": 'bees, "wild bees"',
        "user_agent": "t (+http://a.test/)",
        "delay_seconds": 0.5,
        "resolve": [f"*.bees.test=127.0.0.1:{site.port}"],
        "allow_addresses": ["*.bees.test"],
    }


def until(app: ServedApp, true: Callable[[dict[str, Any]], bool], at: str = CRAWL) -> Any:
    """The crawl as the app shows it, once that is so."""
    return wait_until(lambda: (s := app.get(at)["crawl"]) and true(s) and s)


@contextmanager
def listening(app: ServedApp) -> Iterator[Iterator[dict[str, str]]]:
    """What happens, as an open page hears it."""
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=PATIENCE_SECONDS)
    connection.request("GET", "/api/happenings", headers={"Authorization": f"Bearer {app.token}"})
    answer = connection.getresponse()
    assert answer.readline() == b": listening\n"
    try:
        yield (json.loads(line[6:]) for line in answer if line.startswith(b"data: "))
    finally:
        connection.close()


def test_a_crawl_started_in_the_app_is_stopped_on_the_command_line(
    crawled: ServedApp, wanted: dict[str, Any], trailhound: Command
) -> None:
    assert crawled.get(CRAWL)["crawl"] is None
    with listening(crawled) as heard:
        begun = crawled.post(f"{CRAWL}/start", wanted)
        assert (begun["state"], begun["started_by"]) == ("running", "app")
        assert any(each["kind"] == "crawl" and each["topic"] == TOPIC for each in heard)
    choices = crawled.get(f"/api/topics/{OTHER}/crawl/choices")
    assert choices["user_agent"] == "t (+http://a.test/)", "remembered"
    until(crawled, lambda crawl: crawl["finds"] >= 2)
    (listed,) = trailhound("crawls", "--json").report
    assert (listed["run"], listed["state"]) == (begun["run"], "running")
    with pytest.raises(RefusedError, match="crawled already") as refused:
        crawled.post(f"{CRAWL}/start", wanted)
    assert refused.value.status == 409
    assert trailhound("stop", TOPIC).code == 0
    done = crawled.get(CRAWL)
    assert (done["crawl"]["state"], done["crawl"]["ended"]) == ("ended", "it was stopped")
    assert done["setup"]["seeds"] == ["http://www.bees.test/0"]
    assert done["setup"]["words"] == wanted["words"], "for whoever begins anew"
    with pytest.raises(RefusedError, match="has ended meanwhile"):
        crawled.post(f"{CRAWL}/stop")


def test_a_crawl_of_the_command_line_is_paused_gone_on_with_and_begun_anew_in_the_app(
    crawled: ServedApp, wanted: dict[str, Any], tmp_path: Path, site: TinySite
) -> None:
    command = [*COMMAND, "crawl", TOPIC, "--seed", "http://www.bees.test/0", "--delay", "0.5"]
    command += ["--strategy", "breadth-first", "--judge", "keywords:words=bees"]
    command += ["--user-agent", "t (+http://a.test/)", "--allow-address", "*.bees.test"]
    command += ["--resolve", f"*.bees.test=127.0.0.1:{site.port}"]
    with (tmp_path / "out").open("wb") as out:
        terminal = subprocess.Popen(
            [*command, "--workspace", str(crawled.workspace.folder)], stdout=out, stderr=out
        )
    seen = until(crawled, lambda crawl: crawl["pages"] >= 3)
    assert seen["started_by"] == "terminal"
    assert crawled.post(f"{CRAWL}/pause")["run"] == seen["run"]
    assert terminal.wait(PATIENCE_SECONDS) == 130
    paused = until(crawled, lambda crawl: crawl["state"] == "paused")
    crawled.post(f"{CRAWL}/start", {"mode": "resume", "max_requests": 2400})
    until(crawled, lambda crawl: crawl["pages"] > paused["pages"])
    crawled.post(f"{CRAWL}/stop")
    until(crawled, lambda crawl: crawl["state"] == "ended")
    crawled.post(f"{CRAWL}/start", {**wanted, "mode": "restart", "max_requests": 5})
    done = until(crawled, lambda crawl: crawl["state"] == "ended")
    assert done["ended"] == "the request budget is spent"
    assert done["requests"] == 5
    assert crawled.get(CRAWL)["earlier"] == 1


def test_what_keeps_a_crawl_from_beginning_is_told_in_its_own_words(
    crawled: ServedApp, wanted: dict[str, Any]
) -> None:
    for changed, status, words in (
        ({"seeds": []}, 400, "needs a page to start from"),
        ({"seeds": ["no address"]}, 400, "is no web address"),
        ({"user_agent": ""}, 400, "must say who it is"),
        ({"user_agent": "me"}, 400, "does not say whom to contact"),
        ({"strategy": "trial"}, 400, "Did you mean trail"),
        ({"strategy": "/tmp/mine.py"}, 400, "Unknown strategy"),
        ({"max_time": "soon"}, 400, "'Time at most': 'soon' is no length of time"),
        ({"max_time": "0"}, 400, "'Time at most' is '0': write more than no time"),
        ({"max_requests": 0}, 400, "'Requests at most' cannot be understood.*max_requests"),
        ({"words": ""}, 400, "Nothing has been learned .* 'Words of useful pages'"),
    ):
        with pytest.raises(RefusedError, match=words) as refused:
            crawled.post(f"{CRAWL}/start", {**wanted, **changed})
        assert refused.value.status == status, refused.value
    assert crawled.get(CRAWL)["crawl"] is None
    with pytest.raises(RefusedError, match="not been crawled yet"):
        crawled.post(f"{CRAWL}/stop")
    assert crawled.get(f"{CRAWL}/choices")["user_agent"] == "", "none of them has begun"


def test_the_made_up_contact_of_the_demo_is_told_to_no_other_site(
    crawled: ServedApp, wanted: dict[str, Any]
) -> None:
    contact = crawled.workspace.folder / "contact.json"
    crawled.post(f"{CRAWL}/start", {**wanted, "user_agent": DEMO_USER_AGENT, "max_requests": 1})
    until(crawled, lambda crawl: crawl["state"] == "ended")
    assert not contact.exists()
    assert crawled.get(CRAWL)["setup"]["user_agent"] == "", "it is to be given anew"
    assert crawled.get(f"/api/topics/{quote(TOPIC)}/schedule")["user_agent"] == ""
    contact.write_text(json.dumps({"user_agent": DEMO_USER_AGENT}))  # an earlier version did
    for path in (f"/api/topics/{OTHER}/crawl/choices", f"/api/topics/{OTHER}/schedule"):
        assert crawled.get(path)["user_agent"] == ""
    assert crawled.get("/api/imports")["user_agent"] == ""


def test_curves_tables_and_stories(crawled: ServedApp, wanted: dict[str, Any]) -> None:
    calendar = "http://www.bees.test/calendar?date=2031-01-01"
    crawled.post(
        f"{CRAWL}/start",
        {**wanted, "delay_seconds": None, "max_requests": 12, "exclude": ["other.test"]},
    )
    done = until(crawled, lambda crawl: crawl["state"] == "ended")
    points = crawled.get(f"{CRAWL}/curve")
    assert points[-1]["finds"] == done["finds"] >= 2
    assert [each["requests"] for each in points] == sorted(each["requests"] for each in points)
    (host,) = crawled.get(f"{CRAWL}/hosts")
    assert (host["host"], host["finds"]) == ("www.bees.test", done["finds"])
    waiting = crawled.get(f"{CRAWL}/frontier?limit=2")
    assert len(waiting) == 2
    (error,) = crawled.get(f"{CRAWL}/errors")
    assert (error["what"], error["times"]) == ("there is no such page", 1)
    assert crawled.get(f"{CRAWL}/refusals")["by_rule"] == {}
    for url, verdict in (
        ("http://www.bees.test/3", "fetched"),
        (waiting[0]["url"], "waiting"),
        ("http://elsewhere.test/", "never-seen"),
        (calendar, "never-seen"),
    ):
        told = crawled.get(f"{CRAWL}/explain?url={quote(url)}")
        assert (told["url"], told["verdict"]) == (url, verdict)
    with pytest.raises(RefusedError, match="is no web address"):
        crawled.get(f"{CRAWL}/explain?url=%20")


def test_several_crawls_at_once(crawled: ServedApp, wanted: dict[str, Any]) -> None:
    for name in (TOPIC, OTHER):
        crawled.post(f"/api/topics/{quote(name)}/crawl/start", wanted)
    for name in (TOPIC, OTHER):
        until(crawled, lambda crawl: crawl["pages"] >= 3, f"/api/topics/{quote(name)}/crawl")
    states = {each["topic"]: each["state"] for each in crawled.get("/api/crawls")}
    assert states == {TOPIC: "running", OTHER: "running"}


def test_a_crawl_outlives_the_app(workspace_folder: Path, wanted: dict[str, Any]) -> None:
    with serving_app(workspace_folder) as app:
        app.post(f"/api/topics/{quote(TOPIC)}")
        app.post(f"{CRAWL}/start", wanted)
    topic = app.workspace.topic(TOPIC)
    before = running_crawl(topic)
    assert before is not None
    with serving_app(workspace_folder) as again:
        later = until(again, lambda crawl: crawl["pages"] > before.pages + 2)
        assert (later["run"], later["state"]) == (before.run, "running")
        again.post(f"{CRAWL}/stop")
        until(again, lambda crawl: crawl["state"] == "ended")


def test_a_watcher_tells_of_what_changes_and_of_nothing_else(
    crawled: ServedApp, wanted: dict[str, Any]
) -> None:
    watcher = CrawlWatcher(crawled.workspace, Hub())
    assert watcher.changed() == [TOPIC, OTHER]
    assert watcher.changed() == []
    crawled.post(f"{CRAWL}/start", {**wanted, "max_requests": 3})
    until(crawled, lambda crawl: crawl["state"] == "ended")
    assert watcher.changed() == [TOPIC]
    assert watcher.changed() == []
