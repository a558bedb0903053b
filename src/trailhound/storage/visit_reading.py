"""What is new among the finds, what has changed, and which are due for another look."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from trailhound.storage.finds import DAY_SECONDS
from trailhound.storage.results import LISTED, RESULTS
from trailhound.storage.results_reading import StoredPage

_FINDS = f"FROM visit JOIN event ON event.address = visit.address WHERE {LISTED} "
_FINDS_BY_VISIT = _FINDS.replace("JOIN", "CROSS JOIN")
"""The same in the order of visits: quick when few of them are wanted."""
_DUE = _FINDS + "AND seen_at + days * :day <= :now"
_UNMARKED = "AND NOT known AND event.address NOT IN (SELECT address FROM marked) "
_IS_NEWS = "AND (found_at > :since OR changed_at > :since)"
_HAPPENED = "SELECT count(*) FROM visit WHERE found_at > :since OR changed_at > :since"
FEW = 2_000
"""Pieces of news that are sorted; of more the best are looked for by their scores."""
_BEST_FIRST = " ORDER BY score DESC, id LIMIT :limit"
_WITH_VISITS = "SELECT event.*, found_at, changed_at, seen_at, days "
_COUNT = "SELECT total(found_at > :since), count(*) "
_FOR_OLD_FILES = {
    "visit": "CREATE TEMP VIEW visit AS SELECT address, id AS told, at AS found_at, "
    "NULL AS changed_at, at AS seen_at, 1.0 AS days FROM event WHERE current AND relevant",
    "marked": "CREATE TEMP VIEW marked AS SELECT NULL AS address WHERE 0",
}
"""What a file lacks that no crawl has opened since there are such tables."""


class Visits(NamedTuple):
    """What is known about looks at one find. Times are since 1970."""

    found_at: float
    changed_at: float | None
    """When it was seen to say something else; ``None`` when it never was."""
    seen_at: float
    due_at: float


class NewsPage(NamedTuple):
    """A find that is new, or has changed."""

    page: StoredPage
    is_new: bool
    """Else it has changed."""
    visits: Visits


def due_pages(path: Path, now: float, limit: int | None = None) -> list[StoredPage]:
    """Finds that are due for another look, the best first."""
    query = _WITH_VISITS + _DUE + _BEST_FIRST
    values = {"day": DAY_SECONDS, "now": now, "limit": -1 if limit is None else limit}
    with _reading(path) as connection:
        return [_page(row) for row in connection.execute(query, values)]


def news_pages(path: Path, since: float, limit: int | None = None) -> list[NewsPage]:
    """Finds that are new since then, or have changed, the best first.

    Pages of the sessions are none, nor are those that a person has marked.
    """
    values = {"since": since, "limit": -1 if limit is None else limit}
    with _reading(path) as connection:
        is_few = connection.execute(_HAPPENED, values).fetchone()[0] <= FEW
        finds = _FINDS_BY_VISIT if is_few else _FINDS
        query = _WITH_VISITS + finds + _UNMARKED + _IS_NEWS + _BEST_FIRST
        rows = connection.execute(query, values)
        return [NewsPage(_page(row), row["found_at"] > since, _visits(row)) for row in rows]


def count_news(path: Path, since: float) -> tuple[int, int]:
    """How many are new, and how many others have changed."""
    with _reading(path) as connection:
        query = _COUNT + _FINDS_BY_VISIT + _UNMARKED + _IS_NEWS
        new, both = connection.execute(query, {"since": since}).fetchone()
    return int(new), both - int(new)


def visits_of(path: Path, addresses: Iterable[str]) -> dict[str, Visits]:
    """What is known about looks at these pages, as far as they are finds."""
    query = "SELECT found_at, changed_at, seen_at, days FROM visit WHERE address = ?"
    with _reading(path) as connection:
        rows = ((each, connection.execute(query, (each,)).fetchone()) for each in addresses)
        return {address: _visits(row) for address, row in rows if row is not None}


def found_at(path: Path) -> list[tuple[str, float]]:
    """Everything that is a find, or was one, and since when."""
    with _reading(path) as connection:
        return [tuple(row) for row in connection.execute("SELECT address, found_at FROM visit")]


def _page(row: sqlite3.Row) -> StoredPage:
    # Not strict: SQLite keeps truth as 0 and 1.
    return msgspec.convert(dict(row), StoredPage, strict=False)


def _visits(row: sqlite3.Row) -> Visits:
    due_at = row["seen_at"] + row["days"] * DAY_SECONDS
    return Visits(row["found_at"], row["changed_at"], row["seen_at"], due_at)


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    with RESULTS.explaining(path), closing(RESULTS.open_for_reading(path)) as connection:
        connection.row_factory = sqlite3.Row
        made = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
        for name, view in _FOR_OLD_FILES.items():
            if name not in made:
                connection.execute(view)
        yield connection
