"""The frontier's file: what must survive a crash, written page by page.

Changes gather in memory and go to the file together at ``commit``, in one transaction. SQLite's
write-ahead log makes that safe against the death of the process at any moment; with
``synchronous=NORMAL`` a power cut can at worst take back the last few transactions, each as a
whole.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trailhound.errors import FrontierError
from trailhound.frontier.faults import explained, explaining
from trailhound.frontier.host_queue import HostQueue
from trailhound.frontier.ownership import Ownership
from trailhound.frontier.rows import READ, SiteNames
from trailhound.frontier.schema import prepare
from trailhound.records import Candidate, Outcome

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA cache_size = -16384",  # KiB; the system's file cache holds the rest
    "PRAGMA wal_autocheckpoint = 1000",  # pages: the log stays at 4 MB, soon reread after a crash
)
_INSERT_URL = "INSERT INTO url VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_UPDATE_URL = (
    "UPDATE url SET priority = ?, arrival = ?, parent = ?, depth = ?, memory = ? WHERE number = ?"
)
_UPDATE_PRIORITY = "UPDATE url SET priority = ? WHERE number = ?"
_SAVE_OUTCOME = "INSERT OR REPLACE INTO finished VALUES (?, ?)"
_DROP_OUTCOME = "DELETE FROM finished WHERE number = ?"
_SAVE_HOST = (
    "INSERT INTO host VALUES (?, ?, ?, ?) "
    "ON CONFLICT (number) DO UPDATE SET until = excluded.until, pages = excluded.pages"
)
_READ_ONE = READ + "WHERE u.number = ?"
_READ_PART = 500
"""Rows asked for at once: below every SQLite's limit of parameters."""
_MAX_UNWRITTEN = 20_000
"""New URLs held in memory; more go into the open transaction before it is committed."""


