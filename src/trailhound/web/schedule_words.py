"""A schedule in words: what is wanted, what happened last, what comes next. Times are local."""

from __future__ import annotations

from datetime import datetime, tzinfo

from trailhound.counting import counted
from trailhound.topics.control.schedule import (
    SCHEDULED,
    Action,
    Decision,
    Occasion,
    Schedule,
    ScheduleState,
    Window,
)
from trailhound.topics.crawls.status import RunningCrawl

DAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
_OCCASIONS = {
    Occasion.NIGHT: "for the night",
    Occasion.SUBMIT: "after a session was submitted",
    Occasion.NONE: "by itself",
}


def wish_in_words(schedule: Schedule) -> str:
    """What a person wants."""
    when = [_window(schedule.nightly)] if schedule.nightly is not None else []
    when += ["whenever a session is submitted"] if schedule.on_submit else []
    if not when:
        return "It is crawled only when you start it."
    told = " and ".join(when)
    manners = _manners(schedule)
    sentence = (
        f"{told[0].upper()}{told[1:]}, up to {counted(schedule.requests, 'request')}{manners}."
    )
    return sentence if schedule.on else f"{sentence} Switched off at present."


def _window(window: Window) -> str:
    days = sorted(set(window.days))
    every = "every night" if len(days) == 7 else f"in nights that begin on {_listed(days)}"
    if window.start == window.end:
        return f"{every}, all day from {window.start}"
    return f"{every} from {window.start} to {window.end}"


def _listed(days: list[int]) -> str:
    *most, last = [DAYS[day] for day in days]
    return f"{', '.join(most)} and {last}" if most else last


def _manners(schedule: Schedule) -> str:
    if schedule.delay_seconds is None:
        return ""
    return f", {schedule.delay_seconds:,.15g} s between two to one site"


def last_in_words(
    state: ScheduleState, crawl: RunningCrawl | None, zone: tzinfo | None = None
) -> str:
    """What came of the last time; of a crawl that a person has started since, nothing."""
    if state.failed:
        moment = moment_in_words(state.failed_at, zone)
        return f"{moment}, the crawl did not begin: {state.failed}"
    if not state.started_at:
        return "Nothing has been crawled by the schedule yet."
    why = _OCCASIONS[state.occasion]
    begun = f"{moment_in_words(state.started_at, zone)}, a crawl was started {why}"
    if crawl is None or crawl.started_by != SCHEDULED:
        return f"{begun}."
    found = (
        f"{counted(crawl.requests_of_run, 'request')}, {counted(crawl.finds_of_run, 'new find')}"
    )
    if crawl.is_alive:
        return f"{begun}, and is running: {found} so far."
    return f"{begun}: {found}. It ended because {crawl.failed or crawl.ended or 'of a mishap'}."


def next_in_words(decision: Decision, zone: tzinfo | None = None) -> str:
    """What will be done, and when."""
    if decision.action is Action.START:
        return f"{decision.reason} The crawl begins within a minute."
    if decision.action is Action.STOP:
        return f"{decision.reason} The crawl is being stopped."
    if decision.next_at is None:
        return decision.reason
    return f"{decision.reason} Next: {moment_in_words(decision.next_at, zone)}."


def moment_in_words(moment: float, zone: tzinfo | None = None) -> str:
    """``Monday 16 November, 22:00``."""
    local = datetime.fromtimestamp(moment, zone)
    return f"{local:%A} {local.day} {local:%B}, {local:%H:%M}"
