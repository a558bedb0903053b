"""X-means: k-means that finds its own number of clusters (Pelleg & Moore, ICML 2000).

Starting with the smallest number allowed, each cluster is split in two where the Bayesian
information criterion prefers two spherical Gaussians to one; k-means over all points then settles
the borders, and so on until nothing splits or the largest number is reached. In very few
dimensions a group that falls into four may look indivisible, because no cut in two pays.

k-means is Lloyd's, from seeds drawn as k-means++ draws them (Arthur & Vassilvitskii, SODA 2007).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailhound.errors import ModelError, UsageError

Points = NDArray[np.floating]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class _Clustering:
    centers: Points
    labels: Labels
    spread: float
    """Σ|x - c|² over the points and the centers of their clusters."""


class XMeans:
    """A scikit-learn style estimator: arguments are stored, ``fit`` learns the ``..._`` names.

    ``min_clusters`` and ``max_clusters`` bound the number of clusters; there are never more than
    distinct points. ``n_init`` is the number of restarts of each k-means. Points are float32 or
    float64, shape (n_points, n_dimensions); the same ``random_state`` gives the same clusters.
    """

    cluster_centers_: Points
    """Shape (n_clusters_, n_dimensions), in the points' precision."""
    labels_: Labels
    """Cluster of each training point, shape (n_points,)."""
    n_clusters_: int

    def __init__(
        self, min_clusters: int = 3, max_clusters: int = 8, n_init: int = 5, random_state: int = 0
    ) -> None:
        self.min_clusters = min_clusters
        self.max_clusters = max_clusters
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: ArrayLike) -> Self:
        """Find the clusters of the rows of ``X``."""
        if not 1 <= self.min_clusters <= self.max_clusters:
            raise UsageError(
                f"The number of clusters cannot lie in [{self.min_clusters}, {self.max_clusters}]. "
                "The bounds must be at least 1, the smaller one first."
            )
        points = _as_points(X)
        n_distinct = len(np.unique(points, axis=0))
        best = self._search(points, min(self.min_clusters, n_distinct), n_distinct)
        self.cluster_centers_, self.labels_ = best.centers, best.labels
        self.n_clusters_ = len(best.centers)
        return self

    def _search(self, points: Points, n_clusters: int, n_distinct: int) -> _Clustering:
        """The best clustering met while clusters are being split."""
        limit = min(self.max_clusters, n_distinct)
        current = best = self._k_means(points, n_clusters)
        highest = bic(points, best.labels)
        while len(current.centers) < limit:
            refined = _settled(points, self._split(points, current, limit))
            if len(refined.centers) <= len(current.centers):
                break
            current, criterion = refined, bic(points, refined.labels)
            if criterion > highest:
                best, highest = current, criterion
        return best

    def _split(self, points: Points, current: _Clustering, limit: int) -> Points:
        """Centers after the splits that gain most, as many as the limit leaves room for."""
        splits: list[tuple[float, int, Points]] = []
        for cluster in range(len(current.centers)):
            members = points[current.labels == cluster]
            if len(members) > 2 and len(np.unique(members, axis=0)) > 1:
                halves = self._k_means(members, 2)
                gain = bic(members, halves.labels) - bic(members, np.zeros(len(members), np.int64))
                splits.append((gain, cluster, halves.centers))
        room = limit - len(current.centers)
        gainful = [split for split in splits if split[0] > 0]
        chosen = sorted(gainful, key=lambda split: -split[0])[:room]
        kept = np.delete(current.centers, [cluster for _, cluster, _ in chosen], axis=0)
        return np.concatenate([kept, *(halves for _, _, halves in chosen)])

    def _k_means(self, points: Points, n_clusters: int) -> _Clustering:
        """The closest clusters of several starts."""
        random = np.random.RandomState(self.random_state)
        starts = [
            _settled(points, points[_seeds(points, n_clusters, random)]) for _ in range(self.n_init)
        ]
        return min(starts, key=lambda clustering: clustering.spread)


