"""The tables of a frontier file, their version, and how older versions become this one.

Rows are only ever added at the end of the large tables, so that a write costs the same whatever
the size; what supersedes an older row is known by its later *arrival*, the running number of every
time that a URL was given a place in the queue.

``url``
    One row per URL ever seen, numbered from 1 without gaps. ``site`` is twice the host's number,
    plus one for https; ``path`` is the rest of the URL.
``place``
    The links of one page that were new or rose, with arrivals ``first``, ``first`` + 1, ...: their
    URL numbers (uint32), priorities (float64) and memories (MessagePack: one for all, or a list).
    ``parent`` is the page's URL number, or the text of a URL that is not in the table. The last
    place of a URL counts; a URL without any was never queued.
``rescore``
    Later opinions: URL numbers and priorities that replace those of places with an arrival before
    ``arrival``.
``finished``
    Outcomes, and the priority that a URL had in the end. A URL without a row here waits; leases are
    not written at all, so that those of a dead process are waiting again.
``host``
    Names, the wall-clock second before which each may not be asked, and its finished leases.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

from trailhound.errors import FrontierError

APPLICATION_ID = 0x54726C68
"""Marks the file as ours ("Trlh") for us and for ``file``."""
VERSION = 1

_TABLES = (
    "CREATE TABLE url (number INTEGER PRIMARY KEY, site INTEGER NOT NULL, path TEXT NOT NULL)",
    """
    CREATE TABLE place (
        first INTEGER PRIMARY KEY,
        parent,
        depth INTEGER NOT NULL,
        memories BLOB NOT NULL,
        numbers BLOB NOT NULL,
        priorities BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE rescore (
        number INTEGER PRIMARY KEY,
        arrival INTEGER NOT NULL,
        numbers BLOB NOT NULL,
        priorities BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE finished (
        number INTEGER PRIMARY KEY,
        outcome TEXT NOT NULL,
        priority REAL
    )
    """,
    """
    CREATE TABLE host (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        until REAL NOT NULL,
        pages INTEGER NOT NULL
    )
    """,
)

Migration = Callable[[sqlite3.Connection], object]
MIGRATIONS: Mapping[int, Migration] = {}
"""From a version to the step that makes the next one of it. Version 1 is the first."""


def prepare(
    connection: sqlite3.Connection,
    path: Path,
    *,
    version: int = VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> None:
    """Create the tables in an empty file, migrate an older one, refuse a foreign or newer one.

    All in one transaction: a crash on the way leaves the file as it was.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = version_of(connection, path)
        if found > version:
            raise FrontierError(
                f"The frontier {path} was written by a newer Trailhound (format {found}; this one "
                f"knows up to {version}). Upgrade Trailhound to resume this crawl."
            )
        if found == 0:
            _create(connection)
        else:
            _migrate(connection, path, range(found, version), migrations)
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    """The file's format; 0 for an empty file."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application == APPLICATION_ID:
        return int(version)
    if tables:
        raise FrontierError(
            f"{path} is an SQLite database, but not a Trailhound frontier. Give another name for "
            "the frontier, or move that file away."
        )
    return 0


def _create(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _migrate(
    connection: sqlite3.Connection,
    path: Path,
    versions: range,
    migrations: Mapping[int, Migration],
) -> None:
    for version in versions:
        step = migrations.get(version)
        if step is None:
            raise FrontierError(
                f"The frontier {path} has format {version}, which is no longer supported. Resume "
                "it with an older Trailhound, or start the crawl anew."
            )
        step(connection)
