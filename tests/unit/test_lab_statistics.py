"""Intervals, tests and comparisons on data whose answer is known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_results import make_run

from trailhound.lab.results import Estimate
from trailhound.lab.statistics import (
    SUMMARY_METRICS,
    bands,
    bound_beaten,
    choose_baseline,
    compare,
    estimate,
    holm,
    sign_flip_p,
    summarise,
    topic_means,
)

SMALL_FLOATS = st.floats(-5, 5, allow_nan=False).map(lambda value: round(value, 3))


def test_equal_values_have_an_interval_without_width() -> None:
    found = estimate([0.3] * 7)
    assert [found.mean, found.low, found.high] == pytest.approx([0.3, 0.3, 0.3])


def test_one_topic_is_its_own_interval() -> None:
    assert estimate([0.25]) == Estimate(0.25, 0.25, 0.25)


def test_no_topic_is_refused() -> None:
    with pytest.raises(ValueError, match="no topic"):
        estimate([])


def test_two_topics_give_the_extremes() -> None:
    # A quarter of the resamples holds one topic twice, more than the 2.5 % of each tail.
    assert estimate([0.0, 1.0]) == Estimate(0.5, 0.0, 1.0)


def test_interval_of_a_large_sample_is_near_the_normal_one() -> None:
    values = np.random.default_rng(3).normal(2.0, 1.0, size=400)
    found = estimate(values)
    half_width = 1.96 * values.std() / 20
    assert found.low == pytest.approx(found.mean - half_width, abs=0.01)
    assert found.high == pytest.approx(found.mean + half_width, abs=0.01)


def test_same_values_same_interval() -> None:
    values = [0.1, 0.5, 0.2, 0.9]
    assert estimate(values) == estimate(values)


def test_bands_are_pointwise() -> None:
    mean, low, high = bands(np.array([[0.0, 1.0, 5.0], [0.0, 3.0, 5.0]]))
    assert mean.tolist() == [0.0, 2.0, 5.0]
    assert low.tolist() == [0.0, 1.0, 5.0]
    assert high.tolist() == [0.0, 3.0, 5.0]


def test_six_equal_signs_reach_the_floor_of_the_test() -> None:
    assert sign_flip_p([0.1, 0.2, 0.05, 0.3, 0.12, 0.4]) == 0.03125


def test_five_topics_cannot_be_significant() -> None:
    assert sign_flip_p([1.0, 1.0, 1.0, 1.0, 1.0]) == 0.0625


def test_no_difference_has_p_one() -> None:
    assert sign_flip_p([0.0, 0.0, 0.0]) == 1.0
    assert sign_flip_p([0.5, -0.5]) == 1.0


def test_sign_flip_is_exact_with_16_topics() -> None:
    assert sign_flip_p([0.01 * (1 + n) for n in range(16)]) == 2 / 2**16


def test_sign_flip_samples_when_there_are_many_topics() -> None:
    generator = np.random.default_rng(5)
    assert sign_flip_p([0.01 * (1 + n) for n in range(39)]) == 2 / 100_000
    assert sign_flip_p(generator.normal(1.0, 1.0, size=60)) < 0.001
    assert sign_flip_p(np.tile([1.0, -1.01], 30)) > 0.5


def test_one_topic_proves_nothing() -> None:
    assert sign_flip_p([0.7]) == 1.0


@given(st.lists(SMALL_FLOATS, min_size=1, max_size=9))
def test_sign_flip_agrees_with_counting_every_pattern(differences: list[float]) -> None:
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    observed = abs(sum(differences))
    expected = sum(value >= observed - 1e-7 for value in sums) / len(sums)
    assert sign_flip_p(differences) == pytest.approx(expected)


def test_holm_by_hand() -> None:
    # Sorted .01 .03 .04 → ×3 ×2 ×1 = .03 .06 .04, and never below an earlier one.
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])


def test_holm_stays_a_probability() -> None:
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_runs_are_averaged_within_a_topic_first() -> None:
    # Three runs of one topic must not outweigh the single run of another.
    runs = [
        make_run("bees", curve=[1, 1], seed_set=0),
        make_run("bees", curve=[1, 1], seed_set=1),
        make_run("bees", curve=[1, 1], seed_set=2),
        make_run("rocks", curve=[0, 0]),
    ]
    assert topic_means(runs, "best-first", "harvest") == {"bees": 0.5, "rocks": 0.0}
    assert summarise(runs, ["best-first"])["best-first"]["harvest"].mean == 0.25


def test_every_metric_is_summarised() -> None:
    summary = summarise([make_run()], ["best-first"])
    assert set(summary["best-first"]) == set(SUMMARY_METRICS)
    assert summary["best-first"]["cpu_ms_per_fetch"].mean == pytest.approx(2.0)


def test_best_first_is_the_baseline_where_it_takes_part() -> None:
    assert choose_baseline(["random", "best-first", "oracle"]) == "best-first"
    assert choose_baseline(["random", "oracle"]) == "random"
    assert choose_baseline(["random"]) is None


def test_differences_are_paired_by_topic() -> None:
    topics = [f"topic {n}" for n in range(6)]
    runs = [make_run(topic, "best-first", [0, 1]) for topic in topics]
    runs += [make_run(topic, "oracle", [1, 2]) for topic in topics]
    runs += [make_run(topic, "random", [0, 1]) for topic in topics]
    by_name = {
        comparison.strategy: comparison
        for comparison in compare(runs, ["best-first", "oracle", "random"], "best-first")
        if comparison.metric == "harvest"
    }
    assert by_name.keys() == {"oracle", "random"}
    oracle = by_name["oracle"]
    assert (oracle.difference.mean, oracle.topics) == (0.5, 6)
    assert oracle.difference.low == pytest.approx(0.5)
    assert oracle.p == 0.03125
    assert oracle.p_holm == 0.0625  # two comparisons
    assert by_name["random"].p == 1.0


def test_without_a_rival_nothing_is_compared() -> None:
    assert compare([make_run()], ["best-first"], None) == []


def test_runs_that_beat_the_oracle_from_the_same_seeds_are_named() -> None:
    runs = [
        make_run("bees", "oracle", [1, 2], seed_set=0),
        make_run("bees", "oracle", [0, 1], seed_set=1),
        make_run("bees", "best-first", [1, 2], seed_set=0),
        make_run("bees", "best-first", [1, 1], seed_set=1),
        make_run("rocks", "best-first", [1, 2]),
    ]
    (beaten,) = bound_beaten(runs)
    assert (beaten.topic, beaten.seed_set, beaten.strategy) == ("bees", 1, "best-first")
    assert beaten.nauc > beaten.bound
