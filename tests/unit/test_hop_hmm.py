"""The hop HMM and the order it gives, on graphs small enough to work out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trailhound.errors import ModelError, UsageError
from trailhound.models.hop_hmm import (
    BELIEF_FLOOR,
    HopHMM,
    LexicographicKey,
    LikeliestStateKey,
    fit_hop_hmm,
    pack_belief,
    unpack_belief,
)


def priority(prediction: NDArray[np.float64], epsilon: float = 0.001) -> float:
    return LexicographicKey(len(prediction), epsilon)(prediction)


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


@pytest.mark.parametrize("evidence", [0.5, 300.0, 1000.0, 1e15, -1000.0])
def test_words_that_say_much_leave_probabilities(evidence: float) -> None:
    states = np.array([0.2, 0.8])
    (told,) = SMALL.told(states, np.array([evidence]))
    odds = 0.25 * math.exp(min(max(evidence, -600.0), 600.0))
    np.testing.assert_allclose(told[0], odds / (1 + odds), atol=1e-12)
    assert told.sum() == pytest.approx(1.0)


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


def vector(*probabilities: float) -> NDArray[np.float64]:
    return np.array(probabilities, np.float64)


def test_the_key_by_hand() -> None:
    # Digits 123, 4 and 0 in base 1001; the last state has none.
    expected = (123 * 1001 + 4) * 1001 + 0
    assert priority(vector(0.1239, 0.0041, 0.0009, 0.8711)) == expected
    assert priority(vector(0.5, 0.5), epsilon=0.1) == 5


def test_rounding_does_not_lose_a_step() -> None:
    assert 0.3 / 0.1 < 3, "the reason for this test"
    assert LexicographicKey(4, 0.1).digits(vector(0.3, 0.1999, 1.0, 0.0)).tolist() == [3, 1, 10]
    thousandths = LexicographicKey(6)
    assert all(thousandths.digits(np.full(6, n / 1000)).tolist() == [n] * 5 for n in range(1001))


def test_nearer_states_decide_first() -> None:
    key = LexicographicKey(4)
    ranked = [
        vector(1, 0, 0, 0),
        vector(0.5, 0, 0, 0.5),
        vector(0.002, 0.998, 0, 0),
        vector(0.001, 0.999, 0, 0),
        vector(0, 0.3, 0.5, 0.2),
        vector(0, 0.3, 0.4, 0.3),
        vector(0, 0, 0, 1),
    ]
    keys = [key(prediction) for prediction in ranked]
    assert keys == sorted(keys, reverse=True)
    assert len(set(keys)) == len(keys)


def test_differences_below_a_step_are_ties_that_the_next_state_breaks() -> None:
    assert priority(vector(0.1001, 0.2, 0.7)) == priority(vector(0.1009, 0.2, 0.6991))
    assert priority(vector(0.1001, 0.3, 0.5999)) > priority(vector(0.1009, 0.2, 0.6991))


distributions = (
    st.lists(st.floats(0, 1), min_size=6, max_size=6)
    .filter(sum)
    .map(lambda values: np.array(values) / sum(values))
)


@given(distributions, distributions)
@example(vector(1, 0, 0, 0, 0, 0), vector(0.999, 0.001, 0, 0, 0, 0))
@example(vector(1, 0, 0, 0, 0, 0), vector(0.9999, 0.0001, 0, 0, 0, 0))
def test_keys_order_like_the_tuples_of_steps(
    one: NDArray[np.float64], other: NDArray[np.float64]
) -> None:
    key = LexicographicKey(6)
    one_steps, other_steps = key.digits(one).tolist(), key.digits(other).tolist()
    assert (key(one) < key(other)) == (one_steps < other_steps)
    assert (key(one) == key(other)) == (one_steps == other_steps)
    assert key(one) == int(key(one)) < 2**53


@pytest.mark.parametrize(
    ("n_states", "epsilon", "all_states"),
    [(2, 0.001, False), (6, 0.001, False), (5, 0.001, True), (8, 0.01, False), (20, 0.5, False)],
)
def test_what_fits_is_exact_up_to_the_largest_key(
    n_states: int, epsilon: float, all_states: bool
) -> None:
    key = LexicographicKey(n_states, epsilon, all_states)
    largest = key(np.ones(n_states))
    assert largest == key.base**key.n_digits - 1
    assert largest - 1 == math.nextafter(largest, 0) or largest < 2**52


@pytest.mark.parametrize(
    ("n_states", "epsilon", "all_states"),
    [(7, 0.001, False), (6, 0.001, True), (4, 1e-9, False), (40, 0.5, False)],
)
def test_what_does_not_fit_is_refused_with_a_number_that_does(
    n_states: int, epsilon: float, all_states: bool
) -> None:
    with pytest.raises(UsageError, match="do not fit into one priority") as refusal:
        LexicographicKey(n_states, epsilon, all_states)
    advised = int(str(refusal.value).split("at most ")[1].split()[0])
    LexicographicKey(advised, epsilon, all_states)
    with pytest.raises(UsageError):
        LexicographicKey(advised + 1, epsilon, all_states)


@pytest.mark.parametrize("epsilon", [0, -1, 1.5, math.nan])
def test_an_impossible_step_is_refused(epsilon: float) -> None:
    with pytest.raises(UsageError, match="epsilon"):
        LexicographicKey(4, epsilon)


def test_one_state_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 2"):
        LexicographicKey(1)


def test_the_literal_models_numbers_may_be_zero_or_beyond_one() -> None:
    key = LexicographicKey(4, all_states=True)
    assert key(np.zeros(4)) == 0
    assert key(vector(1.4, 0, 0, 0)) == key(vector(1, 0, 0, 0))
    assert key(vector(0, 0, 0, 0.2)) > key(vector(0, 0, 0, 0.1))
    assert LikeliestStateKey(4)(np.zeros(4)) == 3


def test_the_likeliest_state_decides_then_its_probability() -> None:
    key = LikeliestStateKey(4)
    ranked = [
        vector(1, 0, 0, 0),
        vector(0.4, 0.35, 0.25, 0),
        vector(0, 1, 0, 0),
        vector(0.45, 0.55, 0, 0),
        vector(0.3, 0.3, 0.4, 0),
        vector(0, 0, 0.4, 0.6),
    ]
    keys = [key(prediction) for prediction in ranked]
    assert keys == sorted(keys, reverse=True)
    assert len(set(keys)) == len(keys)
    assert key(vector(0.5, 0.5, 0, 0)) > key(vector(0.49, 0.51, 0, 0)), "a tie goes to the nearer"


def prefers(one: NDArray[np.float64], other: NDArray[np.float64], epsilon: float = 0.001) -> bool:
    """The papers' comparison of two keys: the first entries that differ by ε or more decide."""
    differences = [a - b for a, b in zip(one, other, strict=True) if abs(a - b) >= epsilon]
    return bool(differences) and differences[0] > 0


def test_the_papers_comparison_runs_in_a_circle_and_the_key_does_not() -> None:
    one, two, three = (
        vector(0.1000, 0.3, 0.6000),
        vector(0.1006, 0.2, 0.6994),
        vector(0.1012, 0.1, 0.7988),
    )
    assert prefers(one, two)
    assert prefers(two, three)
    assert prefers(three, one)
    assert priority(three) > priority(one) > priority(two)


@given(distributions, distributions)
@example(vector(1, 0, 0, 0, 0, 0), vector(0, 1, 0, 0, 0, 0))
def test_the_likeliest_state_always_goes_before_its_probability(
    one: NDArray[np.float64], other: NDArray[np.float64]
) -> None:
    key = LikeliestStateKey(6)
    one_state, other_state = int(one.argmax()), int(other.argmax())
    if one_state != other_state:
        assert (key(one) > key(other)) == (one_state < other_state)
    elif one.max() > other.max() + 1e-9:
        assert key(one) >= key(other)
