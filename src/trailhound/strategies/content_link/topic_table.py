"""A topic as a short table of weighted words: how much a text has to do with it, how it grows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Terms = Mapping[str, int]

TITLE_WEIGHT = 2
"""Eq. 2: a word of the title counts twice, any other once."""


@dataclass(frozen=True)
class BackgroundWords:
    """How common words are in pages that are not about the topic."""

    n_documents: int
    frequency: Mapping[str, int]
    """In how many of them each word occurs."""

    @classmethod
    def of(cls, documents: Iterable[Terms]) -> BackgroundWords:
        """Count pages, and pages with each word."""
        frequency: Counter[str] = Counter()
        total = 0
        for terms in documents:
            frequency.update(terms.keys())
            total += 1
        return cls(total, frequency)

    def rarity(self, term: str) -> float:
        """ln((N + 1) / (df + 1)): 0 for a word of every page; 1 for all without any pages."""
        if not self.n_documents:
            return 1.0
        return math.log((self.n_documents + 1) / (self.frequency.get(term, 0) + 1))

    def share(self, term: str) -> float:
        """The share of pages with the word."""
        return self.frequency.get(term, 0) / max(self.n_documents, 1)


class TopicTable:
    """Words with weights from 0 to 1."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = dict(weights)
        self._squares: float | None = None

    @classmethod
    def from_documents(
        cls, documents: Sequence[Terms], size: int, reference: BackgroundWords | None = None
    ) -> TopicTable:
        """The heaviest words of some documents about the topic, by eq. 1::

            w = tf · df, or with a reference tf · df · rarity        W = w / w_max

        tf is how often a word occurs in all documents, df in how many of them.
        """
        tf: Counter[str] = Counter()
        df: Counter[str] = Counter()
        for terms in documents:
            tf.update(terms)
            df.update(terms.keys())
        raw = {
            term: tf[term] * df[term] * (reference.rarity(term) if reference else 1.0)
            for term in tf
        }
        heaviest = sorted(raw, key=lambda term: (-raw[term], term))[:size]
        largest = raw[heaviest[0]] if heaviest else 0.0
        return cls({term: raw[term] / largest for term in heaviest if raw[term] > 0})

    def __len__(self) -> int:
        return len(self.weights)

    def __contains__(self, term: object) -> bool:
        return term in self.weights

    def put(self, term: str, weight: float) -> None:
        """Add a word, or give it another weight."""
        self.weights[term] = weight
        self._squares = None

    def drop_lightest(self) -> None:
        """Take out the word with the least weight; the last one among equals."""
        lightest = min(reversed(self.weights), key=self.weights.__getitem__)
        del self.weights[lightest]
        self._squares = None

    def relevance(self, counts: Mapping[str, float], least_words: int = 1) -> float:
        """Eq. 3, the cosine of the table and a text's counts of the table's words.

        A text that repeats a single word of the table would be very relevant; one with fewer than
        ``least_words`` distinct words of the table gets its share of the cosine only.
        """
        common = 0.0
        squares = 0.0
        distinct = 0
        for term, weight in self.weights.items():
            count = counts.get(term)
            if count:
                common += weight * count
                squares += count * count
                distinct += 1
        if not distinct:
            return 0.0
        enough = min(1.0, distinct / max(1, min(least_words, len(self.weights))))
        # Rounding may lift the cosine of equal directions above 1.
        return enough * min(1.0, common / math.sqrt(self._table_squares() * squares))

    def _table_squares(self) -> float:
        if self._squares is None:
            self._squares = sum(weight * weight for weight in self.weights.values())
        return self._squares


def page_counts(terms: Terms, title_terms: Terms) -> Mapping[str, int]:
    """w_kp: words of the text once, words of the title twice. ``terms`` holds the title's too."""
    if not title_terms:
        return terms
    counts = Counter(terms)
    for term, count in title_terms.items():
        counts[term] += (TITLE_WEIGHT - 1) * count
    return counts


MIN_PAGES = 3
"""Very relevant pages in which a word must be the most frequent one."""
MAX_REFERENCE_SHARE = 0.1
"""A word in more of the reference pages is too common."""
MAX_WEIGHT = 0.9
NEWCOMERS_SHARE = 0.5
"""A word that the crawl found itself weighs half of what its pages' relevance says."""
MAX_WAITING = 1000
"""Words on trial."""


class TableGrowth:
    """The most frequent word of each very relevant page joins the table.

    As published it joins at once, with the page's relevance for its weight, and the table has no
    limit. Repaired, it must be the most frequent word of three such pages and rare elsewhere; it
    gets half the weight, and the lightest word of a full table makes room for it.
    """

    def __init__(self, size: int, reference: BackgroundWords | None) -> None:
        self._size = size
        self._reference = reference
        self.trials: dict[str, list[float]] = {}
        """Relevance of the pages in which each word on trial was the most frequent one."""

    def learn(self, table: TopicTable, terms: Terms, relevance: float) -> bool:
        """See a very relevant page; whether the table has changed."""
        if not terms:
            return False
        word = max(terms, key=terms.__getitem__)
        if self._reference is None:
            table.put(word, relevance)
            return True
        if self._reference.share(word) >= MAX_REFERENCE_SHARE:
            return False
        return self._try(table, word, relevance)

    def _try(self, table: TopicTable, word: str, relevance: float) -> bool:
        seen = self.trials.setdefault(word, [])
        seen.append(relevance)
        if len(self.trials) > MAX_WAITING:
            del self.trials[next(iter(self.trials))]
        if len(seen) < MIN_PAGES:
            return False
        weight = NEWCOMERS_SHARE * min(MAX_WEIGHT, sum(seen) / len(seen))
        del seen[:-MIN_PAGES]
        return self._admit(table, word, weight)

    def _admit(self, table: TopicTable, word: str, weight: float) -> bool:
        if weight <= table.weights.get(word, 0.0):
            return False
        if word not in table and len(table) >= self._size:
            if weight <= min(table.weights.values()):
                return False
            table.drop_lightest()
        table.put(word, weight)
        return True
