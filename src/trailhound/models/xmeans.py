"""X-means: k-means that finds its own number of clusters (Pelleg & Moore, ICML 2000).

Starting with the smallest number allowed, each cluster is split in two where the Bayesian
information criterion prefers two spherical Gaussians to one; k-means over all points then settles
the borders, and so on until nothing splits or the largest number is reached. In very few
dimensions a group that falls into four may look indivisible, because no cut in two pays.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from trailhound.errors import ModelError, UsageError

Points = NDArray[np.floating]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class _Clustering:
    centers: Points
    labels: Labels
    bic: float


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
        # One thread: the order of sums is fixed, and so few points gain nothing from more.
        with threadpool_limits(limits=1, user_api="openmp"):
            best = self._search(points, min(self.min_clusters, n_distinct), n_distinct)
        self.cluster_centers_, self.labels_ = best.centers, best.labels
        self.n_clusters_ = len(best.centers)
        return self

    def predict(self, X: ArrayLike) -> Labels:
        """The nearest center of each row, shape (n_points,)."""
        if not hasattr(self, "cluster_centers_"):
            raise ModelError("XMeans has no clusters yet. Call fit first.")
        points, centers = _as_points(X), self.cluster_centers_
        if points.shape[1] != centers.shape[1]:
            raise ModelError(
                f"Points of {points.shape[1]} dimensions cannot be compared with clusters of "
                f"{centers.shape[1]}. Use the space that the model was learned in."
            )
        # |x - c|² without the part that is the same for every center.
        distances = (centers * centers).sum(axis=1) - 2 * points @ centers.T
        nearest: Labels = distances.argmin(axis=1)
        return nearest

    def _search(self, points: Points, n_clusters: int, n_distinct: int) -> _Clustering:
        """The best clustering met while clusters are being split."""
        limit = min(self.max_clusters, n_distinct)
        current = best = self._k_means(points, n_clusters)
        while len(current.centers) < limit:
            centers = self._split(points, current, limit)
            refined = _fitted(KMeans(len(centers), init=centers, n_init=1), points)
            if len(refined.centers) <= len(current.centers):
                break
            current = refined
            best = max(best, current, key=lambda clustering: clustering.bic)
        return best

    def _split(self, points: Points, current: _Clustering, limit: int) -> Points:
        """Centers after the splits that gain most, as many as the limit leaves room for."""
        splits: list[tuple[float, int, Points]] = []
        for cluster in range(len(current.centers)):
            members = points[current.labels == cluster]
            if len(members) > 2 and len(np.unique(members, axis=0)) > 1:
                halves = self._k_means(members, 2)
                gain = halves.bic - bic(members, np.zeros(len(members), np.int64))
                splits.append((gain, cluster, halves.centers))
        room = limit - len(current.centers)
        gainful = [split for split in splits if split[0] > 0]
        chosen = sorted(gainful, key=lambda split: -split[0])[:room]
        kept = np.delete(current.centers, [cluster for _, cluster, _ in chosen], axis=0)
        return np.concatenate([kept, *(halves for _, _, halves in chosen)])

    def _k_means(self, points: Points, n_clusters: int) -> _Clustering:
        """Clusters from restarts of k-means++."""
        model = KMeans(n_clusters, n_init=self.n_init, random_state=self.random_state)
        return _fitted(model, points)


def _fitted(model: KMeans, points: Points) -> _Clustering:
    # Some BLAS kernels raise the "invalid" flag for finite points; fit refuses others by itself.
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        # Points that differ by rounding only may fall into fewer clusters, which are then used.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(points)
    used, labels = np.unique(model.labels_, return_inverse=True)
    labels = labels.astype(np.int64)
    return _Clustering(model.cluster_centers_[used], labels, bic(points, labels))


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
    sums = np.zeros((n_clusters, n_dimensions))
    np.add.at(sums, labels, data)
    spread = float(((data - (sums / sizes[:, None])[labels]) ** 2).sum())
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
