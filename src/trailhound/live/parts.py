"""The parts of a live crawl, each made from the settings and what was learned."""

from __future__ import annotations

from trailhound.config.settings import FetchSettings, Settings
from trailhound.crawling.scope import Scope, make_scope
from trailhound.errors import ConfigError
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.polite_settings import PoliteSettings
from trailhound.fetching.resolver import MappedResolver
from trailhound.judges.base import RelevanceJudge
from trailhound.judges.choosing import make_judge as judge_by_name
from trailhound.strategies.base import Briefing
from trailhound.topics.crawl_folder import CrawlFolder
from trailhound.topics.knowledge import Knowledge
from trailhound.topics.sources import AskedSources, Notify

_PHASE_SECONDS = 10.0


def make_briefing(
    known: Knowledge, folder: CrawlFolder, settings: Settings, notify: Notify
) -> Briefing:
    """What a strategy may know beforehand, and whom it may ask."""
    asked = AskedSources(folder, settings, notify)
    return Briefing(
        known.graph,
        model=known.model,
        backlinks=asked.backlinks(),
        trace=asked.trace(),
        search=asked.search(),
    )


def make_judge(known: Knowledge, settings: Settings, briefing: Briefing) -> RelevanceJudge:
    """The judge as it was calibrated, unless the settings have another threshold."""
    kind, threshold = settings.judge.kind, settings.judge.threshold
    return judge_by_name(kind, briefing, threshold=threshold, calibrated=known.thresholds)


def scope_of(settings: Settings, seeds: tuple[str, ...]) -> Scope | None:
    """Where the crawl may go; ``seeds`` are all seeds it ever had."""
    crawl = settings.crawl
    return make_scope(crawl.scope, crawl.exclude, seeds if crawl.same_domain else ())


def make_fetcher(settings: FetchSettings, in_scope: Scope | None) -> HttpFetcher:
    """The HTTP fetcher; ConfigError when the settings are impossible or impolite."""
    return HttpFetcher(
        settings.user_agent,
        timeout_seconds=settings.timeout_seconds,
        connect_timeout_seconds=min(_PHASE_SECONDS, settings.timeout_seconds),
        read_timeout_seconds=min(_PHASE_SECONDS, settings.timeout_seconds),
        max_redirects=settings.max_redirects,
        max_bytes=settings.max_bytes,
        politeness=PoliteSettings(
            delay_seconds=settings.delay_seconds,
            address_delay_seconds=min(settings.address_delay_seconds, settings.delay_seconds),
            max_crawl_delay_seconds=settings.max_crawl_delay_seconds,
        ),
        obey_robots=settings.obey_robots,
        allow_impolite=settings.allow_impolite,
        allow_addresses=settings.allow_addresses,
        in_scope=in_scope,
        resolver=make_resolver(settings.resolve),
    )


def make_resolver(entries: tuple[str, ...]) -> MappedResolver | None:
    """Where hosts are that the settings place, HOST=ADDRESS each; ``None`` when there are none."""
    hosts = {}
    for entry in entries:
        host, equals, address = entry.partition("=")
        if not (host and equals and address):
            raise ConfigError(
                f"'{entry}' does not say where a host is. Write HOST=ADDRESS or "
                "HOST=ADDRESS:PORT, for example '*.demo.test=127.0.0.1:8080'."
            )
        hosts[host.strip()] = address.strip()
    return MappedResolver(hosts) if hosts else None
