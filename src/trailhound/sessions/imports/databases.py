"""Browsers' SQLite databases, read from a copy, so that a running browser is no problem."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from trailhound.errors import SessionError, UsageError

_COMPANIONS = ("-wal", "-journal")
"""What a running browser has not yet put into the main file."""


def find_database(path: Path, file_name: str) -> Path:
    """``path``, or the database inside it when it is a profile folder."""
    found = path / file_name if path.is_dir() else path
    if not found.is_file():
        raise UsageError(
            f"There is no file {found}. Name the file {file_name}, or the browser's profile folder."
        )
    return found


@contextmanager
def opened_copy(path: Path, tables: tuple[str, ...], kind: str) -> Iterator[sqlite3.Connection]:
    """A copy of the database, gone afterwards; SessionError when it is not of this ``kind``."""
    with tempfile.TemporaryDirectory(prefix="trailhound-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "copy.sqlite"
        try:
            _copy(path, copy)
            with closing(sqlite3.connect(copy)) as connection:
                connection.text_factory = lambda data: data.decode("utf-8", "replace")
                _check(connection, tables, path, kind)
                yield connection
        except sqlite3.Error as error:
            raise SessionError(
                f"{path} cannot be read as {kind}: {error}. Close the browser and try again, or "
                "name another file."
            ) from error
        except OSError as error:
            raise SessionError(
                f"{path} cannot be copied: {error.strerror or error}. Check that you may read it "
                "and that there is room for a copy."
            ) from error


def _copy(path: Path, copy: Path) -> None:
    shutil.copyfile(path, copy)
    for ending in _COMPANIONS:
        companion = path.with_name(path.name + ending)
        if companion.is_file():
            shutil.copyfile(companion, copy.with_name(copy.name + ending))


def _check(connection: sqlite3.Connection, tables: tuple[str, ...], path: Path, kind: str) -> None:
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    missing = [table for table in tables if table not in found]
    if missing:
        raise SessionError(
            f"{path} is no {kind}: it has no table '{missing[0]}'. Name another file."
        )


def has_column(connection: sqlite3.Connection, table: str, column: str) -> bool:
    """Whether this version of the browser has the column."""
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return any(name == column for (name,) in rows)
