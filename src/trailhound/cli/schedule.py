"""``trailhound schedule``: when topics are crawled by themselves."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trailhound.cli import options
from trailhound.cli.terminal import print_json, say, show_pairs

if TYPE_CHECKING:
    from trailhound.topics.control.schedule import Schedule
    from trailhound.topics.workspace import TopicFolder

MOST = 2**63 - 1
"""Requests that can be written down."""


def schedule(
    topic: options.TopicArgument,
    nightly: Annotated[
        str | None, typer.Option(metavar="FROM-TO", help="Every night: 22:00-06:00, local time.")
    ] = None,
    days: Annotated[
        str | None,
        typer.Option(metavar="DAYS", help="On which nights begin: mon,tue,…; default: all."),
    ] = None,
    on_submit: Annotated[
        bool | None,
        typer.Option(
            "--on-submit/--no-submit", help="Learn and crawl when a session is submitted, or not."
        ),
    ] = None,
    requests: Annotated[
        int | None,
        typer.Option(min=1, max=MOST, metavar="N", help="The most of one night, or submit."),
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(min=0, metavar="SECONDS", help="Between requests to a host, at such times."),
    ] = None,
    set_: options.SetOption = None,
    switch: Annotated[
        bool | None, typer.Option("--on/--off", help="Keep the schedule, or let it rest.")
    ] = None,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Crawl a topic every night, or whenever a session is submitted; without options, show it.

    Schedules are kept by 'trailhound collect' or the app, whichever is running. A night begins with
    finds that are due to be looked at again, and goes on with the crawl, or begins one at pages of
    your sessions.

    Examples:

      trailhound schedule bees --nightly 22:00-06:00 --requests 5000 --delay 5

      trailhound schedule bees --on-submit

      trailhound schedule bees --off
    """
    import msgspec

    from trailhound.errors import UsageError
    from trailhound.topics.access import without_secrets
    from trailhound.topics.control.schedule import Schedule, read_schedule, write_schedule
    from trailhound.topics.control.settings_checks import checked_schedule

    place = options.open_workspace(workspace)
    folder = place.topic(topic)
    present = read_schedule(folder)
    before = present or Schedule(on=False)
    changed = _changes(before, nightly, days, on_submit, requests, delay, set_)
    if "settings" in changed:
        changed["settings"] = without_secrets(changed["settings"], place.folder)
        _check_agent(changed["settings"])
    if changed or switch is not None:
        changed["on"] = switch if switch is not None else True
        wanted = msgspec.structs.replace(before, **changed)
        if present is None and wanted.on and wanted.nightly is None and not wanted.on_submit:
            raise UsageError(
                f"The topic '{topic}' has no schedule. Say when to crawl: --nightly 22:00-06:00, "
                "or --on-submit."
            )
        present = checked_schedule(folder, wanted, options.settings_from({}, None))
        write_schedule(folder, present)
        _note_what_is_missing(folder, present)
    if present is None:
        say(f"The topic '{topic}' has no schedule. Give it one with: --nightly 22:00-06:00")
    if as_json:
        print_json(_told(folder, present))
    elif present is not None:
        show_pairs(_rows(folder, present))


def _changes(
    before: Schedule,
    nightly: str | None,
    days: str | None,
    on_submit: bool | None,
    requests: int | None,
    delay: float | None,
    set_: list[str] | None,
) -> dict[str, Any]:
    from trailhound.errors import UsageError
    from trailhound.topics.control.schedule import parse_window

    if days is not None and nightly is None:
        if before.nightly is None:
            raise UsageError("--days says on which nights: give --nightly 22:00-06:00 with it.")
        nightly = f"{before.nightly.start}-{before.nightly.end}"
    if delay is not None and not math.isfinite(delay):
        raise UsageError(f"--delay {delay} is no time. Give seconds, for example 5.")
    chosen = {
        "nightly": None if nightly is None else parse_window(nightly, days),
        "on_submit": on_submit,
        "requests": requests,
        "delay_seconds": delay,
        "settings": {**before.settings, **options.assigned(set_)} if set_ else None,
    }
    return {name: value for name, value in chosen.items() if value is not None}


def _check_agent(settings: Mapping[str, Any]) -> None:
    """What a crawl would refuse at night, when nobody is there, is refused now."""
    from trailhound.errors import UsageError
    from trailhound.fetching.client import checked_user_agent

    agent = settings.get("fetch.user_agent")
    if agent is None:
        return
    if not str(agent).strip():
        raise UsageError(
            "fetch.user_agent is empty, and crawls must say who you are. Give a name and a "
            "contact: --set 'fetch.user_agent=bees-bot (+https://example.org/bot)'"
        )
    checked_user_agent(str(agent))


def _note_what_is_missing(folder: TopicFolder, schedule: Schedule) -> None:
    """A first night would fail without it, when nobody is there to read why."""
    from trailhound.topics.control.settings_checks import nothing_to_crawl_for
    from trailhound.topics.crawls.folder import CrawlFolder

    usual = options.settings_from({}, None)
    agent = str(schedule.settings.get("fetch.user_agent", usual.fetch.user_agent)).strip()
    if schedule.on and not agent and not CrawlFolder(folder).exists():
        say(
            "Note: crawls must say who you are, and nothing is set. Add --set "
            "'fetch.user_agent=bees-bot (+https://example.org/bot)', or put user_agent under "
            "[fetch] in trailhound.toml."
        )
    if missing := nothing_to_crawl_for(folder, schedule, usual):
        say(f"Note: {missing[0].lower()}{missing[1:]}")


def _told(folder: TopicFolder, schedule: Schedule | None) -> dict[str, Any]:
    from trailhound.topics.control.running import running_crawl
    from trailhound.topics.control.schedule import decide, read_state

    state = read_state(folder)
    if schedule is None:
        return {"topic": folder.name, "schedule": None}
    decision = decide(schedule, state, running_crawl(folder), time.time())
    return {
        "topic": folder.name,
        "schedule": schedule,
        "state": state,
        "now": {"action": decision.action, "reason": decision.reason},
        "next_at": decision.next_at,
    }


def _rows(folder: TopicFolder, schedule: Schedule) -> Iterator[tuple[str, str]]:
    told = _told(folder, schedule)
    yield "schedule", str(schedule)
    if schedule.settings:
        yield "settings", ", ".join(f"{name}={value}" for name, value in schedule.settings.items())
    if schedule.on:
        yield "now", told["now"]["reason"]
        if told["next_at"] is not None:
            yield "next", f"{datetime.fromtimestamp(told['next_at']):%A %Y-%m-%d %H:%M}"
    if told["state"].failed:
        yield "failed", told["state"].failed