class FrontierStore:
    """Reads and writes one frontier file, which it owns while it is open.

    ``number_of`` gives the number of a known URL, or 0. After an error the store refuses all
    further work, as memory and file no longer agree; the file holds what was committed.
    """

    def __init__(self, path: Path, number_of: Callable[[str], int]) -> None:
        self.path = path
        self.names = SiteNames()
        self._number_of = number_of
        self._new: dict[int, tuple[int, int, str, Candidate | None]] = {}
        """Number → host, arrival, URL, candidate of a URL that has no row yet."""
        self._changed: dict[int, tuple[int, Candidate]] = {}
        """Number → arrival, candidate of one whose row is out of date."""
        self._outcomes: dict[int, Outcome | None] = {}
        """Number → how it ended; ``None`` when it waits again."""
        self._hosts: dict[int, HostQueue] = {}
        self._last_parent: tuple[str | None, int | str | None] = (None, None)
        self._failure: FrontierError | None = None
        self._ownership = Ownership(path)
        try:
            self._connection = self._open()
        except BaseException:
            self._ownership.release()
            raise

    def _open(self) -> sqlite3.Connection:
        with explaining(self.path):
            connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            try:
                for pragma in _PRAGMAS:
                    connection.execute(pragma).fetchall()
                prepare(connection, self.path)
            except BaseException:
                connection.close()
                raise
        return connection

    @contextmanager
    def _working(self) -> Iterator[sqlite3.Connection]:
        """The connection, unless something has failed; what fails now is remembered."""
        if self._failure is not None:
            raise self._failure
        try:
            yield self._connection
        except sqlite3.Error as error:
            self._failure = explained(self.path, error)
            raise self._failure from error

    def insert(
        self, number: int, host: HostQueue, arrival: int, url: str, candidate: Candidate | None
    ) -> None:
        """Note a new URL; ``None`` for one that was never queued."""
        self._new[number] = (host.number, arrival, url, candidate)
        if len(self._new) >= _MAX_UNWRITTEN:
            self.write()

    def update(self, number: int, arrival: int, candidate: Candidate) -> None:
        """Note the new place in the queue of a known URL."""
        new = self._new.get(number)
        if new is not None:
            self._new[number] = (new[0], arrival, candidate.url, candidate)
        else:
            self._changed[number] = (arrival, candidate)

    def finish(self, number: int, outcome: Outcome | None) -> None:
        """Note how a URL ended; ``None`` when it is to wait again."""
        self._outcomes[number] = outcome

    def add_host(self, host: HostQueue) -> None:
        """Note a new host; they must come in the order of their numbers."""
        self.names.append(host.name)
        self._hosts[host.number] = host

    def save_host(self, host: HostQueue) -> None:
        """Note that a host's delay or page count has changed."""
        self._hosts[host.number] = host

    def reprioritize(self, changes: Iterable[tuple[int, float]]) -> None:
        """Write new priorities, by number."""
        self.write()
        with self._working() as connection:
            connection.executemany(
                _UPDATE_PRIORITY, ((priority, number) for number, priority in changes)
            )

    def read(self, number: int) -> Candidate | None:
        """The candidate as it was last queued; ``None`` for one that never was."""
        new = self._new.get(number)
        if new is not None:
            return new[3]
        changed = self._changed.get(number)
        if changed is not None:
            return changed[1]
        with self._working() as connection:
            row = connection.execute(_READ_ONE, (number,)).fetchone()
        return self.names.candidate(row)[1]

    def read_many(self, numbers: npt.NDArray[np.uintc]) -> Iterator[tuple[str, Candidate | None]]:
        """URLs and candidates; ``numbers`` are ascending, and so is the answer."""
        self.write()
        for start in range(0, len(numbers), _READ_PART):
            part = numbers[start : start + _READ_PART].tolist()
            where = "WHERE u.number IN (" + ",".join("?" * len(part)) + ") ORDER BY u.number"
            with self._working() as connection:
                rows = connection.execute(READ + where, part).fetchall()
            yield from map(self.names.candidate, rows)

    def rows_of(self, query: str, part: int) -> Iterator[list[tuple[Any, ...]]]:
        """All rows of a query, so many at a time, for loading."""
        with self._working() as connection:
            cursor = connection.execute(query)
            while rows := cursor.fetchmany(part):
                yield rows

    def write(self) -> None:
        """Put the changes into the open transaction, to be committed later."""
        if not (self._new or self._changed or self._outcomes or self._hosts):
            return
        with self._working() as connection:
            if not connection.in_transaction:
                connection.execute("BEGIN IMMEDIATE")
            self._write_urls(connection)
            self._write_outcomes(connection)
            connection.executemany(
                _SAVE_HOST,
                [(h.number, h.name, h.until, h.pages) for h in self._hosts.values()],
            )
            self._hosts.clear()

    def _write_urls(self, connection: sqlite3.Connection) -> None:
        split, parent_of = self.names.split, self._parent
        connection.executemany(
            _INSERT_URL,
            [
                (number, *split(url, host), *_place(arrival, candidate, parent_of))
                for number, (host, arrival, url, candidate) in self._new.items()
            ],
        )
        connection.executemany(
            _UPDATE_URL,
            [
                (*_place(arrival, candidate, parent_of), number)
                # Neighbours share a page of the file.
                for number, (arrival, candidate) in sorted(self._changed.items())
            ],
        )
        self._new.clear()
        self._changed.clear()

    def _write_outcomes(self, connection: sqlite3.Connection) -> None:
        for number, outcome in self._outcomes.items():
            if outcome is None:
                connection.execute(_DROP_OUTCOME, (number,))
            else:
                connection.execute(_SAVE_OUTCOME, (number, outcome.value))
        self._outcomes.clear()

    def _parent(self, url: str | None) -> int | str | None:
        """What stands for a parent in its children's rows; siblings follow each other."""
        if url is not self._last_parent[0]:
            self._last_parent = (url, url and (self._number_of(url) or url))
        return self._last_parent[1]

    def commit(self) -> None:
        """Write the changes and make them survive a crash."""
        self.write()
        with self._working() as connection:
            if connection.in_transaction:
                connection.execute("COMMIT")

    def close(self, *, commit: bool) -> None:
        """Give the file free, with or without what has not been committed."""
        try:
            if commit and self._failure is None:
                self.commit()
        finally:
            self._connection.close()
            self._ownership.release()


def _place(
    arrival: int,
    candidate: Candidate | None,
    parent_of: Callable[[str | None], int | str | None],
) -> tuple[float | None, int, int | str | None, int, bytes]:
    """``priority, arrival, parent, depth, memory`` of a row."""
    if candidate is None:
        return None, arrival, None, 0, b""
    parent = parent_of(candidate.parent)
    return candidate.priority, arrival, parent, candidate.depth, candidate.memory
