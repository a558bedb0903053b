"""From what SQLite says about a file of results to what a user can do about it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trailhound.errors import StorageError

_PRIMARY_CODE = 0xFF
"""Extended error codes carry the primary one in their lowest byte."""

_SAFE = "everything up to the last finished page is safe."
_BUSY = "is locked by another program. Close it, or wait until it has ended, and try again."
_READ_ONLY = "cannot be written. Check that you may write in its folder, then try again."
_DAMAGED = (
    "is damaged or holds no results of Trailhound. Restore it from a copy, or begin the crawl anew "
    "with --restart."
)
_ADVICE = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_FULL: f"cannot grow: the disk is full. Free some space and resume; {_SAFE}",
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_IOERR: (
        "cannot be read or written: the disk reports an error (a full disk, a quota or a failing "
        f"drive). Once that is mended, resume; {_SAFE}"
    ),
}
_OTHERWISE = "cannot be used. Begin the crawl anew with --restart, or report this as a bug."


@contextmanager
def explaining_sqlite(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ones a user can act on."""
    try:
        yield
    except sqlite3.Error as error:
        # Errors that Python's own wrapper raises carry no code.
        code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        advice = _ADVICE.get(code & _PRIMARY_CODE, _OTHERWISE)
        raise StorageError(f"The results {path} {advice} (SQLite: {error})") from error
