"""The hop HMM against hand calculation, and what must hold for any graph and any path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trailhound.errors import ModelError, UsageError
from trailhound.models.hop_hmm import (
    BELIEF_FLOOR,
    HopHMM,
    fit_hop_hmm,
    pack_belief,
    unpack_belief,
)

# Six pages: 0 is the target (cluster 0), 1 and 2 link to it, 3 and 4 link to them, 5 to 3.
EDGES = [(1, 0), (2, 0), (3, 1), (3, 2), (4, 2), (5, 3), (0, 5)]
LEVELS = [0, 1, 1, 2, 2, 2]  # three states: 5 is three hops away, and the last level is 2
CLUSTERS = [0, 1, 2, 2, 2, 1]

# A hand-sized model with two states and two clusters.
SMALL = HopHMM(np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([[0.9, 0.1], [0.2, 0.8]]))


def test_transitions_and_emissions_by_hand() -> None:
    model = fit_hop_hmm(EDGES, LEVELS, CLUSTERS, n_states=3, n_clusters=2, smoothing=0.5)
    # Links by level: 0>2 once; 1>0 twice; 2>1 three times, 2>2 once. Add 0.5, divide by n + 1.5.
    by_hand = [
        [0.5 / 2.5, 0.5 / 2.5, 1.5 / 2.5],
        [2.5 / 3.5, 0.5 / 3.5, 0.5 / 3.5],
        [0.5 / 5.5, 3.5 / 5.5, 1.5 / 5.5],
    ]
    np.testing.assert_allclose(model.transition, by_hand)
    # Pages by level: T0 one of cluster 0; T1 one each of 1 and 2; T2 one of 1, two of 2.
    emissions_by_hand = [
        [1.5 / 2.5, 0.5 / 2.5, 0.5 / 2.5],
        [0.5 / 3.5, 1.5 / 3.5, 1.5 / 3.5],
        [0.5 / 4.5, 1.5 / 4.5, 2.5 / 4.5],
    ]
    np.testing.assert_allclose(model.emission, emissions_by_hand)
    np.testing.assert_allclose(model.start, [1 / 3] * 3)


def test_the_literal_reading_divides_by_the_column_and_does_not_smooth() -> None:
    model = fit_hop_hmm(EDGES, LEVELS, CLUSTERS, 3, 2, literal=True)
    # Into T0: 2 links, from T1. Into T1: 3, from T2. Into T2: 2, one from T0 and one from T2.
    np.testing.assert_allclose(
        model.transition, [[0.0, 0.0, 0.5], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]
    )
    np.testing.assert_allclose(
        model.emission, [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 1 / 3, 2 / 3]]
    )
    assert model.literal


def test_filter_and_prediction_by_hand() -> None:
    # Start 0.5·(0.9, 0.2) = (0.45, 0.1), normalised (9/11, 2/11).
    first = SMALL.first(0)
    np.testing.assert_allclose(first, [9 / 11, 2 / 11])
    # Predict: 9/11·0.5 + 2/11·0.25 = 5/11, and 6/11.
    np.testing.assert_allclose(SMALL.predict(first), [5 / 11, 6 / 11])
    # Cluster 1: (5·0.1, 6·0.8) = (0.5, 4.8), normalised by 5.3.
    np.testing.assert_allclose(SMALL.step(first, 1), [0.5 / 5.3, 4.8 / 5.3])


def test_the_literal_filter_is_the_joint_probability() -> None:
    model = HopHMM(SMALL.transition, SMALL.emission, literal=True)
    first = model.first(0)
    np.testing.assert_allclose(first, [0.45, 0.1])
    np.testing.assert_allclose(model.predict(first), [0.25, 0.3])
    np.testing.assert_allclose(model.step(first, 1), [0.025, 0.24])


def test_the_literal_belief_dies_where_the_repaired_one_lives() -> None:
    literal = fit_hop_hmm(EDGES, LEVELS, CLUSTERS, 3, 2, literal=True)
    assert not literal.step(literal.first(0), 0).any(), "a target never links to a target here"
    repaired = fit_hop_hmm(EDGES, LEVELS, CLUSTERS, 3, 2)
    assert repaired.step(repaired.first(0), 0).argmax() == 0


def test_an_impossible_path_starts_anew_from_the_page_at_hand() -> None:
    model = fit_hop_hmm(EDGES, LEVELS, CLUSTERS, 3, 2, smoothing=0)
    certain = np.array([1.0, 0.0, 0.0])
    np.testing.assert_allclose(model.step(certain, 0), model.first(0), atol=1e-9)


def test_levels_and_clusters_without_pages_are_uniform_rows() -> None:
    model = fit_hop_hmm([], [3, 3], [1, 1], n_states=4, n_clusters=3, smoothing=0)
    np.testing.assert_allclose(model.transition, 0.25)
    np.testing.assert_allclose(model.emission[0], 0.25)
    np.testing.assert_allclose(model.emission[3], [0, 1, 0, 0])


def test_observing_the_target_cluster_raises_the_nearest_state() -> None:
    model = fit_hop_hmm(EDGES, LEVELS, CLUSTERS, 3, 2)
    assert model.first(0)[0] > model.first(1)[0] > 0


def test_a_belief_travels_as_four_bytes_per_state() -> None:
    belief = np.array([0.7, 0.2, 0.1 - 1e-12, 1e-12])
    memory = pack_belief(belief)
    assert len(memory) == 16
    assert memory[:4] == np.float32(0.7).tobytes()
    np.testing.assert_allclose(unpack_belief(memory, 4), belief, rtol=1e-7)
    assert pack_belief(unpack_belief(memory, 4)) == memory


@pytest.mark.parametrize("memory", [b"", b"123", bytes(12)])
def test_the_memory_of_another_model_is_refused(memory: bytes) -> None:
    with pytest.raises(ModelError, match="Start the crawl anew"):
        unpack_belief(memory, 4)


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 2 hidden states"):
        fit_hop_hmm([], [0], [0], 1, 1)
    with pytest.raises(UsageError, match="Smoothing"):
        fit_hop_hmm([], [0], [0], 2, 1, smoothing=-1)
    with pytest.raises(UsageError, match="number of clusters"):
        fit_hop_hmm([], [0], [0], 2, -1)
    with pytest.raises(ModelError, match="level 4, outside 0 to 3"):
        fit_hop_hmm([], [4], [0], 4, 1)
    with pytest.raises(ModelError, match="cluster -1, outside 0 to 1"):
        fit_hop_hmm([], [0], [-1], 4, 1)
    with pytest.raises(ModelError, match="transition matrix"):
        HopHMM(np.eye(3)[:2], np.eye(3))
    with pytest.raises(ModelError, match="emission matrix"):
        HopHMM(np.eye(3), np.eye(2))


N_PAGES = 12
page_numbers = st.integers(0, N_PAGES - 1)
edge_lists = st.lists(st.tuples(page_numbers, page_numbers), max_size=40, unique=True)
level_lists = st.lists(st.integers(0, 3), min_size=N_PAGES, max_size=N_PAGES)
cluster_lists = st.lists(st.integers(0, 5), min_size=N_PAGES, max_size=N_PAGES)
smoothings = st.sampled_from([0.0, 0.01, 0.5, 1.0])


@given(edge_lists, level_lists, cluster_lists, smoothings)
def test_rows_sum_to_one(
    edges: list[tuple[int, int]], levels: list[int], clusters: list[int], smoothing: float
) -> None:
    model = fit_hop_hmm(edges, levels, clusters, 4, 5, smoothing)
    np.testing.assert_allclose(model.transition.sum(axis=1), 1)
    np.testing.assert_allclose(model.emission.sum(axis=1), 1)
    assert (model.transition >= 0).all()
    assert (model.emission >= 0).all()


@given(edge_lists, level_lists, cluster_lists, smoothings, st.lists(st.integers(0, 5), min_size=1))
def test_the_belief_never_dies(
    edges: list[tuple[int, int]],
    levels: list[int],
    clusters: list[int],
    smoothing: float,
    path: list[int],
) -> None:
    model = fit_hop_hmm(edges, levels, clusters, 4, 5, smoothing)
    belief = model.first(path[0])
    for observation in path[1:]:
        belief = unpack_belief(pack_belief(model.step(belief, observation)), 4)
        for states in (belief, model.predict(belief)):
            assert states.sum() == pytest.approx(1)
            assert (states > BELIEF_FLOOR / 2).all()


@given(edge_lists, level_lists, cluster_lists, st.permutations(range(N_PAGES)), st.booleans())
def test_the_order_of_pages_does_not_matter(
    edges: list[tuple[int, int]],
    levels: list[int],
    clusters: list[int],
    order: list[int],
    literal: bool,
) -> None:
    place = {page: position for position, page in enumerate(order)}

    def reordered(values: list[int]) -> NDArray[np.int64]:
        return np.array([values[page] for page in order])

    moved = [(place[source], place[destination]) for source, destination in reversed(edges)]
    model = fit_hop_hmm(edges, levels, clusters, 4, 5, literal=literal)
    other = fit_hop_hmm(moved, reordered(levels), reordered(clusters), 4, 5, literal=literal)
    assert model.transition.tolist() == other.transition.tolist()
    assert model.emission.tolist() == other.emission.tolist()
