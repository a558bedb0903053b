"""The HTTP fetcher as a crawl uses it: it asks known pages only for news, and outlives a kill."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from trailhound.fetching.http import HttpFetcher
from trailhound.records import FetchResult


class Validators(NamedTuple):
    """What a server said about the version of a page that we have."""

    etag: str = ""
    last_modified: str = ""


class CrawlFetcher:
    """Wraps an HTTP fetcher.

    * ``known`` pages are fetched only if they have changed; each is asked about once.
    * ``max_wait_seconds`` is how long a fetch may wait for its turn. The host's delay may begin so
      much later than the fetch, and a crawl that is killed in between must respect it after its
      restart, too.
    """

    def __init__(
        self,
        inner: HttpFetcher,
        known: Mapping[str, Validators] | None = None,
        *,
        max_wait_seconds: float = 0.0,
    ) -> None:
        self._inner = inner
        self._known = dict(known or {})
        self._max_wait_seconds = max_wait_seconds

    async def fetch(self, url: str) -> FetchResult:
        """Ask for ``url``; the outcome is ``NOT_MODIFIED`` when a known page is still the same."""
        return await self.fetch_within(url, lambda: True)

    async def fetch_within(self, url: str, may_go_on: Callable[[], bool]) -> FetchResult:
        """The same; a redirect for which there is no request left is not followed."""
        etag, last_modified = self._known.get(url, Validators())
        result = await self._inner.fetch(
            url, etag=etag, last_modified=last_modified, may_go_on=may_go_on
        )
        if result.retry_after_seconds is None:
            self._known.pop(url, None)
        return result

    def delay_after(self, url: str) -> float:
        """Seconds that the host of ``url`` must be left alone if nothing is heard of the fetch."""
        delay = self._inner.delay_after(url)
        return delay + self._max_wait_seconds if delay else 0.0

    async def close(self) -> None:
        """Close all connections."""
        await self._inner.close()
