"""What a schedule does when: pure, with times of a place that puts its clocks."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.crawling.budget import StopReason
from trailhound.errors import StorageError, UsageError
from trailhound.topics.control.schedule import (
    RETRY_SECONDS,
    SCHEDULE,
    Action,
    Decision,
    Occasion,
    Schedule,
    ScheduleState,
    Window,
    current_window,
    decide,
    next_window,
    note_submit,
    parse_window,
    read_schedule,
    read_state,
    write_schedule,
    write_state,
)
from trailhound.topics.crawls.status import CrawlState, RunningCrawl, Wish
from trailhound.topics.workspace import Workspace

VIENNA = ZoneInfo("Europe/Vienna")
NIGHT = Window("22:00", "06:00")
NIGHTLY = Schedule(nightly=NIGHT, requests=500)


def at(text: str, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=VIENNA, fold=fold).timestamp()


def hours(window: tuple[str, float, float] | None) -> float:
    assert window is not None
    return (window[2] - window[1]) / 3600


def crawl(**told: Any) -> RunningCrawl:
    usual = {"topic": "bees", "run": "1", "state": CrawlState.ENDED, "started_by": "schedule"}
    return RunningCrawl(**{**usual, "started_at": at("2026-05-04T22:00"), **told})


def begun(**told: Any) -> ScheduleState:
    usual = {"occasion": Occasion.NIGHT, "night": "2026-05-04", "requests_before": 1000}
    return ScheduleState(**{**usual, "started_at": at("2026-05-04T22:00"), **told})


def decided(
    now: str,
    state: ScheduleState | None = None,
    running: RunningCrawl | None = None,
    schedule: Schedule = NIGHTLY,
) -> Decision:
    return decide(schedule, state or ScheduleState(), running, at(now), VIENNA)


@pytest.mark.parametrize(
    ("now", "night"),
    [
        ("2026-05-04T21:59:59", None),
        ("2026-05-04T22:00", "2026-05-04"),
        ("2026-05-04T23:59", "2026-05-04"),
        ("2026-05-05T00:00", "2026-05-04"),
        ("2026-05-05T05:59:59", "2026-05-04"),
        ("2026-05-05T06:00", None),
    ],
)
def test_a_night_goes_past_midnight(now: str, night: str | None) -> None:
    window = current_window(NIGHT, at(now), VIENNA)
    assert (window[0] if window else None) == night


def test_a_night_has_an_hour_less_or_more_when_clocks_are_put() -> None:
    assert hours(current_window(NIGHT, at("2026-03-29T01:00"), VIENNA)) == 7
    assert hours(current_window(NIGHT, at("2026-10-25T01:00"), VIENNA)) == 9
    assert hours(current_window(NIGHT, at("2026-05-05T01:00"), VIENNA)) == 8


def test_times_that_clocks_skip_or_show_twice() -> None:
    early = Window("02:30", "05:00")
    skipped = next_window(early, at("2026-03-29T00:00"), VIENNA)
    assert skipped is not None
    assert skipped[1] == at("2026-03-29T03:30")
    until_half_past = Window("22:00", "02:30")
    twice = current_window(until_half_past, at("2026-10-25T00:00"), VIENNA)
    assert twice is not None
    assert twice[2] == at("2026-10-25T02:30", fold=0)
    assert current_window(until_half_past, at("2026-10-25T02:45", fold=0), VIENNA) is None
    assert current_window(until_half_past, at("2026-10-25T02:15", fold=1), VIENNA) is None


def test_weekdays_are_those_on_which_nights_begin() -> None:
    weekend = Window("22:00", "06:00", (4, 5))
    assert current_window(weekend, at("2026-05-03T01:00"), VIENNA) is not None, "of Saturday"
    assert current_window(weekend, at("2026-05-04T01:00"), VIENNA) is None, "of Sunday"
    following = next_window(weekend, at("2026-05-04T12:00"), VIENNA)
    assert following is not None
    assert following[0] == "2026-05-08"


def test_a_window_may_be_a_whole_day() -> None:
    always = Window("06:00", "06:00")
    before = current_window(always, at("2026-05-05T05:59"), VIENNA)
    after = current_window(always, at("2026-05-05T06:00"), VIENNA)
    assert (before and before[0], after and after[0]) == ("2026-05-04", "2026-05-05")
    assert next_window(Window("06:00", "06:00", ()), at("2026-05-05T05:59"), VIENNA) is None


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)),
    st.times().map(lambda time: f"{time:%H:%M}"),
    st.times().map(lambda time: f"{time:%H:%M}"),
)
def test_every_moment_is_in_its_window_or_before_the_next(
    moment: datetime, start: str, end: str
) -> None:
    now, window = moment.replace(tzinfo=VIENNA).timestamp(), Window(start, end)
    present = current_window(window, now, VIENNA)
    assert present is None or present[1] <= now < present[2]
    following = next_window(window, now, VIENNA)
    assert following is not None
    assert now < following[1] <= now + timedelta(days=2).total_seconds()


def test_a_night_begins_once() -> None:
    begins = decided("2026-05-04T22:00")
    assert (begins.action, begins.occasion, begins.night) == ("start", "night", "2026-05-04")
    assert (begins.requests, begins.until) == (500, at("2026-05-05T06:00"))
    waits = decided("2026-05-04T12:00")
    assert (waits.action, waits.next_at) == (Action.NOTHING, at("2026-05-04T22:00"))
    runs = decided("2026-05-04T23:00", begun(), crawl(state=CrawlState.RUNNING))
    assert (runs.action, runs.next_at) == (Action.NOTHING, at("2026-05-05T06:00"))
    spent = crawl(requests=1500, ended=StopReason.REQUESTS_SPENT.value)
    done = decided("2026-05-05T01:00", begun(), spent)
    assert (done.action, done.next_at) == (Action.NOTHING, at("2026-05-05T22:00"))
    assert "budget" in done.reason
    assert decided("2026-05-05T22:01", begun(), spent).action is Action.START, "the next night"


def test_what_was_cut_short_goes_on_with_what_is_left_of_the_budget() -> None:
    killed = crawl(state=CrawlState.CUT_SHORT, requests=1200)
    again = decided("2026-05-05T01:00", begun(), killed)
    assert (again.action, again.requests) == (Action.START, 300)
    went_down = crawl(ended=StopReason.INTERRUPTED.value, requests=1200)
    assert decided("2026-05-05T01:00", begun(), went_down).action is Action.START
    by_hand = msgspec.structs.replace(went_down, asked_to=Wish.STOP)
    assert decided("2026-05-05T01:00", begun(), by_hand).action is Action.NOTHING
    paused = crawl(state=CrawlState.PAUSED, ended="it was paused", asked_to=Wish.PAUSE)
    assert decided("2026-05-05T01:00", begun(), paused).action is Action.NOTHING


def test_a_crawl_that_dies_at_once_is_not_begun_all_the_time() -> None:
    died = crawl(state=CrawlState.CUT_SHORT, ended_at=at("2026-05-04T22:00:20"))
    waits = decided("2026-05-04T22:01", begun(), died)
    assert (waits.action, waits.next_at) == (Action.NOTHING, at("2026-05-04T22:30:20"))
    assert decided("2026-05-04T22:31", begun(), died).action is Action.START
    later = msgspec.structs.replace(died, ended_at=at("2026-05-04T22:10"))
    assert decided("2026-05-04T22:11", begun(), later).action is Action.START


def test_what_a_person_has_begun_and_ended_stays_so() -> None:
    by_hand = crawl(started_by="terminal", ended=StopReason.INTERRUPTED.value)
    assert decided("2026-05-05T01:00", begun(), by_hand).action is Action.NOTHING


def test_a_start_of_which_nothing_came_is_made_again() -> None:
    """Whoever starts is killed after having written it down."""
    old = crawl(started_at=at("2026-05-03T22:00"), requests=1000)
    assert decided("2026-05-04T22:01", begun(), old).action is Action.START
    assert decided("2026-05-04T22:01", begun(), None).action is Action.START


def test_a_start_that_failed_is_tried_again_after_a_while() -> None:
    failed = begun(failed="no seeds", failed_at=at("2026-05-04T22:00"))
    waits = decided("2026-05-04T22:10", failed)
    assert (waits.action, waits.reason) == (Action.NOTHING, "no seeds")
    assert waits.next_at == at("2026-05-04T22:00") + RETRY_SECONDS
    assert decided("2026-05-04T22:30", failed).action is Action.START


def test_hosts_that_want_to_be_left_alone_are_asked_later_in_the_night() -> None:
    asleep = crawl(
        ended=StopReason.HOSTS_ASLEEP.value, ended_at=at("2026-05-04T23:00"), requests=1100
    )
    assert decided("2026-05-04T23:10", begun(), asleep).action is Action.NOTHING
    again = decided("2026-05-04T23:30", begun(), asleep)
    assert (again.action, again.requests) == (Action.START, 400)


def test_only_its_own_crawls_are_stopped() -> None:
    running = crawl(state=CrawlState.RUNNING)
    assert decided("2026-05-05T06:00", begun(), running).action is Action.STOP
    off = msgspec.structs.replace(NIGHTLY, on=False)
    assert decided("2026-05-05T01:00", begun(), running, off).action is Action.STOP
    persons = crawl(state=CrawlState.RUNNING, started_by="app")
    assert decided("2026-05-05T06:00", begun(), persons).action is Action.NOTHING
    assert decided("2026-05-05T22:00", begun(), persons).action is Action.NOTHING
    assert decided("2026-05-05T22:00", begun(), None, off).action is Action.NOTHING


def test_a_submit_is_answered_at_any_time_and_once() -> None:
    both = msgspec.structs.replace(NIGHTLY, on_submit=True)
    noon = at("2026-05-04T12:00")
    waiting = ScheduleState(submitted_at=noon)
    answer = decided("2026-05-04T12:01", waiting, None, both)
    assert (answer.action, answer.occasion, answer.until) == ("start", "submit", None)
    assert decided("2026-05-04T12:01", waiting, None, NIGHTLY).action is Action.NOTHING
    served = ScheduleState(occasion=Occasion.SUBMIT, submitted_at=noon, submit_served_at=noon)
    running = crawl(state=CrawlState.RUNNING)
    for moment in ("2026-05-04T12:10", "2026-05-04T23:00", "2026-05-05T06:10"):
        assert decided(moment, served, running, both).action is Action.NOTHING
    assert decided("2026-05-04T12:10", served, None, both).action is Action.NOTHING
    assert decided("2026-05-04T22:00", served, None, both).action is Action.START, "the night"
    again = msgspec.structs.replace(served, submitted_at=noon + 60)
    assert decided("2026-05-04T12:10", again, running, both).action is Action.NOTHING, "in a while"
    assert decided("2026-05-04T12:10", again, None, both).action is Action.START


def test_windows_as_people_write_them() -> None:
    assert parse_window("22:00-6:00") == Window("22:00", "06:00")
    assert parse_window(" 9:30 to 10:00", "Fri, monday") == Window("09:30", "10:00", (0, 4))
    assert str(parse_window("22:00-06:00", "mon,tue")) == "22:00-06:00 mon,tue"
    for wrong in ("22-6", "25:00-06:00", "22:00-06:60", "night"):
        with pytest.raises(UsageError, match="22:00-06:00"):
            parse_window(wrong)
    for strange in ("someday", "", "monkey", "mo", "mon,"):
        with pytest.raises(UsageError, match="weekday"):
            parse_window("22:00-06:00", strange)


def test_a_schedule_is_kept_and_a_damaged_one_is_told(tmp_path: Any) -> None:
    topic = Workspace(tmp_path).folder_for("bees")
    topic.prepare()
    assert read_schedule(topic) is None
    note_submit(topic, 5.0)
    assert read_state(topic).submitted_at == 0.0, "nobody asked for it"
    kept = Schedule(nightly=NIGHT, on_submit=True, delay_seconds=5, settings={"crawl.workers": 2})
    write_schedule(topic, kept)
    assert read_schedule(topic) == kept
    note_submit(topic, 5.0)
    assert read_state(topic).submitted_at == 5.0
    (topic.path / SCHEDULE).write_text('{"nightly": {"start": "25:00", "end": "06:00"}}')
    with pytest.raises(StorageError, match="schedule the topic again"):
        read_schedule(topic)


def test_a_submit_and_the_night_undo_nothing_of_each_other(tmp_path: Path) -> None:
    topic = Workspace(tmp_path).folder_for("bees")
    topic.path.mkdir(parents=True)
    write_schedule(topic, Schedule(on_submit=True))
    before = read_state(topic)
    note_submit(topic, 1000.0)
    write_state(topic, msgspec.structs.replace(before, night="2026-11-18", started_at=1001.0))
    state = read_state(topic)
    assert (state.night, state.started_at, state.submitted_at) == ("2026-11-18", 1001.0, 1000.0)
    write_state(topic, msgspec.structs.replace(state, failed="no seeds", failed_at=1002.0))
    assert read_state(topic).failed == "no seeds"
    note_submit(topic, 1003.0)
    assert read_state(topic).failed == ""
