"""From runs to statements about strategies."""

from __future__ import annotations

import pytest
from made_results import make_run

from trailhound.lab.statistics import (
    SUMMARY_METRICS,
    bound_beaten,
    choose_baseline,
    compare,
    summarise,
    topic_means,
)


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
