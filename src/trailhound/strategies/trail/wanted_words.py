"""How much the words of a link are those of the pages that were wanted."""

from __future__ import annotations

import numpy as np

from trailhound.judges.contrast import Contrast, ContrastJudge
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.trail.columns import Ids, Vector
from trailhound.strategies.trail.link_words import N_NUMBERS, PageLinks, number
from trailhound.text.tfidf import TermWeights


class WantedWords:
    """Likeness to the targets' centroid, and which side of the plane to other pages words are on.

    Both are looked up word by word, for anchor and address together, and for the words around.
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
        self._idf, self._centroid, self._plane = np.zeros((3, N_NUMBERS))
        for field in ("anchor", "address", "context"):
            places = [number(field, term) for term in weights.vocabulary]
            self._idf[places] = weights.idf
            self._centroid[places] = centroid
            self._plane[places] = plane

    def read(self, found: PageLinks) -> dict[str, Vector]:
        """By the names of the table's columns, a figure for each link."""
        n = len(found.urls)
        owners = np.repeat(np.arange(n), found.lengths)
        figures = {}
        for name, chosen in (("short", found.short), ("around", found.around)):
            words, links = found.words[chosen], owners[chosen]
            idf = self._idf[words]
            length = np.sqrt(np.maximum(_sums(idf * idf, links, n), 1e-9))
            figures[f"cos_{name}"] = _sums(idf * self._centroid[words], links, n) / length
            figures[f"wanted_{name}"] = _sums(idf * self._plane[words], links, n) / length
        return figures


def _sums(values: Vector, rows: Ids, n: int) -> Vector:
    return np.bincount(rows, values, n).astype(np.float64)
