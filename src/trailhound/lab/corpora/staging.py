"""A database that appears under its final name only when it is complete."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from trailhound.errors import CorpusError
from trailhound.lab.corpora.schema import TABLES


class StagedDatabase:
    """An SQLite file under a temporary name beside its destination."""

    def __init__(self, destination: Path) -> None:
        self.destination = destination
        if destination.is_dir():
            raise CorpusError(f"Cannot write {destination}: it is a folder. Name a file in it.")
        token = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._temporary = destination.with_name(f".{destination.name}.{token}.partial")
        with self.errors_explained():
            destination.parent.mkdir(parents=True, exist_ok=True)
            self.connection = sqlite3.connect(self._temporary)
        with self._removed_on_error(), self.errors_explained():
            # The file is thrown away on any failure, so it needs no journal.
            self.connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
            self.connection.executescript(TABLES)

    def publish(self) -> int:
        """Give the file its final name, replacing what was there; returns its size."""
        with self._removed_on_error(), self.errors_explained():
            self.connection.commit()
            self.connection.close()
            with self._temporary.open("r+b") as file:
                os.fsync(file.fileno())
            size = self._temporary.stat().st_size
            self._temporary.replace(self.destination)
        return size

    def discard(self) -> None:
        """Remove the file; what stood under the final name stays."""
        with contextlib.suppress(sqlite3.Error):
            self.connection.close()
        with contextlib.suppress(OSError):
            self._temporary.unlink(missing_ok=True)

    @contextlib.contextmanager
    def errors_explained(self) -> Iterator[None]:
        """Failures of disk or database, in words."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise CorpusError(
                f"Cannot write {self.destination}: {reason}. "
                "Make room there or choose another destination; nothing was changed."
            ) from error

    @contextlib.contextmanager
    def _removed_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.discard()
            raise
