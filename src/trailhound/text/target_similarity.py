"""How similar a page is to the targets of a browsing session: lexical cosines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from trailhound.sessions.page_graph import PageGraph
from trailhound.text.tfidf import Terms, TermWeights


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


def target_similarity(graph: PageGraph, weights: TermWeights | None = None) -> TargetSimilarity:
    """Similarity to a session's targets, terms weighed over all its pages.

    ``weights`` saves work when terms have been weighed over this graph already.
    """
    weights = weights or TermWeights.fit([page.terms for page in graph.pages])
    return TargetSimilarity(weights, [graph.pages[i].terms for i in sorted(graph.targets)])
