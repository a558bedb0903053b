"""X-means: known numbers of clusters, and good manners on few or equal points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from trailhound.errors import ModelError, UsageError
from trailhound.models.xmeans import XMeans, bic


def blobs(n_blobs: int, n_each: int = 60) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Round, unit-variance blobs, each twenty out on an axis of its own; the blob of each point."""
    generator = np.random.default_rng(4)
    truth = np.repeat(np.arange(n_blobs), n_each)
    return 20 * np.eye(7)[truth] + generator.normal(size=(len(truth), 7)), truth


@pytest.mark.parametrize("n_blobs", [3, 4, 5, 7])
def test_well_separated_blobs_are_counted(n_blobs: int) -> None:
    points, truth = blobs(n_blobs)
    model = XMeans().fit(points)
    assert model.n_clusters_ == n_blobs
    assert len(set(zip(model.labels_.tolist(), truth.tolist(), strict=True))) == n_blobs
    order = np.argsort(-model.cluster_centers_.max(axis=0))[:n_blobs]
    assert sorted(order.tolist()) == list(range(n_blobs))


def test_one_blob_stays_at_the_smallest_number() -> None:
    points = np.random.default_rng(0).normal(size=(300, 6))
    assert XMeans().fit(points).n_clusters_ == 3
    assert XMeans(min_clusters=1).fit(points).n_clusters_ == 1


def test_the_largest_number_is_kept_to() -> None:
    assert XMeans(min_clusters=2, max_clusters=4).fit(blobs(7)[0]).n_clusters_ == 4
    assert XMeans(min_clusters=3, max_clusters=3).fit(blobs(7)[0]).n_clusters_ == 3


def test_the_same_random_state_gives_the_same_clusters() -> None:
    points = np.random.default_rng(2).normal(size=(400, 20))
    first, second = XMeans(random_state=7).fit(points), XMeans(random_state=7).fit(points)
    assert first.cluster_centers_.tobytes() == second.cluster_centers_.tobytes()
    assert first.labels_.tolist() == second.labels_.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_of_the_points_is_kept(dtype: type[np.floating]) -> None:
    model = XMeans().fit(blobs(3)[0].astype(dtype))
    assert model.n_clusters_ == 3
    assert model.cluster_centers_.dtype == dtype


@pytest.mark.parametrize(
    ("points", "n_clusters"),
    [
        ([[1.0, 2.0]], 1),
        ([[1.0, 2.0], [3.0, 4.0]], 2),
        ([[1.0, 2.0]] * 9, 1),
        ([[1.0, 2.0]] * 5 + [[3.0, 4.0]] * 5, 2),
        ([[0.0, 0.0]] * 3, 1),
    ],
)
def test_fewer_distinct_points_than_clusters(points: list[list[float]], n_clusters: int) -> None:
    model = XMeans().fit(points)
    assert model.n_clusters_ == n_clusters
    assert len(model.labels_) == len(points)
    assert len(set(model.labels_.tolist())) == n_clusters


def test_points_that_differ_by_rounding_cause_no_warning() -> None:
    noise = np.random.default_rng(0).normal(size=(40, 3)) * 1e-16
    model = XMeans().fit(np.full((40, 3), 0.5) + noise)
    assert 1 <= model.n_clusters_ <= 8


def test_five_pages_are_enough() -> None:
    model = XMeans().fit(np.random.default_rng(0).normal(size=(5, 30)))
    assert 3 <= model.n_clusters_ <= 5


@settings(max_examples=40)
@given(
    arrays.arrays(
        st.sampled_from([np.float32, np.float64]),
        st.tuples(st.integers(1, 12), st.integers(1, 4)),
        elements=st.floats(-1, 1, width=32),
    )
)
def test_any_points_get_clusters_without_gaps(points: NDArray[np.floating]) -> None:
    model = XMeans(n_init=1).fit(points)
    assert set(model.labels_.tolist()) == set(range(model.n_clusters_))
    assert model.n_clusters_ <= min(8, len(points))
    assert np.isfinite(model.cluster_centers_).all()


def test_the_criterion_by_hand() -> None:
    # Points 0 and 2 about 1, 10 and 12 about 11: R=4, M=1, K=2, σ² = 4 / (1 · 2) = 2.
    points = np.array([[0.0], [2.0], [10.0], [12.0]])
    two = 4 * math.log(0.5) - 2 * math.log(2 * math.pi * 2) - 1 - 4 / 2 * math.log(4)
    assert bic(points, np.array([0, 0, 1, 1])) == pytest.approx(two)
    # One cluster about 6: Σ|x-μ|² = 36+16+16+36 = 104, σ² = 104/3, p = 2.
    one = -2 * math.log(2 * math.pi * 104 / 3) - 1.5 - math.log(4)
    assert bic(points, np.array([0, 0, 0, 0])) == pytest.approx(one)
    assert two > one


def test_what_cannot_be_clustered_is_refused() -> None:
    with pytest.raises(ModelError, match="nothing to cluster"):
        XMeans().fit(np.zeros((0, 3)))
    with pytest.raises(ModelError, match="finite"):
        XMeans().fit([[math.nan]])
    with pytest.raises(UsageError, match=r"\[5, 4\]"):
        XMeans(min_clusters=5, max_clusters=4).fit([[1.0]])
