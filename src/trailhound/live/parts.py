"""The parts of a live crawl, each made from the settings and what was learned."""

from __future__ import annotations

from trailhound.config.settings import FetchSettings, Settings
from trailhound.crawling.build import Sources
from trailhound.crawling.scope import Scope, make_scope
from trailhound.fetching.http import HttpFetcher
from trailhound.topics.crawl_folder import CrawlFolder
from trailhound.topics.sources import AskedSources, Notify


def open_sources(folder: CrawlFolder, settings: Settings, notify: Notify) -> Sources:
    """Whom the strategy may ask."""
    asked = AskedSources(folder, settings, notify)
    return Sources(asked.backlinks(), asked.trace(), asked.search())


def scope_of(settings: Settings, seeds: tuple[str, ...]) -> Scope | None:
    """Where the crawl may go; ``seeds`` are all seeds it ever had."""
    crawl = settings.crawl
    return make_scope(crawl.scope, crawl.exclude, seeds if crawl.same_domain else ())


def check_fetching(settings: FetchSettings) -> None:
    """ConfigError when the settings are impossible or impolite: before anything is written."""
    HttpFetcher.from_settings(settings)
