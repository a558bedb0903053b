from __future__ import annotations

import pytest

from trailhound.lab.corpora import LinkGraph
from trailhound.lab.topics.base import MAX_PAGES, generator_for
from trailhound.lab.topics.walks import Errand, walk
from trailhound.sessions.events import Mark, Reached, Session, Submit, Visit

N_BRANCHES = 12
N_LEAVES = 12


def tree() -> LinkGraph:
    """Page 0 links to twelve branches, each of which links to twelve leaves and back to 0."""
    rows: list[list[int]] = [[1 + branch for branch in range(N_BRANCHES)]]
    first = 1 + N_BRANCHES
    rows += [
        [0, *range(first + n * N_LEAVES, first + (n + 1) * N_LEAVES)] for n in range(N_BRANCHES)
    ]
    rows += [[] for _ in range(N_BRANCHES * N_LEAVES)]
    return LinkGraph.from_rows(rows)


URLS = [f"http://w.test/{page}" for page in range(1 + N_BRANCHES + N_BRANCHES * N_LEAVES)]


def browse(goals: list[int], wanted: set[int], max_marks: int, seed: int = 1) -> Session:
    errand = Errand(0, goals, frozenset(wanted), max_marks)
    return walk(tree(), URLS, errand, "leaves", generator_for(seed, "walk"))


def visits(session: Session) -> list[Visit]:
    return [event for event in session.events if isinstance(event, Visit)]


def marks(session: Session) -> list[str]:
    return [event.url for event in session.events if isinstance(event, Mark)]


def number(url: str) -> int:
    return URLS.index(url)


@pytest.mark.parametrize("seed", range(5))
def test_every_step_is_a_real_click_or_a_way_back(seed: int) -> None:
    session = browse([40, 77, 120], {40, 77, 120}, 3, seed)
    graph = tree()
    opened: list[str] = []
    for visit in visits(session):
        if visit.reached is Reached.TYPED:
            assert visit.from_url is None
            assert visit.url == URLS[0]
            opened = [visit.url]
            continue
        assert visit.from_url == opened[-1]
        if visit.reached is Reached.BACK:
            opened.pop()
            assert visit.url == opened[-1]
        else:
            assert number(visit.url) in graph.links_of(number(opened[-1])).tolist()
            opened.append(visit.url)


def test_all_goals_are_marked_once_and_nothing_else() -> None:
    session = browse([40, 77, 120], {40, 77, 120}, 3)
    assert sorted(marks(session)) == sorted([URLS[40], URLS[77], URLS[120]])


def test_wrong_turns_show_many_other_pages_but_never_too_many() -> None:
    shown = {visit.url for visit in visits(browse([40, 77, 120], {40, 77, 120}, 3))}
    assert 60 <= len(shown) <= MAX_PAGES


def test_wrong_turns_avoid_what_is_wanted() -> None:
    wanted = set(range(60, 80))
    session = browse([61], wanted, 1)
    assert {visit.url for visit in visits(session)} & {URLS[page] for page in wanted} == {URLS[61]}


def test_a_wanted_page_on_the_way_is_marked_and_counts() -> None:
    session = browse([20], {1, 20}, 1)
    assert marks(session) == [URLS[1]]


def test_the_session_runs_forward_in_time_and_is_submitted() -> None:
    session = browse([40, 77], {40, 77}, 2)
    times = [event.time for event in session.events]
    assert times == sorted(times)
    assert isinstance(session.events[-1], Submit)
    assert session.topic == "leaves"


def test_the_same_generator_gives_the_same_walk() -> None:
    assert browse([40, 77], {40, 77}, 2, seed=3) == browse([40, 77], {40, 77}, 2, seed=3)
    assert browse([40, 77], {40, 77}, 2, seed=3) != browse([40, 77], {40, 77}, 2, seed=4)


def test_a_goal_in_a_dead_end_of_a_two_page_web_is_found() -> None:
    errand = Errand(0, [1], frozenset({1}), 1)
    graph = LinkGraph.from_rows([[1], []])
    session = walk(graph, URLS[:2], errand, "x", generator_for(1, "x"))
    assert marks(session) == [URLS[1]]
