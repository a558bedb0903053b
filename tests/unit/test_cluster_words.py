from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.models.cluster_words import log_odds, mutual_information, term_counts
from trailhound.records import Page
from trailhound.text.tfidf import TermWeights
from trailhound.text.tokens import commonest_forms

# Columns in alphabetical order: bee, car, the.
DOCUMENTS = [{"bee": 3, "the": 1}, {"bee": 1, "the": 2}, {"car": 2, "the": 1}, {"car": 2}]
INSIDE = np.array([True, True, False, False])
COUNTS = term_counts(TermWeights.fit(DOCUMENTS), DOCUMENTS)


def test_counts_are_in_the_dictionarys_order() -> None:
    assert COUNTS.toarray().tolist() == [[3, 0, 1], [1, 0, 2], [0, 2, 1], [0, 2, 0]]


def test_log_odds_by_hand() -> None:
    # 12 counts in all, 7 inside and 5 outside; with a prior of 6, bee gets 6 · 4/12 = 2.
    inside = math.log((4 + 2) / (7 + 6 - 4 - 2))
    outside = math.log((0 + 2) / (5 + 6 - 0 - 2))
    expected = (inside - outside) / math.sqrt(1 / (4 + 2) + 1 / (0 + 2))
    scores = log_odds(COUNTS, INSIDE, prior=6.0)
    assert scores[0] == pytest.approx(expected)
    assert scores[1] < 0 < scores[2] < scores[0]


def test_mutual_information_by_hand() -> None:
    bits = mutual_information(COUNTS, INSIDE)
    # bee: on all pages inside and on none outside, so it tells everything: one bit.
    assert bits[0] == pytest.approx(1.0)
    # car tells as much, but against the group.
    assert bits[1] == 0.0
    # the: inside 2 of 2, outside 1 of 2, on 3 of 4 pages.
    expected = (
        2 / 4 * math.log2((2 / 4) / (3 / 4 * 1 / 2))
        + 1 / 4 * math.log2((1 / 4) / (3 / 4 * 1 / 2))
        + 1 / 4 * math.log2((1 / 4) / (1 / 4 * 1 / 2))
    )
    assert bits[2] == pytest.approx(expected)


def test_a_group_of_all_pages_or_of_none_has_no_words_of_its_own() -> None:
    for members in (np.ones(4, bool), np.zeros(4, bool)):
        assert not mutual_information(COUNTS, members).any()
        assert np.abs(log_odds(COUNTS, members)).max() < 1e-9


def test_one_term_and_no_terms_do_no_harm() -> None:
    one = [{"bee": 1}, {"bee": 2}]
    counts = term_counts(TermWeights.fit(one), one)
    assert np.isfinite(log_odds(counts, np.array([True, False]))).all()
    empty = term_counts(TermWeights({}, np.zeros(0)), [{}, {}])
    assert log_odds(empty, np.array([True, False])).size == 0


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 9)), min_size=2), st.data())
def test_scores_are_finite_and_bits_bounded(
    documents: list[dict[str, int]], data: st.DataObject
) -> None:
    flags = st.lists(st.booleans(), min_size=len(documents), max_size=len(documents))
    members = np.array(data.draw(flags))
    counts = term_counts(TermWeights.fit(documents), documents)
    bits = mutual_information(counts, members)
    assert np.isfinite(log_odds(counts, members)).all()
    assert ((bits >= 0) & (bits <= 1 + 1e-9)).all()


def test_terms_are_shown_as_pages_spell_them_most_often() -> None:
    pages = [
        Page("a", title="Keeping bees", text="Bees, bees and a bee. Overwintering.", language="en"),
        Page("b", text="蜂蜜が好き", language="ja"),
    ]
    forms = commonest_forms(pages, ["bee", "keep", "overwint", "蜂蜜", "unheard"])
    assert forms == {
        "bee": "bees",
        "keep": "keeping",
        "overwint": "overwintering",
        "蜂蜜": "蜂蜜",
        "unheard": "unheard",
    }
