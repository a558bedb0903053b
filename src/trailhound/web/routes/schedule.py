"""When topics are crawled by themselves: at night, or when a session is submitted.

In words, too: what is wanted, what happened last, what comes next. Times are local.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Any

import msgspec

from trailhound.counting import counted
from trailhound.errors import UsageError
from trailhound.topics.control.running import running_crawl
from trailhound.topics.control.schedule import (
    DEFAULT_REQUESTS,
    SCHEDULED,
    Action,
    Count,
    Decision,
    Occasion,
    Schedule,
    ScheduleState,
    Seconds,
    Window,
    read_schedule,
    read_state,
    write_schedule,
)
from trailhound.topics.control.settings_checks import checked_schedule, nothing_to_crawl_for
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.status import RunningCrawl
from trailhound.topics.workspace import TopicFolder
from trailhound.web.api import OneTopic, Routes
from trailhound.web.hub import Happening
from trailhound.web.plain_words import crawl_in_app, in_app
from trailhound.web.playground import is_of_playground
from trailhound.web.state import App, remember_user_agent, remembered_user_agent, unless_made_up

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


AGENT = "fetch.user_agent"

routes = Routes("Schedule")


class ScheduleView(msgspec.Struct, frozen=True, kw_only=True):
    """A topic's schedule, what happened last and what comes next."""

    topic: str
    schedule: Schedule
    state: ScheduleState
    words: str
    last: str
    next: str
    next_at: float | None
    user_agent: str
    """Who crawls; empty when it must be asked for."""


class SetSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted for a topic."""

    topic: str
    on: bool = True
    nightly: Window | None = None
    on_submit: bool = False
    """Learn and crawl when a session is submitted."""
    requests: Count = DEFAULT_REQUESTS
    """The most of one night, or after one submit."""
    delay_seconds: Seconds | None = None
    """Between requests to one host; as the crawl is set up when it is left out."""
    refresh: bool = True
    """Look first at finds that are due to be looked at again."""
    user_agent: str = ""
    """Who crawls, with a contact; as before when it is left out."""


@routes.get("/api/topics/{topic}/schedule")
def show_schedule(app: App, asked: OneTopic) -> ScheduleView:
    """When a topic is crawled by itself, what happened last and what comes next."""
    return _view(app, app.topic(asked.topic))


@routes.put("/api/topics/{topic}/schedule")
def set_schedule(app: App, asked: SetSchedule) -> ScheduleView:
    """Say when a topic is to be crawled by itself."""
    topic = app.topic(asked.topic)
    before = read_schedule(topic) or Schedule(on=False)
    agent = asked.user_agent.strip() or _user_agent(app, topic, before)
    if asked.nightly is not None and not asked.nightly.days:
        raise UsageError("Choose at least one day on which a night begins, or no nights at all.")
    if asked.on and (asked.nightly or asked.on_submit):  # one that is off may be left as it is
        _check_agent(agent)
        if asked.user_agent.strip():
            remember_user_agent(app.workspace.folder, agent)
    wanted = Schedule(
        on=asked.on,
        nightly=asked.nightly,
        on_submit=asked.on_submit,
        requests=asked.requests,
        delay_seconds=asked.delay_seconds,
        refresh=asked.refresh,
        settings=_with_agent(before.settings, agent),
    )
    write_schedule(topic, checked_schedule(topic, wanted, app.usual_settings()))
    app.hub.tell(Happening(kind="schedule", topic=topic.name))
    return _view(app, topic)


def _check_agent(agent: str) -> None:
    """By the rule of crawls themselves: nobody looks when they are refused at night."""
    from trailhound.fetching.client import checked_user_agent

    if not agent:
        raise UsageError(
            "A crawl must say who it is, so that sites can reach you. Give a name and a contact, "
            "such as 'bees-bot (+https://example.org/bot)'."
        )
    checked_user_agent(agent)


def _with_agent(settings: dict[str, Any], agent: str) -> dict[str, Any]:
    return {**settings, AGENT: agent} if agent else settings


def _view(app: App, topic: TopicFolder) -> ScheduleView:
    schedule = read_schedule(topic) or Schedule(on=False)
    state, decision = read_state(topic), app.scheduler.outlook(topic)
    crawl = running_crawl(topic)
    missing = nothing_to_crawl_for(topic, schedule, app.usual_settings())
    return ScheduleView(
        topic=topic.name,
        schedule=schedule,
        state=state,
        words=wish_in_words(schedule),
        last=in_app(last_in_words(state, crawl and crawl_in_app(crawl))),
        next=in_app(f"{next_in_words(decision)} {missing}".rstrip()),
        next_at=decision.next_at,
        user_agent=_user_agent(app, topic, schedule),
    )


def _user_agent(app: App, topic: TopicFolder, schedule: Schedule) -> str:
    """The schedule's own, that of the topic's crawl, the last one given, or as the settings say."""
    folder = CrawlFolder(topic)
    own = str(schedule.settings.get(AGENT, "")).strip()
    crawl = folder.read().settings.fetch.user_agent if folder.exists() else ""
    if not is_of_playground(topic):
        own, crawl = unless_made_up(own), unless_made_up(crawl)
    if own or crawl:
        return own or crawl
    return remembered_user_agent(app.workspace.folder) or app.usual_settings().fetch.user_agent
