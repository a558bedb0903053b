"""What a link itself says about the page behind it, for the strategies that count hops.

Beside the path that led to a page, `hidden-markov` and `memm` look at each of its links: are its
words those of the pages that were wanted? `memm` also learns how links have turned out in which a
word occurred. The words of a link travel in the memory of its candidate, as numbers in a few slots:
what is learned later holds for candidates that wait, in another process too.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.models.hop_hmm import Matrix, Vector
from trailhound.records import Link, Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.trail.columns import Ids
from trailhound.strategies.trail.link_words import PageLinks, read_links
from trailhound.strategies.trail.phrases import FIELDS, N_NUMBERS, Phrases
from trailhound.strategies.trail.wanted_words import WantedWords

TOWARDS_TARGETS = {
    "anchor and address like the targets": 2.0,
    "surrounding words like the targets": 1.0,
    "anchor and address unlike other pages": 0.0,
    "surrounding words unlike other pages": 0.0,
    "same host": 0.0,
    "few links on the page": 0.0,
}
"""Features behind the constant one, with how much each speaks for a target before all learning.

Cosines are counted in fifths, so that 1 is much for all features.
"""
N_FEATURES = len(TOWARDS_TARGETS)
PRIOR_WEIGHTS: Vector = np.array(list(TOWARDS_TARGETS.values()))

MAX_PHRASES = 50_000

_SCALES = (5.0, 5.0, 1.0, 1.0)


class LinkEvidence:
    """Describes the links of a page by the pages of a session."""

    def __init__(self, graph: PageGraph) -> None:
        self._wanted = WantedWords(graph)
        self.phrases = Phrases()
        """What links have said so far, as long as there is room for it."""

    def read(self, page: Page) -> tuple[PageLinks, Matrix]:
        """The addresses that a page links to, each once, and the features of these links.

        Shape of the features: (n, 1 + N_FEATURES). A link to the page itself is none.
        """
        if self.phrases.columns.size > MAX_PHRASES:
            self.phrases = Phrases()
        first = self.phrases.columns.size
        found = read_links(page, self.phrases)
        self.phrases.sum_up(first, likeness=self._wanted.tables)
        n, origin = len(found.urls), page.url[: page.url.find("/", 8) + 1]
        rows = [
            np.ones(n),
            self._wanted.read(self.phrases, found.phrases) * _SCALES,
            np.fromiter((url.startswith(origin) for url in found.urls), np.float64, n),
            np.full(n, 1 - np.log1p(n) / 4),
        ]
        return found, np.column_stack(rows)


def first_links(page: Page, urls: list[str]) -> Iterator[Link]:
    """The first link to each address that :meth:`LinkEvidence.read` gave, in this order."""
    first: dict[str, Link] = {}
    for link in page.links:
        first.setdefault(link.url, link)
    return map(first.__getitem__, urls)


N_SLOTS = 16
_SLOTS_OF = (("anchor", "address"), range(10)), (("heading", "title", "place"), range(10, N_SLOTS))
"""Which slots the words of which fields are in, as many as there is room for."""
KAPPA = 2.0
"""Pages of average relevance that every word is taken to have had before its first."""
EMPTY = -1

Slots = NDArray[np.int32]
"""The words of links: see :func:`word_slots`."""


class KeptTurnouts(msgspec.Struct, frozen=True):
    """What was learned, as it is written down: arrays as bytes."""

    words: bytes
    hits: bytes
    seen: bytes
    total_hits: float
    total_seen: float


def word_slots(phrases: Phrases, links: Ids) -> Slots:
    """The words of each link of a page, ``EMPTY`` where there are no more. Shape (n, N_SLOTS).

    ``links`` are the phrases of each, in the order of ``FIELDS``.
    """
    n = len(links)
    slots = np.full((n, N_SLOTS), EMPTY, np.int32)
    for fields, room in _SLOTS_OF:
        said = links[:, [FIELDS.index(field) for field in fields]]
        words, _ = phrases.words_of(said.ravel())
        counts = phrases.columns["n_words"][said].sum(axis=1)
        owners = np.repeat(np.arange(n), counts)
        places = room.start + np.arange(len(words)) - (np.cumsum(counts) - counts)[owners]
        fits = places < room.stop
        slots[owners[fits], places[fits]] = words[fits]
    return slots


class WordTurnouts:
    """For each word the number of fetched pages with it in their link, and their relevance.

    A word says ``log((hits + κ b) / ((seen + κ) b))``, b being the mean relevance of all pages: 0
    is nothing, log 2 twice as relevant as on average. A link says the sum of its words over the
    root of their number.
    """

    def __init__(self) -> None:
        # One more, which stays 0, for EMPTY.
        self._hits, self._seen = np.zeros((2, N_NUMBERS + 1), np.float32)
        self._total_hits = self._total_seen = 0.0

    def learn(self, slots: Slots, relevance: float) -> None:
        """A page was so relevant, and its link had these words."""
        words = np.unique(slots[slots != EMPTY])
        self._hits[words] += relevance
        self._seen[words] += 1
        self._total_hits += relevance
        self._total_seen += 1

    def read(self, slots: Slots, own: Vector | None = None) -> Vector:
        """What the words of each link say; ``own`` relevance, learned before, is left out."""
        hits, seen = self._hits[slots].astype(np.float64), self._seen[slots].astype(np.float64)
        if own is not None:
            hits, seen = np.maximum(hits - own[:, None], 0), np.maximum(seen - 1, 0)
        base = (self._total_hits + 0.5) / (self._total_seen + 1)
        there = slots != EMPTY
        says = np.where(there, np.log((hits + KAPPA * base) / ((seen + KAPPA) * base)), 0.0)
        return np.asarray(says.sum(axis=1) / np.sqrt(np.maximum(there.sum(axis=1), 1)))

    def keep(self) -> KeptTurnouts:
        """All that was learned."""
        words = np.flatnonzero(self._seen)
        return KeptTurnouts(
            words.astype("<i4").tobytes(),
            self._hits[words].astype("<f4").tobytes(),
            self._seen[words].astype("<f4").tobytes(),
            self._total_hits,
            self._total_seen,
        )

    @classmethod
    def of(cls, kept: KeptTurnouts) -> WordTurnouts:
        """What was kept; ValueError when it does not fit together."""
        words, made = np.frombuffer(kept.words, "<i4"), cls()
        if words.size and not (words.min() >= 0 and words.max() < N_NUMBERS):
            raise ValueError("a word has a number that none can have")
        made._hits[words] = np.frombuffer(kept.hits, "<f4")
        made._seen[words] = np.frombuffer(kept.seen, "<f4")
        made._total_hits, made._total_seen = kept.total_hits, kept.total_seen
        return made
