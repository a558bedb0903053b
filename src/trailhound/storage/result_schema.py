"""The tables of a file of results, and opening it for writing or reading.

``event``
    One row for each page that the crawl dealt with, in order. ``address`` is where the content
    lives: the end of the redirects. ``current`` marks the latest row that says what is at an
    address: of a page that was fetched twice the last counts, and a failed attempt to fetch it
    again does not hide what was found before.
``refusal``
    URLs that were not queued, or not fetched, by a rule of the crawl's own: traps, say.
``state``
    A few bytes by name, for parts that must remember something over a restart.
``found``
    A full-text index over titles and texts of the relevant pages; ``rowid`` is the event's ``id``.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from trailhound.errors import StorageError
from trailhound.storage.faults import explaining_sqlite

APPLICATION_ID = 0x54726C72
"""Marks the file as ours ("Trlr")."""
VERSION = 1
REQUESTS = "requests"
"""In ``state``: all requests of the crawl when a run ended, also those that came to no page."""

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA busy_timeout = 2000",  # ms: a reader may hold the file for a moment
)
_TABLES = (
    """
    CREATE TABLE event (
        id INTEGER PRIMARY KEY,
        number INTEGER NOT NULL,
        url TEXT NOT NULL,
        address TEXT NOT NULL,
        outcome TEXT NOT NULL,
        parent TEXT,
        depth INTEGER NOT NULL,
        priority REAL NOT NULL,
        memory BLOB NOT NULL,
        requests INTEGER NOT NULL,
        requests_total INTEGER NOT NULL,
        score REAL,
        relevant INTEGER NOT NULL,
        links_found INTEGER NOT NULL,
        links_added INTEGER NOT NULL,
        links_outside INTEGER NOT NULL,
        why TEXT NOT NULL,
        title TEXT NOT NULL,
        snippet TEXT NOT NULL,
        language TEXT NOT NULL,
        duplicate_of TEXT,
        noindex INTEGER NOT NULL,
        at REAL NOT NULL,
        status INTEGER,
        etag TEXT NOT NULL,
        last_modified TEXT NOT NULL,
        known INTEGER NOT NULL,
        fingerprint INTEGER,
        current INTEGER NOT NULL
    )
    """,
    "CREATE INDEX event_by_address ON event (address)",
    "CREATE INDEX event_by_url ON event (url) WHERE url <> address",
    "CREATE INDEX event_by_score ON event (score DESC) WHERE current AND relevant",
    "CREATE TABLE refusal (url TEXT PRIMARY KEY, reason TEXT NOT NULL, parent TEXT) WITHOUT ROWID",
    "CREATE TABLE state (name TEXT PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE VIRTUAL TABLE found USING fts5 "
    "(title, text, tokenize = 'porter unicode61 remove_diacritics 2')",
)


def open_for_writing(path: Path) -> sqlite3.Connection:
    """The file, made when it is missing; StorageError when it cannot be used."""
    with explaining_sqlite(path):
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            for pragma in _PRAGMAS:
                connection.execute(pragma).fetchall()
            connection.execute("BEGIN IMMEDIATE")
            if _version_of(connection, path) == 0:
                _create(connection)
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """The file as it is, also while a crawl writes to it."""
    if not path.is_file():
        raise StorageError(f"There are no results {path}: has this topic been crawled?")
    address = path.absolute().as_uri()
    with explaining_sqlite(path):
        try:
            return _checked(sqlite3.connect(f"{address}?mode=ro", uri=True), path)
        except sqlite3.OperationalError:
            # A folder that cannot be written: nobody changes the file, so no lock is needed.
            return _checked(sqlite3.connect(f"{address}?immutable=1", uri=True), path)


def _checked(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    try:
        if _version_of(connection, path) == 0:
            raise StorageError(f"There are no results in {path} yet: the crawl had just begun.")
    except BaseException:
        connection.close()
        raise
    return connection


def _version_of(connection: sqlite3.Connection, path: Path) -> int:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if tables and application != APPLICATION_ID:
        raise StorageError(
            f"{path} is an SQLite database, but not one of Trailhound's. Move it away."
        )
    if version > VERSION:
        raise StorageError(
            f"The results {path} were written by a newer Trailhound (format {version}; this one "
            f"knows up to {VERSION}). Upgrade Trailhound."
        )
    return int(version)


def _create(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
