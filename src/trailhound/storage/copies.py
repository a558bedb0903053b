"""Which of several pages that say the same is listed, when one of them goes, changes or moves.

The first that was found is listed; the others name it in ``duplicate_of``. When it is a find no
more, or says something else, the next takes its place.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from trailhound.records import Outcome
from trailhound.storage.visits import same_words

TELLS_NOTHING_NEW = frozenset(
    {
        Outcome.NOT_MODIFIED,
        Outcome.DUPLICATE,
        Outcome.TIMEOUT,
        Outcome.UNREACHABLE,
        Outcome.UNKNOWN_HOST,
        Outcome.SERVER_ERROR,
        Outcome.LOGIN_WANTED,
        Outcome.BUSY,
        Outcome.POSTPONED,
        Outcome.BROKEN,
        Outcome.TOO_COSTLY,
    }
)
"""After these, what was fetched from the same address before still stands."""

_FIRST_COPY = (
    "SELECT id, address FROM event WHERE duplicate_of = ? AND current AND relevant "
    "AND NOT noindex ORDER BY id LIMIT 1"
)
_FOLLOW = "UPDATE event SET duplicate_of = ? WHERE duplicate_of = ?"
_FETCHED_BEFORE = (
    "SELECT id FROM event WHERE address = ? AND current AND outcome = 'fetched' AND number < ?"
)
_FOUND_AS_BEFORE = (
    "INSERT OR IGNORE INTO visit (address, told, found_at, seen_at) "
    "SELECT ?, 0, found_at, ? FROM visit WHERE address = ?"
)
_LOOKED_AT = "UPDATE visit SET seen_at = ? WHERE address = ?"
_IS_USELESS = "SELECT 1 FROM marked WHERE address = ? AND NOT useful"
_STANDS = "SELECT 1 FROM event WHERE address = ? AND current AND relevant AND NOT noindex"
_SAYS_THE_SAME = (
    "SELECT address FROM event WHERE fingerprint = ? AND current AND relevant AND NOT noindex "
    "AND duplicate_of IS NULL ORDER BY id LIMIT 1"
)
_FOR_GOOD = (301, 308)
_FOR_NOW = (302, 303, 307)


def retire(connection: sqlite3.Connection, row: int) -> None:
    """What was fetched then is not what is there now."""
    connection.execute("UPDATE event SET current = 0 WHERE id = ?", (row,))
    connection.execute("DELETE FROM found WHERE rowid = ?", (row,))
    connection.execute("DELETE FROM unindexed WHERE id = ?", (row,))
    connection.execute("DELETE FROM words WHERE id = ?", (row,))


def promote_copy(connection: sqlite3.Connection, address: str) -> str | None:
    """The first copy of a page takes its place; its address, if there was one."""
    first = connection.execute(_FIRST_COPY, (address,)).fetchone()
    if first is None:
        return None
    connection.execute(_FOLLOW, (first[1], address))
    connection.execute("UPDATE event SET duplicate_of = NULL WHERE id = ?", first[:1])
    return str(first[1])


def pass_on(
    connection: sqlite3.Connection, before: int | None, now: Mapping[str, Any]
) -> str | None:
    """A page was fetched again, or is gone: copies that say what it said ``before`` stay listed.

    ``before`` is its fingerprint. Copies of what a person found useless stay folded below it.
    """
    is_listed = now["relevant"] and now["duplicate_of"] is None and not now["noindex"]
    if is_listed and same_words(before, now["fingerprint"]):
        return None
    return _replace(connection, now["address"])


def _replace(connection: sqlite3.Connection, address: str) -> str | None:
    if connection.execute(_IS_USELESS, (address,)).fetchone():
        return None
    return promote_copy(connection, address)


def standing_original(connection: sqlite3.Connection, row: Mapping[str, Any]) -> str | None:
    """What a page is a copy of, by now: a crawl may know one that has left the results since."""
    known: str | None = row["duplicate_of"]
    if known is None or connection.execute(_STANDS, (known,)).fetchone():
        return known
    if connection.execute(_IS_USELESS, (known,)).fetchone():
        return known
    found = connection.execute(_SAYS_THE_SAME, (row["fingerprint"],)).fetchone()
    return found[0] if found is not None and found[0] != row["address"] else None


def moved(connection: sqlite3.Connection, row: Mapping[str, Any]) -> dict[str, Any]:
    """What else is to be written of a page that redirects now, where a page was fetched before.

    The page behind it takes its place if it says the same; else a copy does, if there is one. A
    redirect that is not for good leaves what was found as it is.
    """
    asked, address = row["url"], row["address"]
    if asked == address:
        return {}
    old = connection.execute(_FETCHED_BEFORE, (asked, row["number"])).fetchone()
    if old is None:
        return {}
    if row["outcome"] == Outcome.FETCHED and row["duplicate_of"] == asked:
        retire(connection, old[0])
        connection.execute(_FOLLOW, (address, asked))
        connection.execute(_FOUND_AS_BEFORE, (address, row["at"], asked))
        return {"duplicate_of": None}
    if _is_gone(row):
        retire(connection, old[0])
        _replace(connection, asked)
    else:
        connection.execute(_LOOKED_AT, (row["at"], asked))
    return {}


def _is_gone(row: Mapping[str, Any]) -> bool:
    """Whether a redirect says that nothing more will be where it begins."""
    if row["outcome"] == Outcome.DUPLICATE:
        return row["status"] in _FOR_GOOD
    if row["outcome"] == Outcome.FETCHED or row["outcome"] in TELLS_NOTHING_NEW:
        return False  # what was found there is known at the next look, if it is for good
    return row["status"] not in _FOR_NOW
