"""How much the words of a link are those of the pages that were wanted."""

from __future__ import annotations

import numpy as np

from trailhound.judges.contrast import Contrast, ContrastJudge
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.trail.columns import Ids, Matrix, Vector
from trailhound.strategies.trail.phrases import FIELDS, N_NUMBERS, Phrases, checksums, numbers
from trailhound.text.tfidf import TermWeights

_READ = FIELDS[:3]
"""Anchor and address are taken together; the words around a link are by themselves."""


class WantedWords:
    """Likeness to the targets' centroid, and which side of the plane to other pages words are on.

    Both are sums over words, made once for each phrase.
    """

    def __init__(self, graph: PageGraph) -> None:
        documents = [page.terms for page in graph.pages]
        weights = TermWeights.fit(documents)
        matrix = weights.matrix(documents)
        centroid: Vector = np.asarray(matrix[sorted(graph.targets)].sum(axis=0)).ravel()
        length = float(np.linalg.norm(centroid))
        centroid = centroid / length if length > 0 else centroid
        has_contrast = ContrastJudge.suits(graph)
        plane = Contrast(graph, matrix).separation.coefficients if has_contrast else 10 * centroid
        sums = checksums(weights.vocabulary)
        added = np.array([weights.idf**2, weights.idf * centroid, weights.idf * plane])
        self.tables = np.zeros((len(added), N_NUMBERS), np.float32)
        """What each word adds to a phrase's column ``likeness``."""
        for field in _READ:
            self.tables[:, numbers(field, sums)] = added

    def read(self, phrases: Phrases, found: Ids) -> Matrix:
        """What links say, the first ``N_LIKE`` numbers; rows of ``found`` are their phrases."""
        said = phrases.columns["likeness"].take(found[:, : len(_READ)], axis=0)
        both = np.array([said[:, 0] + said[:, 1], said[:, 2]])
        length = np.sqrt(np.maximum(both[..., :1], 1e-9))
        return np.asarray((both[..., 1:] / length).transpose(1, 2, 0).reshape(-1, 4))

    def each(self, words: Ids) -> tuple[Vector, Vector]:
        """What each word of one text adds to its likeness, and to its side of the plane."""
        idf, like, wanted = self.tables[:, words]
        length = np.sqrt(max(float(idf.sum()), 1e-9))
        return like / length, wanted / length
