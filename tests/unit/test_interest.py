"""Interest ratios and their significance, worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.errors import UsageError
from trailhound.strategies.intelligent.interest_rule import (
    LARGEST_LOG_RATIO,
    SMALLEST_RATIO,
    InterestRule,
)

LITERAL = InterestRule(literal=True)
REPAIRED = InterestRule()


def log_ratio(rule: InterestRule, hits: int, seen: int, base: float) -> float:
    return float(rule.log_ratios(np.array([hits]), np.array([seen]), base)[0])


def is_significant(rule: InterestRule, hits: int, seen: int, base: float, total: int) -> bool:
    return bool(rule.are_significant(np.array([hits]), np.array([seen]), base, total)[0])


def test_the_published_ratio_by_hand() -> None:
    # 100 pages, 10 relevant: P(U) = 0.1. The word on 20 of them, 6 relevant: P(U|C) = 0.3.
    base = LITERAL.base_rate(10, 100)
    assert base == pytest.approx(0.1)
    assert log_ratio(LITERAL, 6, 20, base) == pytest.approx(math.log(3))
    # The other form, P(U and C) / (P(U) P(C)) = 0.06 / (0.1 * 0.2), is the same.
    assert math.exp(log_ratio(LITERAL, 6, 20, base)) == pytest.approx(0.06 / (0.1 * 0.2))


def test_the_repaired_ratio_is_drawn_towards_one() -> None:
    # P(U) = 10.5 / 101; (6 + 4 P) / (20 + 4) / P
    base = REPAIRED.base_rate(10, 100)
    assert base == pytest.approx(10.5 / 101)
    expected = (6 + 4 * base) / 24 / base
    assert log_ratio(REPAIRED, 6, 20, base) == pytest.approx(math.log(expected))
    assert expected < 3


def test_the_published_significance_divides_by_all_pages() -> None:
    # One page with the word, not relevant, of 1000 pages at P = 0.1:
    # S = 0.1 / sqrt(0.1 * 0.9 / 1000) = 10.54 as published, 0.1 / sqrt(0.09 / 1) = 0.33 repaired.
    assert is_significant(InterestRule(10.5, literal=True), 0, 1, 0.1, 1000)
    assert not is_significant(InterestRule(10.6, literal=True), 0, 1, 0.1, 1000)
    assert not is_significant(REPAIRED, 0, 1, 0.1, 1000)


def test_the_repaired_significance_divides_by_the_pages_with_the_event() -> None:
    # 3 of 10: S = 0.2 / sqrt(0.09 / 10) = 2.108
    assert is_significant(InterestRule(2.10), 3, 10, 0.1, 1000)
    assert not is_significant(InterestRule(2.11), 3, 10, 0.1, 1000)


def test_a_word_seen_once_or_twice_says_nothing_yet() -> None:
    assert not is_significant(REPAIRED, 2, 2, 0.1, 1000)
    assert is_significant(REPAIRED, 3, 3, 0.1, 1000)
    assert is_significant(LITERAL, 1, 1, 0.1, 1000)


def test_before_the_first_find_the_published_ratios_say_nothing() -> None:
    assert LITERAL.base_rate(0, 0) == LITERAL.base_rate(0, 7) == 0
    assert log_ratio(LITERAL, 0, 5, 0.0) == 0
    assert not is_significant(LITERAL, 0, 5, 0.0, 5)
    assert 0 < REPAIRED.base_rate(0, 0) < 1


def test_one_unlucky_event_does_not_cancel_everything_else() -> None:
    assert log_ratio(LITERAL, 0, 5, 0.1) == pytest.approx(math.log(SMALLEST_RATIO))
    # (0 + 4 * 0.1) / 9 / 0.1 = 0.444
    assert log_ratio(REPAIRED, 0, 5, 0.1) == pytest.approx(math.log(4 / 9))


def test_products_of_dependent_words_are_tamed() -> None:
    sums, events = np.array([6.0]), np.array([4])
    assert LITERAL.product(sums, events)[0] == 6.0
    # 6 / sqrt(4) = 3, and log 20 = 2.996 is the most that a factor may say
    assert REPAIRED.product(sums, events)[0] == pytest.approx(LARGEST_LOG_RATIO)
    assert REPAIRED.product(np.array([4.0]), events)[0] == pytest.approx(2.0)


@given(
    seen=st.integers(0, 1000),
    share=st.floats(0, 1),
    relevant=st.integers(0, 500),
    others=st.integers(0, 500),
)
def test_repaired_ratios_are_bounded_and_on_the_right_side_of_one(
    seen: int, share: float, relevant: int, others: int
) -> None:
    hits = int(seen * share)
    base = REPAIRED.base_rate(relevant, relevant + others)
    found = log_ratio(REPAIRED, hits, seen, base)
    assert abs(found) <= LARGEST_LOG_RATIO
    if seen and hits / seen > base:
        assert found > 0
    if seen and hits / seen < base:
        assert found < 0


def test_negative_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="negative"):
        InterestRule(significance=-1)
