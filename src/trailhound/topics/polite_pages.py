"""Pages that sources speak of, fetched before a crawl begins: politely, and each once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from trailhound.config.settings import FetchSettings
from trailhound.crawling.scope import Scope
from trailhound.fetching.http import polite_settings
from trailhound.records import Page
from trailhound.text.extract import extract_page
from trailhound.topics.notices import Notify, Progress
from trailhound.topics.page_fetching import FetchedPage, fetch_pages


class PageKeeper(Protocol):
    """Remembers pages, on disk (:class:`~trailhound.sources.kept_answers.KeptAnswers`) or not."""

    def has_page(self, url: str) -> bool:
        """Whether a page was asked for, be it in vain."""
        ...

    def page(self, url: str) -> Page | None:
        """A page that was kept."""
        ...

    def keep_page(self, url: str, page: Page | None) -> None:
        """Remember a page, or that it could not be had."""
        ...

    def close(self) -> None:
        """Let its file go."""
        ...


class PagesInMemory:
    """Remembers pages as long as it lives."""

    def __init__(self) -> None:
        self._pages: dict[str, Page | None] = {}

    def has_page(self, url: str) -> bool:
        """Whether a page was asked for, be it in vain."""
        return url in self._pages

    def page(self, url: str) -> Page | None:
        """A page that was kept."""
        return self._pages.get(url)

    def keep_page(self, url: str, page: Page | None) -> None:
        """Remember a page, or that it could not be had."""
        self._pages[url] = page

    def close(self) -> None:
        """There is no file."""


class PolitePages:
    """Fetches by the rules of a crawl: robots.txt, delays, allowed addresses, scope.

    ``kind`` names the pages in what is told when they take long.
    """

    def __init__(
        self,
        kept: PageKeeper,
        settings: FetchSettings,
        notify: Notify,
        *,
        kind: str,
        in_scope: Scope | None = None,
    ) -> None:
        self._kept = kept
        self._settings = settings
        self._notify = notify
        self._kind = kind
        self._in_scope = in_scope
        self.pages_read = 0
        """Pages that were asked for."""
        self.is_closed = False
        """Whether a crawl runs, which keeps to its hosts' delays alone."""

    async def page(self, url: str) -> Page | None:
        """A page that was fetched, now or earlier."""
        await self.expect([url])
        return self._kept.page(url)

    async def expect(self, urls: Sequence[str]) -> None:
        """Ask for all pages that are not kept; those outside the crawl's scope are left alone."""
        wanted = [url for url in dict.fromkeys(urls) if self._is_wanted(url)]
        if not wanted or self.is_closed:
            return
        progress = Progress(self._notify)

        def tell(done: int, total: int) -> None:
            progress.tell(f"{self._kind}: {done:,} of {total:,} fetched.")

        await fetch_pages(wanted, self._settings, self, tell, self._in_scope)
        # The crawl, or the next question, may begin with a host that has just been asked.
        await asyncio.sleep(polite_settings(self._settings).delay_seconds)

    def close(self) -> None:
        """Let the file go in which pages are kept."""
        self._kept.close()

    def _is_wanted(self, url: str) -> bool:
        return (self._in_scope is None or self._in_scope(url)) and not self._kept.has_page(url)

    @property
    def pages(self) -> frozenset[str]:
        """Nothing: what is kept was not asked for."""
        return frozenset()

    def add(self, page: FetchedPage) -> None:
        """Keep what came of one request."""
        self.pages_read += 1
        extracted = None
        if page.html is not None:
            body = page.html.encode("utf-8", "replace")
            extracted = extract_page(body, page.final_url, "text/html; charset=utf-8")
        self._kept.keep_page(page.url, extracted)
