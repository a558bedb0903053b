"""From what SQLite says to what a user can do about it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trailhound.errors import FrontierError

_PRIMARY_CODE = 0xFF
"""Extended error codes carry the primary one in their lowest byte."""

_BUSY = (
    "is in use by another process. Only one crawl can work on it: wait until that one has ended, "
    "or stop it, and try again."
)
_FULL = (
    "cannot grow: the disk is full. Free some space and resume; everything up to the last finished "
    "page is safe."
)
_READ_ONLY = (
    "cannot be written to. Check that its folder exists, that you may write there, and that the "
    "file is not read-only."
)
_DAMAGED = (
    "is damaged or is not a Trailhound frontier. Restore it from a copy, or move it away and start "
    "the crawl anew."
)
_DISK_ERROR = (
    "cannot be read or written: the disk reports an error (a full disk, a quota or a failing "
    "drive). Once that is mended, resume; everything up to the last finished page is safe."
)
_ADVICE = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_IOERR: _DISK_ERROR,
}
_OTHERWISE = "cannot be used. Move it away to start the crawl anew, or report this as a bug."


def explained(path: Path, error: sqlite3.Error) -> FrontierError:
    """The error for a user: which file, why, and what to do."""
    # Errors that Python's own wrapper raises carry no code.
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    advice = _ADVICE.get(code & _PRIMARY_CODE, _OTHERWISE)
    return FrontierError(f"The frontier {path} {advice} (SQLite: {error})")


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ones a user can act on."""
    try:
        yield
    except sqlite3.Error as error:
        raise explained(path, error) from error
