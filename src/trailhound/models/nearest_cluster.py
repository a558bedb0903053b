"""Which cluster a new page belongs to: a vote of its nearest training pages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trailhound.errors import UsageError


class NearestClusters:
    """k nearest neighbours by cosine.

    A vote weighs the neighbour's cosine, divided by a power of its cluster's size. With the plain
    majority of the papers a session with one target could never yield cluster 0 for k ≥ 3.
    ``points`` are the training pages' unit vectors, shape (n_pages, rank); ``clusters`` has shape
    (n_pages,); ``size_power`` 0 ignores cluster sizes, 1 votes by the share of a cluster that is
    near.
    """

    def __init__(
        self,
        points: NDArray[np.float32],
        clusters: NDArray[np.int64],
        n_neighbours: int = 5,
        size_power: float = 0.5,
    ) -> None:
        if n_neighbours < 1:
            raise UsageError(
                f"At least 1 training page must vote on a cluster, not {n_neighbours}."
            )
        self._size_power = size_power
        sizes = np.bincount(clusters, minlength=1)
        self._points = points
        self._clusters = clusters
        self._n_neighbours = min(n_neighbours, len(points))
        self._vote_weights = (np.maximum(sizes, 1.0) ** -size_power)[clusters].astype(np.float32)
        # For a page without any known word: the largest cluster of ordinary pages.
        self._default = int(sizes[1:].argmax()) + 1 if len(sizes) > 1 else 0

    def with_targets(self, points: NDArray[np.float32]) -> NearestClusters:
        """The same with more pages in cluster 0. Shape of ``points``: (n_new, rank)."""
        return NearestClusters(
            np.concatenate([self._points, points]),
            np.concatenate([self._clusters, np.zeros(len(points), np.int64)]),
            self._n_neighbours,
            self._size_power,
        )

    def cluster_of(self, point: NDArray[np.float32]) -> int:
        """The winning cluster; ties go to the smaller number."""
        cosines = self._points @ point
        nearest = np.argpartition(-cosines, self._n_neighbours - 1)[: self._n_neighbours]
        votes = np.maximum(cosines[nearest], 0) * self._vote_weights[nearest]
        if not votes.any():
            return self._default
        return int(np.bincount(self._clusters[nearest], votes).argmax())
