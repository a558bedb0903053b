"""Browsers' histories.

A redirect is a visit of its own in a history; here a chain of them is one visit of the page at its
end, reached the way its beginning was.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from trailhound.errors import SessionError, UsageError
from trailhound.sessions.events import Reached, Session, Visit
from trailhound.sessions.importers.base import Bookmark, Imported, Tally
from trailhound.urls import canonicalize

_DAMAGED = "damaged visit"
_EPOCH_SECONDS = 11_644_473_600
"""From 1601, where Chrome's microseconds begin, to 1970."""

# Chrome's page transitions: a kind in the lowest byte, and flags.
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
_CHROME_VISITS = """
    SELECT v.id, u.url, u.title, v.visit_time, v.from_visit, v.opener_visit, v.transition
    FROM visits v JOIN urls u ON u.id = v.url
"""
_MAX_FOLDER_DEPTH = 50
_MAX_REDIRECTS = 50
"""In a row: browsers give up after twenty."""

# Firefox's kinds of visits; 1 is a link, 8 one inside a frame, 5 and 6 are redirects.
_FIREFOX_REACHED = {2: Reached.TYPED, 3: Reached.BOOKMARK, 9: Reached.RELOAD}
_UNSEEN = {4: "part of a page", 7: "download"}
_FIREFOX_VISITS = """
    SELECT v.id, p.url, p.title, v.visit_date, v.from_visit, 0, v.visit_type
    FROM moz_historyvisits v JOIN moz_places p ON p.id = v.place_id
"""
# Not views, which may compute rows without end.
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"
_BOOKMARKS = """
    SELECT b.parent, p.url FROM moz_bookmarks b JOIN moz_places p ON p.id = b.fk
    WHERE b.type = 1
"""


class _Row(NamedTuple):
    """One visit of a history."""

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


def _rows(
    db: sqlite3.Connection,
    query: str,
    meaning: Callable[[int], tuple[Reached, bool, str]],
    epoch_seconds: int,
    tally: Tally,
) -> Iterator[_Row]:
    """All visits; ``meaning`` tells of a visit's kind the last three fields of its row."""
    for number, url, title, microseconds, before, opener, kind in db.execute(query):
        tally.read += 1
        try:
            yield _Row(
                int(number),
                str(url),
                str(title or ""),
                microseconds / 1e6 - epoch_seconds,
                int(before or 0),
                int(opener or 0),
                *meaning(kind),
            )
        except (TypeError, ValueError, OverflowError):
            tally.skip(_DAMAGED)


def _visits(rows: Iterable[_Row], tally: Tally) -> Iterator[Visit]:
    """The visits somebody saw."""
    by_number = {row.number: row for row in rows}
    passed = {row.from_number for row in by_number.values() if row.redirected}
    for row in by_number.values():
        if not row.url.startswith(("http://", "https://")):
            tally.skip("not on the web")
        elif canonicalize(row.url) is None:
            tally.skip(_DAMAGED)
        elif row.number in passed:
            tally.skip("redirect (part of the visit it led to)")
        elif row.unseen:
            tally.skip(row.unseen)
        else:
            first = _start_of_redirects(row, by_number)
            before = by_number.get(first.from_number) or by_number.get(first.opener_number)
            yield Visit(
                time=row.time,
                url=row.url,
                title=row.title,
                reached=first.reached,
                from_url=before.url if before is not None else None,
                requested_url=first.url if first.url != row.url else None,
            )


def _start_of_redirects(row: _Row, by_number: dict[int, _Row]) -> _Row:
    """The visit that a chain of redirects began with; a damaged history may have circles."""
    for _ in range(_MAX_REDIRECTS):
        if not row.redirected or row.from_number not in by_number:
            break
        row = by_number[row.from_number]
    return row


def _imported(rows: Iterable[_Row], tally: Tally, topic: str, recorder: str) -> Imported:
    visits = sorted(_visits(rows, tally), key=lambda visit: visit.time)
    return Imported([Session(topic, tuple(visits), recorder=recorder)], tally)


