"""What interest ratios are counted from, in bounded memory: events, and who links to what.

Pages have numbers in the order in which they were fetched. The newest ``max_pages`` are remembered,
and so are the waiting URLs they link to, each with its newest linking pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, repeat

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.strategies.parts import drop_oldest

Numbers = NDArray[np.int32]

UNKNOWN = -1


class KeptCounts(msgspec.Struct, frozen=True):
    """The counts as they are written down."""

    names: list[str]
    seen: list[int]
    hits: list[int]


class EventCounts:
    """Events by name (a word, say) and number.

    At most ``limit`` names are known. When they are too many, those seen least go, half of them:
    most words of a web occur once. Numbers change then, see :meth:`make_room`.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._numbers: dict[str, int] = {}
        # With room to spare: what is never learned has the last number, and was never seen.
        self.seen = np.zeros(1024, np.int64)
        self.hits = np.zeros(1024, np.int64)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def is_full(self) -> bool:
        """Whether it is time to make room."""
        return len(self._numbers) >= self._limit

    def learn(self, names: Sequence[str]) -> Numbers:
        """The numbers of events, new ones included while there is room."""
        numbers = self._numbers
        for name in names:
            if name not in numbers and len(numbers) < self._limit:
                numbers[name] = len(numbers)
        self._grow(len(numbers))
        return self.find(names)

    def find(self, names: Iterable[str]) -> Numbers:
        """The numbers of events, ``UNKNOWN`` for those never learned."""
        return np.fromiter(map(self._numbers.get, names, repeat(UNKNOWN)), np.int32)

    def count(self, numbers: Numbers, hit: bool) -> None:
        """Each of these events came with one more page, relevant or not; repetitions are one."""
        known = numbers[numbers >= 0]
        self.seen[known] += 1
        if hit:
            self.hits[known] += 1

    def make_room(self) -> Numbers:
        """Forget the half that was seen least; return the new number of each old one."""
        size = len(self._numbers)
        # The newest are kept among equals: they had the least time to be seen.
        order = np.lexsort((np.arange(size), self.seen[:size]))
        kept = np.sort(order[size - self._limit // 2 :])
        moved = np.full(size, UNKNOWN, np.int32)
        moved[kept] = np.arange(len(kept), dtype=np.int32)
        names = list(self._numbers)
        self._numbers = {names[old]: new for new, old in enumerate(kept.tolist())}
        for counts in (self.seen, self.hits):
            counts[: len(kept)] = counts[kept]
            counts[len(kept) :] = 0
        return moved

    def _grow(self, size: int) -> None:
        if size >= len(self.seen):
            room = np.zeros(size, np.int64)
            self.seen = np.concatenate([self.seen, room])
            self.hits = np.concatenate([self.hits, room])

    def keep(self) -> KeptCounts:
        """All counts, to be written down."""
        size = len(self._numbers)
        return KeptCounts(list(self._numbers), self.seen[:size].tolist(), self.hits[:size].tolist())

    @classmethod
    def from_kept(cls, kept: KeptCounts, limit: int) -> EventCounts:
        """What was written down; ValueError when it does not fit together."""
        counts = cls(limit)
        counts._numbers = {name: number for number, name in enumerate(kept.names)}
        size = len(counts)
        if not size == len(kept.names) == len(kept.seen) == len(kept.hits):
            raise ValueError("names and counts do not fit together")
        counts._grow(size)
        counts.seen[:size], counts.hits[:size] = kept.seen, kept.hits
        return counts


MAX_PARENTS = 16
"""Linking pages remembered for each waiting URL: the newest."""


class KeptLinks(msgspec.Struct, frozen=True):
    """The table as it is written down."""

    newest: int
    relevant: bytes
    children_seen: bytes
    children_hits: bytes
    content: bytes
    words: list[bytes]
    parents: dict[str, list[int]]
    judged: dict[str, bool]


class LinkingPages:
    """Fetched pages with what is known about their children."""

    def __init__(self, max_pages: int, max_urls: int) -> None:
        self._max_urls = max_urls
        self.max_pages = max_pages
        self.newest = -1
        """Number of the page that came last."""
        self.relevant = np.zeros(max_pages, np.bool_)
        self.children_seen = np.zeros(max_pages, np.int64)
        """Children of each page that have been fetched."""
        self.children_hits = np.zeros(max_pages, np.int64)
        """Relevant ones among them."""
        self.content = np.zeros(max_pages)
        """log I_c: what the words of each page say about its children, when last looked at."""
        self.words: list[Numbers] = []
        """Events in the text of each page, by slot."""
        self._parents: dict[str, list[int]] = {}
        self.judged: dict[str, bool] = {}
        """Fetched URLs, and whether they were relevant."""

    def parents_of(self, url: str) -> list[int]:
        """Slots of the remembered pages that link to a waiting URL."""
        oldest = self.newest - self.max_pages
        return [n % self.max_pages for n in self._parents.get(url, ()) if n > oldest]

    def parents_of_each(self, urls: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(slots, positions in ``urls``) of all pairs of a linking page and a URL."""
        get = self._parents.get
        lists: list[Sequence[int]] = [get(url, ()) for url in urls]
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        numbers = np.fromiter(chain.from_iterable(lists), np.int64, int(lengths.sum()))
        children = np.repeat(np.arange(len(lists)), lengths)
        alive = numbers > self.newest - self.max_pages
        return numbers[alive] % self.max_pages, children[alive]

    def judge(self, urls: Iterable[str], parents: Sequence[int], relevant: bool) -> None:
        """A page turned out relevant or not: the pages that link to it learn of it."""
        slots = np.array(parents, np.int64)
        self.children_seen[slots] += 1
        self.children_hits[slots] += relevant
        for url in urls:
            self._parents.pop(url, None)
            self.judged[url] = relevant
        drop_oldest(self.judged, self._max_urls)

    def add(self, relevant: bool, words: Numbers, links: Iterable[str]) -> int:
        """Remember a fetched page with its distinct links; return its slot."""
        self.newest += 1
        slot = self.newest % self.max_pages
        if slot == len(self.words):
            self.words.append(words)
        else:
            self.words[slot] = words
        self.relevant[slot] = relevant
        self.content[slot] = 0.0
        judged, parents, number = self.judged, self._parents, self.newest
        verdicts = []
        for url in links:
            verdict = judged.get(url)
            if verdict is not None:
                verdicts.append(verdict)
            elif (known := parents.get(url)) is None:
                parents[url] = [number]
            else:
                known.append(number)
                if len(known) > MAX_PARENTS:
                    del known[0]
        self.children_seen[slot] = len(verdicts)
        self.children_hits[slot] = sum(verdicts)
        drop_oldest(parents, self._max_urls)
        return slot

    def renumber_words(self, moved: Numbers) -> None:
        """Follow a change of the events' numbers; forgotten ones leave."""
        for slot, words in enumerate(self.words):
            renumbered = moved[words]
            self.words[slot] = renumbered[renumbered >= 0]

    def keep(self) -> KeptLinks:
        """All of it, to be written down."""
        size = len(self.words)
        return KeptLinks(
            self.newest,
            self.relevant[:size].tobytes(),
            self.children_seen[:size].tobytes(),
            self.children_hits[:size].tobytes(),
            self.content[:size].tobytes(),
            [words.tobytes() for words in self.words],
            self._parents,
            self.judged,
        )

    @classmethod
    def from_kept(cls, kept: KeptLinks, max_pages: int, max_urls: int) -> LinkingPages:
        """What was written down; ValueError when it does not fit together."""
        table, size = cls(max_pages, max_urls), len(kept.words)
        if size != min(kept.newest + 1, max_pages):
            raise ValueError(f"{size} linking pages where there should be another number")
        table.newest = kept.newest
        for column in ("relevant", "children_seen", "children_hits", "content"):
            values = getattr(table, column)
            values[:size] = np.frombuffer(getattr(kept, column), values.dtype)
        table.words = [np.frombuffer(words, np.int32) for words in kept.words]
        table._parents, table.judged = dict(kept.parents), dict(kept.judged)
        return table
