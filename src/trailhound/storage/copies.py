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
    find = "SELECT 1 FROM marked WHERE address = ? AND NOT useful"
    if connection.execute(find, (now["address"],)).fetchone():
        return None
    return promote_copy(connection, now["address"])


def moved(connection: sqlite3.Connection, row: Mapping[str, Any]) -> dict[str, Any]:
    """What else is to be written of a page that redirects now, where a page was fetched before.

    The page behind it takes its place if it says the same; else a copy does, if there is one.
    """
    asked, address, outcome = row["url"], row["address"], row["outcome"]
    leads_on = outcome == Outcome.DUPLICATE or outcome not in TELLS_NOTHING_NEW
    if asked == address or not leads_on:
        return {}
    old = connection.execute(_FETCHED_BEFORE, (asked, row["number"])).fetchone()
    if old is None:
        return {}
    retire(connection, old[0])
    if row["duplicate_of"] != asked:
        promote_copy(connection, asked)
        return {}
    connection.execute(_FOLLOW, (address, asked))
    connection.execute(_FOUND_AS_BEFORE, (address, row["at"], asked))
    return {"duplicate_of": None}
