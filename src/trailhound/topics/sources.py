"""The sources that a crawl's settings name, opened for its strategy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from trailhound.config.settings import FetchSettings, Settings
from trailhound.crawling.build import Sources
from trailhound.errors import UsageError
from trailhound.fetching.http import HttpFetcher
from trailhound.records import FetchResult, Outcome, Page
from trailhound.sources import SearchSource
from trailhound.sources.loop_thread import LoopThread
from trailhound.sources.page_search import ArchivedPagesSearch, KeptPagesSearch
from trailhound.sources.search_endpoint import HttpSearch
from trailhound.text.extract import extract_page
from trailhound.topics.crawl_folder import CrawlFolder
from trailhound.topics.marking import archived_sources
from trailhound.topics.traces import open_trace

Notify = Callable[[str], None]
"""Told what a person should know, a sentence or two at a time."""
OWN_PAGES = "crawl"
"""Names the search over what the crawl has kept."""

_ATTEMPTS = 3
_MAX_WAIT_SECONDS = 30.0


def open_sources(folder: CrawlFolder, settings: Settings, notify: Notify) -> Sources:
    """What ``[sources]`` names; ``None`` for what it does not."""
    from trailhound.topics.backlinks import open_backlinks

    named = settings.sources
    return Sources(
        open_backlinks(folder, settings, notify) if named.backlinks else None,
        open_trace(named.trace, folder, settings, notify) if named.trace else None,
        open_search(named.search, folder, settings.fetch) if named.search else None,
    )


def open_search(name: str, folder: CrawlFolder, fetch: FetchSettings) -> SearchSource:
    """What ``--search NAME`` means; UsageError when it means nothing."""
    if name == OWN_PAGES:
        return KeptPagesSearch(folder.results, _ArchivedPage(folder.archive))
    if name.startswith(("http://", "https://")):
        return _endpoint(name, fetch)
    if Path(name).exists():
        return ArchivedPagesSearch(Path(name))
    raise UsageError(
        f"'{name}' is no search. Give an address with {{query}} in it "
        "('http://localhost:8888/search?q={query}&format=json'), a WARC or WACZ file or a folder "
        "of them, or 'crawl' for the pages that the topic's crawl has kept."
    )


def _endpoint(template: str, fetch: FetchSettings) -> HttpSearch:
    # Here and not above: the parts of a crawl open their sources through this module.
    from trailhound.fetching.resolver import mapped_resolver

    return HttpSearch(
        template,
        fetch.user_agent,
        timeout_seconds=fetch.timeout_seconds,
        pause_seconds=fetch.delay_seconds,
        resolver=mapped_resolver(fetch.resolve),
        read_page=PoliteReader(fetch),
    )


class _ArchivedPage:
    """The archived page behind an address."""

    def __init__(self, archive: Path) -> None:
        self._archive = archive

    def __call__(self, url: str) -> Page | None:
        source = archived_sources(self._archive, {url}).get(url)
        return None if source is None else extract_page(source.encode("utf-8", "replace"), url)


class PoliteReader:
    """Fetches single pages, by the rules of a crawl: robots.txt, delays, allowed addresses.

    Requests are not counted in the crawl's budget.
    """

    def __init__(self, settings: FetchSettings) -> None:
        self._settings = settings
        self._fetcher: HttpFetcher | None = None
        self._thread: LoopThread | None = None

    def __call__(self, url: str) -> Page | None:
        """The page behind a canonical URL; ``None`` when it cannot be had."""
        from trailhound.fetching.http import HttpFetcher

        if self._thread is None or self._fetcher is None:
            self._fetcher = HttpFetcher.from_settings(self._settings)
            self._thread = LoopThread(self._fetcher.close)
        result = self._thread.run(_patient_fetch(self._fetcher, url))
        if result.outcome is not Outcome.FETCHED:
            return None
        return extract_page(result.body, result.final_url, result.content_type)


async def _patient_fetch(fetcher: HttpFetcher, url: str) -> FetchResult:
    result = await fetcher.fetch(url)
    for _ in range(_ATTEMPTS - 1):
        wait = result.retry_after_seconds
        if wait is None or wait > _MAX_WAIT_SECONDS:
            break
        await asyncio.sleep(wait)
        result = await fetcher.fetch(url)
    return result
