"""When finds were found, when they changed, and when they are to be looked at again.

``visit``
    One row for each address that is a find, or was one: when it became one (``found_at``), when a
    later visit found other words (``changed_at``), when it was last asked for (``seen_at``), and
    after how many ``days`` it is due again. ``told`` is the ``id`` of the event that had the words
    which were news last: small changes add up until they are news. It is 0 for what only an earlier
    crawl of the topic has found: found again, it is no news.

Rows appear with the events they are about, by triggers: also for a page that becomes a find later,
as a judge has learned more or a person has marked it. :func:`note_visit` writes what became of
another look.
"""

from __future__ import annotations

import sqlite3

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
        return not same_words(before[1], now[1])
    return before[2] != now[2]


def same_words(one: int | None, other: int | None) -> bool:
    """Whether two fingerprints, as they are kept, are those of texts that say the same."""
    if one is None or other is None:
        return one == other
    return ((one ^ other) & (2**64 - 1)).bit_count() <= SAME_BITS
