"""Looks at finds: rising intervals, and what is new or has changed since a moment."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from trailhound.records import (
    Candidate,
    FetchResult,
    FinishedPage,
    Outcome,
    Page,
    PageEvent,
    Relevance,
)
from trailhound.storage.finds import DAY_SECONDS
from trailhound.storage.forgetting import forget_results
from trailhound.storage.results import RESULTS, ResultsStore
from trailhound.storage.verdicts import Verdicts
from trailhound.storage.visit_reading import (
    count_news,
    due_pages,
    news_pages,
    visits_of,
)
from trailhound.topics.control.overview import last_looked, news, note_looked
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.workspace import Workspace

DAY = DAY_SECONDS


class Crawl:
    """Keeps pages at given days."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = ResultsStore(path, known={"http://h.test/known"})
        self._number = 0

    def look(
        self,
        name: str,
        day: float,
        says: int | None = 0,
        *,
        outcome: Outcome = Outcome.FETCHED,
        relevant: bool = True,
        score: float = 0.8,
        title: str = "Title",
        moved_to: str = "",
        status: int = 200,
        copy_of: str = "",
    ) -> None:
        self._number += 1
        url = f"http://h.test/{name}"
        end = f"http://h.test/{moved_to or name}"
        was_fetched = outcome is Outcome.FETCHED
        event = PageEvent(
            number=self._number,
            url=url,
            final_url=end,
            outcome=outcome,
            parent=None,
            depth=0,
            priority=1.0,
            requests=1,
            requests_total=self._number,
            relevance=Relevance(score, relevant) if was_fetched else None,
            title=title,
            duplicate_of=f"http://h.test/{copy_of}" if copy_of else None,
            at=day * DAY,
        )
        page = Page(end, title=title, text=f"It says {says}.") if was_fetched else None
        result = FetchResult(url, outcome, end, status=status)
        self.store.keep(FinishedPage(event, Candidate(url, 1.0), result, page, says))

    def due_in(self, name: str, day: float) -> float:
        """Days from ``day`` until another look."""
        address = f"http://h.test/{name}"
        return visits_of(self.path, [address])[address].due_at / DAY - day

    def due(self, day: float) -> list[str]:
        return [page.address[-1] for page in due_pages(self.path, day * DAY)]

    def news(self, since: float) -> list[tuple[str, str]]:
        found = news_pages(self.path, since * DAY)
        return [(each.page.address[-1], "new" if each.is_new else "changed") for each in found]


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    made = Crawl(tmp_path / "results.db")
    yield made
    made.store.close()


def test_intervals_rise_while_nothing_changes_up_to_64_days(crawl: Crawl) -> None:
    crawl.look("a", 0)
    assert crawl.due_in("a", 0) == 1
    day, intervals = 0.0, []
    for _ in range(8):
        day += crawl.due_in("a", day)
        crawl.look("a", day, outcome=Outcome.NOT_MODIFIED)
        intervals.append(crawl.due_in("a", day))
    assert intervals == [2, 4, 8, 16, 32, 64, 64, 64]
    crawl.look("a", day + 64, says=0b1111)
    assert crawl.due_in("a", day + 64) == 32, "a change halves it"


def test_a_page_that_comes_back_with_the_same_words_has_not_changed(crawl: Crawl) -> None:
    crawl.look("a", 0, says=0b0)
    crawl.look("a", 1, says=0b11)
    assert crawl.due_in("a", 1) == 2, "nearly the same"
    assert crawl.news(0.5) == []
    crawl.look("a", 3, says=0b1111)
    assert crawl.news(0.5) == [("a", "changed")], "small changes add up"
    crawl.look("a", 4, says=0b1111, title="Another title")
    assert crawl.news(3.5) == [("a", "changed")]
    crawl.look("b", 5, says=None)
    crawl.look("b", 6, says=None)
    assert crawl.due_in("b", 6) == 2, "by the words that are kept of a short page"


def test_failed_looks_say_nothing_and_pages_that_are_gone_are_due_no_more(crawl: Crawl) -> None:
    crawl.look("a", 0)
    crawl.look("a", 1, outcome=Outcome.TIMEOUT)
    assert crawl.due_in("a", 1) == 1
    assert crawl.due(1.5) == []
    assert crawl.due(2) == ["a"]
    crawl.look("a", 2, outcome=Outcome.NOT_FOUND)
    assert crawl.due(100) == []
    assert crawl.news(-1) == []


def test_a_copy_takes_the_place_of_a_page_that_is_gone_or_says_something_else(
    crawl: Crawl,
) -> None:
    crawl.look("a", 0)
    for name in "bc":
        crawl.look(name, 0, copy_of="a")
    assert crawl.due(1) == ["a"]
    crawl.look("a", 1, says=1)
    assert crawl.due(100) == ["a"], "it says nearly the same"
    crawl.look("a", 2, outcome=Outcome.NOT_FOUND)
    assert crawl.due(100) == ["b"]
    crawl.look("b", 3, says=0b11111111)
    assert sorted(crawl.due(100)) == ["b", "c"]


def test_a_page_that_has_moved_is_listed_where_it_is_now(crawl: Crawl) -> None:
    crawl.look("a", 0)
    crawl.look("b", 0, copy_of="a")
    crawl.look("a", 1, moved_to="n", copy_of="a")
    assert crawl.due(100) == ["n"], "the same words at another address"
    assert crawl.news(0.5) == [], "it was found before"
    crawl.look("n", 2, outcome=Outcome.NOT_FOUND)
    assert crawl.due(100) == ["b"]


