"""Metrics with answers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.lab import metrics


def test_a_redirect_fills_as_many_positions_as_it_cost() -> None:
    steps = [(1, True), (3, True), (1, False), (1, True)]
    assert metrics.curve_from_finds(steps, budget=10) == [1, 1, 1, 2, 2, 3]


def test_a_page_that_arrives_after_the_budget_was_not_found() -> None:
    assert metrics.curve_from_finds([(1, True), (3, True)], budget=3) == [1, 1, 1]


def test_an_item_without_requests_belongs_to_the_last_fetch() -> None:
    assert metrics.curve_from_finds([(1, False), (0, True), (1, False)], budget=5) == [1, 1]


def test_nauc_by_hand() -> None:
    # R = 0 1 1 2, the best possible with two pages is 1 2 2 2: 4 / 7.
    assert metrics.nauc([0, 1, 1, 2], relevant_total=2, budget=4) == pytest.approx(4 / 7)


def test_nauc_of_a_perfect_crawl_is_one() -> None:
    assert metrics.nauc([1, 2, 3, 3, 3], relevant_total=3, budget=5) == 1.0


def test_nauc_holds_the_curve_flat_when_the_queue_ran_empty() -> None:
    # R = 1 1, then 1 1 up to the budget; best possible 1 2 2 2.
    assert metrics.nauc([1, 1], relevant_total=2, budget=4) == pytest.approx(4 / 7)


def test_nauc_without_anything_to_find_is_zero() -> None:
    assert metrics.nauc([0, 0], relevant_total=0, budget=2) == 0.0
    assert metrics.nauc([], relevant_total=3, budget=2) == 0.0


def test_auhc_by_hand() -> None:
    # R(t)/t = 1/1, 1/2, 2/3, and after the end 2/4.
    expected = (1 + 0.5 + 2 / 3 + 0.5) / 4
    assert metrics.auhc([1, 1, 2], budget=4) == pytest.approx(expected)


def test_requests_until_a_find_are_those_up_to_it_or_more_than_the_budget() -> None:
    curve = [0, 0, 1, 1, 3]
    assert [metrics.requests_until(n, curve, budget=8) for n in (1, 2, 3, 4)] == [3, 5, 5, 9]
    assert metrics.requests_until(1, [], budget=8) == 9


def test_harvest_and_recall_by_hand() -> None:
    assert metrics.harvest([0, 1, 1, 2]) == 0.5
    assert metrics.recall([0, 1, 1, 2], relevant_total=8) == 0.25
    assert metrics.harvest([]) == 0.0
    assert metrics.recall([0, 0], relevant_total=0) == 0.0


def test_effective_hosts_counts_equal_hosts_fully() -> None:
    assert metrics.effective_hosts([4, 4, 4]) == pytest.approx(3.0)
    assert metrics.effective_hosts([7]) == pytest.approx(1.0)
    assert metrics.effective_hosts([]) == 0.0
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert metrics.effective_hosts([3, 1]) == pytest.approx(math.exp(entropy))


def test_max_host_share() -> None:
    assert metrics.max_host_share([3, 1]) == 0.75
    assert metrics.max_host_share([]) == 0.0


def test_mean_of_max_differs_from_the_printed_equation() -> None:
    # Two pages, each very near another target: every page is near a target, no target to all.
    similarities = np.array([[0.9, 0.1], [0.1, 0.7]])
    assert metrics.mean_of_max(similarities) == pytest.approx(0.8)
    assert metrics.max_of_mean(similarities) == pytest.approx(0.5)


def test_similarity_of_nothing_is_zero() -> None:
    nothing = np.zeros((0, 3))
    assert metrics.mean_of_max(nothing) == 0.0
    assert metrics.max_of_mean(nothing) == 0.0


@given(
    finds=st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=40),
    budget=st.integers(1, 60),
    unfound=st.integers(0, 10),
)
def test_metrics_stay_between_zero_and_one(
    finds: list[tuple[int, bool]], budget: int, unfound: int
) -> None:
    # Zero-cost finds could outrun one page per fetch, which no crawl does.
    steps = [(max(requests, 1), found) for requests, found in finds]
    curve = metrics.curve_from_finds(steps, budget)
    total = sum(found for _, found in steps) + unfound
    assert len(curve) == min(sum(requests for requests, _ in steps), budget)
    assert curve == sorted(curve)
    for value in (
        metrics.nauc(curve, total, budget),
        metrics.auhc(curve, budget),
        metrics.harvest(curve),
        metrics.recall(curve, total),
    ):
        assert 0 <= value <= 1 + 1e-12
