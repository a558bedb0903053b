"""Recorded walks: back clicks and times."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trailhound.lab.corpora import BACK, Access, Trail, TrailVisit
from trailhound.lab.corpora.contents import access_log


def test_back_clicks_show_the_page_before_again() -> None:
    trail = Trail("u", 10.0, 40.0, ("a", "b", BACK, "c", BACK))
    assert list(trail.visits()) == [
        TrailVisit(10.0, "a", None, back=False),
        TrailVisit(20.0, "b", "a", back=False),
        TrailVisit(30.0, "a", "b", back=True),
        TrailVisit(40.0, "c", "a", back=False),
        TrailVisit(50.0, "a", "c", back=True),
    ]


def test_a_single_page_is_shown_at_the_start() -> None:
    assert list(Trail("u", 10.0, 40.0, ("a",)).visits()) == [TrailVisit(10.0, "a", None, False)]


def test_back_from_the_first_page_is_passed_over() -> None:
    visits = Trail("u", 0.0, 3.0, ("a", BACK, BACK, "b")).visits()
    assert [(visit.time, visit.url) for visit in visits] == [(0.0, "a"), (3.0, "b")]


def test_an_empty_trail_shows_nothing() -> None:
    assert list(Trail("u", 0.0, 3.0, ()).visits()) == []


def test_the_access_log_merges_users_in_order_of_time() -> None:
    trails = [Trail("v", 0.0, 10.0, ("a", "b")), Trail("u", 0.0, 2.0, ("c", BACK, "d"))]
    assert list(access_log(trails)) == [
        Access(0.0, "u", "c"),
        Access(0.0, "v", "a"),
        Access(2.0, "u", "d"),
        Access(10.0, "v", "b"),
    ]


@given(st.lists(st.sampled_from(["a", "b", "c", BACK])), st.floats(0, 1e6))
def test_visits_are_in_order_of_time_and_linked_to_each_other(
    steps: list[str], duration: float
) -> None:
    visits = list(Trail("u", 5.0, duration, tuple(steps)).visits())
    times = [visit.time for visit in visits]
    assert times == sorted(times)
    assert all(5.0 <= time <= 5.0 + duration * 1.0001 for time in times)
    assert [visit.from_url for visit in visits[1:]] == [visit.url for visit in visits[:-1]]
    assert BACK not in {visit.url for visit in visits}
