"""The judges beside the lexical cosine."""

from __future__ import annotations

import pytest

from trailhound.errors import SessionError
from trailhound.judges.contrast import ContrastJudge
from trailhound.judges.cosine import LatentJudge
from trailhound.models.topic_model import TopicParameters, learn_topic
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph

BEES = [{"bee": 3, "hive": n, "honey": 2, "news": 1} for n in (1, 2, 3)]
CARS = [{"car": 3, "road": n, "news": 2} for n in (1, 2, 3, 4)]


def graph(n_targets: int = 3) -> PageGraph:
    terms = BEES + CARS
    pages = tuple(Page(f"http://h.test/{n}", terms=found) for n, found in enumerate(terms))
    return PageGraph(pages, (), frozenset(range(n_targets)))


def test_contrast_learns_from_what_was_not_marked() -> None:
    judge = ContrastJudge.from_graph(graph())
    assert judge.judge(Page("x", terms={"bee": 1, "honey": 1})).relevant
    assert not judge.judge(Page("x", terms={"car": 1, "news": 3})).relevant


def test_contrast_does_not_depend_on_the_order_of_pages() -> None:
    given = graph()
    turned = PageGraph(given.pages[::-1], (), frozenset({4, 5, 6}))
    page = Page("x", terms={"bee": 1, "news": 1})
    scores = [ContrastJudge.from_graph(g).judge(page).score for g in (given, turned)]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("n_targets", [0, 7])
def test_contrast_needs_both_kinds(n_targets: int) -> None:
    with pytest.raises(SessionError, match="needs both"):
        ContrastJudge.from_graph(graph(n_targets))


def test_latent_judges_by_the_nearest_target_in_the_latent_space() -> None:
    judge = LatentJudge(learn_topic(graph(), TopicParameters(variance_share=0.95)))
    assert judge.judge(Page("x", terms={"hive": 2, "bee": 3, "honey": 2})).relevant
    assert not judge.judge(Page("x", terms={"road": 2, "car": 1})).relevant
    assert not judge.judge(Page("x")).relevant


def test_latent_takes_a_given_threshold() -> None:
    assert LatentJudge(learn_topic(graph()), threshold=0.25).threshold == 0.25
    assert LatentJudge(learn_topic(graph(1))).threshold == 0.5
