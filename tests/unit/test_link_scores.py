"""Equation 4 of Pal et al. by hand, as published and repaired."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.records import Link
from trailhound.strategies.content_link.link_scores import (
    InLinks,
    InLinkTable,
    LinkScorer,
    RunningMoments,
    ScoreParts,
)
from trailhound.strategies.content_link.topic_table import TopicTable

TABLE = {"hive": 1.0, "honey": 0.5}
X = Link("http://farm.test/hive/list.html", anchor="our honey", image_alt="jar")
LENGTH = math.sqrt(1.25)


def scorer(*, literal: bool) -> LinkScorer:
    made = LinkScorer(TopicTable(TABLE), literal=literal)
    made.in_links.add_page([X.url], relevance=0.8, relevant=True)
    made.in_links.add_page([X.url], relevance=0.2, relevant=False)
    made.in_links.add_page([X.url, "http://y.test/"], relevance=0.6, relevant=True)
    return made


def test_equation_4_as_published() -> None:
    made = scorer(literal=True)
    (parts,) = made.parts([X], "en")
    # The address has "hive" (1 / √1.25), the anchor "honey" (0.5 / √1.25); two of the three linking
    # pages are relevant; 0.8 + 0.2 + 0.6 = 1.6.
    assert parts == pytest.approx((1 / LENGTH, 0.5 / LENGTH, 2, 1.6))
    assert made.scores([parts]) == pytest.approx([1.5 / LENGTH + 2 + 1.6])


def test_equation_4_repaired() -> None:
    made = scorer(literal=False)
    parts = made.parts([X, Link("http://y.test/")], "en")
    assert parts[0][3] == pytest.approx(1.6 / 3)
    assert parts[1] == pytest.approx((0, 0, 1, 0.6))
    # Two values are one standard deviation from their mean: x has more relevant links (+1), and
    # less relevant ones (-1); y the other way round. So x has 1.5/√1.25 + 1 - 1, y 0 - 1 + 1.
    expected = [1 / (1 + math.exp(-1.5 / LENGTH)), 0.5]
    assert made.scores(parts) == pytest.approx(expected)


def test_a_page_without_links_has_no_scores() -> None:
    assert scorer(literal=False).scores([]) == []


def test_words_are_looked_up_again_when_the_table_has_changed() -> None:
    made = scorer(literal=True)
    assert made.text_relevance("pollen", "en") == 0
    made.table.put("pollen", 1.0)
    made.table_changed()
    assert made.text_relevance("pollen", "en") > 0
    assert made.url_relevance("http://farm.test/pollen") > 0


def test_in_links_are_bounded_and_forgotten_when_fetched() -> None:
    table = InLinkTable(limit=20)
    for number in range(30):
        table.add_page([f"http://h.test/{number}/{n}" for n in range(9)], 0.5, relevant=True)
        assert len(table.known) <= 20
    assert table.of("http://h.test/29/8") == InLinks(1, 0.5, 1)
    table.forget("http://h.test/29/8")
    assert table.of("http://h.test/29/8") == InLinks()


@given(st.lists(st.lists(st.floats(-100, 100), max_size=5), min_size=1, max_size=8))
def test_running_moments_are_those_of_all_values(batches: list[list[float]]) -> None:
    moments = RunningMoments()
    for batch in batches:
        moments.add(np.array(batch))
    values = np.array([value for batch in batches for value in batch])
    if len(values) and values.std() > 1e-6:
        expected = (values - values.mean()) / values.std()
        assert moments.standard_scores(values) == pytest.approx(expected, abs=1e-6)
    assert RunningMoments().standard_scores(np.array([1.0])).tolist() == [0.0]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 99), st.floats(0, 1))))
def test_repaired_scores_can_be_discounted(parts: list[tuple[float, float, int, float]]) -> None:
    scores = LinkScorer(TopicTable(TABLE), literal=False).scores([ScoreParts(*p) for p in parts])
    assert all(0 < score <= 1 for score in scores)
