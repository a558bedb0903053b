"""A complete strategy in a file of its own: the shorter the URL, the sooner.

Try it beside a built-in one, without installing anything::

    trailhound lab run CORPUS --strategy examples/short_urls.py --strategy breadth-first -o out

To ship it, put the class into a package and register it::

    [project.entry-points."trailhound.strategies"]
    short-urls = "your_package.short_urls:ShortUrls"
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from trailhound.records import CrawledPage, ScoredLink
from trailhound.strategies.base import Briefing


class ShortUrls:
    """Short URLs tend to be general pages; ``exponent`` says how strongly to prefer them."""

    name: ClassVar[str] = "short-urls"
    summary: ClassVar[str] = "short URLs first"
    paper: ClassVar[str] = ""

    def __init__(self, exponent: float) -> None:
        self._exponent = exponent

    @classmethod
    def from_briefing(cls, briefing: Briefing, *, exponent: float = 1.0) -> ShortUrls:
        """Keyword arguments are options: ``short-urls:exponent=2``."""
        del briefing  # a learning strategy would look at the session's pages and targets here
        return cls(exponent)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """One priority per link; higher is sooner."""
        return [ScoredLink(link, len(link.url) ** -self._exponent) for link in crawled.page.links]

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing from what was fetched."""
