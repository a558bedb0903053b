from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learned_topics import HOST, TEXTS, learned_park, park_session

from trailhound.judges.calibration import calibrate_judges
from trailhound.models.cluster_words import log_odds, mutual_information, term_counts
from trailhound.models.diagnosis import Diagnosis, diagnose
from trailhound.models.judge_figures import CalibrationMethod, JudgeCalibration, judge_figures
from trailhound.models.topic_model import learn_topic
from trailhound.records import Link, Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.text.tfidf import TermWeights
from trailhound.text.tokens import commonest_forms


def graph(
    edges: Sequence[tuple[int, int]],
    targets: set[int],
    n_pages: int = 12,
    starts: tuple[int, ...] = (0,),
    languages: Sequence[str] = (),
) -> PageGraph:
    """Numbered pages; targets speak of bees, the others of cars and roads."""
    pages = []
    for number in range(n_pages):
        words = ("bee", "honey") if number in targets else ("car", "road")
        pages.append(
            Page(
                f"http://h.test/{number}",
                text="full",
                terms={**dict.fromkeys(words, 2), f"word{number % 4}": 1},
                language=languages[number] if number < len(languages) else "en",
                links=(Link("http://elsewhere.test/"),),
            )
        )
    return PageGraph(tuple(pages), tuple(edges), frozenset(targets), starts=starts)


def diagnosis_of(found: PageGraph) -> Diagnosis:
    model = learn_topic(found)
    return diagnose(model, calibrate_judges(model)["cosine"])


def codes(found: PageGraph) -> list[str]:
    return [warning.code for warning in diagnosis_of(found).warnings]


LONG_WAY = [(0, 1), (1, 2), (2, 3), (3, 4), (3, 5), (3, 6)]
"""From the start page 0 three links to page 3, which leads to the targets 4, 5 and 6."""


def test_judge_figures_by_hand() -> None:
    calibration = JudgeCalibration(
        0.5, CalibrationMethod.LEAVE_ONE_OUT, (0.9, 0.5, 0.4, 0.6, 0.1, 0.0)
    )
    figures = judge_figures(calibration, {0, 1, 2})
    # Reached by the targets 0 and 1 and by page 3: precision 2/3, recall 2/3, F1 2/3; 2 of the 4
    # pages that were found or should have been are right. Each with one more of either kind.
    assert (figures.precision, figures.recall) == (3 / 5, 3 / 5)
    assert figures.f1 == pytest.approx(2 / 3)
    low, high = figures.f1_range or (0, 0)
    # Beta(3, 3) has 5 % of its weight below 0.1893 and, being symmetric, above 0.8107.
    assert low == pytest.approx(2 * 0.1893 / 1.1893, abs=1e-4)
    assert high == pytest.approx(2 * 0.8107 / 1.8107, abs=1e-4)
    assert figures.target_scores == (0.9, 0.5, 0.4)
    assert figures.other_scores == (0.6, 0.1, 0.0)


def test_seven_marks_prove_no_perfect_judge() -> None:
    scores = (*[0.9] * 7, *[0.1] * 30)
    given = JudgeCalibration(0.5, CalibrationMethod.LEAVE_ONE_OUT, scores)
    figures = judge_figures(given, set(range(7)))
    assert (figures.precision, figures.recall) == (8 / 9, 8 / 9)
    assert figures.f1 == pytest.approx(16 / 17)
    assert figures.f1_range is not None
    assert figures.f1_range[0] < 0.82


def test_nothing_can_be_measured_on_one_target() -> None:
    figures = judge_figures(JudgeCalibration(0.5, CalibrationMethod.FALLBACK, (-1.0, 0.7)), {0})
    assert (figures.precision, figures.recall, figures.f1) == (None, None, None)
    assert figures.target_scores == ()


def test_calibration_says_where_the_threshold_comes_from() -> None:
    several, one = (learn_topic(graph(LONG_WAY, targets)) for targets in ({4, 5, 6}, {4}))
    for name in ("cosine", "latent", "contrast"):
        assert calibrate_judges(several)[name].method is CalibrationMethod.LEAVE_ONE_OUT
        assert calibrate_judges(one)[name].method is CalibrationMethod.FALLBACK
        given = calibrate_judges(several, threshold=0.25)[name]
        assert (given.threshold, given.method) == (0.25, CalibrationMethod.GIVEN)
    assert calibrate_judges(several)["fields"].method is CalibrationMethod.EXPECTED
    assert calibrate_judges(one)["fields"].method is CalibrationMethod.FALLBACK


