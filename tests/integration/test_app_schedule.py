"""Schedules in the app: set, told in words, and kept at a night that the test makes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from live_webs import learn, wait_until

from app_server import RefusedError, ServedApp, serving_app
from trailhound.demo import DemoWeb
from trailhound.demo.server import serve_in_thread
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.sessions.files import write_session
from trailhound.topics.control.running import request_stop, running_crawl, wait_for_end
from trailhound.topics.control.schedule import read_schedule
from trailhound.topics.control.scheduler import Scheduler
from trailhound.topics.workspace import Workspace

TOPIC = "bee-health"
SCHEDULE = f"/api/topics/{TOPIC}/schedule"
NEST = "http://wasps.test/nest"
NIGHTS = {"start": "22:00", "end": "06:00", "days": [0, 1, 2, 3, 4, 5, 6]}


class Clock:
    """Tells the time that a test wants it to be."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 16, 20, 0, tzinfo=UTC).timestamp()

    def __call__(self) -> float:
        return self.now

    def put_forward(self, hours: float) -> None:
        self.now += hours * 3600


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def app(tmp_path: Path, web: DemoWeb, clock: Clock) -> Iterator[ServedApp]:
    """A learned topic, and schedules that are looked at ten times a second."""
    topic = learn(web, TOPIC, tmp_path)
    scheduler = Scheduler(Workspace(tmp_path), clock=clock, zone=UTC)
    with serving_app(tmp_path, scheduler=scheduler, tick_seconds=0.1) as served:
        yield served
    status = running_crawl(topic)
    if status is not None and status.is_alive:
        request_stop(topic)
        wait_for_end(topic)


def crawl_of(app: ServedApp) -> dict[str, Any]:
    return app.get(f"/api/topics/{TOPIC}/crawl")["crawl"] or {"state": "none"}


def test_a_topic_is_crawled_when_night_falls_and_rests_when_it_is_over(
    app: ServedApp, web: DemoWeb, clock: Clock
) -> None:
    with serve_in_thread(web) as port:
        crawl = f"/api/topics/{TOPIC}/crawl"
        here = {
            "resolve": [f"*.demo.test=127.0.0.1:{port}"],
            "allow_addresses": ["*.demo.test"],
            "user_agent": "t (+http://a.test/)",
        }
        seeds = [each["url"] for each in app.get(f"{crawl}/choices")["seeds"]]
        assert seeds
        app.post(f"{crawl}/start", {**here, "seeds": seeds, "max_requests": 5})
        wait_until(lambda: crawl_of(app)["state"] == "ended")
        wanted = {"nightly": NIGHTS, "requests": 500, "delay_seconds": 2}
        view = app.put(SCHEDULE, wanted)
        assert view["words"].startswith("Every night from 22:00 to 06:00, up to 500 requests")
        assert view["user_agent"] == "t (+http://a.test/)", "of the crawl that there was"
        assert view["last"] == "Nothing has been crawled by the schedule yet."
        assert view["next_at"] == clock.now + 2 * 3600
        clock.put_forward(3)
        wait_until(lambda: crawl_of(app)["state"] == "running")
        assert crawl_of(app)["started_by"] == "schedule"
        wait_until(lambda: crawl_of(app)["requests"] > 5)
        assert "for the night, and is running" in app.get(SCHEDULE)["last"]
        clock.put_forward(8)
        wait_until(lambda: crawl_of(app)["state"] == "ended")
        told = app.get(SCHEDULE)
        assert "It ended because" in told["last"]
        assert told["next"].startswith("It is not the time. Next: ")


def test_a_schedule_that_cannot_be_kept_is_refused_in_words(app: ServedApp) -> None:
    for wanted, words in (
        ({"nightly": {"start": "25:00", "end": "06:00"}}, "cannot be understood"),
        ({"nightly": {**NIGHTS, "days": []}}, "at least one day"),
        ({"nightly": NIGHTS}, "must say who it is"),
        ({"nightly": NIGHTS, "user_agent": "me"}, "does not say whom to contact"),
        ({"requests": 0}, "cannot be understood"),
    ):
        with pytest.raises(RefusedError, match=words):
            app.put(SCHEDULE, wanted)
    topic = app.workspace.topic(TOPIC)
    assert read_schedule(topic) is None
    assert app.get(SCHEDULE)["user_agent"] == "", "what was refused is not remembered"
    app.put(SCHEDULE, {"nightly": NIGHTS, "user_agent": "t (+http://a.test/)", "on": False})
    kept = read_schedule(topic)
    assert kept is not None
    assert not kept.on
    assert kept.settings == {"fetch.user_agent": "t (+http://a.test/)"}


def test_a_night_with_nothing_to_crawl_for_is_told_beforehand(tmp_path: Path, clock: Clock) -> None:
    scheduler = Scheduler(Workspace(tmp_path), clock=clock, zone=UTC)
    with serving_app(tmp_path, scheduler=scheduler, tick_seconds=60) as app:
        app.post("/api/topics/wasps")
        wanted = {"nightly": NIGHTS, "user_agent": "t (+http://a.test/)"}
        address = "/api/topics/wasps/schedule"
        assert "No page of 'wasps' is marked useful yet" in app.put(address, wanted)["next"]
        browsed = Session("wasps", (Visit(1.0, NEST), Mark(2.0, NEST, useful=True)))
        write_session(browsed, app.workspace.topic("wasps").sessions_path / "monday.jsonl")
        assert "Learn from a session first" in app.get(address)["next"]
