from __future__ import annotations

import pytest

from trailhound.errors import SessionError
from trailhound.judges.cosine import FALLBACK_THRESHOLD, CosineJudge
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph


def graph(targets: set[int]) -> PageGraph:
    pages = (
        Page("http://h.test/1", terms={"bee": 2, "honey": 2, "hive": 1}),
        Page("http://h.test/2", terms={"bee": 1, "honey": 1, "queen": 1}),
        Page("http://h.test/3", terms={"car": 2, "road": 1}),
        Page("http://h.test/4", terms={"car": 1, "bee": 1, "train": 4}),
    )
    return PageGraph(pages, (), frozenset(targets))


def test_the_threshold_separates_targets_from_other_visited_pages() -> None:
    judge = CosineJudge.from_graph(graph({0, 1}))
    assert judge.judge(Page("x", terms={"bee": 1, "honey": 1})).relevant
    assert not judge.judge(graph({0}).pages[3]).relevant
    assert not judge.judge(Page("x")).relevant


def test_a_given_threshold_is_kept_and_reached_by_equality() -> None:
    judge = CosineJudge.from_graph(graph({0}), threshold=1.0)
    relevance = judge.judge(Page("x", terms={"car": 1}))
    assert (judge.threshold, relevance.score, relevance.relevant) == (1.0, 0.0, False)


def test_one_target_falls_back_to_a_stated_threshold() -> None:
    assert CosineJudge.from_graph(graph({0})).threshold == FALLBACK_THRESHOLD


def test_a_session_without_targets_is_refused_with_advice() -> None:
    with pytest.raises(SessionError, match="Mark at least one page as useful"):
        CosineJudge.from_graph(graph(set()))