@contextmanager
def _opened_copy(
    source: Path, file_name: str, tables: tuple[str, ...], kind: str
) -> Iterator[sqlite3.Connection]:
    """A copy of the database, which may be in a profile folder; gone afterwards.

    SessionError when it is not of this ``kind``.
    """
    path = source / file_name if source.is_dir() else source
    if not path.is_file():
        raise UsageError(
            f"There is no file {path}. Name the file {file_name}, or the browser's profile folder."
        )
    with tempfile.TemporaryDirectory(prefix="trailhound-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "copy.sqlite"
        try:
            shutil.copyfile(path, copy)
            for ending in ("-wal", "-journal"):  # what a running browser has not yet put into it
                companion = path.with_name(path.name + ending)
                if companion.is_file():
                    shutil.copyfile(companion, copy.with_name(copy.name + ending))
            with closing(sqlite3.connect(copy)) as connection:
                connection.text_factory = lambda data: data.decode("utf-8", "replace")
                found = {name for (name,) in connection.execute(_TABLES)}
                for table in tables:
                    if table not in found:
                        raise SessionError(
                            f"{path} is not {kind}: it has no table '{table}'. Name another file."
                        )
                yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:  # it quotes what is damaged
            raise SessionError(
                f"{path} cannot be read as {kind}: {error}. Close the browser and try again, or "
                "name another file."
            ) from error
        except OSError as error:
            raise SessionError(
                f"{path} cannot be copied: {error.strerror or error}. Check that you may read it "
                "and that there is room for a copy."
            ) from error


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
        tables = ("visits", "urls")
        with _opened_copy(source, "History", tables, "a history of Chrome") as db:
            columns = db.execute("SELECT name FROM pragma_table_info('visits')").fetchall()
            query = _CHROME_VISITS
            if ("opener_visit",) not in columns:  # before 2021
                query = query.replace("v.opener_visit", "0")
            rows = _rows(db, query, _chrome_meaning, _EPOCH_SECONDS, tally)
            return _imported(rows, tally, topic, "chrome import")

    def bookmarks(self, source: Path) -> list[Bookmark]:
        """The bookmarks beside a history, or in a profile folder."""
        file = (source if source.is_dir() else source.parent) / "Bookmarks"
        try:
            content = msgspec.json.decode(file.read_bytes())
            roots = content["roots"].values()
        except FileNotFoundError as error:
            raise UsageError(
                f"There is no file {file}. Copy 'Bookmarks' there from the browser's "
                "profile, or name the useful pages in a file."
            ) from error
        except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as e:
            raise SessionError(f"The bookmarks {file} cannot be read: {e}.") from e
        return [found for root in roots for found in _bookmarks_below(root, ())]


def _chrome_meaning(transition: int) -> tuple[Reached, bool, str]:
    kind = transition & 0xFF
    reached = _CHROME_REACHED.get(kind, Reached.LINK)
    if transition & _FORWARD_BACK:
        reached = Reached.BACK  # the history does not tell back from forward
    unseen = "frame that a page opened by itself" if kind == _AUTOMATIC_FRAME else ""
    return reached, bool(transition & _REDIRECT), unseen


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
        with _opened_places(source, "moz_historyvisits") as db:
            rows = _rows(db, _FIREFOX_VISITS, _firefox_meaning, 0, tally)
            return _imported(rows, tally, topic, "firefox import")

    def bookmarks(self, source: Path) -> list[Bookmark]:
        """The bookmarks in the same database."""
        with _opened_places(source, "moz_bookmarks") as db:
            folders = db.execute("SELECT id, parent, title FROM moz_bookmarks WHERE type = 2")
            parents = {number: (parent, title or "") for number, parent, title in folders}
            rows = db.execute(_BOOKMARKS).fetchall()
        return [Bookmark(str(url), _folders(parent, parents)) for parent, url in rows]


def _opened_places(source: Path, table: str) -> AbstractContextManager[sqlite3.Connection]:
    tables = ("moz_places", table)
    return _opened_copy(source, "places.sqlite", tables, "a history of Firefox")


def _firefox_meaning(kind: int) -> tuple[Reached, bool, str]:
    return _FIREFOX_REACHED.get(kind, Reached.LINK), kind in (5, 6), _UNSEEN.get(kind, "")


def _folders(number: int, parents: dict[int, tuple[int, str]]) -> tuple[str, ...]:
    """Names of the folders around a bookmark; a damaged file may have circles."""
    names: list[str] = []
    while number in parents and len(names) < _MAX_FOLDER_DEPTH:
        number, name = parents[number]
        names.append(name)
    return tuple(reversed(names))
