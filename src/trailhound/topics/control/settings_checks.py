"""What a crawl would refuse is refused when it is set, or scheduled for a night without anybody."""

from __future__ import annotations

from typing import Any

import msgspec

from trailhound.config.layers import checked_settings
from trailhound.config.settings import Settings
from trailhound.crawling.choosing import check_parts
from trailhound.crawling.scope import scope_of
from trailhound.errors import TrailhoundError
from trailhound.fetching.address_guard import AddressGuard
from trailhound.fetching.client import checked_user_agent
from trailhound.fetching.polite_settings import check_politeness, polite_settings
from trailhound.fetching.proxies import without_logins
from trailhound.fetching.resolver import mapped_resolver
from trailhound.judges.choosing import check_judge
from trailhound.media_types import wanted_documents
from trailhound.strategies.choosing import check_live_spec
from trailhound.topics.control.schedule import Schedule
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import marks_by_url
from trailhound.topics.runs.plan import (
    TYPED_ADDRESSES,
    check_search,
    for_every_folder,
    needs_no_session,
    without_typed_logins,
)
from trailhound.topics.workspace import TopicFolder
from trailhound.urls import typed_url, without_login


def checked_schedule(topic: TopicFolder, schedule: Schedule, usual: Settings) -> Schedule:
    """A schedule with which crawls can begin, from whatever folder that happens.

    ``usual`` are the settings of a new crawl. UsageError or ConfigError says what is wrong; one
    that is off may be left as it is.
    """
    if not schedule.on:
        typed = schedule.settings.keys() & TYPED_ADDRESSES
        kept = {key: _without_logins(schedule.settings[key]) for key in typed}
        return msgspec.structs.replace(schedule, settings={**schedule.settings, **kept})
    said: dict[str, Any] = checked_settings(schedule.settings)
    before = _settings_before(topic, usual)
    settings = without_typed_logins(for_every_folder(before.changed(said)))
    if schedule.delay_seconds is not None:
        settings = settings.changed({"fetch.delay_seconds": schedule.delay_seconds})
    check_settings(settings)
    in_every_folder = {key: settings.value(key) for key in said}
    return msgspec.structs.replace(schedule, settings=in_every_folder)


def nothing_to_crawl_for(topic: TopicFolder, schedule: Schedule, usual: Settings) -> str:
    """Why none of its crawls could begin as things are; empty when they could.

    A schedule may come before the first session, so that this is told and not refused.
    """
    is_kept = schedule.on and (schedule.on_submit or schedule.nightly is not None)
    if not is_kept or topic.is_learned():
        return ""
    try:
        said: dict[str, Any] = checked_settings(schedule.settings)
        if needs_no_session(_settings_before(topic, usual).changed(said)):
            return ""
        if any(marks_by_url(topic).values()):
            if schedule.nightly is not None:  # what is submitted is learned from, by itself
                topic.load()
            return ""
    except TrailhoundError as error:
        return str(error)
    return (
        f"No page of '{topic.name}' is marked useful yet, so that there is nothing to crawl for. "
        "Mark one while browsing, or import a session with marks."
    )


def _settings_before(topic: TopicFolder, usual: Settings) -> Settings:
    crawl = CrawlFolder(topic)
    return crawl.read().settings if crawl.exists() else usual


def check_settings(settings: Settings) -> None:
    """UsageError or ConfigError for what no crawl could begin with."""
    check_live_spec(settings.crawl.strategy)
    check_judge(settings.judge.kind)
    check_parts(settings)
    scope_of(settings, tuple(map(typed_url, settings.crawl.seeds)))
    if settings.crawl.seeds_from:
        check_search(settings)
    if settings.fetch.is_over_http:
        check_politeness(
            polite_settings(settings.fetch),
            obey_robots=settings.fetch.obey_robots,
            allow_impolite=settings.fetch.allow_impolite,
        )
        # Each of these raises for what a fetcher could not be made of.
        mapped_resolver(settings.fetch.resolve)
        wanted_documents(settings.fetch.documents)
        AddressGuard(settings.fetch.allow_addresses)
        without_logins(settings.fetch.proxies)
        if settings.fetch.user_agent:
            checked_user_agent(settings.fetch.user_agent)


def _without_logins(value: Any) -> Any:
    """What was typed for a list of addresses, were it no list."""
    if isinstance(value, list | tuple):
        return [without_login(each) if isinstance(each, str) else each for each in value]
    return value
