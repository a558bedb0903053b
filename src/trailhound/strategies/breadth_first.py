"""Breadth-first: all pages one link away, then all pages two links away."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from trailhound.records import CrawledPage, ScoredLink
from trailhound.strategies.base import Briefing


class BreadthFirstStrategy:
    """The fewer links from a seed, the sooner."""

    name: ClassVar[str] = "breadth-first"
    summary: ClassVar[str] = "links in order of their distance from the seeds"
    paper: ClassVar[str] = ""
    reads_surroundings: ClassVar[bool] = False
    learns_online: ClassVar[bool] = False

    @classmethod
    def from_briefing(cls, briefing: Briefing) -> BreadthFirstStrategy:
        """Ignore the session."""
        del briefing
        return cls()

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Minus the depth."""
        depth = crawled.candidate.depth + 1
        return [ScoredLink(link, -depth) for link in crawled.page.links]

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing."""
