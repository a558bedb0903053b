"""Term weights as in the hidden-Markov papers, and cosines to the pages that were wanted."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from trailhound.records import Page

Terms = Mapping[str, int]


@dataclass(frozen=True)
class TermWeights:
    """A dictionary with inverse document frequencies, frozen after training.

    The weight of term i in document k, by the papers' first equation::

        W_ik = tf_ik (log2(N / df_i) + 1) / sqrt(Σ_i tf_ik² (log2(N / df_i) + 1)²)
    """

    vocabulary: Mapping[str, int]
    """Term to column."""
    idf: NDArray[np.float64]
    """Shape (n_terms,): log2(N / df) + 1."""

    def __post_init__(self) -> None:
        # Interned as the terms of pages are: found by identity, without reading them.
        interned = {sys.intern(term): column for term, column in self.vocabulary.items()}
        object.__setattr__(self, "vocabulary", interned)

    @classmethod
    def fit(cls, documents: Sequence[Terms]) -> TermWeights:
        """Count in how many documents each term occurs."""
        frequency: Counter[str] = Counter()
        for terms in documents:
            frequency.update(terms.keys())
        vocabulary = {term: column for column, term in enumerate(sorted(frequency))}
        df = np.fromiter((frequency[term] for term in vocabulary), np.float64, len(vocabulary))
        return cls(vocabulary, np.log2(len(documents) / df) + 1)

    @cached_property
    def _latest(self) -> list[Any]:
        """The last document weighed, and what came out: judge and strategy ask about the same."""
        return []

    def weigh(self, terms: Terms) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Columns and weights, of length one together, of one document's known terms."""
        if not self._latest or self._latest[0] is not terms:
            self._latest[:] = terms, self._weighed(terms)
        found: tuple[NDArray[np.int64], NDArray[np.float64]] = self._latest[1]
        return found

    @cached_property
    def _columns(self) -> dict[str, int]:
        """The vocabulary with everyday terms first: what most pages look up is close in memory."""
        terms = list(self.vocabulary)
        columns = np.fromiter(self.vocabulary.values(), np.int64, len(terms))
        everyday_first = np.argsort(self.idf[columns], kind="stable")
        # The numbers are made anew in this order, and so they too are neighbours.
        numbers = columns[everyday_first].tolist()
        return dict(zip([terms[place] for place in everyday_first], numbers, strict=True))

    def _weighed(self, terms: Terms) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        size = len(terms)
        columns = np.fromiter(map(self._columns.get, terms, repeat(-1)), np.int64, size)
        counts = np.fromiter(terms.values(), np.float64, size)
        known = columns >= 0
        ids = columns[known]
        weights = counts[known] * self.idf[ids]
        length = math.sqrt(float(weights @ weights))
        return ids, weights / length if length > 0 else weights

    def matrix(self, documents: Sequence[Terms]) -> sparse.csr_array[np.float64]:
        """Documents as rows, shape (n_documents, n_terms)."""
        indptr = [0]
        columns: list[NDArray[np.int64]] = []
        values: list[NDArray[np.float64]] = []
        for terms in documents:
            ids, weights = self.weigh(terms)
            columns.append(ids)
            values.append(weights)
            indptr.append(indptr[-1] + len(ids))
        data = np.concatenate(values) if values else np.zeros(0)
        indices = np.concatenate(columns) if columns else np.zeros(0, np.int64)
        shape = (len(documents), len(self.vocabulary))
        return sparse.csr_array((data, indices, np.array(indptr)), shape=shape)


class TargetSimilarity:
    """Cosine of a page to each target page, by gathering the rows of the page's terms.

    The judge and the strategy ask about the same page one after the other, so the last answer is
    kept.
    """

    def __init__(self, weights: TermWeights, targets: Sequence[Terms]) -> None:
        self.weights = weights
        self._last: tuple[Terms, float] | None = None
        dense = weights.matrix(targets).toarray()
        # Terms as rows, so that a page gathers a few hundred contiguous rows.
        self._by_term: NDArray[np.float32] = np.ascontiguousarray(dense.T, np.float32)
        centroid = dense.sum(axis=0)
        length = float(np.linalg.norm(centroid))
        self._centroid = centroid / length if length > 0 else centroid

    def to_each(self, terms: Terms) -> NDArray[np.float32]:
        """Shape (n_targets,)."""
        ids, weights = self.weights.weigh(terms)
        return weights.astype(np.float32) @ self._by_term[ids]

    def rows_to_each(self, documents: sparse.csr_array[np.float64]) -> NDArray[np.float32]:
        """The same for pages weighed before, one in a row. Shape (n_documents, n_targets)."""
        places = list(map(slice, documents.indptr[:-1], documents.indptr[1:]))
        ids, weights = documents.indices, documents.data.astype(np.float32)
        # One by one, as to_each does: another order of sums would give other last digits.
        return np.array([weights[place] @ self._by_term[ids[place]] for place in places])

    def to_nearest(self, terms: Terms) -> float:
        """The largest cosine to any target, 0 without targets."""
        if self._last is not None and self._last[0] is terms:
            return self._last[1]
        similarities = self.to_each(terms)
        nearest = float(similarities.max()) if similarities.size else 0.0
        self._last = terms, nearest
        return nearest

    def to_centroid(self, terms: Terms) -> float:
        """Cosine to the mean target: for short texts such as anchors."""
        ids, weights = self.weights.weigh(terms)
        return float(weights @ self._centroid[ids])


class MarkedPages(Protocol):
    """The pages of a session."""

    @property
    def pages(self) -> Sequence[Page]:
        """All that were visited."""
        ...

    @property
    def targets(self) -> Set[int]:
        """Positions of the wanted ones."""
        ...


def target_similarity(graph: MarkedPages, weights: TermWeights | None = None) -> TargetSimilarity:
    """Similarity to a session's targets, terms weighed over all its pages.

    ``weights`` saves work when terms have been weighed over this graph already.
    """
    weights = weights or TermWeights.fit([page.terms for page in graph.pages])
    return TargetSimilarity(weights, [graph.pages[i].terms for i in sorted(graph.targets)])
