"""What a crawl found is kept page by page, and can be asked for."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kept_pages import addresses, keep, u

from trailhound.errors import StorageError
from trailhound.records import (
    Outcome,
)
from trailhound.storage import text_index
from trailhound.storage.results import ResultsStore
from trailhound.storage.results_reading import Results


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.db"


@pytest.fixture
def store(path: Path) -> Iterator[ResultsStore]:
    opened = ResultsStore(path)
    yield opened
    opened.close()


def test_relevant_pages_come_best_first(store: ResultsStore, path: Path) -> None:
    for name, score in {"a": 0.6, "b": 0.9, "c": 0.2, "d": 0.7}.items():
        keep(store, name, score=score)
    keep(store, "gone", outcome=Outcome.NOT_FOUND)
    assert addresses(path) == ["b", "d", "a"]
    assert addresses(path, min_score=0.1) == ["b", "d", "a", "c"]
    with Results(path) as results:
        assert [page.address for page in results.ranked(1)] == [u("b")]


def test_copies_and_unlisted_pages_are_listed_only_on_demand(
    store: ResultsStore, path: Path
) -> None:
    keep(store, "a", score=0.9)
    keep(store, "copy", score=0.9, duplicate_of=u("a"))
    keep(store, "shy", score=0.8, noindex=True)
    assert addresses(path) == ["a"]
    assert addresses(path, everything=True) == ["a", "copy", "shy"]
    with Results(path) as results:
        summary = results.summary()
    assert (summary.relevant, summary.duplicates, summary.unlisted) == (1, 1, 1)


def test_pages_of_the_sessions_are_marked_and_can_be_left_out(path: Path) -> None:
    store = ResultsStore(path, known={u("a")})
    keep(store, "a", score=0.9)
    keep(store, "b", score=0.8)
    store.close()
    assert addresses(path) == ["a", "b"]
    assert addresses(path, only_new=True) == ["b"]
    with Results(path) as results:
        assert [page.known for page in results.ranked()] == [True, False]
        assert results.summary().known == 1


def test_of_a_page_that_was_kept_twice_the_last_counts(store: ResultsStore, path: Path) -> None:
    keep(store, "a", score=0.9, text="old words", number=1)
    keep(store, "a", score=0.7, text="new words", number=2)
    with Results(path) as results:
        assert [(page.score, page.number) for page in results.ranked()] == [(0.7, 2)]
        assert results.search("old") == []
        assert len(results.search("new")) == 1
        assert [page.number for page in results.events_of(u("a"))] == [1, 2]


@pytest.mark.parametrize(
    "outcome", [Outcome.NOT_MODIFIED, Outcome.TIMEOUT, Outcome.SERVER_ERROR, Outcome.BUSY]
)
def test_a_failed_refresh_does_not_hide_what_was_found(
    store: ResultsStore, path: Path, outcome: Outcome
) -> None:
    keep(store, "a", score=0.9, text="honey")
    keep(store, "a", outcome=outcome, number=2)
    assert addresses(path) == ["a"]
    with Results(path) as results:
        assert len(results.search("honey")) == 1


def test_a_page_that_is_gone_is_no_result_any_more(store: ResultsStore, path: Path) -> None:
    keep(store, "a", score=0.9, text="honey")
    keep(store, "a", outcome=Outcome.NOT_FOUND, number=2)
    assert addresses(path) == []
    with Results(path) as results:
        assert results.search("honey") == []


def test_a_page_behind_a_redirect_is_one_page_however_it_is_reached(
    store: ResultsStore, path: Path
) -> None:
    keep(store, "old", final="new", score=0.9, number=1)
    keep(store, "other", final="new", outcome=Outcome.DUPLICATE, number=2)
    keep(store, "new", score=0.8, number=3)
    assert addresses(path) == ["new"]
    with Results(path) as results:
        assert [page.number for page in results.events_of(u("new"))] == [1, 2, 3]
        assert [page.number for page in results.events_of(u("old"))] == [1]


def test_the_path_leads_from_the_seed_to_the_page(store: ResultsStore, path: Path) -> None:
    keep(store, "seed", final="home", score=0.1, number=1)
    keep(store, "list", parent="home", score=0.2, number=2)
    keep(store, "find", parent="list", score=0.9, number=3)
    keep(store, "home", parent="find", score=0.1, number=4)  # a refresh must not make a circle
    with Results(path) as results:
        (found,) = results.ranked()
        assert results.path_to(found) == [u("home"), u("list"), u("find")]


def test_search_finds_all_words_in_any_form_and_shows_the_passage(
    store: ResultsStore, path: Path
) -> None:
    keep(
        store, "a", score=0.6, text="Bees need care. " * 20 + "The varroa mite is treated in June."
    )
    keep(store, "b", score=0.9, text="Bees are kept for honey.")
    keep(store, "c", score=0.1, text="The varroa treatment of an irrelevant page.")
    with Results(path) as results:
        (found,) = results.search("varroa TREATING")
        assert found.address == u("a")
        assert "varroa mite" in found.snippet
        assert [page.address for page in results.search("bee kept", limit=1)] == [u("b")]
        assert results.search("bees", min_score=0.7)[0].address == u("b")
        for strange in ('"', "AND", "a*b NEAR(", "", "   ", "title:x"):
            results.search(strange)


def test_a_later_run_goes_on_from_the_numbers_of_the_last(store: ResultsStore, path: Path) -> None:
    assert store.progress().pages == 0
    keep(store, "a", score=0.9, number=1)
    keep(store, "b", score=0.1, number=2)
    keep(store, "c", outcome=Outcome.NOT_FOUND, number=3)
    keep(store, "d", score=0.1, number=4)
    progress = store.progress()
    assert (progress.pages, progress.requests, progress.barren) == (4, 4, 2)


def test_requests_that_came_to_no_page_are_remembered(store: ResultsStore, path: Path) -> None:
    store.settle(2, 0)
    assert (store.progress().pages, store.progress().requests) == (0, 2)
    keep(store, "a", number=5)
    assert store.progress().requests == 5
    store.settle(7, 0)
    assert store.progress().requests == 7
    with Results(path) as results:
        assert results.summary().requests == 7


def test_fingerprints_survive_with_their_addresses(path: Path) -> None:
    marks = {u("a"): 2**64 - 1, u("b"): 5}
    store = ResultsStore(path)
    for name in "abc":
        keep(store, name, score=0.1, fingerprint=marks.get(u(name)))
    assert list(store.fingerprints()) == [(u("a"), 2**64 - 1), (u("b"), 5)]
    store.close()


def test_validators_memory_and_text_beyond_unicode_are_kept(
    store: ResultsStore, path: Path
) -> None:
    headers = (("etag", '"x1"'), ("Last-Modified", "Sun, 01 Mar 2026 12:00:00 GMT"))
    keep(store, "a", score=1.00000012, headers=headers, text="lone \ud800 surrogate")
    with Results(path) as results:
        (page,) = results.ranked()
    assert (page.etag, page.last_modified) == ('"x1"', "Sun, 01 Mar 2026 12:00:00 GMT")
    assert page.memory == b"belief"
    assert page.score == 1.0


def test_refusals_and_states_are_kept(store: ResultsStore, path: Path) -> None:
    store.note_refusals([(u("trap"), "calendar", u("a")), (u("trap"), "again", u("b"))])
    store.save_state("gate", b"1")
    store.save_state("gate", b"2")
    assert store.state("gate") == b"2"
    assert store.state("other") is None
    with Results(path) as results:
        assert results.refusal_of(u("trap")) == ("calendar", u("a"))
        assert results.refusal_of(u("a")) is None


def test_results_can_be_read_while_they_are_written(store: ResultsStore, path: Path) -> None:
    keep(store, "a", score=0.9)
    with Results(path) as results:
        assert len(results.ranked()) == 1
        keep(store, "b", score=0.8)
        assert len(results.ranked()) == 2


def test_results_in_a_folder_that_cannot_be_written_can_be_read(path: Path) -> None:
    store = ResultsStore(path)
    keep(store, "a", score=0.9)
    store.close()
    assert [entry.name for entry in path.parent.iterdir()] == ["results.db"]
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert addresses(path) == ["a"]
    finally:
        path.parent.chmod(0o700)


def test_other_files_are_refused_with_advice(tmp_path: Path, path: Path) -> None:
    with pytest.raises(StorageError, match="has this topic been crawled"):
        Results(path)
    path.write_bytes(b"no database at all, but long enough to be looked at" * 20)
    with pytest.raises(StorageError, match="damaged"):
        ResultsStore(path)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(StorageError, match="not one of Trailhound's"):
        ResultsStore(other)
    newer = tmp_path / "newer.db"
    ResultsStore(newer).close()
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StorageError, match="newer Trailhound"):
        Results(newer)


def test_a_write_lock_of_another_program_is_reported_and_nothing_is_lost(path: Path) -> None:
    store = ResultsStore(path)
    store._connection.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="locked by another program"):
        keep(store, "a", score=0.9)
    other.execute("ROLLBACK")
    other.close()
    keep(store, "a", score=0.9)
    store.close()
    assert addresses(path) == ["a"]


def test_a_search_lets_the_crawl_write_between(
    store: ResultsStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        keep(store, name, score=0.9, text="bees and mites")
    store._connection.execute("PRAGMA busy_timeout = 0")
    monkeypatch.setattr(text_index, "INDEX_CHARS_TOGETHER", 20)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        keep(store, f"later{len(pauses)}", score=0.1)

    monkeypatch.setattr(time, "sleep", pause)
    text_index.index_for_search(path)
    assert pauses == [text_index.INDEX_PAUSE_SECONDS] * 2
    assert store._connection.execute("SELECT count(*) FROM unindexed").fetchone() == (0,)
