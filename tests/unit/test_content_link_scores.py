"""The topic table and the scores of links, worked out by hand."""

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
from trailhound.strategies.content_link.strategy import RelevancyLimit
from trailhound.strategies.content_link.topic_table import (
    MIN_PAGES,
    TableGrowth,
    TopicTable,
    page_counts,
)
from trailhound.strategies.parts import DocumentCounts

RESULTS = [{"hive": 4, "honey": 1, "page": 2}, {"hive": 2, "honey": 2, "page": 2}, {"page": 2}]
# The table printed in the paper for E-Business.
BUSINESS = TopicTable(
    {"business": 1.0, "management": 0.58, "solution": 0.45, "corporation": 0.34, "customer": 0.27}
)


def test_equation_1_by_hand() -> None:
    # tf · df: hive 6 · 2 = 12, honey 3 · 2 = 6, page 6 · 3 = 18; divided by the largest.
    table = TopicTable.from_documents(RESULTS, 50)
    assert table.weights == pytest.approx({"page": 1.0, "hive": 12 / 18, "honey": 6 / 18})
    assert list(TopicTable.from_documents(RESULTS, 2).weights) == ["page", "hive"]


def test_words_of_every_page_lose_against_a_background() -> None:
    # Of 3 other pages all have "page", one has "honey": ln(4/4) = 0, ln(4/2), hive ln(4/1).
    background = DocumentCounts.of([{"page": 1}, {"page": 1, "honey": 1}, {"page": 5}])
    table = TopicTable.from_documents(RESULTS, 50, background)
    heaviest = 12 * math.log(4)
    assert table.weights == pytest.approx({"hive": 1.0, "honey": 6 * math.log(2) / heaviest})


def test_without_a_background_all_words_are_equally_rare() -> None:
    table = TopicTable.from_documents(RESULTS, 50, DocumentCounts.of([]))
    assert table.weights == TopicTable.from_documents(RESULTS, 50).weights


def test_equation_2_the_papers_example() -> None:
    # "java documentation" as title, "java technologies" as text: 2 + 1 = 3.
    counts = page_counts({"java": 2, "document": 1, "technolog": 1}, {"java": 1, "document": 1})
    assert counts == {"java": 3, "document": 2, "technolog": 1}


def test_equation_3_by_hand() -> None:
    # (1 · 2 + 0.45 · 1) / sqrt((1 + 0.58² + 0.45² + 0.34² + 0.27²) (2² + 1²))
    squares = 1 + 0.58**2 + 0.45**2 + 0.34**2 + 0.27**2
    counts = {"business": 2, "solution": 1, "weather": 9}
    assert BUSINESS.relevance(counts) == pytest.approx(2.45 / math.sqrt(squares * 5))
    assert BUSINESS.relevance({"weather": 3}) == 0
    assert BUSINESS.relevance({}) == 0


def test_a_page_that_repeats_one_word_is_no_longer_very_relevant() -> None:
    # As published 1 / sqrt(1.7274) = 0.761, however often the word is repeated.
    assert BUSINESS.relevance({"business": 7}) == pytest.approx(0.761, abs=5e-4)
    assert BUSINESS.relevance({"business": 7}, least_words=3) == pytest.approx(0.761 / 3, abs=5e-4)
    both = {"business": 2, "solution": 1}
    assert BUSINESS.relevance(both, 3) == pytest.approx(BUSINESS.relevance(both) * 2 / 3)
    # A table of one word cannot ask for three.
    assert TopicTable({"bee": 1.0}).relevance({"bee": 2}, least_words=3) == 1


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 1), min_size=1),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 50)),
)
def test_relevance_is_a_cosine(weights: dict[str, float], counts: dict[str, float]) -> None:
    table = TopicTable(weights)
    assert 0 <= table.relevance(counts, 3) <= table.relevance(counts) <= 1
    assert table.relevance(weights) == pytest.approx(1)


def test_growth_as_published_takes_the_top_word_at_once() -> None:
    table = TopicTable({"hive": 1.0, "wax": 0.2})
    growth = TableGrowth(2, None)
    assert growth.learn(table, {"pollen": 5, "hive": 3}, 0.93)
    assert growth.learn(table, {"wax": 5}, 0.91)
    assert table.weights == {"hive": 1.0, "wax": 0.91, "pollen": 0.93}
    assert not growth.learn(table, {}, 0.95)


def test_repaired_growth_wants_three_pages_and_gives_half_the_weight() -> None:
    table = TopicTable({"hive": 1.0, "wax": 0.2})
    growth = TableGrowth(50, DocumentCounts.of([{"town": 1}] * 20))
    changes = [growth.learn(table, {"pollen": 5}, each) for each in (0.9, 0.92, 0.94)]
    assert changes == [False, False, True]
    # min(0.9, mean 0.92) · 0.5
    assert table.weights["pollen"] == pytest.approx(0.45)


def test_repaired_growth_keeps_common_words_out_and_heavier_weights_in() -> None:
    table = TopicTable({"hive": 1.0})
    growth = TableGrowth(50, DocumentCounts.of([{"town": 1}] * 2 + [{"rain": 1}] * 18))
    for _ in range(2 * MIN_PAGES):
        assert not growth.learn(table, {"town": 5}, 0.95), "in 10 % of the background"
        assert not growth.learn(table, {"hive": 5}, 0.95), "1.0 is more than 0.45"
    assert table.weights == {"hive": 1.0}


def test_a_full_table_lets_its_lightest_word_go() -> None:
    table = TopicTable({"hive": 1.0, "wax": 0.2, "smoke": 0.3})
    growth = TableGrowth(3, DocumentCounts.of([]))
    for _ in range(MIN_PAGES):
        growth.learn(table, {"pollen": 2}, 0.9)
    assert table.weights == pytest.approx({"hive": 1.0, "smoke": 0.3, "pollen": 0.45})
    full = TopicTable({"hive": 1.0, "wax": 0.9, "smoke": 0.8})
    for _ in range(MIN_PAGES):
        assert not growth.learn(full, {"brood": 2}, 0.9)


def test_the_limit_is_half_of_the_seeds_mean_within_bounds() -> None:
    limit = RelevancyLimit()
    assert limit.value == 0.3
    limit.add_seed(0.9)
    limit.add_seed(0.7)
    assert limit.value == pytest.approx(0.4)
    limit.add_seed(0.0)
    limit.add_seed(0.0)
    assert limit.value == 0.3
    assert RelevancyLimit(0.15).value == 0.15
    assert RelevancyLimit(total=1.4, seeds=1).value == 0.5


def test_the_limit_to_the_letter_has_no_bounds() -> None:
    limit = RelevancyLimit(bounded=False)
    assert limit.value == 0.0
    limit.add_seed(0.4)
    limit.add_seed(0.0)
    # Half of the mean of 0.4 and 0.
    assert limit.value == pytest.approx(0.1)
    limit.add_seed(6.2)
    assert limit.value == pytest.approx(1.1)


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
