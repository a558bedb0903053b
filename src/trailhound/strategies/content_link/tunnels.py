"""What becomes of the links behind an irrelevant page: what both readings share, and the repair.

A link of a relevant page has no level. The links of an irrelevant page get level 0, those of an
irrelevant page behind it level 1, and so on while the level is below the deepest one. The links of
one page are a *family*: when one of them turns out irrelevant, those that score no better sink by
a level. The other reading, to the letter, is in the module ``irrelevant_table``.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

import msgspec

from trailhound.records import Candidate, CrawledPage, Link, ScoredLink
from trailhound.strategies.base import RESCORE_EVERY
from trailhound.strategies.content_link.link_scores import ScoreParts
from trailhound.strategies.parts import RescorePace

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


_TAG = struct.Struct("<4fdhI")


class Tag(NamedTuple):
    """The memory of a candidate."""

    parts: ScoreParts
    score: float
    level: int
    """Irrelevant pages in front of it, less one; ``NO_LEVEL`` for links of relevant pages."""
    family: int = 0
    """The page that gave it the level."""

    def pack(self) -> bytes:
        """As bytes."""
        return _TAG.pack(*self.parts, self.score, self.level, self.family)

    @classmethod
    def unpack(cls, memory: bytes) -> Tag | None:
        """``None`` for a seed, or a memory that is not ours."""
        if len(memory) != _TAG.size:
            return None
        url, anchor, links, parents, score, level, family = _TAG.unpack(memory)
        return cls(ScoreParts(url, anchor, links, parents), score, level, family)


class Rated(NamedTuple):
    """A link with its score."""

    link: Link
    parts: ScoreParts
    score: float


class Row(msgspec.Struct):
    """A URL of the published reading's table."""

    url: str
    score: float
    level: int = 0
    note: bytes = b""
    """What the caller wants to remember of it."""


class KeptTunnels(msgspec.Struct, frozen=True):
    """Either reading's state as it is written down."""

    failures: dict[int, list[float]] = msgspec.field(default_factory=dict)
    newest: int = 0
    level: int = 0
    rows: list[Row] = msgspec.field(default_factory=list)
    fetched: list[str] = msgspec.field(default_factory=list)


class Tunnels(Protocol):
    """Decides which links of a page are queued, and how."""

    def visit(self, crawled: CrawledPage, relevant: bool) -> None:
        """A page was fetched."""
        ...

    def queue(self, rated: Sequence[Rated]) -> list[ScoredLink]:
        """The links of the page that was visited last."""
        ...

    def rescore(self, candidates: Mapping[str, bytes], /) -> Mapping[str, float] | None:
        """New priorities of waiting candidates; ``None`` when nothing has moved."""
        ...

    def restock(self) -> Iterable[Candidate]:
        """Where to go on when nothing waits."""
        ...

    def keep(self) -> KeptTunnels:
        """What must be remembered."""
        ...

    def take_up(self, kept: KeptTunnels) -> None:
        """Go on from there."""
        ...


class OneQueue:
    """Repaired: everything waits in one queue, and links behind irrelevant pages are discounted."""

    def __init__(self, max_level: int) -> None:
        self._max_level = max_level
        self._families = Families()
        self._pace = RescorePace(RESCORE_EVERY, RESCORE_EVERY)
        self._level_of_links: int | None = NO_LEVEL

    def visit(self, crawled: CrawledPage, relevant: bool) -> None:
        """Find the level of the page's links; a failure makes its siblings sink."""
        self._pace.page_done()
        tag = Tag.unpack(crawled.candidate.memory)
        level = NO_LEVEL if tag is None else self._level(tag)
        self._level_of_links = level_behind(level, relevant, self._max_level)
        if tag is not None and tag.level > NO_LEVEL and not relevant:
            self._families.fail(tag.family, tag.score)

    def _level(self, tag: Tag) -> int:
        if tag.level == NO_LEVEL:
            return NO_LEVEL
        return tag.level + self._families.sunk(tag.family, tag.score)

    def queue(self, rated: Sequence[Rated]) -> list[ScoredLink]:
        """Scores, less for each level; nothing beyond the deepest one."""
        level = self._level_of_links
        if level is None:
            return []
        family = 0 if level == NO_LEVEL else self._families.new()
        return [
            ScoredLink(link, score * discount(level), Tag(parts, score, level, family).pack())
            for link, parts, score in rated
        ]

    def rescore(self, candidates: Mapping[str, bytes]) -> Mapping[str, float] | None:
        """Let the siblings of pages that disappointed sink."""
        changed = self._families.changed
        if not changed or not self._pace.is_due(len(candidates)):
            return None
        tags = ((url, Tag.unpack(memory)) for url, memory in candidates.items())
        sunk = {
            url: tag.score * discount(self._level(tag))
            for url, tag in tags
            if tag is not None and tag.family in changed
        }
        changed.clear()
        return sunk

    def restock(self) -> Iterable[Candidate]:
        """Nothing: all links are in the queue."""
        return ()

    def keep(self) -> KeptTunnels:
        """The failures."""
        return KeptTunnels(failures=self._families.failures, newest=self._families.newest)

    def take_up(self, kept: KeptTunnels) -> None:
        """Go on from there."""
        self._families.failures = {each: sorted(kept.failures[each]) for each in kept.failures}
        # Families of pages after the snapshot must not meet new ones; 2^31 pages are room enough.
        self._families.newest = kept.newest + 1_000_000
