"""The sources that a crawl's settings name: who links to a page, what people visited, a search."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from trailhound.config.settings import Settings
from trailhound.errors import UsageError
from trailhound.fetching.polite_settings import polite_settings
from trailhound.records import Page
from trailhound.sessions.shown_pages import page_from_source
from trailhound.sources import SearchSource, Sources
from trailhound.sources.page_search import ArchivedPagesSearch, KeptPagesSearch
from trailhound.topics.backlinks import open_backlinks
from trailhound.topics.crawl_folder import CrawlFolder
from trailhound.topics.marking import archived_sources
from trailhound.topics.notices import Notify
from trailhound.topics.polite_pages import PagesInMemory, PolitePages
from trailhound.topics.traces import open_trace

OWN_PAGES = "crawl"
"""Names the search over what the crawl has kept."""


def open_sources(folder: CrawlFolder, settings: Settings, notify: Notify) -> Sources:
    """What ``[sources]`` names, each opened when it is first wanted."""
    named = settings.sources

    def before_asking() -> None:
        sources.before_asking()

    sources = Sources(
        backlinks=lambda: (
            open_backlinks(folder, settings, notify, before_asking) if named.backlinks else None
        ),
        trace=lambda: open_trace(named.trace, folder, settings, notify) if named.trace else None,
        search=lambda: (
            open_search(folder, settings, notify, before_asking) if named.search else None
        ),
    )
    return sources


def tell_unused(
    sources: Sources, settings: Settings, notify: Notify, needed: Collection[str] = ()
) -> None:
    """Say which sources the settings name and the strategy has not looked at.

    ``needed`` are those that somebody else asks.
    """
    for name in ("backlinks", "trace", "search"):
        is_named = bool(getattr(settings.sources, name))
        if is_named and not sources.looked_at(name) and name not in needed:
            notify(
                f"The strategy '{settings.crawl.strategy}' does not use --{name}, so it is not "
                "asked. trailhound strategies shows what each one can do with a source."
            )


def open_search(
    folder: CrawlFolder,
    settings: Settings,
    notify: Notify,
    before_asking: Callable[[], None] = lambda: None,
) -> SearchSource:
    """What ``--search NAME`` means; UsageError when it means nothing."""
    name = settings.sources.search
    if name == OWN_PAGES:
        return KeptPagesSearch(folder.results, lambda url: _archived_page(folder.archive, url))
    if name.startswith(("http://", "https://")):
        return _endpoint(settings, notify, before_asking)
    if Path(name).exists():
        return ArchivedPagesSearch(Path(name))
    raise UsageError(
        f"'{name}' is no search. Give an address with {{query}} in it "
        "('http://localhost:8888/search?q={query}&format=json'), a WARC or WACZ file or a folder "
        "of them, or 'crawl' for the pages that the topic's crawl has kept."
    )


def _endpoint(
    settings: Settings, notify: Notify, before_asking: Callable[[], None]
) -> SearchSource:
    # Here and not above: commands that fetch nothing need not load HTTP, which takes 0.2 s.
    from trailhound.fetching.resolver import mapped_resolver
    from trailhound.sources.search_endpoint import HttpSearch

    fetch = settings.fetch
    return HttpSearch(
        settings.sources.search,
        fetch.user_agent,
        timeout_seconds=fetch.timeout_seconds,
        pause_seconds=polite_settings(fetch).delay_seconds,
        resolver=mapped_resolver(fetch.resolve),
        pages=PolitePages(PagesInMemory(), fetch, notify, kind="Pages that the search names"),
        before_asking=before_asking,
    )


def _archived_page(archive: Path, url: str) -> Page | None:
    source = archived_sources(archive, {url}).get(url)
    return None if source is None else page_from_source(source, url)
