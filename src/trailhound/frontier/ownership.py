"""One crawl per frontier: a lock that the system releases when its holder dies."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from trailhound.frontier.faults import explaining


class Ownership:
    """Holds ``<frontier>.lock`` until it is released.

    The lock is that of an empty SQLite database next to the frontier: the one kind of file lock
    that works alike on every system. The frontier itself stays open to readers.
    """

    def __init__(self, path: Path) -> None:
        with explaining(path):
            self._lock = sqlite3.connect(
                f"{path}.lock", timeout=0.0, isolation_level=None, check_same_thread=False
            )
            try:
                self._lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error:
                self._lock.close()
                raise

    def release(self) -> None:
        """Let another crawl have the frontier."""
        self._lock.close()
