"""Pages that sources speak of, fetched before a crawl begins: politely, and each once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import count

from trailhound.config.settings import FetchSettings
from trailhound.crawling.scope import Scope
from trailhound.fetching.polite_settings import polite_settings
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import FinishedPage, Outcome, Page, PageEvent
from trailhound.sources.kept_answers import KeptAnswers
from trailhound.text.extract import extract_page
from trailhound.topics.notices import Notify, Progress


class PagesInMemory:
    """Remembers pages as long as it lives, as :class:`KeptAnswers` does on disk."""

    def __init__(self) -> None:
        self._pages: dict[str, Page | None] = {}
        self.has_page = self._pages.__contains__
        self.page = self._pages.get
        self.keep_page = self._pages.__setitem__

    def close(self) -> None:
        """There is no file."""


class PolitePages:
    """Fetches by the rules of a crawl: robots.txt, delays, allowed addresses, scope.

    What was ``kept`` is not asked for again, had or not. ``kind`` names the pages in what is told
    when they take long.
    """

    def __init__(
        self,
        kept: KeptAnswers | PagesInMemory,
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
        self._asked = MemoryFrontier()
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
        progress, done = Progress(self._notify), count(1)

        def tell(_: PageEvent) -> None:
            progress.tell(f"{self._kind}: {next(done):,} of {len(wanted):,} fetched.")

        # Here and not above: commands that fetch nothing need not load HTTP, which takes 0.2 s.
        from trailhound.crawling.visiting import visit

        await visit(
            wanted, self._settings, self, in_scope=self._in_scope, told=tell, frontier=self._asked
        )
        # The crawl may begin with a host that has just been asked.
        await asyncio.sleep(polite_settings(self._settings).delay_seconds)

    def resting(self) -> dict[str, float]:
        """When the hosts that were asked may be asked again, in seconds since 1970."""
        return self._asked.resting()

    def close(self) -> None:
        """Let the file go in which pages are kept."""
        self._kept.close()

    def _is_wanted(self, url: str) -> bool:
        return (self._in_scope is None or self._in_scope(url)) and not self._kept.has_page(url)

    def keep(self, finished: FinishedPage) -> None:
        """Take in what came of one request."""
        self.pages_read += 1
        result, page = finished.result, None
        if result.outcome is Outcome.FETCHED:
            page = extract_page(result.body, result.final_url, result.content_type)
        self._kept.keep_page(result.url, page)
