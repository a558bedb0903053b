"""A scheduler on simulated nights: it starts, stops and resumes real crawls, over restarts."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest
from live_webs import USER_AGENT, Site, wait_until

from command_line import Command
from trailhound.demo import DemoWeb
from trailhound.demo.web import with_sources
from trailhound.errors import SessionError
from trailhound.sessions.files import write_session
from trailhound.storage.results import RESULTS
from trailhound.storage.results_reading import Results
from trailhound.storage.visit_reading import due_pages
from trailhound.topics.control import scheduler
from trailhound.topics.control.running import request_stop, running_crawl, wait_for_end
from trailhound.topics.control.schedule import (
    SCHEDULE,
    Action,
    Schedule,
    Window,
    note_submit,
    read_schedule,
    read_state,
    write_schedule,
)
from trailhound.topics.control.scheduler import Done, Scheduler
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.status import CrawlState, RunningCrawl
from trailhound.topics.runs.starts import suggested_seeds
from trailhound.topics.workspace import TopicFolder, Workspace

EXAMPLES = Path(__file__).parents[2] / "examples"
VIENNA = ZoneInfo("Europe/Vienna")


class Night:
    """A workspace, a clock that is put by hand, and a server that ticks."""

    def __init__(self, site: Site, schedule: Schedule) -> None:
        self.topic = site.topic
        self.workspace = Workspace(site.topic.path.parent.parent)
        self.now = 0.0
        self.told: list[str] = []
        write_schedule(self.topic, schedule)

    def tick(self, moment: str) -> Done:
        """As a server that has just been started."""
        self.now = datetime.fromisoformat(moment).replace(tzinfo=VIENNA).timestamp()
        server = Scheduler(
            self.workspace, clock=lambda: self.now, zone=VIENNA, report=self.told.append
        )
        (done,) = server.tick()
        return done

    def crawl(self) -> RunningCrawl:
        status = running_crawl(self.topic)
        assert status is not None
        return status

    def until(self, true: Callable[[RunningCrawl], bool]) -> RunningCrawl:
        wait_until(lambda: true(self.crawl()))
        return self.crawl()


def settings(site: Site) -> dict[str, object]:
    return {
        "fetch.user_agent": USER_AGENT,
        "fetch.resolve": [f"{site.host}=127.0.0.1:{site.port}"],
        "fetch.allow_addresses": [site.host],
        "crawl.strategy": "best-first",
    }


@pytest.fixture
def night(demo: Site) -> Iterator[Night]:
    window = Window("22:00", "06:00")
    made = Night(demo, Schedule(nightly=window, requests=40, settings=settings(demo)))
    yield made
    status = running_crawl(made.topic)
    if status is not None and status.is_alive:
        request_stop(made.topic)
        wait_for_end(made.topic)


def test_a_night_begins_a_crawl_with_suggested_seeds_and_the_next_goes_on(night: Night) -> None:
    assert night.tick("2026-05-04T21:59").decision.action is Action.NOTHING
    assert running_crawl(night.topic) is None
    begun = night.tick("2026-05-04T22:00")
    assert (begun.decision.action, begun.failed) == (Action.START, "")
    assert night.crawl().started_by == "schedule"
    done = night.until(lambda crawl: not crawl.is_alive)
    assert (done.requests, done.ended) == (40, "the request budget is spent")
    assert night.tick("2026-05-04T22:30").decision.action is Action.NOTHING
    assert night.tick("2026-05-05T21:00").decision.action is Action.NOTHING
    assert night.tick("2026-05-05T22:00").decision.action is Action.START
    done = night.until(lambda crawl: not crawl.is_alive)
    assert done.requests == 80
    assert [line.partition(": ")[2] for line in night.told] == [
        "The night has begun. The crawl begins."
    ] * 2


def test_a_night_looks_again_at_finds_that_are_due_and_goes_on(night: Night) -> None:
    night.tick("2026-05-04T22:00")
    pages = night.until(lambda crawl: not crawl.is_alive).pages
    folder = CrawlFolder(night.topic)
    with closing(RESULTS.open(folder.results)) as results:
        results.execute("UPDATE visit SET seen_at = seen_at - 100000")
    due = {page.address for page in due_pages(folder.results, time.time(), limit=20)}
    assert due, "the first night has found something"
    assert night.tick("2026-05-05T22:00").decision.action is Action.START
    done = night.until(lambda crawl: not crawl.is_alive)
    with Results(folder.results) as results:
        second = [page.address for page in results.since(pages)]
    assert due <= set(second)
    assert len(second) > len(due), "and it goes on"
    assert done.finds >= len(due)
    assert due.isdisjoint(page.address for page in due_pages(folder.results, time.time()))


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_crawl_that_was_killed_goes_on_and_ends_with_the_night(night: Night) -> None:
    slow = Schedule(
        nightly=Window("22:00", "06:00"),
        requests=2000,
        delay_seconds=1.0,
        settings={**(read_schedule(night.topic) or Schedule()).settings, "crawl.concurrency": 1},
    )
    write_schedule(night.topic, slow)
    night.tick("2026-05-04T22:00")
    pid = night.until(lambda crawl: crawl.requests >= 2).pid
    os.kill(pid, signal.SIGKILL)
    killed = night.until(lambda crawl: crawl.state is CrawlState.CUT_SHORT)
    again = night.tick("2026-05-05T01:00")
    assert (again.decision.action, again.failed) == (Action.START, "")
    assert again.decision.requests <= 2000 - killed.requests
    going = night.until(lambda crawl: crawl.requests_of_run >= 1)
    assert going.max_seconds == 5 * 3600, "it ends with the night, also without a server"
    assert night.tick("2026-05-05T01:01").decision.action is Action.NOTHING
    assert night.tick("2026-05-05T06:00").decision.action is Action.STOP
    ended = night.until(lambda crawl: not crawl.is_alive)
    assert ended.ended == "it was interrupted"
    assert night.tick("2026-05-05T06:01").decision.action is Action.NOTHING


def test_a_submit_is_learned_from_and_crawled_for(
    night: Night, web: DemoWeb, topic_name: str
) -> None:
    before = (night.topic.path / "model" / "model.json").stat().st_mtime_ns
    kept = read_schedule(night.topic) or Schedule()
    write_schedule(night.topic, msgspec.structs.replace(kept, nightly=None, on_submit=True))
    session = with_sources(web.sessions[topic_name], web)
    write_session(
        msgspec.structs.replace(session, user="somebody"),
        night.topic.sessions_path / "another.jsonl",
    )
    assert night.tick("2026-05-04T12:00").decision.action is Action.NOTHING
    note_submit(night.topic, night.now)
    assert night.tick("2026-05-04T12:01").decision.action is Action.START
    assert (night.topic.path / "model" / "model.json").stat().st_mtime_ns > before
    assert night.until(lambda crawl: not crawl.is_alive).requests == 40
    assert night.tick("2026-05-04T12:02").decision.action is Action.NOTHING


def test_a_submit_during_learning_that_fails_is_not_lost(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = read_schedule(night.topic) or Schedule()
    write_schedule(night.topic, msgspec.structs.replace(kept, nightly=None, on_submit=True))

    def learn(*_: object) -> None:
        note_submit(night.topic, night.now + 1)
        raise SessionError("No page is marked useful.")

    monkeypatch.setattr(scheduler, "_has_new_sessions", lambda _: True)
    monkeypatch.setattr(scheduler, "learn_into", learn)
    night.tick("2026-05-04T12:00")
    note_submit(night.topic, night.now)
    assert night.tick("2026-05-04T12:01").failed == "No page is marked useful."
    state = read_state(night.topic)
    assert state.submitted_at > state.submit_served_at
    monkeypatch.undo()
    assert night.tick("2026-05-04T12:40").decision.action is Action.START


def test_what_keeps_a_crawl_from_beginning_is_kept_and_told(
    night: Night, trailhound: Command
) -> None:
    kept = read_schedule(night.topic) or Schedule()
    wrong = {**kept.settings, "fetch.user_agent": " "}
    write_schedule(night.topic, msgspec.structs.replace(kept, settings=wrong))
    assert "must say who it is" in night.tick("2026-05-04T22:00").failed
    assert "must say who it is" in read_state(night.topic).failed
    assert night.tick("2026-05-04T22:01").decision.action is Action.NOTHING
    write_schedule(night.topic, kept)
    assert night.tick("2026-05-04T22:31").decision.action is Action.START
    assert read_state(night.topic).failed == ""


def test_suggested_seeds_led_to_useful_pages(topic: TopicFolder) -> None:
    seeds = suggested_seeds(topic)
    graph = topic.load().model.graph
    targets = {graph.pages[page].url for page in graph.targets}
    assert seeds
    assert len({seed.url for seed in seeds}) == len(seeds)
    assert not targets & {seed.url for seed in seeds if "led to" in seed.reason}
    assert "led to" in seeds[0].reason
    assert "useful page" in seeds[0].reason


@pytest.fixture
def workspace_folder(tmp_path: Path) -> Path:
    return tmp_path


def test_a_schedule_is_made_and_shown_on_the_command_line(
    trailhound: Command, topic: TopicFolder
) -> None:
    assert "no schedule" in trailhound("schedule", topic.name).err
    shown = trailhound("schedule", topic.name, "--nightly", "22:00-6:00", "--requests", "300")
    assert shown.code == 0, shown.err
    assert "every night 22:00-06:00, up to 300 requests each time" in shown.out
    assert "crawls must say who you are" in shown.err
    told = trailhound("schedule", topic.name, "--set", f"fetch.user_agent={USER_AGENT}")
    assert "crawls must say" not in told.err
    assert f"fetch.user_agent={USER_AGENT}" in told.out
    trailhound("schedule", topic.name, "--on-submit", "--delay", "5", "--days", "fri,sat")
    report = trailhound("schedule", topic.name, "--json").report
    assert report["schedule"]["nightly"] == {"start": "22:00", "end": "06:00", "days": [4, 5]}
    assert (report["schedule"]["on_submit"], report["schedule"]["delay_seconds"]) == (True, 5.0)
    assert report["next_at"] is not None
    assert "off" in trailhound("schedule", topic.name, "--off").out
    assert trailhound("schedule", topic.name, "--on").code == 0
    wrong = trailhound("schedule", topic.name, "--nightly", "late")
    assert wrong.code == 2
    assert "22:00-06:00" in wrong.err


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("--requests=99999999999999999999999", "too large"),
        ("--delay=inf", "--delay inf is no time"),
        ("--delay=0", "would be impolite"),
        ("--days=", "no weekday"),
        ("--days=monkey", "no weekday"),
        ("--set=crawl.strategy=nosuch", "Unknown strategy 'nosuch'"),
        ("--set=judge.kind=/nosuch.py", "There is no judge file"),
        ("--set=fetch.fetcher=pigeon", "Unknown fetcher 'pigeon'"),
        ("--set=fetch.resolve=a", "does not say where a host is"),
        ("--set=crawl.seeds=mailto:a", "'mailto:a' is no web address"),
        ("--set=crawl.scope=https://[", "neither a host nor the beginning"),
    ],
)
def test_what_a_crawl_would_refuse_at_night_is_not_scheduled(
    trailhound: Command, topic: TopicFolder, option: str, reason: str
) -> None:
    wrong = trailhound("schedule", topic.name, "--nightly", "22:00-06:00", option)
    assert wrong.code == 2
    assert reason in wrong.err
    assert read_schedule(topic) is None


def test_a_login_is_not_written_into_a_schedule(trailhound: Command, topic: TopicFolder) -> None:
    login = "http://ann:hunter2@example.org/"
    said = [f"--set=crawl.{name}={login}" for name in ("seeds", "scope", "exclude")]
    assert trailhound("schedule", topic.name, "--nightly", "22:00-06:00", *said).code == 0
    schedule = read_schedule(topic)
    assert schedule is not None
    assert list(schedule.settings.values()) == [["http://example.org/"]] * 3
    assert b"hunter2" not in (topic.path / SCHEDULE).read_bytes()
    sink = "--set=output.sinks=mail:to=ann@example.org"
    assert trailhound("schedule", topic.name, "--off", *said, sink).code == 0
    assert b"mail:to=ann@example.org" in (topic.path / SCHEDULE).read_bytes()
    assert b"hunter2" not in (topic.path / SCHEDULE).read_bytes(), "nor when it is off"


def test_a_part_of_your_own_is_found_at_night_whatever_the_folder(
    trailhound: Command, topic: TopicFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(EXAMPLES / "long_reads.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    trailhound("schedule", topic.name, "--on-submit", "--set", "judge.kind=long_reads.py")
    schedule = read_schedule(topic)
    assert schedule is not None
    assert schedule.settings == {"judge.kind": str(tmp_path / "long_reads.py")}
