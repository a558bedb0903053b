"""How much the words of a link are those of the pages that were wanted."""

from __future__ import annotations

import numpy as np

from trailhound.judges.contrast import Contrast, ContrastJudge
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.trail.columns import Ids, Vector
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
        self._tables = {column: np.zeros(N_NUMBERS) for column in by_column}
        for field in (field for fields in _READ.values() for field in fields):
            for column, values in by_column.items():
                self._tables[column][numbers(field, sums)] = values

    def read_phrases(self, phrases: Phrases, first: int) -> None:
        """Fill in the columns of the phrases from one on."""
        words, lengths = phrases.since(first)
        owners = np.repeat(np.arange(len(lengths)), lengths)
        for column, table in self._tables.items():
            sums = np.bincount(owners, table[words], len(lengths))
            phrases.columns[column][first : phrases.columns.size] = sums

    def read(self, phrases: Phrases, found: Ids) -> dict[str, Vector]:
        """By the names of the table's columns, a figure for each link; rows are its phrases."""
        figures = {}
        for name, fields in _READ.items():
            read = found[:, [FIELDS.index(field) for field in fields]]
            idf, like, wanted = (phrases.columns[each][read].sum(axis=1) for each in self._tables)
            length = np.sqrt(np.maximum(idf, 1e-9))
            figures[f"cos_{name}"], figures[f"wanted_{name}"] = like / length, wanted / length
        return figures

    def each(self, words: Ids) -> tuple[Vector, Vector]:
        """What each word of one text adds to its likeness, and to its side of the plane."""
        idf, like, wanted = (table[words] for table in self._tables.values())
        length = np.sqrt(max(float(idf.sum()), 1e-9))
        return like / length, wanted / length
