"""One number per prediction: the quantised lexicographic order, exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trailhound.errors import UsageError
from trailhound.models.hop_hmm import LexicographicKey, LikeliestStateKey, priority


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
def test_what_does_not_fit_is_refused_with_a_step_that_does(
    n_states: int, epsilon: float, all_states: bool
) -> None:
    with pytest.raises(UsageError, match="do not fit into one priority") as refusal:
        LexicographicKey(n_states, epsilon, all_states)
    advised = float(str(refusal.value).split("epsilon ")[1].split()[0])
    LexicographicKey(n_states, advised, all_states)


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