def test_a_page_that_leads_elsewhere_now_is_due_no_more(crawl: Crawl) -> None:
    for name in "abcd":
        crawl.look(name, 0, says=None)
    crawl.look("h", 0, relevant=False)
    crawl.look("a", 1, moved_to="h", outcome=Outcome.DUPLICATE, status=301)
    crawl.look("b", 1, moved_to="none", outcome=Outcome.NOT_FOUND, status=404)
    assert crawl.due(100) == ["c", "d"]
    crawl.look("c", 1, moved_to="h", outcome=Outcome.DUPLICATE, status=302)
    crawl.look("d", 1, moved_to="consent", relevant=False)
    assert crawl.due(1.5) == [], "they were looked at"
    assert crawl.due(100) == ["c", "d"], "it may be for now"


def test_a_copy_of_what_is_gone_is_listed_and_one_of_what_is_useless_is_not(crawl: Crawl) -> None:
    crawl.look("a", 0, says=5)
    crawl.look("h", 0, relevant=False)
    crawl.look("a", 1, moved_to="h", outcome=Outcome.DUPLICATE, status=301)
    crawl.look("c", 1, says=5, copy_of="a")
    assert crawl.due(100) == ["c"], "as the crawl remembers what has left"
    crawl.look("d", 1, says=5, copy_of="a")
    assert crawl.due(100) == ["c"]
    with Verdicts(crawl.path) as verdicts:
        verdicts.mark({"http://h.test/c": False}, {}, b"")
    crawl.look("c", 2, moved_to="h", outcome=Outcome.DUPLICATE, status=301)
    crawl.look("e", 2, says=5, copy_of="c")
    assert crawl.due(100) == []


def test_the_best_are_looked_at_first_and_only_finds(crawl: Crawl) -> None:
    for name, score in (("a", 0.5), ("b", 0.9), ("c", 0.7)):
        crawl.look(name, 0, score=score)
    crawl.look("d", 0, relevant=False)
    assert crawl.due(1) == ["b", "c", "a"]
    assert [page.address[-1] for page in due_pages(crawl.path, DAY, limit=1)] == ["b"]


def test_new_and_changed_finds_are_told_apart(crawl: Crawl) -> None:
    crawl.look("a", 0, score=0.9)
    crawl.look("b", 2, score=0.5)
    crawl.look("c", 2, relevant=False)
    crawl.look("known", 2)
    crawl.look("a", 3, says=2**64 - 1, score=0.7)
    assert crawl.news(1) == [("a", "changed"), ("b", "new")]
    assert count_news(crawl.path, DAY) == (1, 1)
    assert crawl.news(-1) == [("a", "new"), ("b", "new")]
    assert crawl.news(3) == []
    visits = visits_of(crawl.path, ["http://h.test/a", "http://h.test/c"])
    assert list(visits) == ["http://h.test/a"]
    assert (visits["http://h.test/a"].found_at, visits["http://h.test/a"].changed_at) == (
        0,
        3 * DAY,
    )


def test_what_a_person_has_marked_is_no_news_to_her(crawl: Crawl) -> None:
    crawl.look("a", 0)
    crawl.look("b", 0)
    with Verdicts(crawl.path) as verdicts:
        verdicts.mark({"http://h.test/a": True}, {}, b"")
    assert crawl.news(-1) == [("b", "new")]


def test_a_page_that_is_judged_relevant_later_is_new_then(crawl: Crawl) -> None:
    crawl.look("a", 0, relevant=False)
    with closing(RESULTS.open(crawl.path)) as connection:
        connection.execute("UPDATE event SET relevant = 1")
    assert crawl.news(10_000) == [("a", "new")], "found in our days, not in 1970"


def test_files_of_an_earlier_version_are_read_and_brought_up_to_date(crawl: Crawl) -> None:
    crawl.look("a", 0)
    crawl.look("b", 2)
    with closing(sqlite3.connect(crawl.path)) as connection:
        connection.execute("DROP TRIGGER visit_of_find")
        connection.execute("DROP TRIGGER visit_of_later_find")
        connection.execute("DROP TABLE visit")
        connection.execute("DROP TABLE marked")
    assert crawl.news(1) == [("b", "new")]
    assert crawl.due(1) == ["a"]
    ResultsStore(crawl.path).close()
    assert crawl.due_in("b", 2) == 1


def test_forgotten_pages_leave_no_visit(crawl: Crawl) -> None:
    crawl.look("a", 0)
    crawl.store.close()
    forget_results(crawl.path, lambda url: url.endswith("/a"), clean_state=lambda data: data)
    assert b"h.test/a" not in crawl.path.read_bytes()


def test_a_person_has_looked(tmp_path: Path) -> None:
    folder = CrawlFolder(Workspace(tmp_path).folder_for("bees"))
    folder.topic.prepare()
    assert news(folder) == (0.0, 0, 0, [])
    folder.make()
    crawl = Crawl(folder.results)
    crawl.look("a", 1)
    assert news(folder).new == 1
    note_looked(folder.topic, 2 * DAY)
    assert last_looked(folder.topic) == 2 * DAY
    assert news(folder).new == 0
    crawl.look("b", 3)
    crawl.look("a", 3, says=2**64 - 1)
    assert news(folder)[:3] == (2 * DAY, 1, 1)
    assert news(folder, since=0.0, limit=1).new == 2
    crawl.store.close()
