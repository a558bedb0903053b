"""Term weights as in the hidden-Markov papers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

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

    def _weighed(self, terms: Terms) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        size = len(terms)
        columns = np.fromiter(map(self.vocabulary.get, terms, repeat(-1)), np.int64, size)
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
