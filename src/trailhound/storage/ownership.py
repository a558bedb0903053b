"""One writer per archive: a lock that the system releases when its holder dies."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from trailhound.errors import StorageError

LOCK_NAME = "archive.lock"


class Ownership:
    """Holds the lock of a folder until it is released.

    It is the lock of an empty SQLite database: the one kind of file lock that works alike on every
    system.
    """

    def __init__(self, folder: Path) -> None:
        if not os.access(folder, os.W_OK):  # SQLite would lock it all the same
            raise _unwritable(folder, "it is read-only or does not exist")
        self._lock = _connect(folder)
        try:
            self._lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            self._lock.close()
            raise _explained(folder, error) from error

    def release(self) -> None:
        """Let another process have the archive."""
        self._lock.close()


def _connect(folder: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(
            folder / LOCK_NAME, timeout=0.0, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise _explained(folder, error) from error


def _explained(folder: Path, error: sqlite3.Error) -> StorageError:
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StorageError(
            f"The archive {folder} is in use by another process. Wait until that one has ended, or "
            "stop it, and try again."
        )
    return _unwritable(folder, str(error))


def _unwritable(folder: Path, reason: str) -> StorageError:
    return StorageError(
        f"The archive {folder} cannot be written: {reason}. Check the folder's permissions and the "
        "space on its disk, then try again."
    )
