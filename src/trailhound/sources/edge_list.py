"""Backlinks from a file of edges: one ``source<TAB>target`` in a line, or the same with a comma.

The file may have many millions of lines, so it is sorted into an SQLite file once; the memory that
takes does not grow with it.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import IO

from trailhound.errors import SourceError, StorageError, UsageError
from trailhound.urls import canonicalize

Progress = Callable[[int], None]
"""Called now and then with the lines read so far."""

_GZIP = b"\x1f\x8b"
_MAX_LINE_BYTES = 100_000
_BATCH = 50_000
_FORMAT = 2
MAX_ANSWERS = 10_000
"""Sources that are named of one target: some pages are linked to by half the web."""

_Row = tuple[str, int, str]
"""Target, place of the source among all sources of the target, source."""


class EdgeList:
    """An indexed file of edges; ``lines`` and ``damaged`` say how much of it made sense."""

    def __init__(self, index: Path) -> None:
        self._index = index
        self._connection = sqlite3.connect(
            f"{index.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False
        )
        question = "SELECT lines, damaged, first_damaged FROM about"
        try:
            row = self._connection.execute(question).fetchone()
        except sqlite3.Error as error:
            self._connection.close()
            raise _cannot_read(index, error) from error
        self.lines, self.damaged, self.first_damaged = (int(value) for value in row)

    @classmethod
    def open(cls, path: Path, folder: Path, progress: Progress = lambda _: None) -> EdgeList:
        """The index of ``path`` in ``folder``, made when it is not there or the file has changed.

        UsageError when the file cannot be read or has no edge in it.
        """
        try:
            state = path.stat()
            key = f"{_FORMAT} {path.resolve()} {state.st_size} {state.st_mtime_ns}"
            name = f"edges-{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:16]}.db"
            index = folder / name
            if not index.exists():
                _build(path, index, progress)
        except OSError as error:
            raise UsageError(
                f"The file of edges {path} cannot be read: {error.strerror or error}. Give a text "
                "file with a source and a target URL in each line, separated by a tab or a comma."
            ) from error
        return cls(index)

    async def linking_to(self, url: str) -> Sequence[str]:
        """Sources of the edges to ``url``, in an order that is fixed and else means nothing.

        By a checksum: whoever takes the first few of them, as this does with very many, does not
        get those with an ``a`` in front.
        """
        question = (
            "SELECT DISTINCT source FROM edge WHERE target = ? ORDER BY place, source LIMIT ?"
        )
        try:
            rows = self._connection.execute(question, (url, MAX_ANSWERS))
            return [source for (source,) in rows]
        except sqlite3.Error as error:
            raise _cannot_read(self._index, error) from error

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()


def _cannot_read(index: Path, error: sqlite3.Error) -> SourceError:
    return SourceError(
        f"The index of edges {index} cannot be read ({error}). Delete it; it is made again."
    )


def _build(path: Path, index: Path, progress: Progress) -> None:
    """Under another name first: what is there under its name is whole."""
    index.parent.mkdir(parents=True, exist_ok=True)
    draft = index.with_name(index.name + ".part")
    draft.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            _fill(connection, path, progress)
        draft.replace(index)
    except sqlite3.Error as error:
        raise StorageError(
            f"The edges of {path} cannot be sorted into {index.parent}: {error}. Free some space, "
            "or check that you may write there."
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def _fill(connection: sqlite3.Connection, path: Path, progress: Progress) -> None:
    connection.execute("PRAGMA journal_mode = OFF")  # a draft: after a crash it is begun anew
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("CREATE TABLE edge (target TEXT, place INTEGER, source TEXT)")
    connection.execute("CREATE TABLE about (lines INTEGER, damaged INTEGER, first_damaged INTEGER)")
    reading = _Reading(path, progress)
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO edge VALUES (?, ?, ?)", reading)
    connection.execute(
        "INSERT INTO about VALUES (?, ?, ?)",
        (reading.lines, reading.damaged, reading.first_damaged),
    )
    connection.execute("COMMIT")
    if reading.lines == reading.damaged:
        raise UsageError(
            f"The file of edges {path} has no edge in it. Each line should be a source URL and a "
            "target URL, separated by a tab or a comma."
        )
    connection.execute("CREATE INDEX edge_by_target ON edge (target, place, source)")


class _Reading:
    """Iterates over the rows of edges and counts lines that are none."""

    def __init__(self, path: Path, progress: Progress) -> None:
        self._path = path
        self._progress = progress
        self.lines = 0
        self.damaged = 0
        self.first_damaged = 0

    def __iter__(self) -> Iterator[_Row]:
        with _opened(self._path) as file:
            for number, line in enumerate(_lines(file, self._path), start=1):
                if not line.strip() or line.startswith(b"#"):
                    continue
                self.lines += 1
                edge = _edge(line)
                if edge is not None:
                    yield edge
                elif number == 1:
                    self.lines -= 1  # the names of the columns
                else:
                    self.damaged += 1
                    self.first_damaged = self.first_damaged or number
                if self.lines % _BATCH == 0:
                    self._progress(self.lines)


def _opened(path: Path) -> IO[bytes] | gzip.GzipFile:
    with path.open("rb") as file:
        is_packed = file.read(2) == _GZIP
    return gzip.open(path) if is_packed else path.open("rb")


def _lines(file: IO[bytes] | gzip.GzipFile, path: Path) -> Iterator[bytes]:
    """Of bounded length: a file without line ends is not read into memory as a whole."""
    try:
        yield from iter(lambda: file.readline(_MAX_LINE_BYTES), b"")
    except (EOFError, OSError, zlib.error) as error:
        raise UsageError(
            f"The file of edges {path} is damaged ({error}). Unpack it or fetch it again."
        ) from error


_canonical = lru_cache(maxsize=100_000)(canonicalize)
"""Lists are often sorted, and name the same pages again and again."""


def _edge(line: bytes) -> _Row | None:
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        return None
    fields: Iterable[str] = text.split("\t")
    if "\t" not in text:
        try:
            fields = next(csv.reader(io.StringIO(text)), ())
        except csv.Error:
            return None
    cells = [cell.strip() for cell in fields]
    if len(cells) < 2:
        return None
    source, target = map(_canonical, cells[:2])
    if source is None or target is None:
        return None
    return target, zlib.crc32(source.encode("utf-8", "surrogatepass")), source
