"""The vote of the nearest training pages, worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trailhound.errors import UsageError
from trailhound.models.topic_model import NearestClusters


def directions(*degrees: float) -> NDArray[np.float32]:
    """Unit vectors in the plane, so that a cosine can be read off the angles."""
    angles = np.radians(np.array(degrees))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def direction(degrees: float) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = directions(degrees)[0]
    return unit


def labels(*clusters: int) -> NDArray[np.int64]:
    return np.array(clusters, np.int64)


def test_one_neighbour_decides_alone() -> None:
    nearest = NearestClusters(directions(0, 40, 80), labels(0, 1, 2), n_neighbours=1)
    assert [nearest.cluster_of(direction(angle)) for angle in (10, 30, 70)] == [0, 1, 2]


def test_votes_weigh_cosines_and_divide_by_the_root_of_the_size() -> None:
    # At 0°: cluster 1 (four pages) has cos 20° + cos 20° = 1.879, halved to 0.940; cluster 2 (one
    # page) has cos 30° = 0.866.
    points = directions(20, -20, 90, 90, 30)
    clusters = labels(1, 1, 1, 1, 2)
    assert 2 * math.cos(math.radians(20)) / 2 > math.cos(math.radians(30))
    assert NearestClusters(points, clusters, 3).cluster_of(direction(0)) == 1
    # With the second page at 40° the votes are (0.940 + 0.766) / 2 = 0.853 and 0.866.
    further = directions(20, -40, 90, 90, 30)
    assert NearestClusters(further, clusters, 3).cluster_of(direction(0)) == 2
    # Without regard to size cluster 1 wins, and by shares of a cluster it loses in both cases.
    assert NearestClusters(further, clusters, 3, size_power=0).cluster_of(direction(0)) == 1
    assert NearestClusters(points, clusters, 3, size_power=1).cluster_of(direction(0)) == 2


def test_only_the_nearest_vote() -> None:
    points, clusters = directions(0, 30, 35, 40), labels(1, 2, 2, 2)
    vote = [
        NearestClusters(points, clusters, n, size_power=0).cluster_of(direction(0))
        for n in (1, 2, 3, 4)
    ]
    assert vote == [1, 1, 2, 2]


def test_a_session_with_one_target_can_yield_the_target_cluster() -> None:
    # One target at 0°, sixteen other pages close together at 30°, and a new page at the target.
    points = directions(0, *[30] * 16)
    clusters = labels(0, *[1] * 16)
    assert NearestClusters(points, clusters, 5, size_power=0).cluster_of(direction(0)) == 1, (
        "a plain majority of five outvotes the only target: the reason for the weights"
    )
    assert NearestClusters(points, clusters, 5).cluster_of(direction(0)) == 0
    assert NearestClusters(points, clusters, 5).cluster_of(direction(30)) == 1


def test_to_the_letter_every_neighbour_has_one_vote() -> None:
    # At 0°: cos 0° = 1 for cluster 1; cos 80° twice, 0.347 in all, for cluster 2: two votes to one.
    points, clusters = directions(0, 80, -80, 170), labels(1, 2, 2, 1)
    assert NearestClusters(points, clusters, 3, size_power=0).cluster_of(direction(0)) == 1
    plain = NearestClusters(points, clusters, 3, majority=True)
    assert plain.cluster_of(direction(0)) == 2
    # Two more pages join cluster 0: of the three nearest, two.
    assert plain.with_targets(directions(5, -5)).cluster_of(direction(0)) == 0
    # The only target loses against the four others of five, as the papers have it.
    alone = NearestClusters(directions(0, *[30] * 16), labels(0, *[1] * 16), 5, majority=True)
    assert alone.cluster_of(direction(0)) == 1


def test_a_page_without_known_words_is_an_ordinary_page_of_the_largest_cluster() -> None:
    nearest = NearestClusters(directions(0, 0, 0, 60, 60, 90), labels(0, 0, 0, 2, 2, 1), 3)
    assert nearest.cluster_of(np.zeros(2, np.float32)) == 2


def test_a_page_unlike_all_others_is_an_ordinary_page_too() -> None:
    nearest = NearestClusters(directions(0, 10, 20), labels(0, 1, 1), 3)
    assert nearest.cluster_of(direction(190)) == 1


def test_where_all_pages_are_targets_every_page_looks_like_one() -> None:
    nearest = NearestClusters(directions(0, 90), labels(0, 0), 5)
    assert nearest.cluster_of(direction(45)) == 0
    assert nearest.cluster_of(np.zeros(2, np.float32)) == 0


def test_more_neighbours_than_pages_means_all_of_them() -> None:
    nearest = NearestClusters(directions(0), labels(1), n_neighbours=50)
    assert nearest.cluster_of(direction(60)) == 1


def test_a_tie_goes_to_the_smaller_number() -> None:
    twins = NearestClusters(directions(15, 15), labels(2, 1), 2)
    assert twins.cluster_of(direction(0)) == 1


def test_pages_that_join_the_targets_vote_for_cluster_0() -> None:
    before = NearestClusters(directions(0, 60, 90), labels(0, 1, 1), 1)
    after = before.with_targets(directions(65))
    assert before.cluster_of(direction(66)) == 1
    assert after.cluster_of(direction(66)) == 0
    assert after.cluster_of(direction(88)) == 1


@pytest.mark.parametrize("n_neighbours", [0, -1])
def test_somebody_has_to_vote(n_neighbours: int) -> None:
    with pytest.raises(UsageError, match="At least 1 training page"):
        NearestClusters(directions(0), labels(0), n_neighbours)


angles = st.integers(0, 359)


@given(
    st.lists(st.tuples(angles, st.integers(0, 4)), min_size=1, max_size=20),
    angles,
    st.integers(1, 7),
)
def test_any_page_gets_a_cluster_that_exists(
    trained: list[tuple[int, int]], angle: int, n_neighbours: int
) -> None:
    points = directions(*(at for at, _ in trained))
    clusters = labels(*(cluster for _, cluster in trained))
    found = NearestClusters(points, clusters, n_neighbours).cluster_of(direction(angle))
    assert found in set(clusters.tolist())
