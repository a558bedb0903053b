"""How links have turned out in which a word occurred.

The words of a link travel in the memory of its candidate, as numbers in a few slots: what is
learned later holds for candidates that wait, in another process too.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.models.hop_hmm import Vector
from trailhound.strategies.trail.columns import Ids
from trailhound.strategies.trail.phrases import FIELDS, N_NUMBERS, Phrases

N_SLOTS = 16
_SLOTS_OF = (("anchor", "address"), range(10)), (("heading", "title", "place"), range(10, N_SLOTS))
"""Which slots the words of which fields are in, as many as there is room for."""
KAPPA = 2.0
"""Pages of average relevance that every word is taken to have had before its first."""
EMPTY = -1

Slots = NDArray[np.int32]


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
