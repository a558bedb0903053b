"""The links between recorded pages: how far it is from one to another, and what leads where."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

IntArray = npt.NDArray[np.int32]

UNREACHABLE = -1


@dataclass(frozen=True)
class LinkGraph:
    """Who links to whom among recorded pages: redirects resolved, each pair once, no self-links."""

    indptr: IntArray
    """Shape (pages + 1,): page ``i`` links to ``indices[indptr[i]:indptr[i + 1]]``."""
    indices: IntArray
    """Shape (links,): page numbers, ascending within a row."""

    @classmethod
    def from_rows(cls, rows: Sequence[Iterable[int]]) -> LinkGraph:
        """Build from the pages that each page links to, in any order, repeated or not."""
        targets = [sorted(set(row) - {page}) for page, row in enumerate(rows)]
        indptr = np.zeros(len(targets) + 1, dtype=np.int32)
        np.cumsum([len(row) for row in targets], out=indptr[1:])
        flat = (target for row in targets for target in row)
        return cls(indptr, np.fromiter(flat, dtype=np.int32, count=int(indptr[-1])))

    @property
    def n_pages(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @property
    def n_links(self) -> int:
        """Number of edges."""
        return len(self.indices)

    def links_of(self, page: int) -> IntArray:
        """Pages that ``page`` links to."""
        return self.indices[self.indptr[page] : self.indptr[page + 1]]

    @cached_property
    def reversed(self) -> LinkGraph:
        """Who is linked from whom."""
        turned = self.matrix.T.tocsr()
        turned.sort_indices()
        return LinkGraph(turned.indptr.astype(np.int32), turned.indices.astype(np.int32))

    @cached_property
    def matrix(self) -> csr_array:
        """Shape (pages, pages): 1 where a page links to another."""
        shape = (self.n_pages, self.n_pages)
        ones = np.ones(self.n_links, dtype=np.int8)
        return csr_array((ones, self.indices, self.indptr), shape=shape)

    def best_linked(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Shape (pages,): the largest value of any page that a page links to; 0 without links."""
        best = np.zeros(self.n_pages)
        linking = np.flatnonzero(np.diff(self.indptr))
        if linking.size:
            best[linking] = np.maximum.reduceat(values[self.indices], self.indptr[linking])
        return best

    def hops_from(self, pages: Iterable[int]) -> IntArray:
        """Shape (pages,): links on the shortest path from any of ``pages``; -1 without one."""
        hops = np.full(self.n_pages, UNREACHABLE, dtype=np.int32)
        frontier = np.unique(np.fromiter(pages, dtype=np.int64))
        distance = 0
        while frontier.size:
            hops[frontier] = distance
            reached = self._all_links_of(frontier)
            frontier = np.unique(reached[hops[reached] == UNREACHABLE])
            distance += 1
        return hops

    def hops_to(self, pages: Iterable[int]) -> IntArray:
        """Shape (pages,): links on the shortest path to any of ``pages``; -1 without one."""
        return self.reversed.hops_from(pages)

    def _all_links_of(self, pages: npt.NDArray[np.int64]) -> IntArray:
        """The rows of several pages, one after the other."""
        starts = self.indptr[pages]
        counts = self.indptr[pages + 1] - starts
        # Position in the result minus where the page's part begins, plus where its row begins.
        begins = np.cumsum(counts) - counts
        positions = np.arange(int(counts.sum())) + np.repeat(starts - begins, counts)
        links: IntArray = self.indices[positions]
        return links


class Outlinks:
    """Who links to which URL. Each URL is kept once: a site's pages share most of their links."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._rows: list[array[int]] = []

    @property
    def n_pages(self) -> int:
        """Pages added so far."""
        return len(self._rows)

    @property
    def urls(self) -> Collection[str]:
        """Every URL that some page links to, in order of first appearance."""
        return self._numbers.keys()

    def add_page(self, links: Iterable[str]) -> None:
        """Add the distinct links of the next page."""
        numbers = self._numbers
        self._rows.append(array("i", [numbers.setdefault(url, len(numbers)) for url in links]))

    def count(self, wanted: Callable[[str], bool]) -> int:
        """How many (page, URL) pairs have a URL that is ``wanted``."""
        chosen = [wanted(url) for url in self._numbers]
        return sum(chosen[number] for row in self._rows for number in row)

    def graph(self, resolve: Callable[[str], int | None]) -> LinkGraph:
        """The links between pages; ``resolve`` gives the page that a URL leads to."""
        pages = [resolve(url) for url in self._numbers]
        rows = [
            [page for number in row if (page := pages[number]) is not None] for row in self._rows
        ]
        return LinkGraph.from_rows(rows)


def links_inside(graph: LinkGraph, allowed: npt.NDArray[np.bool_]) -> LinkGraph:
    """The graph without links that start or end at a page that is not allowed; same numbering."""
    sources = _link_sources(graph)
    kept = allowed[sources] & allowed[graph.indices]
    counts = np.bincount(sources[kept], minlength=len(allowed))
    indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    return LinkGraph(indptr, graph.indices[kept])


def links_outside(graph: LinkGraph, closed: Collection[int]) -> LinkGraph:
    """The graph without links that start or end at a closed page; same numbering."""
    if not closed:
        return graph
    allowed = np.ones(graph.n_pages, dtype=np.bool_)
    allowed[list(closed)] = False
    return links_inside(graph, allowed)


def _link_sources(graph: LinkGraph) -> IntArray:
    """The page each link starts from, in the order of ``graph.indices``."""
    return np.repeat(np.arange(graph.n_pages, dtype=np.int32), np.diff(graph.indptr))


class AnswerReach:
    """Answers that can be reached from any page, for one graph and many questions.

    A crawl from a page can find everything that links lead to. Asking that of every page by itself
    would cost one walk through the graph per page; here pages that reach each other are merged
    first (strongly connected components), and what each component reaches is passed along the
    remaining links once, against their direction, as one bit per answer.
    """

    def __init__(self, graph: LinkGraph) -> None:
        count, component = connected_components(graph.matrix, directed=True, connection="strong")
        self._component: list[int] = component.tolist()
        links = np.stack([component[_link_sources(graph)], component[graph.indices]])
        between = np.unique(links[:, links[0] != links[1]], axis=1)
        self._above: list[list[int]] = [[] for _ in range(count)]
        """For each component, those that link to it."""
        for source, destination in between.T.tolist():
            self._above[destination].append(source)
        self._order = _bottom_up(np.bincount(between[0], minlength=count).tolist(), self._above)

    def masks(self, answers: Sequence[Sequence[int]]) -> list[int]:
        """For every page, a bit set: bit ``i`` is one when a page of ``answers[i]`` is reachable.

        Each answer is a group of pages that count as one and the same.
        """
        reached = [0] * len(self._above)
        for bit, pages in enumerate(answers):
            for page in pages:
                reached[self._component[page]] |= 1 << bit
        for component in self._order:
            mask = reached[component]
            if mask:
                for above in self._above[component]:
                    reached[above] |= mask
        return [reached[component] for component in self._component]


def _bottom_up(waiting: list[int], above: Sequence[Sequence[int]]) -> list[int]:
    """All components, each after those it links to, of which ``waiting`` says how many."""
    order = [component for component, links in enumerate(waiting) if links == 0]
    for component in order:  # grows while it is read
        for source in above[component]:
            waiting[source] -= 1
            if waiting[source] == 0:
                order.append(source)
    return order