def _seeds(points: Points, n_seeds: int, random: np.random.RandomState) -> Labels:
    """Indices of points far from each other: of a few drawn by |x - nearest seed|², the best."""
    seeds = [int(random.uniform() * len(points))]
    nearest = _distances(points, points[seeds])[:, 0]
    for _ in range(1, n_seeds):
        drawn = random.uniform(size=2 + int(np.log(n_seeds))) * nearest.sum()
        candidates = np.searchsorted(np.cumsum(nearest), drawn).clip(max=len(points) - 1)
        left = np.minimum(nearest[:, None], _distances(points, points[candidates]))
        best = int(left.sum(axis=0).argmin())
        seeds.append(int(candidates[best]))
        nearest = left[:, best]
    return np.array(seeds)


def _settled(points: Points, centers: Points) -> _Clustering:
    """Lloyd's algorithm: points go to the nearest center, centers to the mean of their points.

    Points that differ by rounding only may fall into fewer clusters than there were centers.
    """
    labels = np.full(len(points), -1)
    for _ in range(_MOST_ROUNDS):
        distances = _distances(points, centers)
        before, labels = labels, distances.argmin(axis=1)
        if np.array_equal(before, labels):
            break
        _, labels = np.unique(labels, return_inverse=True)
        centers = _means(points, labels).astype(points.dtype)
    return _Clustering(centers, labels.astype(np.int64), float(distances.min(axis=1).sum()))


def _distances(points: Points, centers: Points) -> Points:
    """|x - c|² = |x|² + |c|² - 2 x·c, shape (n_points, n_centers)."""
    x, c = points.astype(np.float64), centers.astype(np.float64)
    with np.errstate(invalid="ignore"):  # some BLAS kernels raise the flag for finite points
        squares = (x * x).sum(axis=1)[:, None] + (c * c).sum(axis=1) - 2 * x @ c.T
    distances: Points = squares.clip(min=0)  # rounding may leave less than nothing
    return distances


def _means(points: Points, labels: Labels) -> Points:
    """Mean of each cluster, shape (n_clusters, n_dimensions)."""
    clusters = range(int(labels.max()) + 1)
    return np.stack(
        [points[labels == cluster].mean(axis=0, dtype=np.float64) for cluster in clusters]
    )


def bic(points: Points, labels: Labels) -> float:
    """Bayesian information criterion of spherical Gaussians that share one variance.

    With R points in M dimensions, K clusters of R_k points, and the variance that the points have
    about their means, σ² = Σ|x - μ|² / (M (R - K))::

        log L = Σ_k R_k log(R_k / R) - (R M / 2) log(2 π σ²) - M (R - K) / 2
        BIC   = log L - (p / 2) log R,      p = (K - 1) + K M + 1

    Infinite when every point sits on its cluster's mean.
    """
    data = points.astype(np.float64)
    n_points, n_dimensions = data.shape
    sizes = np.bincount(labels)
    n_clusters = len(sizes)
    spread = float(((data - _means(data, labels)[labels]) ** 2).sum())
    freedom = n_dimensions * (n_points - n_clusters)
    # Rounding leaves a spread of about 1e-32 |x|² where there is none.
    if freedom == 0 or spread <= _ROUNDING * float((data**2).sum()):
        return float("inf")
    log_likelihood = (
        float((sizes * np.log(sizes / n_points)).sum())
        - n_points * n_dimensions / 2 * np.log(2 * np.pi * spread / freedom)
        - freedom / 2
    )
    n_parameters = n_clusters + n_clusters * n_dimensions
    return float(log_likelihood - n_parameters / 2 * np.log(n_points))


_ROUNDING = 1e-24
_MOST_ROUNDS = 300


def _as_points(X: ArrayLike) -> Points:
    points = np.asarray(X)
    if points.dtype != np.float32:
        points = points.astype(np.float64)
    if points.ndim != 2 or len(points) == 0:
        raise ModelError(
            f"There is nothing to cluster in an array of shape {points.shape}: one row per page "
            "is needed. Browse more pages that are not targets."
        )
    if not np.isfinite(points).all():
        raise ModelError("Points to cluster must be finite numbers. Learn the vectors anew.")
    return points
