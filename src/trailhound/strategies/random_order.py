"""Random order: the floor every other strategy must leave."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import ClassVar

from trailhound.records import CrawledPage, ScoredLink
from trailhound.strategies.base import Briefing


class RandomStrategy:
    """Every link gets a random priority."""

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "links in random order: the floor"
    paper: ClassVar[str] = ""
    reads_surroundings: ClassVar[bool] = False

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    @classmethod
    def from_briefing(cls, briefing: Briefing) -> RandomStrategy:
        """Take only the seed."""
        return cls(briefing.seed)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Draw a number per link."""
        return [ScoredLink(link, self._random.random()) for link in crawled.page.links]

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing."""
