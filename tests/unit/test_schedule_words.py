"""Schedules in words."""

from __future__ import annotations

from datetime import UTC, datetime

from trailhound.topics.control.schedule import (
    Action,
    Decision,
    Occasion,
    Schedule,
    ScheduleState,
    Window,
)
from trailhound.topics.crawls.status import CrawlState, RunningCrawl
from trailhound.web.routes.schedule import last_in_words, next_in_words, wish_in_words

TEN = datetime(2026, 11, 16, 22, 0, tzinfo=UTC).timestamp()


def test_what_is_wanted() -> None:
    night = Window("22:00", "06:00")
    assert wish_in_words(Schedule(nightly=night, delay_seconds=5)) == (
        "Every night from 22:00 to 06:00, up to 2,000 requests, 5 s between two to one site."
    )
    for seconds, told in ((0.5, "0.5 s"), (86400, "86,400 s"), (1e9, "1,000,000,000 s")):
        assert f", {told} between" in wish_in_words(Schedule(nightly=night, delay_seconds=seconds))
    some = Schedule(nightly=Window("01:00", "05:00", (4, 5)), on_submit=True, requests=1)
    assert wish_in_words(some) == (
        "In nights that begin on Fridays and Saturdays from 01:00 to 05:00 and whenever a session "
        "is submitted, up to 1 request."
    )
    assert wish_in_words(Schedule(on=False, nightly=night)).endswith("Switched off at present.")
    assert wish_in_words(Schedule()) == "It is crawled only when you start it."
    assert "all day from 08:00" in wish_in_words(Schedule(nightly=Window("08:00", "08:00")))


def test_what_happened_last() -> None:
    assert "yet" in last_in_words(ScheduleState(), None)
    begun = ScheduleState(occasion=Occasion.NIGHT, started_at=TEN)
    crawl = RunningCrawl(
        topic="bees",
        run="1",
        state=CrawlState.ENDED,
        started_by="schedule",
        requests_of_run=2000,
        finds_of_run=1,
        ended="the request budget is spent",
    )
    assert last_in_words(begun, crawl, UTC) == (
        "Monday 16 November, 22:00, a crawl was started for the night: 2,000 requests, 1 new find. "
        "It ended because the request budget is spent."
    )
    own = RunningCrawl(topic="bees", run="2", state=CrawlState.RUNNING, started_by="app")
    assert last_in_words(begun, own, UTC).endswith("for the night.")
    failed = ScheduleState(failed="No seeds.", failed_at=TEN)
    assert last_in_words(failed, None, UTC).endswith("the crawl did not begin: No seeds.")


def test_what_comes_next() -> None:
    waiting = Decision(Action.NOTHING, "It is not the time.", TEN)
    assert next_in_words(waiting, UTC) == "It is not the time. Next: Monday 16 November, 22:00."
    assert next_in_words(Decision(Action.NOTHING, "The schedule is off.")) == "The schedule is off."
    assert "begins within a minute" in next_in_words(Decision(Action.START, "The night has begun."))
