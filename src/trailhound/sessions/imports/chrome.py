"""The history of Chrome, Chromium, Edge, Brave and their relatives: the file ``History``.

Bookmarks are in the file ``Bookmarks`` beside it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from trailhound.errors import SessionError, UsageError
from trailhound.sessions.events import Reached, Session
from trailhound.sessions.imports.databases import find_database, has_column, opened_copy
from trailhound.sessions.imports.history import Bookmark, HistoryVisit, visits_of
from trailhound.sessions.imports.imported import Imported, Tally

FILE_NAME = "History"
BOOKMARKS_NAME = "Bookmarks"

_EPOCH_SECONDS = 11_644_473_600
"""From 1601, where Chrome's microseconds begin, to 1970."""

# Chrome's page transitions: a kind in the lowest byte, and flags.
_KIND = 0xFF
_FORWARD_BACK = 0x0100_0000
_REDIRECT = 0xC000_0000
"""By the page itself (a meta refresh, a script), or by the server."""
_REACHED = {
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
_VISITS = """
    SELECT v.id, u.url, u.title, v.visit_time, v.from_visit, v.opener_visit, v.transition
    FROM visits v JOIN urls u ON u.id = v.url
"""
_MAX_FOLDER_DEPTH = 50


def read_chrome(path: Path, topic: str) -> Imported:
    """A history, or a profile folder, as one session without page contents."""
    tally = Tally("visit")
    with opened_copy(
        find_database(path, FILE_NAME), ("visits", "urls"), "a history of Chrome"
    ) as db:
        visits = visits_of(_rows(db, tally), tally)
    return Imported([Session(topic, tuple(visits), recorder="chrome import")], tally)


def _rows(db: sqlite3.Connection, tally: Tally) -> Iterator[HistoryVisit]:
    has_opener = has_column(db, "visits", _OPENER)
    query = _VISITS if has_opener else _VISITS.replace(f"v.{_OPENER}", "0")
    for row in db.execute(query):
        try:
            yield _row(*row)
        except (TypeError, ValueError, AttributeError):
            tally.read += 1
            tally.skip("damaged visit")


def _row(
    number: int,
    url: str,
    title: str | None,
    time: int,
    from_number: int | None,
    opener: int | None,
    transition: int,
) -> HistoryVisit:
    kind = transition & _KIND
    reached = _REACHED.get(kind, Reached.LINK)
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


def chrome_bookmarks(path: Path) -> list[Bookmark]:
    """The bookmarks beside a history, or in a profile folder."""
    folder = path if path.is_dir() else path.parent
    file = folder / BOOKMARKS_NAME
    try:
        content = msgspec.json.decode(file.read_bytes())
        roots = content["roots"].values()
    except FileNotFoundError as error:
        raise UsageError(
            f"There is no file {file}. Copy '{BOOKMARKS_NAME}' there from the browser's profile, "
            "or name the useful pages in a file."
        ) from error
    except (OSError, msgspec.DecodeError, RecursionError, KeyError, TypeError, AttributeError) as e:
        raise SessionError(f"The bookmarks {file} cannot be read: {e}.") from e
    return [found for root in roots for found in _bookmarks(root, ())]


def _bookmarks(node: Any, folders: tuple[str, ...]) -> Iterator[Bookmark]:
    if not isinstance(node, dict) or len(folders) > _MAX_FOLDER_DEPTH:
        return
    if isinstance(node.get("url"), str):
        yield Bookmark(node["url"], folders)
    children = node.get("children")
    for child in children if isinstance(children, list) else ():
        yield from _bookmarks(child, (*folders, str(node.get("name", ""))))