def test_the_figures_of_the_park() -> None:
    found = learned_park().diagnosis
    assert (found.n_pages, found.n_targets, found.n_links) == (10, 3, 13)
    # The halls link to targets; the gate links to the halls; nothing else leads there.
    assert found.level_sizes == (3, 2, 1, 4)
    assert found.n_without_content == 0
    assert sum(cluster.pages for cluster in found.clusters) == 10
    targets = found.clusters[0]
    assert (targets.pages, targets.by_level, targets.mean_level) == (3, (3, 0, 0, 0), 0.0)
    assert {page.url for page in targets.examples} == {HOST + f"bee{n}" for n in (1, 2, 3)}
    words = [word.word for word in targets.log_odds]
    assert "honey" in words[:3]
    assert "hive" in [word.word for word in targets.mutual_information][:3]
    honey = next(word for word in targets.log_odds if word.word == "honey")
    assert honey.pages == 3
    assert len(words) <= 30


def test_concept_links_count_the_links_between_clusters() -> None:
    learned = learned_park()
    found, model = learned.diagnosis, learned.model
    assert sum(map(sum, found.concept_links)) == len(model.graph.edges)
    # bee1 → bee2 is the only link between targets.
    assert found.concept_links[0][0] == 1
    assert np.allclose(np.sum(found.transition, axis=1), 1)
    assert np.allclose(np.sum(found.emission, axis=1), 1)


def test_figures_do_not_depend_on_the_run() -> None:
    assert learned_park().diagnosis == learned_park().diagnosis


def test_a_good_session_gives_no_warning() -> None:
    assert codes(graph(LONG_WAY, {4, 5, 6})) == []


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (graph(LONG_WAY, {4}), "one-target"),
        (graph(LONG_WAY, {4, 5}), "few-targets"),
        (graph(LONG_WAY, {4, 5, 6}, n_pages=7), "few-pages"),
        (graph([(0, 1)], set(range(12))), "all-targets"),
        (graph([], {4, 5, 6}), "no-links"),
        (graph([(0, 1), (4, 5)], {4, 5, 6}), "no-way-to-targets"),
        (graph([(0, 4), (0, 5), (0, 6)], {4, 5, 6}), "targets-near-start"),
        (graph([(0, 4), (0, 5), (0, 6)], {4, 5, 6}, starts=(4, 5, 6)), "targets-near-start"),
        (graph(LONG_WAY, {4, 5, 6}, languages=["en"] * 5 + ["de", "fr"]), "several-languages"),
    ],
)
def test_each_weakness_is_named_with_a_next_step(found: PageGraph, expected: str) -> None:
    warnings = {warning.code: warning for warning in diagnosis_of(found).warnings}
    assert expected in warnings
    assert warnings[expected].next_step.endswith(".")


def test_pages_without_contents_are_what_is_missing() -> None:
    pages = [
        Page(f"http://a.test/{n}", title="Bee", terms={"bee": 1, f"w{n}": 1}) for n in range(12)
    ]
    bare = PageGraph(tuple(pages), (), frozenset({4, 5}))
    (advice,) = [each for each in diagnosis_of(bare).warnings if each.code == "no-links"]
    assert "came without content" in advice.problem
    assert "--fetch" in advice.next_step


def test_targets_near_the_start_page_are_explained() -> None:
    found = graph([(0, 4), (0, 5), (0, 6)], {4, 5, 6})
    (warning,) = diagnosis_of(found).warnings
    assert "All targets are one hop from the start page" in str(warning)
    assert "Browse from a more general page." in str(warning)


def test_short_paths_are_noticed_when_the_start_is_not_known() -> None:
    ways = [(page, 4) for page in range(12) if page not in {4, 5, 6}]
    assert codes(graph(ways, {4, 5, 6}, starts=())) == ["short-paths"]


def test_pages_without_content_are_counted() -> None:
    session = park_session(with_html=False)
    found = learned_park(session).diagnosis
    assert found.n_without_content == len(TEXTS)
    assert found.warnings[0].code == "no-content"
    assert f"{len(TEXTS)} pages of {len(TEXTS)}" in found.warnings[0].problem


def test_a_judge_that_cannot_tell_is_reported() -> None:
    pages = [
        Page(f"http://h.test/{n}", text="t", terms={f"own{n}": 3, "common": 1}) for n in range(20)
    ]
    found = PageGraph(tuple(pages), ((0, 1), (1, 2), (2, 3)), frozenset({3, 4, 5}), starts=(0,))
    assert "weak-judge" in codes(found)


@pytest.mark.parametrize(("target", "is_near"), [(0, True), (1, True), (2, True), (3, False)])
def test_targets_two_hops_from_all_start_pages_are_far_enough(target: int, is_near: bool) -> None:
    ways = [(0, 1), (1, 2), (0, 2), (2, 3), (5, 6), (6, 0)]
    assert ("targets-near-start" in codes(graph(ways, {target, 6}, starts=(0, 5)))) is is_near


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
