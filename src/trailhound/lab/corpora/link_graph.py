"""The links between recorded pages, as compressed sparse rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from trailhound.lab.corpora.packing import IntArray

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

    def reversed(self) -> LinkGraph:
        """Who is linked from whom. Computed once."""
        return self._reversed

    @cached_property
    def _reversed(self) -> LinkGraph:
        ones = np.ones(self.n_links, dtype=np.int8)
        shape = (self.n_pages, self.n_pages)
        turned = csr_array((ones, self.indices, self.indptr), shape=shape).T.tocsr()
        turned.sort_indices()
        return LinkGraph(turned.indptr.astype(np.int32), turned.indices.astype(np.int32))

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
        return self.reversed().hops_from(pages)

    def _all_links_of(self, pages: npt.NDArray[np.int64]) -> IntArray:
        """The rows of several pages, one after the other."""
        starts = self.indptr[pages]
        counts = self.indptr[pages + 1] - starts
        # Position in the result minus where the page's part begins, plus where its row begins.
        begins = np.cumsum(counts) - counts
        positions = np.arange(int(counts.sum())) + np.repeat(starts - begins, counts)
        links: IntArray = self.indices[positions]
        return links
