"""Finds over time: when they were found and changed, when they are due again, which copy is listed.

``visit``
    One row for each address that is a find, or was one: when it became one (``found_at``), when a
    later visit found other words (``changed_at``), when it was last asked for (``seen_at``), and
    after how many ``days`` it is due again. ``told`` is the ``id`` of the event that had the words
    which were news last: small changes add up until they are news. It is 0 for what only an earlier
    crawl of the topic has found: found again, it is no news.

Rows appear with the events they are about, by triggers: also for a page that becomes a find later,
as a judge has learned more or a person has marked it. :func:`note_visit` writes what became of
another look.

Of several pages that say the same, the first that was found is listed; the others name it in
``duplicate_of``. When it is a find no more, says something else or moves, the next takes its place.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from trailhound.records import Outcome

MIN_DAYS = 1.0
MAX_DAYS = 64.0
DAY_SECONDS = 86_400.0
SAME_BITS = 3
"""Fingerprints that differ in no more say the same: see ``trailhound.text.near_duplicates``."""

VISITS = (
    "CREATE TABLE IF NOT EXISTS visit (address TEXT PRIMARY KEY, told INTEGER NOT NULL, "
    "found_at REAL NOT NULL, changed_at REAL, seen_at REAL NOT NULL, days REAL NOT NULL DEFAULT 1) "
    "WITHOUT ROWID",
    """
    CREATE TRIGGER IF NOT EXISTS visit_of_find AFTER INSERT ON event
    WHEN NEW.current AND NEW.relevant BEGIN
        INSERT INTO visit (address, told, found_at, seen_at)
        VALUES (NEW.address, NEW.id, NEW.at, NEW.at)
        ON CONFLICT (address) DO UPDATE SET told = NEW.id, seen_at = NEW.at WHERE told = 0;
    END
    """,
    """
    CREATE TRIGGER IF NOT EXISTS visit_of_later_find AFTER UPDATE OF relevant ON event
    WHEN NEW.current AND NEW.relevant AND NOT OLD.relevant BEGIN
        INSERT INTO visit (address, told, found_at, seen_at)
        VALUES (NEW.address, NEW.id, (julianday('now') - 2440587.5) * 86400.0, NEW.at)
        ON CONFLICT (address) DO UPDATE SET told = NEW.id, seen_at = NEW.at WHERE told = 0;
    END
    """,
    # What an earlier Trailhound found; nothing is read when there is a row.
    """
    INSERT INTO visit (address, told, found_at, seen_at)
    SELECT address, id, at, at FROM event
    WHERE current AND relevant AND NOT EXISTS (SELECT 1 FROM visit)
    ON CONFLICT (address) DO NOTHING
    """,
)
"""Statements that add to a file of results what is not there."""

_BEFORE = """
    SELECT seen_at, days, title, fingerprint, snippet
    FROM visit JOIN event ON event.id = visit.told WHERE visit.address = ?
"""
_NOW = """
    SELECT id, title, fingerprint, snippet FROM event
    WHERE address = ? AND current AND outcome = 'fetched'
"""
_CHANGED = "UPDATE visit SET told = ?, changed_at = ?, seen_at = ?, days = ? WHERE address = ?"
_UNCHANGED = "UPDATE visit SET seen_at = ?, days = ? WHERE address = ?"
_ASKED = "UPDATE visit SET seen_at = ? WHERE address = ?"


def note_visit(connection: sqlite3.Connection, address: str, outcome: Outcome, at: float) -> None:
    """An event was written: if it is another look at a find, keep what that has shown."""
    before = connection.execute(_BEFORE, (address,)).fetchone()
    if before is None or at <= before[0]:
        return
    _, days, *earlier = before
    longer = min(MAX_DAYS, 2 * days)
    if outcome is Outcome.NOT_MODIFIED:
        connection.execute(_UNCHANGED, (at, longer, address))
    elif outcome is not Outcome.FETCHED:
        connection.execute(_ASKED, (at, address))
    elif (now := connection.execute(_NOW, (address,)).fetchone()) and _differ(earlier, now[1:]):
        shorter = max(MIN_DAYS, days / 2)
        connection.execute(_CHANGED, (now[0], at, at, shorter, address))
    else:
        connection.execute(_UNCHANGED, (at, longer, address))


def _differ(before: list[str | int | None], now: tuple[str | int | None, ...]) -> bool:
    """Whether title or words are others; ``(title, fingerprint, snippet)`` each."""
    if before[0] != now[0]:
        return True
    if isinstance(before[1], int) and isinstance(now[1], int):
        return not _same_words(before[1], now[1])
    return before[2] != now[2]


def _same_words(one: int | None, other: int | None) -> bool:
    """Whether two fingerprints, as they are kept, are those of texts that say the same."""
    if one is None or other is None:
        return one == other
    return ((one ^ other) & (2**64 - 1)).bit_count() <= SAME_BITS


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
    if is_listed and _same_words(before, now["fingerprint"]):
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
