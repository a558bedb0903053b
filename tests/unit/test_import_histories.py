"""The histories of Firefox and Chrome as browsing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from browser_histories import AT, Step, chrome_bookmarks_file, chrome_history, places

from trailhound.errors import SessionError, UsageError
from trailhound.sessions.events import Reached, Visit
from trailhound.sessions.importers.base import Imported
from trailhound.sessions.importers.browser_histories import (
    ChromeImporter,
    FirefoxImporter,
)

HOME, BEES, QUEEN = "http://hive.test/", "http://hive.test/bees", "http://hive.test/queen"
LINK, TYPED, BOOKMARK, EMBED, MOVED, DOWNLOAD, RELOAD = 1, 2, 3, 4, 5, 7, 9
"""Firefox's kinds."""
BACK, CLIENT_REDIRECT, SERVER_REDIRECT = 0x01000000, 0x40000000, 0x80000000
"""Chrome's flags."""
READERS = [(FirefoxImporter().read, "places.sqlite"), (ChromeImporter().read, "History")]


def visits(found: Imported) -> list[Visit]:
    (session,) = found.sessions
    return [event for event in session.events if isinstance(event, Visit)]


def ways(found: Imported) -> list[tuple[str, Reached, str | None, str | None]]:
    return [(each.url, each.reached, each.from_url, each.requested_url) for each in visits(found)]


def test_firefox_visits_are_chained_by_the_visit_they_came_from(tmp_path: Path) -> None:
    steps = [
        Step(HOME, TYPED),
        Step(BEES, LINK, 1),
        Step(QUEEN, BOOKMARK),
        Step(QUEEN, RELOAD, 3),
    ]
    found = FirefoxImporter().read(places(tmp_path / "places.sqlite", steps), "bees")
    assert ways(found) == [
        (HOME, Reached.TYPED, None, None),
        (BEES, Reached.LINK, HOME, None),
        (QUEEN, Reached.BOOKMARK, None, None),
        (QUEEN, Reached.RELOAD, QUEEN, None),
    ]
    assert visits(found)[0].time == AT + 1
    assert visits(found)[0].title == f"Title of {HOME}"


def test_firefox_redirects_are_one_visit_and_parts_of_pages_none(tmp_path: Path) -> None:
    steps = [
        Step(HOME, TYPED),
        Step(HOME + "old", LINK, 1),
        Step(HOME + "older", MOVED, 2),
        Step(BEES, 6, 3),
        Step(HOME + "frame", EMBED, 4),
        Step(HOME + "file.zip", DOWNLOAD, 4),
        Step("about:config", TYPED),
    ]
    found = FirefoxImporter().read(places(tmp_path / "places.sqlite", steps), "bees")
    assert ways(found)[1] == (BEES, Reached.LINK, HOME, HOME + "old")
    assert len(visits(found)) == found.tally.kept == 2
    assert found.tally.skipped == {
        "redirect (part of the visit it led to)": 2,
        "part of a page": 1,
        "download": 1,
        "not on the web": 1,
    }


def test_chrome_transitions_tell_how_a_page_was_reached(tmp_path: Path) -> None:
    steps = [
        Step(HOME, 1),
        Step(BEES, 0, 1),
        Step(HOME, 1 | BACK, 2),
        Step(BEES, 7, 3),
        Step(BEES, 8, 4),
        Step(QUEEN, 2),
        Step(HOME + "tab", 0, 0, opener=6),
        Step(HOME + "ad", 3, 6),
    ]
    found = ChromeImporter().read(chrome_history(tmp_path / "History", steps), "bees")
    assert [(each.reached, each.from_url) for each in visits(found)] == [
        (Reached.TYPED, None),
        (Reached.LINK, HOME),
        (Reached.BACK, BEES),
        (Reached.FORM, HOME),
        (Reached.RELOAD, BEES),
        (Reached.BOOKMARK, None),
        (Reached.LINK, QUEEN),
    ]
    assert visits(found)[0].time == AT + 1
    assert found.tally.skipped == {"frame that a page opened by itself": 1}


def test_chrome_redirects_are_one_visit(tmp_path: Path) -> None:
    steps = [
        Step(HOME, 1),
        Step(HOME + "a", 0, 1),
        Step(HOME + "b", SERVER_REDIRECT, 2),
        Step(BEES, CLIENT_REDIRECT, 3),
    ]
    found = ChromeImporter().read(chrome_history(tmp_path / "History", steps), "bees")
    assert ways(found)[1] == (BEES, Reached.LINK, HOME, HOME + "a")
    assert found.tally.kept == 2


def test_circles_of_redirects_come_to_an_end(tmp_path: Path) -> None:
    steps = [Step(HOME, SERVER_REDIRECT, 2), Step(BEES, SERVER_REDIRECT, 1), Step(QUEEN, 0, 99)]
    found = ChromeImporter().read(chrome_history(tmp_path / "History", steps), "bees")
    assert [each.url for each in visits(found)] == [QUEEN]


