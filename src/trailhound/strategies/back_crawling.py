"""Back-crawling while crawling: the parents of a page that was found are worth a look.

A page that links to one good page may be a list of them. Shared by the strategies that offer it.
"""

from __future__ import annotations

import logging
from zlib import crc32

from trailhound.errors import SourceError, StorageError, UsageError
from trailhound.records import CrawledPage, Link
from trailhound.sources import BacklinkSource
from trailhound.strategies.base import Briefing

_log = logging.getLogger(__name__)


class BackCrawling:
    """Asks who links to each find, and hands out a few; a failing source is let be."""

    def __init__(self, source: BacklinkSource, parents: int) -> None:
        self._source = source
        self._parents = parents
        self._has_failed = False

    async def parents_of(self, crawled: CrawledPage) -> tuple[Link, ...]:
        """Links to pages that link to a fetched page; none when the source cannot say."""
        url = crawled.page.url
        try:
            found = await self._source.linking_to(url)
        except (SourceError, StorageError) as error:
            if not self._has_failed:
                _log.warning("The crawl goes on without the parents of its finds: %s", error)
            self._has_failed = True
            return ()
        others = {each for each in found if each != url}
        # By a checksum: sources tend to sort their answers, and the first would all begin alike.
        some = sorted(others, key=lambda each: (crc32(each.encode("utf-8", "replace")), each))
        return tuple(Link(each) for each in some[: self._parents])


def back_crawling(briefing: Briefing, parents: int) -> BackCrawling | None:
    """The part for an option ``back_crawl``; ``None`` when it is off."""
    if parents < 0:
        raise UsageError(f"Option back_crawl is {parents}, but it should be 0 (off) or more.")
    if parents == 0:
        return None
    if briefing.backlinks is None:
        raise UsageError(
            "back_crawl needs to know who links to a page, and nothing here does. Name a source "
            "with --backlinks ('crawl', a file of edges, an HTTP endpoint), use it in the lab, or "
            "leave it out."
        )
    return BackCrawling(briefing.backlinks, parents)
