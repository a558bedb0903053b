"""Browsers' histories.

A redirect is a visit of its own in a history; here a chain of them is one visit of the page at its
end, reached the way its beginning was.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from trailhound.errors import SessionError, UsageError
from trailhound.sessions.events import Reached, Session, Visit
from trailhound.sessions.importers.base import Bookmark, Imported, Tally

CHROME_FILE = "History"
BOOKMARKS_NAME = "Bookmarks"

_EPOCH_SECONDS = 11_644_473_600
"""From 1601, where Chrome's microseconds begin, to 1970."""

# Chrome's page transitions: a kind in the lowest byte, and flags.
_KIND_BITS = 0xFF
_FORWARD_BACK = 0x0100_0000
_REDIRECT = 0xC000_0000
"""By the page itself (a meta refresh, a script), or by the server."""
_CHROME_REACHED = {
    1: Reached.TYPED,
    2: Reached.BOOKMARK,
    5: Reached.TYPED,  # chosen from the suggestions of the address bar
    6: Reached.TYPED,  # a start page, or given to the browser by another program
    7: Reached.FORM,
    8: Reached.RELOAD,
    9: Reached.TYPED,
    10: Reached.TYPED,
}
_AUTOMATIC_FRAME = 3

_OPENER = "opener_visit"
"""A column that versions before 2021 do not have."""
_CHROME_VISITS = """
    SELECT v.id, u.url, u.title, v.visit_time, v.from_visit, v.opener_visit, v.transition
    FROM visits v JOIN urls u ON u.id = v.url
"""
_MAX_FOLDER_DEPTH = 50

FIREFOX_FILE = "places.sqlite"
_FIREFOX = "a history of Firefox"

# Firefox's kinds of visits; 1 is a link, 8 a link inside a frame.
_FIREFOX_REACHED = {2: Reached.TYPED, 3: Reached.BOOKMARK, 9: Reached.RELOAD}
_REDIRECTS = (5, 6)
_UNSEEN = {4: "part of a page", 7: "download"}

_FIREFOX_VISITS = """
    SELECT v.id, p.url, p.title, v.visit_date, v.from_visit, v.visit_type
    FROM moz_historyvisits v JOIN moz_places p ON p.id = v.place_id
"""
_BOOKMARKS = """
    SELECT b.parent, p.url FROM moz_bookmarks b JOIN moz_places p ON p.id = b.fk
    WHERE b.type = 1
"""
_FOLDERS = "SELECT id, parent, title FROM moz_bookmarks WHERE type = 2"

_COMPANIONS = ("-wal", "-journal")
"""What a running browser has not yet put into the main file."""


class HistoryVisit(NamedTuple):
    """One row of a history."""

    number: int
    url: str
    title: str
    time: float
    """Unix time in seconds."""
    from_number: int
    """The visit before; 0 without one."""
    opener_number: int
    """The visit whose page opened this one in a new tab; 0 without one."""
    reached: Reached
    redirected: bool
    """It came about by a redirect from the visit before."""
    unseen: str
    """Why nobody saw it as a page; empty when somebody did."""


def visits_of(rows: Iterable[HistoryVisit], tally: Tally) -> list[Visit]:
    """The visits somebody saw, in order of time."""
    by_number = {row.number: row for row in rows}
    passed = {row.from_number for row in by_number.values() if row.redirected}
    tally.read += len(by_number)
    visits = []
    for row in by_number.values():
        reason = _why_left_out(row, passed)
        if reason:
            tally.skip(reason)
        else:
            visits.append(_visit(row, by_number))
    return sorted(visits, key=lambda visit: visit.time)


def _why_left_out(row: HistoryVisit, passed: set[int]) -> str:
    if not row.url.startswith(("http://", "https://")):
        return "not on the web"
    if row.number in passed:
        return "redirect (part of the visit it led to)"
    return row.unseen


def _visit(row: HistoryVisit, by_number: dict[int, HistoryVisit]) -> Visit:
    first = _start_of_redirects(row, by_number)
    before = by_number.get(first.from_number) or by_number.get(first.opener_number)
    return Visit(
        time=row.time,
        url=row.url,
        title=row.title,
        reached=first.reached,
        from_url=before.url if before is not None else None,
        requested_url=first.url if first.url != row.url else None,
    )