def test_a_running_browser_is_no_problem(tmp_path: Path) -> None:
    path = places(tmp_path / "places.sqlite", [Step(HOME, TYPED)])
    with closing(sqlite3.connect(path, isolation_level=None)) as browser:
        browser.execute("PRAGMA journal_mode = WAL")
        browser.execute("PRAGMA locking_mode = EXCLUSIVE")
        browser.execute("INSERT INTO moz_places (id, url, title) VALUES (7, ?, 'New')", (BEES,))
        browser.execute(
            "INSERT INTO moz_historyvisits (id, from_visit, place_id, visit_date, visit_type) "
            "VALUES (7, 1, 7, ?, 1)",
            (AT * 2_000_000,),
        )
        before = sorted(each.name for each in tmp_path.iterdir())
        found = FirefoxImporter().read(tmp_path, "bees")
        assert sorted(each.name for each in tmp_path.iterdir()) == before
    assert ways(found)[1] == (BEES, Reached.LINK, HOME, None)


def test_bookmarks_come_with_their_folders(tmp_path: Path) -> None:
    path = places(
        tmp_path / "places.sqlite", [Step(HOME, TYPED)], [("Bees", QUEEN), ("Cars", HOME)]
    )
    assert {(each.url, each.folders[-1]) for each in FirefoxImporter().bookmarks(path)} == {
        (QUEEN, "Bees"),
        (HOME, "Cars"),
    }
    chrome_bookmarks_file(tmp_path / "Bookmarks", "Bees", [QUEEN])
    (kept,) = ChromeImporter().bookmarks(tmp_path / "History")
    assert (kept.url, kept.folders) == (QUEEN, ("Bookmarks bar", "Bees"))


@pytest.mark.parametrize("content", ["", "[]", '{"roots": 3}', "{"])
def test_damaged_bookmarks_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "Bookmarks").write_text(content)
    with pytest.raises(SessionError, match="cannot be read"):
        ChromeImporter().bookmarks(tmp_path)


def test_strange_bookmarks_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "Bookmarks").write_text('{"roots": {"a": [1], "b": {"children": [2, {"url": 3}]}}}')
    assert ChromeImporter().bookmarks(tmp_path) == []


@pytest.mark.parametrize(("read", "name"), READERS)
@pytest.mark.parametrize(
    "content", [b"no database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 5000, b"\x00"]
)
def test_what_is_no_database_is_refused(
    tmp_path: Path, read: Callable[[Path, str], Imported], name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SessionError, match=r"cannot be read as|is no a history|has no table"):
        read(tmp_path / name, "bees")


@pytest.mark.parametrize(("read", "name"), READERS)
def test_other_databases_and_missing_ones_are_refused(
    tmp_path: Path, read: Callable[[Path, str], Imported], name: str
) -> None:
    with pytest.raises(UsageError, match="profile folder"):
        read(tmp_path, "bees")
    with closing(sqlite3.connect(tmp_path / name)) as db:
        db.execute("CREATE TABLE other (x)")
    with pytest.raises(SessionError, match="no table"):
        read(tmp_path, "bees")


def test_a_truncated_history_is_refused_not_crashed_on(tmp_path: Path) -> None:
    steps = [Step(f"{HOME}{number}", TYPED) for number in range(2000)]
    path = places(tmp_path / "places.sqlite", steps)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(SessionError, match="cannot be read as"):
        FirefoxImporter().read(path, "bees")


def test_damaged_rows_are_counted(tmp_path: Path) -> None:
    path = chrome_history(tmp_path / "History", [Step(HOME, 1), Step(BEES, 1), Step(QUEEN, 1)])
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE visits SET visit_time = 'never' WHERE id = 1")
        db.execute("UPDATE urls SET url = x'ff00', title = x'fffe' WHERE id = 2")
        db.commit()
    found = ChromeImporter().read(path, "bees")
    assert [each.url for each in visits(found)] == [QUEEN]
    assert found.tally.read == 3
    assert found.tally.skipped["damaged visit"] == 1


def test_addresses_that_are_none_are_damage(tmp_path: Path) -> None:
    steps = [Step(HOME, 1), Step("http://[", 1), Step(BEES, 1), Step(QUEEN, 1)]
    path = chrome_history(tmp_path / "History", steps)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE visits SET from_visit = 9e999 WHERE id = 3")
        db.commit()
    found = ChromeImporter().read(path, "bees")
    assert [each.url for each in visits(found)] == [HOME, QUEEN]
    assert found.tally.skipped == {"damaged visit": 2}


def test_an_older_chrome_without_openers_is_read(tmp_path: Path) -> None:
    path = chrome_history(tmp_path / "History", [Step(HOME, 1), Step(BEES, 0, 1)])
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE visits DROP COLUMN opener_visit")
    assert ways(ChromeImporter().read(path, "bees"))[1] == (BEES, Reached.LINK, HOME, None)
