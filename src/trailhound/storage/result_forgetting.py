"""Takes pages out of a crawl's results and its log."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from trailhound.storage.faults import explaining_sqlite
from trailhound.storage.files import explaining, replace_file
from trailhound.storage.result_schema import open_for_reading, open_for_writing

Forgotten = Callable[[str], bool]
"""Whether a URL is to be forgotten."""
CleanState = Callable[[bytes], bytes | None]
"""From what a part of the crawl has kept to what may stay of it."""

_COUNT = (
    "SELECT count(*) FROM event WHERE forgotten(url) OR forgotten(address)",
    "SELECT count(*) FROM refusal WHERE forgotten(url)",
)
_REMOVE = (
    "DELETE FROM found WHERE rowid IN "
    "(SELECT id FROM event WHERE forgotten(url) OR forgotten(address))",
    "DELETE FROM event WHERE forgotten(url) OR forgotten(address)",
    "UPDATE event SET parent = NULL, why = '' WHERE forgotten(parent)",
    "UPDATE event SET duplicate_of = NULL, why = '' WHERE forgotten(duplicate_of)",
    "DELETE FROM refusal WHERE forgotten(url)",
    "UPDATE refusal SET parent = NULL WHERE forgotten(parent)",
    # The words of removed pages stay in the index until its parts are merged.
    "INSERT INTO found (found) VALUES ('optimize')",
)


def forget_results(
    path: Path,
    forgotten: Forgotten,
    *,
    clean_state: CleanState = bytes,
    dry_run: bool = False,
) -> int:
    """Remove forgotten pages from a file of results, traces included; how many there are.

    ``clean_state`` does so with what parts of a crawl have kept there in a form of their own.
    """
    if not path.is_file():
        return 0
    connection = open_for_reading(path) if dry_run else open_for_writing(path)
    with closing(connection), explaining_sqlite(path):
        connection.create_function("forgotten", 1, lambda url: bool(url) and forgotten(url))
        found = sum(connection.execute(query).fetchone()[0] for query in _COUNT)
        if not dry_run:
            _remove(connection, clean_state)
    return int(found)


def _remove(connection: sqlite3.Connection, clean_state: CleanState) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in _REMOVE:
            connection.execute(statement)
        for name, data in connection.execute("SELECT name, data FROM state").fetchall():
            connection.execute("DELETE FROM state WHERE name = ?", (name,))
            if (kept := clean_state(data)) is not None:
                connection.execute("INSERT INTO state VALUES (?, ?)", (name, kept))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    # What was removed must not stay in free pages, nor in the write-ahead log.
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def forget_lines(path: Path, forgotten: Forgotten, *, dry_run: bool = False) -> int:
    """Remove the lines of a JSON-lines file that name a forgotten URL; how many there are."""
    if not path.is_file():
        return 0
    with explaining(path), path.open("rb") as file:
        found = sum(_names_one(line, forgotten) for line in file)
    if found and not dry_run:
        replace_file(path, _other_lines(path, forgotten))
    return found


def _other_lines(path: Path, forgotten: Forgotten) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            if not _names_one(line, forgotten):
                yield line


def _names_one(line: bytes, forgotten: Forgotten) -> bool:
    try:
        content = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return any(map(forgotten, _addresses(content)))


def _addresses(value: Any) -> Iterator[str]:
    """Everything in ``value`` that may be a URL, also inside sentences."""
    if isinstance(value, str):
        yield from (word.rstrip(".,;:)'\"") for word in value.split() if "://" in word)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _addresses(each)
    elif isinstance(value, list):
        for each in value:
            yield from _addresses(each)
