"""What counts as a find: a person's mark, else the judge; and both may change their minds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kept_pages import addresses, keep, u

from trailhound.records import Outcome
from trailhound.storage.results import ResultsStore
from trailhound.storage.results_reading import Results
from trailhound.storage.verdicts import (
    Changes,
    JudgedBy,
    Ruling,
    Span,
    Verdicts,
    marks_are_from,
)

OLD, NEW = JudgedBy("old", 0.5), JudgedBy("new", 0.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.db"


@pytest.fixture
def store(path: Path) -> Iterator[ResultsStore]:
    opened = ResultsStore(path)
    yield opened
    opened.close()


@pytest.fixture
def verdicts(store: ResultsStore, path: Path) -> Iterator[Verdicts]:
    with Verdicts(path) as opened:
        yield opened


def mark(verdicts: Verdicts, **marks: bool) -> Changes:
    by_address = {u(name): useful for name, useful in marks.items()}
    lacking = verdicts.lacking_words(by_address)
    return verdicts.mark(by_address, dict.fromkeys(lacking, ("Told", "zebras")), b"seen")


def found(path: Path, word: str) -> list[str]:
    with Results(path) as results:
        return [page.address.rpartition("/")[2] for page in results.search(word)]


def test_marks_overrule_the_judge_until_they_are_taken_back(
    store: ResultsStore, verdicts: Verdicts, path: Path
) -> None:
    keep(store, "good", score=0.9, text="honey")
    keep(store, "poor", score=0.1, text="wax")
    assert mark(verdicts, good=False, poor=True) == Changes(1, 1)
    assert addresses(path) == ["poor"]
    assert addresses(path, min_score=0.0) == ["poor"]
    assert addresses(path, everything=True) == ["good", "poor"]
    assert (found(path, "zebras"), found(path, "honey")) == (["poor"], [])
    with Results(path) as results:
        assert {page.address: page.marked for page in results.since(0)} == {
            u("good"): False,
            u("poor"): True,
        }
        assert (results.summary().relevant, results.summary().known) == (1, 1)
    assert mark(verdicts, good=False, poor=True) == Changes(), "nothing is new"
    assert mark(verdicts) == Changes(1, 1)
    assert addresses(path) == ["good"]
    assert found(path, "zebras") == ["good"], "its words are read again"


def test_a_mark_counts_for_a_page_that_is_fetched_later(
    store: ResultsStore, verdicts: Verdicts, path: Path
) -> None:
    mark(verdicts, late=True, moved=False)
    keep(store, "late", score=0.1, text="wax")
    keep(store, "moved", final="new-home", score=0.9, number=2)
    keep(store, "gone", score=None, outcome=Outcome.NOT_FOUND, number=3)
    assert addresses(path) == ["late"]
    assert found(path, "wax") == ["late"]
    assert verdicts.address_of(u("moved")) == u("new-home")
    assert verdicts.mark({u("late"): True}, {}, b"") == Changes(1, 0)
    assert addresses(path) == ["new-home", "late"]


def test_a_useful_copy_is_listed_and_copies_of_what_is_not_stay_folded(
    store: ResultsStore, verdicts: Verdicts, path: Path
) -> None:
    keep(store, "first", score=0.9)
    keep(store, "copy", score=0.9, duplicate_of=u("first"), number=2)
    assert mark(verdicts, copy=True) == Changes(1, 0)
    assert addresses(path) == ["first", "copy"]
    keep(store, "twin", score=0.9, duplicate_of=u("first"), number=3)
    assert mark(verdicts, first=False) == Changes(0, 1)
    assert "twin" not in addresses(path)


def test_a_copy_is_folded_again_when_its_mark_is_taken_back(
    store: ResultsStore, verdicts: Verdicts, path: Path
) -> None:
    keep(store, "first", score=0.9)
    keep(store, "copy", score=0.9, duplicate_of=u("first"), number=2)
    mark(verdicts, copy=True, late=True)
    keep(store, "late", score=0.9, duplicate_of=u("first"), number=3)
    assert addresses(path) == ["first", "copy", "late"]
    assert mark(verdicts) == Changes(0, 2)
    assert addresses(path) == ["first"]
    mark(verdicts, copy=True)
    mark(verdicts, copy=True, first=False)
    assert mark(verdicts, first=False) == Changes(), "the judge likes it, and it stands for itself"
    assert addresses(path) == ["copy"]


def test_a_copy_takes_the_place_of_a_page_that_leaves(
    store: ResultsStore, verdicts: Verdicts, path: Path
) -> None:
    keep(store, "first", score=0.55, fingerprint=7)
    for number, name in enumerate(("copy", "twin"), 2):
        keep(store, name, score=0.7, duplicate_of=u("first"), fingerprint=7, number=number)
    assert verdicts.write([Ruling(1, 0.55, relevant=False)], Span(1, 1), NEW) == Changes(1, 1)
    assert addresses(path) == ["copy"]
    with Results(path) as results:
        assert results.events_of(u("twin"))[0].duplicate_of == u("copy")
    assert [address for address, _ in store.fingerprints()] == [u("copy"), u("twin")]


def test_a_copy_that_leaves_with_its_page_was_never_there(
    store: ResultsStore, verdicts: Verdicts, path: Path
) -> None:
    keep(store, "first", score=0.55, fingerprint=7)
    keep(store, "copy", score=0.55, duplicate_of=u("first"), fingerprint=7, number=2)
    rulings = [Ruling(1, 0.55, relevant=False), Ruling(2, 0.55, relevant=False)]
    assert verdicts.write(rulings, Span(1, 2), NEW) == Changes(0, 1)
    assert addresses(path) == []


def test_rulings_change_score_verdict_and_what_is_searched(
    store: ResultsStore, verdicts: Verdicts, path: Path
) -> None:
    keep(store, "up", score=0.1, text="not kept")
    keep(store, "down", score=0.9, text="honey", number=2)
    rulings = [
        Ruling(1, 0.8, relevant=True, title="Up", text="nectar", fingerprint=2**64 - 3),
        Ruling(2, 0.2, relevant=False),
        Ruling(99, 0.9, relevant=True, title="Forgotten", text="nectar"),
    ]
    assert verdicts.write(rulings, Span(1, 2), NEW) == Changes(1, 1)
    assert (addresses(path), found(path, "nectar"), found(path, "honey")) == (["up"], ["up"], [])
    assert list(store.fingerprints()) == [(u("up"), 2**64 - 3)]


def test_a_page_that_was_fetched_again_meanwhile_is_left_alone(
    store: ResultsStore, verdicts: Verdicts, path: Path
) -> None:
    keep(store, "a", score=0.1)
    (page,) = verdicts.pages(Span(1, 1), 10)
    keep(store, "a", score=0.2, number=2)
    assert verdicts.write([Ruling(page.id, 0.9, relevant=True)], Span(1, 1), NEW) == Changes()
    assert addresses(path, min_score=0.0) == ["a"]
    assert addresses(path) == []


def test_a_ruling_on_a_marked_page_holds_when_the_mark_is_gone(
    store: ResultsStore, verdicts: Verdicts, path: Path
) -> None:
    keep(store, "a", score=0.1)
    mark(verdicts, a=False)
    assert verdicts.write([Ruling(1, 0.9, relevant=True)], Span(1, 1), NEW) == Changes()
    assert addresses(path) == []
    assert mark(verdicts) == Changes(1, 0)
    assert addresses(path) == ["a"]


def test_who_judged_which_page_is_remembered(store: ResultsStore, verdicts: Verdicts) -> None:
    for number in range(1, 11):
        keep(store, f"old{number}", score=0.1, number=number)
    store.note_judge(*OLD)
    for number in range(11, 21):
        keep(store, f"new{number}", score=0.1, number=number)
    assert verdicts.waiting(OLD) == [Span(1, 10)]
    assert verdicts.waiting(NEW) == [Span(1, 10), Span(11, 20)]
    verdicts.write([], Span(1, 4), NEW)
    assert verdicts.waiting(NEW) == [Span(5, 10), Span(11, 20)]
    store.note_judge(*NEW)
    keep(store, "last", score=0.1, number=21)
    verdicts.write([], Span(5, 10), NEW)
    verdicts.write([], Span(11, 20), NEW)
    assert verdicts.waiting(NEW) == []
    assert verdicts.waiting(JudgedBy("new", 0.3)) == [Span(1, 21, threshold=0.3)]


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 10), st.sampled_from("abc"))))
def test_spans_are_those_of_a_list_of_judges(written: list[tuple[int, int, str]]) -> None:
    with closing(ResultsStore(":memory:")) as store:
        for number in range(1, 31):
            keep(store, f"p{number}", score=0.1, number=number)
        verdicts = Verdicts.__new__(Verdicts)
        verdicts.path, verdicts._connection = store.path, store._connection
        judges = [""] * 31
        for first, more, judge in written:
            last = min(first + more, 30)
            verdicts.write([], Span(first, last), JudgedBy(judge, None))
            judges[first : last + 1] = [judge] * (last + 1 - first)
        for judge in "abc":
            waiting = verdicts.waiting(JudgedBy(judge, None))
            rows = [row for span in waiting for row in range(span.first, span.last + 1)]
            assert rows == [row for row in range(1, 31) if judges[row] != judge]


def test_with_another_threshold_only_pages_on_the_wrong_side_are_judged(
    store: ResultsStore, verdicts: Verdicts
) -> None:
    for number, score in enumerate((0.1, 0.35, 0.45, 0.55, 0.9), 1):
        keep(store, f"p{number}", score=score, number=number, fingerprint=number)
    mark(verdicts, p3=False)
    lower, higher = Span(1, 5, threshold=0.3), Span(1, 5, threshold=0.6)
    assert [page.id for page in verdicts.pages(lower, 10)] == [2, 3]
    assert [page.id for page in verdicts.pages(higher, 10)] == [4]
    assert (verdicts.count(lower), verdicts.count(higher)) == (2, 1)
    assert [each[1] for each in verdicts.fingerprints([higher])] == [5]
    assert [each[1] for each in verdicts.fingerprints([Span(1, 4)])] == [5]


def test_near_misses_and_what_a_threshold_would_do(
    store: ResultsStore, verdicts: Verdicts, path: Path
) -> None:
    scores = {"a": 0.1, "b": 0.35, "c": 0.45, "d": 0.55, "e": 0.9, "useful": 0.2, "useless": 0.4}
    for number, (name, score) in enumerate(scores.items(), 1):
        keep(store, name, score=score, number=number)
    keep(store, "shy", score=0.45, noindex=True, number=9)
    mark(verdicts, useful=True, useless=False)
    with Results(path) as results:
        misses = [page.address for page in results.near_misses()]
        assert misses == [u("c"), u("b"), u("a")]
        assert [page.address for page in results.near_misses(1, 1, min_score=0.3)] == [u("b")]
        assert [page.address for page in results.weakest(0.8)] == [u("d")]
        for threshold, expected in [(0.3, (5, 2, 0)), (0.5, (3, 0, 0)), (0.8, (2, 0, 1))]:
            effect = results.at_threshold(threshold)
            assert (effect.finds, effect.joined, effect.left) == expected


def test_lists_and_counts_go_by_indices(store: ResultsStore, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:

        def plan(query: str) -> str:
            rows = connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
            return " ".join(str(row[3]) for row in rows)

        misses = "FROM event WHERE current AND NOT relevant AND score >= 0.3 AND NOT noindex"
        assert "COVERING INDEX event_by_miss" in plan(f"SELECT count(*) {misses}")
        ranked = plan(f"SELECT *  {misses} ORDER BY score DESC, id LIMIT 10")
        assert "event_by_miss" in ranked
        assert "TEMP B-TREE" not in ranked
        finds = "FROM event WHERE current AND duplicate_of IS NULL AND NOT noindex AND relevant"
        ranked = plan(f"SELECT * {finds} ORDER BY score DESC, id LIMIT 10")
        assert "event_by_find" in ranked
        assert "TEMP B-TREE" not in ranked
        assert "COVERING INDEX event_by_find" in plan(f"SELECT count(*) {finds}")
        assert "COVERING INDEX event_by_find" in plan(f"SELECT count(*) {finds} AND score < 0.5")


def test_a_file_of_an_earlier_version_is_read_as_it_is(store: ResultsStore, path: Path) -> None:
    keep(store, "a", score=0.9)
    keep(store, "b", score=0.3, number=2)
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        for kind, name in [
            ("INDEX", "event_by_find"),
            ("INDEX", "event_by_miss"),
            ("INDEX", "event_by_original"),
            ("TABLE", "marked"),
            ("TABLE", "judged"),
        ]:
            connection.execute(f"DROP {kind} {name}")
    assert addresses(path) == ["a"]
    with Results(path) as results:
        assert [page.marked for page in results.near_misses()] == [None]
        assert results.at_threshold(0.2).joined == 1
    assert not marks_are_from(path, b"")
    with Verdicts(path) as verdicts:
        assert verdicts.waiting(NEW) == [Span(1, 2)]
