"""The history of Firefox and its relatives: the file ``places.sqlite``, bookmarks included."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from trailhound.sessions.events import Reached, Session
from trailhound.sessions.imports.databases import find_database, opened_copy
from trailhound.sessions.imports.history import Bookmark, HistoryVisit, visits_of
from trailhound.sessions.imports.imported import Imported, Tally

FILE_NAME = "places.sqlite"
_KIND = "a history of Firefox"

# Firefox's kinds of visits; 1 is a link, 8 a link inside a frame.
_REACHED = {2: Reached.TYPED, 3: Reached.BOOKMARK, 9: Reached.RELOAD}
_REDIRECTS = (5, 6)
_UNSEEN = {4: "part of a page", 7: "download"}

_VISITS = """
    SELECT v.id, p.url, p.title, v.visit_date, v.from_visit, v.visit_type
    FROM moz_historyvisits v JOIN moz_places p ON p.id = v.place_id
"""
_BOOKMARKS = """
    SELECT b.parent, p.url FROM moz_bookmarks b JOIN moz_places p ON p.id = b.fk
    WHERE b.type = 1
"""
_FOLDERS = "SELECT id, parent, title FROM moz_bookmarks WHERE type = 2"


def read_firefox(path: Path, topic: str) -> Imported:
    """A history, or a profile folder, as one session without page contents."""
    tally = Tally("visit")
    tables = ("moz_places", "moz_historyvisits")
    with opened_copy(find_database(path, FILE_NAME), tables, _KIND) as db:
        visits = visits_of(_rows(db, tally), tally)
    return Imported([Session(topic, tuple(visits), recorder="firefox import")], tally)


def _rows(db: sqlite3.Connection, tally: Tally) -> Iterator[HistoryVisit]:
    for row in db.execute(_VISITS):
        try:
            yield _row(*row)
        except (TypeError, ValueError):
            tally.read += 1
            tally.skip("damaged visit")


def _row(
    number: int, url: str, title: str | None, time: int, from_number: int | None, kind: int
) -> HistoryVisit:
    return HistoryVisit(
        number=int(number),
        url=str(url),
        title=str(title or ""),
        time=time / 1e6,
        from_number=int(from_number or 0),
        opener_number=0,
        reached=_REACHED.get(kind, Reached.LINK),
        redirected=kind in _REDIRECTS,
        unseen=_UNSEEN.get(kind, ""),
    )


def firefox_bookmarks(path: Path) -> list[Bookmark]:
    """The bookmarks in the same database."""
    with opened_copy(find_database(path, FILE_NAME), ("moz_places", "moz_bookmarks"), _KIND) as db:
        parents = {number: (parent, title or "") for number, parent, title in db.execute(_FOLDERS)}
        rows = db.execute(_BOOKMARKS).fetchall()
    return [Bookmark(str(url), _folders(parent, parents)) for parent, url in rows]


def _folders(number: int, parents: dict[int, tuple[int, str]]) -> tuple[str, ...]:
    """Names of the folders around a bookmark; a damaged file may have circles."""
    names: list[str] = []
    met: set[int] = set()
    while number in parents and number not in met:
        met.add(number)
        number, name = parents[number]
        names.append(name)
    return tuple(reversed(names))
