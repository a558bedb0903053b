"""Our SQLite files: opened, recognised, brought up to date, and their faults put into words."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

import msgspec

from trailhound.errors import UNREADABLE, TrailhoundError
from trailhound.storage.files import MAKE_ROOM

_WRITE_AHEAD = ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL")
Migration = Callable[[sqlite3.Connection], object]

_PRIMARY_CODE = 0xFF
"""Extended error codes carry the primary one in their lowest byte."""

_BUSY = "is locked by another program. Close it, or wait until it has ended, and try again."
_UNWRITABLE = (
    "cannot be written to. Check that its folder exists, that you may write there, that the file "
    "is not read-only, and that this process may open more files (ulimit -n)."
)
_DAMAGED = (
    "is damaged or is not one of Trailhound's {name} files. Restore it from a copy, or {anew}."
)
_ADVICE = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_FULL: f"cannot grow: the disk is full. {MAKE_ROOM}",
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_IOERR: (
        "cannot be read or written: the disk reports an error (a full disk, a quota or a failing "
        f"drive). {MAKE_ROOM}"
    ),
}
_OTHERWISE = "cannot be used. Report this as a bug, or {anew}."


@dataclass(frozen=True, kw_only=True)
class DatabaseKind:
    """One kind of file: how it is marked, what is in it, and what users are told about it."""

    name: str
    """As in "The *frontier* bees/frontier.db is damaged"."""
    none: str
    """As in "*There is no frontier* bees/frontier.db"."""
    anew: str
    """How to go on without a file that is lost: "begin the crawl anew with --restart". It may name
    the ``{topic}``.
    """
    error: type[TrailhoundError]
    application_id: int
    """Marks the file as ours, for us and for the program ``file``."""
    version: int
    tables: tuple[str, ...]
    """The statements that make them."""
    pragmas: tuple[str, ...]
    """For whoever writes, besides the write-ahead log."""
    migrations: Mapping[int, Migration] = field(default_factory=dict)
    """From a version to the step that makes the next one of it."""
    additions: tuple[str, ...] = ()
    """What came later without another format: statements that do nothing where it is there."""

    def open(self, path: Path) -> sqlite3.Connection:
        """The file for writing: made when it is missing, migrated when it is old."""
        with self.explaining(path):
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            try:
                for pragma in (*_WRITE_AHEAD, *self.pragmas):
                    connection.execute(pragma).fetchall()
                with transaction(connection):
                    self._prepare(connection, path)
                    for statement in self.additions:
                        connection.execute(statement)
            except BaseException:
                connection.close()
                raise
        return connection

    def open_for_reading(self, path: Path) -> sqlite3.Connection:
        """The file as it is, also while a crawl writes to it."""
        if not path.is_file():
            raise self.error(f"{self.none} {path}: has this topic been crawled?")
        address = path.absolute().as_uri()
        with self.explaining(path):
            try:
                return self._reader(path, f"{address}?mode=ro")
            except sqlite3.OperationalError:
                # A folder that cannot be written: nobody changes the file, so no lock is needed.
                return self._reader(path, f"{address}?immutable=1")

    def _reader(self, path: Path, address: str) -> sqlite3.Connection:
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
        try:
            version = self._version_of(connection, path)
            if version == 0:
                raise self.error(f"{self.none} in {path} yet: the crawl had just begun.")
            if version < self.version:
                raise self.error(
                    f"The {self.name} {path} has format {version}, this Trailhound reads "
                    f"{self.version}. Resume the crawl once to bring it up to date."
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection, path: Path) -> None:
        """Create the tables in an empty file, migrate an older one, refuse a foreign or newer."""
        found = self._version_of(connection, path)
        if found == self.version:
            return
        if found == 0:
            for statement in self.tables:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {self.application_id}")
        for version in range(found or self.version, self.version):
            step = self.migrations.get(version)
            if step is None:
                raise self.error(
                    f"The {self.name} {path} has format {version}, which is no longer supported. "
                    "Resume it with an older Trailhound, or start the crawl anew."
                )
            step(connection)
        connection.execute(f"PRAGMA user_version = {self.version}")

    def _version_of(self, connection: sqlite3.Connection, path: Path) -> int:
        """The file's format; 0 for an empty file."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if tables and application != self.application_id:
            raise self.error(
                f"{path} is an SQLite database, but not one of Trailhound's {self.name} files. "
                "Give another name, or move that file away."
            )
        if version > self.version:
            raise self.error(
                f"The {self.name} {path} was written by a newer Trailhound (format {version}; this "
                f"one knows up to {self.version}). Upgrade Trailhound."
            )
        return int(version) if application == self.application_id else 0

    @contextmanager
    def explaining(self, path: Path) -> Iterator[None]:
        """Turn SQLite's errors into ones a user can act on."""
        try:
            yield
        except sqlite3.Error as error:
            raise self.explained(path, error) from error

    def explained(self, path: Path, error: sqlite3.Error) -> TrailhoundError:
        """The error for a user: which file, why, and what to do."""
        # Errors that Python's own wrapper raises carry no code.
        code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        advice = _ADVICE.get(code & _PRIMARY_CODE, _OTHERWISE)
        return self._told(path, advice, f"SQLite: {error}")

    def is_beyond_use(self, path: Path) -> str:
        """What SQLite finds wrong with the file; empty for one that is sound, or not ours to judge.

        Reads all of it. StorageError and its like when it cannot be read for another reason.
        """
        try:
            with self.explaining(path), closing(self.open_for_reading(path)) as connection:
                (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        except self.error as error:
            code = getattr(error.__cause__, "sqlite_errorcode", sqlite3.SQLITE_OK)
            if code & _PRIMARY_CODE not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise
            return str(error.__cause__)
        return "" if found == "ok" else str(found)

    def unwritable(self, path: Path, reason: str) -> TrailhoundError:
        """The error for a file whose place cannot be written."""
        return self._told(path, _UNWRITABLE, reason)

    def anew_at(self, path: Path) -> str:
        """How to go on without this file."""
        return self.anew.format(topic=_topic_of(path))

    def _told(self, path: Path, advice: str, reason: str) -> TrailhoundError:
        advice = advice.format(name=self.name, anew=self.anew_at(path))
        return self.error(f"The {self.name} {path} {advice} ({reason})")


class _Crawl(msgspec.Struct):
    topic: str


def _topic_of(path: Path) -> str:
    """Whose a file is, as the crawl says that it is part of; for a command line."""
    for folder in path.absolute().parents[:2]:
        with suppress(OSError, *UNREADABLE):
            content = (folder / "crawl.json").read_bytes()
            return quote(msgspec.json.decode(content, type=_Crawl).topic)
    return "TOPIC"


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing of what is executed inside."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # What failed is what the user must hear of: on a full disk SQLite may have rolled back by
        # itself, or fail to do so, and the next opening does it.
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise


def purge(connection: sqlite3.Connection) -> None:
    """Leave nothing of removed rows in free pages, nor in the write-ahead log."""
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
