"""How much the words of a link are those of the pages that were wanted."""

from __future__ import annotations

import numpy as np

from trailhound.judges.contrast import Contrast, ContrastJudge
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.trail.columns import Ids, Matrix, Vector
from trailhound.strategies.trail.phrases import FIELDS, N_NUMBERS, Phrases, checksums, numbers
from trailhound.text.tfidf import TermWeights

_READ = {"short": ("anchor", "address"), "around": ("context",)}
"""Anchor and address are taken together; so are the words around a link."""


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
        by_column = {"idf": weights.idf**2, "like": weights.idf * centroid}
        by_column["wanted"] = weights.idf * plane
        self.tables = {column: np.zeros(N_NUMBERS, np.float32) for column in by_column}
        """By the names of the phrases' columns: what each word adds to them."""
        for field in (field for fields in _READ.values() for field in fields):
            for column, values in by_column.items():
                self.tables[column][numbers(field, sums)] = values

    def read(self, phrases: Phrases, found: Ids) -> Matrix:
        """The first of the table's columns ``WORDS`` for links; rows of ``found`` are phrases."""
        figures: dict[str, list[Vector]] = {"like": [], "wanted": []}
        for fields in _READ.values():
            read = found[:, [FIELDS.index(field) for field in fields]]
            length = np.sqrt(np.maximum(phrases.columns["idf"][read].sum(axis=1), 1e-9))
            for column, values in figures.items():
                values.append(phrases.columns[column][read].sum(axis=1) / length)
        return np.column_stack([*figures["like"], *figures["wanted"]])

    def each(self, words: Ids) -> tuple[Vector, Vector]:
        """What each word of one text adds to its likeness, and to its side of the plane."""
        idf, like, wanted = (table[words] for table in self.tables.values())
        length = np.sqrt(max(float(idf.sum()), 1e-9))
        return like / length, wanted / length