def _start_of_redirects(row: HistoryVisit, by_number: dict[int, HistoryVisit]) -> HistoryVisit:
    """The visit that a chain of redirects began with; a damaged history may have circles."""
    met = {row.number}
    while row.redirected and row.from_number in by_number and row.from_number not in met:
        met.add(row.from_number)
        row = by_number[row.from_number]
    return row


def find_database(path: Path, file_name: str) -> Path:
    """``path``, or the database inside it when it is a profile folder."""
    found = path / file_name if path.is_dir() else path
    if not found.is_file():
        raise UsageError(
            f"There is no file {found}. Name the file {file_name}, or the browser's profile folder."
        )
    return found


@contextmanager
def opened_copy(path: Path, tables: tuple[str, ...], kind: str) -> Iterator[sqlite3.Connection]:
    """A copy of the database, gone afterwards; SessionError when it is not of this ``kind``."""
    with tempfile.TemporaryDirectory(prefix="trailhound-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "copy.sqlite"
        try:
            _copy(path, copy)
            with closing(sqlite3.connect(copy)) as connection:
                connection.text_factory = lambda data: data.decode("utf-8", "replace")
                _check(connection, tables, path, kind)
                yield connection
        except sqlite3.Error as error:
            raise SessionError(
                f"{path} cannot be read as {kind}: {error}. Close the browser and try again, or "
                "name another file."
            ) from error
        except OSError as error:
            raise SessionError(
                f"{path} cannot be copied: {error.strerror or error}. Check that you may read it "
                "and that there is room for a copy."
            ) from error


def _copy(path: Path, copy: Path) -> None:
    shutil.copyfile(path, copy)
    for ending in _COMPANIONS:
        companion = path.with_name(path.name + ending)
        if companion.is_file():
            shutil.copyfile(companion, copy.with_name(copy.name + ending))


def _check(connection: sqlite3.Connection, tables: tuple[str, ...], path: Path, kind: str) -> None:
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    missing = [table for table in tables if table not in found]
    if missing:
        raise SessionError(
            f"{path} is no {kind}: it has no table '{missing[0]}'. Name another file."
        )


def has_column(connection: sqlite3.Connection, table: str, column: str) -> bool:
    """Whether this version of the browser has the column."""
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return any(name == column for (name,) in rows)


class ChromeImporter:
    """FILE is the profile folder, which chrome://version shows as 'Profile Path', or the file
    'History' in it. It is copied before it is read. Say with --since and --until when you were
    browsing for this topic: otherwise all of your history is taken.

    Example:

      trailhound import chrome ~/.config/chromium/Default --topic bees --since 2026-03-01
      --useful bookmarks:Bees --fetch
    """

    name = "chrome"
    summary = "Import the history of Chrome, Chromium, Edge or Brave; the browser may be running."
    reads = "The browser's profile folder, or the file 'History' in it."

    def read(self, source: Path, topic: str) -> Imported:
        """A history as one session without page contents."""
        tally = Tally("visit")
        database = find_database(source, CHROME_FILE)
        with opened_copy(database, ("visits", "urls"), "a history of Chrome") as db:
            visits = visits_of(_chrome_rows(db, tally), tally)
        return Imported([Session(topic, tuple(visits), recorder="chrome import")], tally)

    def bookmarks(self, source: Path) -> list[Bookmark]:
        """The bookmarks beside a history, or in a profile folder."""
        file = (source if source.is_dir() else source.parent) / BOOKMARKS_NAME
        try:
            content = msgspec.json.decode(file.read_bytes())
            roots = content["roots"].values()
        except FileNotFoundError as error:
            raise UsageError(
                f"There is no file {file}. Copy '{BOOKMARKS_NAME}' there from the browser's "
                "profile, or name the useful pages in a file."
            ) from error
        except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as e:
            raise SessionError(f"The bookmarks {file} cannot be read: {e}.") from e
        return [found for root in roots for found in _bookmarks_below(root, ())]


def _chrome_rows(db: sqlite3.Connection, tally: Tally) -> Iterator[HistoryVisit]:
    has_opener = has_column(db, "visits", _OPENER)
    query = _CHROME_VISITS if has_opener else _CHROME_VISITS.replace(f"v.{_OPENER}", "0")
    for row in db.execute(query):
        try:
            yield _chrome_row(*row)
        except (TypeError, ValueError, AttributeError):
            tally.read += 1
            tally.skip("damaged visit")


def _chrome_row(
    number: int,
    url: str,
    title: str | None,
    time: int,
    from_number: int | None,
    opener: int | None,
    transition: int,
) -> HistoryVisit:
    kind = transition & _KIND_BITS
    reached = _CHROME_REACHED.get(kind, Reached.LINK)
    if transition & _FORWARD_BACK:
        reached = Reached.BACK  # the history does not tell back from forward
    return HistoryVisit(
        number=int(number),
        url=str(url),
        title=str(title or ""),
        time=time / 1e6 - _EPOCH_SECONDS,
        from_number=int(from_number or 0),
        opener_number=int(opener or 0),
        reached=reached,
        redirected=bool(transition & _REDIRECT),
        unseen="frame that a page opened by itself" if kind == _AUTOMATIC_FRAME else "",
    )


def _bookmarks_below(node: Any, folders: tuple[str, ...]) -> Iterator[Bookmark]:
    if not isinstance(node, dict) or len(folders) > _MAX_FOLDER_DEPTH:
        return
    if isinstance(node.get("url"), str):
        yield Bookmark(node["url"], folders)
    children = node.get("children")
    for child in children if isinstance(children, list) else ():
        yield from _bookmarks_below(child, (*folders, str(node.get("name", ""))))


class FirefoxImporter:
    """FILE is the profile folder, which about:support shows, or the file 'places.sqlite' in it. It
    is copied before it is read. Say with --since and --until when you were browsing for this
    topic: otherwise all of your history is taken.

    Example:

      trailhound import firefox ~/.mozilla/firefox/abc.default --topic bees --since 2026-03-01
      --useful bookmarks --fetch
    """

    name = "firefox"
    summary = "Import the history of Firefox; the browser may be running."
    reads = "The browser's profile folder, or the file 'places.sqlite' in it."

    def read(self, source: Path, topic: str) -> Imported:
        """A history as one session without page contents."""
        tally = Tally("visit")
        tables = ("moz_places", "moz_historyvisits")
        with opened_copy(find_database(source, FIREFOX_FILE), tables, _FIREFOX) as db:
            visits = visits_of(_firefox_rows(db, tally), tally)
        return Imported([Session(topic, tuple(visits), recorder="firefox import")], tally)

    def bookmarks(self, source: Path) -> list[Bookmark]:
        """The bookmarks in the same database."""
        tables = ("moz_places", "moz_bookmarks")
        with opened_copy(find_database(source, FIREFOX_FILE), tables, _FIREFOX) as db:
            folders = db.execute(_FOLDERS)
            parents = {number: (parent, title or "") for number, parent, title in folders}
            rows = db.execute(_BOOKMARKS).fetchall()
        return [Bookmark(str(url), _folders(parent, parents)) for parent, url in rows]


def _firefox_rows(db: sqlite3.Connection, tally: Tally) -> Iterator[HistoryVisit]:
    for row in db.execute(_FIREFOX_VISITS):
        try:
            yield _firefox_row(*row)
        except (TypeError, ValueError):
            tally.read += 1
            tally.skip("damaged visit")


def _firefox_row(
    number: int, url: str, title: str | None, time: int, from_number: int | None, kind: int
) -> HistoryVisit:
    return HistoryVisit(
        number=int(number),
        url=str(url),
        title=str(title or ""),
        time=time / 1e6,
        from_number=int(from_number or 0),
        opener_number=0,
        reached=_FIREFOX_REACHED.get(kind, Reached.LINK),
        redirected=kind in _REDIRECTS,
        unseen=_UNSEEN.get(kind, ""),
    )


def _folders(number: int, parents: dict[int, tuple[int, str]]) -> tuple[str, ...]:
    """Names of the folders around a bookmark; a damaged file may have circles."""
    names: list[str] = []
    met: set[int] = set()
    while number in parents and number not in met:
        met.add(number)
        number, name = parents[number]
        names.append(name)
    return tuple(reversed(names))
