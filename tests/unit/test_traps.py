"""URLs without end, and URLs that only look like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.crawling.traps import TrapGuard, TrapLimits
from trailhound.demo.trap import trap_urls
from trailhound.errors import StorageError

SITE = "http://site.test"


def name_of(reason: str | None) -> str | None:
    return reason.partition(":")[0] if reason else None


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/" + "x" * 2000, "long-url"),
        ("/" + "/".join(map(str, range(21))), "path-depth"),
        ("/a/a/a", "repeated-segments"),
        ("/x/img/img/img/y.html", "repeated-segments"),
        ("/a/b/a/b/a/b/", "repeated-segments"),
        ("/a/b/c/a/b/c/a/b/c/x", "repeated-segments"),
        ("/n/a/1/a/2/a/3/a/4/a/5", "repeated-segments"),
        ("/?" + "&".join(f"f{number}=1" for number in range(16)), "query-explosion"),
        ("/a.php?PHPSESSID=0123456789abcdef0123", "session-id"),
        ("/a;jsessionid=0123456789ABCDEF0123?x=1", "session-id"),
        ("/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "session-id"),
    ],
)
def test_one_look_is_enough_for_some(path: str, name: str) -> None:
    assert name_of(TrapGuard().reason_against(SITE + path)) == name


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/a/b/c/d/e/f/g/h/i/j/k/l.html",
        "/en/docs/en/page",
        "/a/b/a/b/",
        "/2001/01/01/a-story.html",
        "/talks?session_id=3",
        "/shop?sid=12&page=2",
        "/item.php?id=20",
        "/commit/0123456789abcdef0123456789abcdef01234567",
        "/?q=" + "x" * 1500,
    ],
)
def test_ordinary_urls_pass(path: str) -> None:
    assert TrapGuard().reason_against(SITE + path) is None


def test_the_demo_calendar_is_left_after_a_while() -> None:
    guard = TrapGuard()
    verdicts = [guard.reason_against(url) for url in trap_urls(3000)]
    assert verdicts[:100] == [None] * 100
    assert {name_of(verdict) for verdict in verdicts[100:]} == {"calendar"}


@pytest.mark.parametrize(
    "form",
    [
        "/calendar/{year}/{month:02d}/{day:02d}",
        "/calendar/{year}/{month}/{day}/",
        "/events/{year}-{month:02d}-{day:02d}",
        "/events/{year}{month:02d}{day:02d}.html",
        "/agenda/{day}.{month}.{year}",
        "/cal?year={year}&month={month}&day={day}",
        "/cal.php?view=week&start_date={year}-{month:02d}-{day:02d}",
    ],
)
def test_calendars_in_many_forms(form: str) -> None:
    guard = TrapGuard()
    days = [(year, month, day) for year in (2030, 2031) for month in range(1, 13) for day in (1, 9)]
    days += [(year, 7, 5) for year in range(2032, 2100)]
    urls = [SITE + form.format(year=year, month=month, day=day) for year, month, day in days]
    verdicts = [guard.reason_against(url) for url in urls]
    assert verdicts[:100] == [None] * 100
    assert all(name_of(verdict) == "calendar" for verdict in verdicts[100:])
    assert guard.reason_against(urls[0]) is None, "what passed once passes again"
    assert guard.reason_against(urls[-1].replace("site", "other")) is None


def test_dated_articles_are_no_calendar() -> None:
    guard = TrapGuard()
    for number in range(1000):
        day = f"{2000 + number % 20}/{number % 12 + 1:02d}/{number % 28 + 1:02d}"
        assert (
            guard.reason_against(f"{SITE}/{day}/story-of-{chr(97 + number % 26)}{number}") is None
        )
        assert guard.reason_against(f"{SITE}/item.php?id={1900 + number}") is None


def test_filters_that_combine_are_stopped() -> None:
    guard = TrapGuard()
    facets = ["size", "colour", "brand", "sort", "page", "price", "shop"]
    queries = [
        "&".join(f"{name}=1" for bit, name in enumerate(facets) if number >> bit & 1)
        for number in range(1, 128)
    ]
    verdicts = [guard.reason_against(f"{SITE}/shop?{query}") for query in queries]
    assert verdicts[:40] == [None] * 40
    assert {name_of(verdict) for verdict in verdicts[40:]} == {"query-explosion"}
    assert guard.reason_against(f"{SITE}/other?size=1&shop=2") is None


def test_many_values_of_one_parameter_are_no_explosion() -> None:
    guard = TrapGuard()
    for number in range(500):
        assert guard.reason_against(f"{SITE}/thread.php?id={number}&page=2") is None
        assert guard.reason_against(f"{SITE}/titles?The+Birds+{number}") is None
        assert guard.reason_against(f"{SITE}/article?id=YmVlcw{number}==") is None
        assert guard.reason_against(f"{SITE}/go?to=/list?shelf={number}=a") is None


def test_rules_can_be_switched_off_and_set() -> None:
    off = TrapLimits(
        max_chars=None,
        max_path_depth=None,
        max_segment_repeats=None,
        max_consecutive_repeats=None,
        max_parameters=None,
        max_parameter_combinations=None,
        max_dates=None,
        refuse_session_ids=False,
    )
    guard = TrapGuard(off)
    for url in [
        SITE + "/a" * 3000,
        SITE + "/?sid=0123456789abcdef0123&" + "&".join(f"f{number}" for number in range(99)),
        *trap_urls(300),
    ]:
        assert guard.reason_against(url) is None
    strict = TrapGuard(TrapLimits(max_path_depth=1, max_dates=1))
    assert name_of(strict.reason_against(f"{SITE}/a/b")) == "path-depth"


def test_memory_survives_a_restart() -> None:
    before, after = TrapGuard(), TrapGuard()
    urls = trap_urls(150)
    for url in urls:
        before.reason_against(url)
    after.restore(before.to_bytes())
    assert len(before.to_bytes()) < 2000
    assert after.reason_against(urls[0]) is None
    assert name_of(after.reason_against(urls[120])) == "calendar"
    with pytest.raises(StorageError, match="cannot be read"):
        after.restore(b"\xff nonsense")


def test_memory_is_bounded() -> None:
    guard = TrapGuard(TrapLimits(max_forms=50))
    for number in range(5000):
        guard.reason_against(f"{SITE}/{number}/2031-01-{number % 28 + 1:02d}?a=1")
    assert len(guard.to_bytes()) < 50 * 60


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_url_gets_a_verdict_that_stays(path: str, query: str) -> None:
    guard = TrapGuard()
    url = f"http://site.test/{path}?{query}"
    assert guard.reason_against(url) == guard.reason_against(url)
