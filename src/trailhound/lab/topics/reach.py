"""Which answers can be reached from which page.

A crawl from a page can find everything that links lead to. Asking that of every page by itself
would cost one walk through the graph per page; here pages that reach each other are merged first
(strongly connected components), and what each component reaches is passed along the remaining
links once, against their direction, as one bit per answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from trailhound.lab.corpora import LinkGraph
from trailhound.lab.corpora.packing import IntArray


def links_inside(graph: LinkGraph, allowed: NDArray[np.bool_]) -> LinkGraph:
    """The graph without links that start or end at a page that is not allowed; same numbering."""
    sources = link_sources(graph)
    kept = allowed[sources] & allowed[graph.indices]
    counts = np.bincount(sources[kept], minlength=len(allowed))
    indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    return LinkGraph(indptr, graph.indices[kept])


def link_sources(graph: LinkGraph) -> IntArray:
    """The page each link starts from, in the order of ``graph.indices``."""
    return np.repeat(np.arange(graph.n_pages, dtype=np.int32), np.diff(graph.indptr))


class AnswerReach:
    """Answers that can be reached from any page, for one graph and many questions."""

    def __init__(self, graph: LinkGraph) -> None:
        ones = np.ones(graph.n_links, dtype=np.int8)
        shape = (graph.n_pages, graph.n_pages)
        matrix = csr_array((ones, graph.indices, graph.indptr), shape=shape)
        count, component = connected_components(matrix, directed=True, connection="strong")
        self._n_components = int(count)
        self._component: list[int] = component.tolist()
        links = np.stack([component[link_sources(graph)], component[graph.indices]])
        between = np.unique(links[:, links[0] != links[1]], axis=1)
        self._order = _bottom_up(between, self._n_components)
        self._above = _predecessors(between, self._n_components)

    def masks(self, answers: Sequence[Sequence[int]]) -> list[int]:
        """For every page, a bit set: bit ``i`` is one when a page of ``answers[i]`` is reachable.

        Each answer is a group of pages that count as one and the same.
        """
        reached = [0] * self._n_components
        for bit, pages in enumerate(answers):
            for page in pages:
                reached[self._component[page]] |= 1 << bit
        for component in self._order:
            mask = reached[component]
            if mask:
                for above in self._above[component]:
                    reached[above] |= mask
        return [reached[component] for component in self._component]


def _predecessors(between: IntArray, n_components: int) -> list[list[int]]:
    """For each component, those that link to it. ``between`` is (2, links): source, destination."""
    above: list[list[int]] = [[] for _ in range(n_components)]
    for source, destination in between.T.tolist():
        above[destination].append(source)
    return above


def _bottom_up(between: IntArray, n_components: int) -> list[int]:
    """All components, each after every component it links to."""
    above = _predecessors(between, n_components)
    waiting: list[int] = np.bincount(between[0], minlength=n_components).tolist()
    order = [component for component, links in enumerate(waiting) if links == 0]
    for component in order:  # grows while it is read
        for source in above[component]:
            waiting[source] -= 1
            if waiting[source] == 0:
                order.append(source)
    return order
