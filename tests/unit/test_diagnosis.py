from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from learned_topics import HOST, TEXTS, learned_park, park_session

from trailhound.judges.calibration import calibrate_judges
from trailhound.models.advice import hops_from_starts
from trailhound.models.diagnosis import Diagnosis, diagnose
from trailhound.models.judge_figures import CalibrationMethod, JudgeCalibration, judge_figures
from trailhound.models.topic_model import learn_topic
from trailhound.records import Link, Page
from trailhound.sessions.page_graph import PageGraph


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
    # Reached by the targets 0 and 1 and by page 3: precision 2/3, recall 2/3.
    assert (figures.precision, figures.recall, figures.f1) == (2 / 3, 2 / 3, 2 / 3)
    assert figures.target_scores == (0.9, 0.5, 0.4)
    assert figures.other_scores == (0.6, 0.1, 0.0)


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


def test_hops_from_the_start_pages() -> None:
    found = graph([(0, 1), (1, 2), (0, 2), (2, 3), (5, 6)], {3}, starts=(0, 5))
    assert hops_from_starts(found) == {0: 0, 5: 0, 1: 1, 2: 1, 6: 1, 3: 2}
