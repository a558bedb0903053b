"""Tunnelling, repaired: how far a link lies behind irrelevant pages, and what that costs it.

A link of a relevant page has no level. The links of an irrelevant page get level 0, those of an
irrelevant page behind it level 1, and so on while the level is below the deepest one. The links of
one page are a *family*: when one of them turns out irrelevant, those that score no better sink by
a level.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import islice

NO_LEVEL = -1
"""Of links of relevant pages, and of seeds."""
DISCOUNT = 0.5
"""For the first irrelevant page in front of a link, and for each further level."""
MAX_FAMILIES = 20_000


def discount(level: int) -> float:
    """What the level leaves of a link's score: 0.5^(level + 1), all of it without a level."""
    return float(DISCOUNT ** (level + 1))


def level_behind(level: int, relevant: bool, max_level: int) -> int | None:
    """The level of a page's links, given its own; ``None`` when they are not to be followed."""
    if relevant:
        return NO_LEVEL
    return level + 1 if level < max_level else None


class Families:
    """Which links of each irrelevant page have disappointed."""

    def __init__(self) -> None:
        self.failures: dict[int, list[float]] = {}
        """Scores of the irrelevant children of each page, in order."""
        self.changed: set[int] = set()
        """Families in which something happened since this was last emptied."""
        self.newest = 0

    def new(self) -> int:
        """The number of a new family."""
        self.newest += 1
        return self.newest

    def fail(self, family: int, score: float) -> None:
        """A child with this score turned out irrelevant."""
        insort(self.failures.setdefault(family, []), score)
        self.changed.add(family)
        if len(self.failures) > MAX_FAMILIES:
            for oldest in list(islice(self.failures, MAX_FAMILIES // 10)):
                del self.failures[oldest]

    def sunk(self, family: int, score: float) -> int:
        """By how many levels a child with this score has sunk."""
        failed = self.failures.get(family, ())
        return len(failed) - bisect_left(failed, score)
