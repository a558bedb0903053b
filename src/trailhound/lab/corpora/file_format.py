"""The file of a corpus: its tables, how records become bytes in them, opening and making one.

A corpus is one SQLite database. The application id in its header tells it from other databases,
the user version is the version of this format. Pages are numbered 0, 1, 2 … in the order in which
they were added; every other table refers to them by that number. Records are MessagePack,
compressed with zstd; each frame carries a checksum, so a flipped bit is noticed when it is read.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import zstandard

from trailhound.errors import CorpusError, UsageError
from trailhound.lab.corpora.contents import CorpusInfo, OtherEntry, PlacedSideData, Trail
from trailhound.lab.corpora.link_graph import LinkGraph
from trailhound.lab.corpora.preparation import PreparedPage, new_compressor
from trailhound.sessions.events import Session
from trailhound.storage.files import is_written_straight

# "THCo" in ASCII: stored at byte 68 of the file, where tools such as `file` look for it.
APPLICATION_ID = 0x5448436F
FORMAT_VERSION = 1

# SQLite's file header: a fixed first line, page size at byte 16, number of pages at byte 28.
HEADER_BYTES = 100
SQLITE_MAGIC = b"SQLite format 3\x00"

# `records` and `sources` hold one compressed blob per page and stay apart from `pages`, so that
# reading all addresses touches a few kilobytes and not the whole file.
TABLES = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT_VERSION};
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE pages (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, status INTEGER NOT NULL, content_type TEXT NOT NULL
);
CREATE TABLE records (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE sources (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE others (
    url TEXT PRIMARY KEY, status INTEGER NOT NULL, target TEXT, content_type TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE labels (label TEXT, page INTEGER, PRIMARY KEY (label, page)) WITHOUT ROWID;
CREATE TABLE groups (page INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE duplicates (url TEXT PRIMARY KEY, original TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trails (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE sessions (id INTEGER PRIMARY KEY, topic TEXT NOT NULL, data BLOB NOT NULL);
"""

# Keys of `meta`. The description is JSON, the arrays of the link graph are compressed int32,
# little-endian.
META_INFO = "info"
META_INDPTR = "link_graph.indptr"
META_INDICES = "link_graph.indices"

# Trails per stored block: large enough to compress well, small enough to stream.
TRAILS_PER_BLOCK = 2048

_HOW_TO_MAKE_ONE = "Make one with: trailhound corpus import KIND PATH -o FILE"


def open_database(path: Path) -> sqlite3.Connection:
    """A read-only connection to the corpus at ``path``, for one thread at a time."""
    _check_header(path, *_read_header(path))
    try:
        # "immutable": nobody changes a finished corpus, so no locks and no journal are needed.
        # Any thread: in a notebook, crawls run beside the one in which the corpus was opened.
        address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        return sqlite3.connect(address, uri=True, check_same_thread=False)
    except sqlite3.Error as error:
        raise damaged(path, error) from error


def may_be_replaced(path: Path) -> bool:
    """Whether nothing is lost but a corpus, whole or damaged, by another file of this name."""
    if not path.is_file():
        return True
    header, size = _read_header(path)
    return not size or _is_marked(header)


def damaged(path: Path, error: Exception) -> CorpusError:
    """The error for a corpus whose inside cannot be read."""
    return CorpusError(
        f"The corpus {path} is damaged ({error}). Copy it again from where it came, "
        "or import it again."
    )


def _read_header(path: Path) -> tuple[bytes, int]:
    """The first bytes of the file, and its size."""
    try:
        with path.open("rb") as file:
            return file.read(HEADER_BYTES), path.stat().st_size
    except FileNotFoundError as error:
        raise UsageError(f"There is no corpus at {path}. {_HOW_TO_MAKE_ONE}") from error
    except OSError as error:
        raise CorpusError(
            f"Cannot read the corpus {path}: {error.strerror}. "
            "Check the name and that you may read it."
        ) from error


def _is_marked(header: bytes) -> bool:
    application_id = int.from_bytes(header[68:72], "big")
    return header.startswith(SQLITE_MAGIC) and application_id == APPLICATION_ID


def _check_header(path: Path, header: bytes, size: int) -> None:
    if not _is_marked(header):
        found = "it is empty" if not size else f"it starts with {header[:16]!r}"
        if header.startswith(SQLITE_MAGIC):
            found = "it is some other SQLite database"
        raise CorpusError(f"{path} is not a Trailhound corpus: {found}. {_HOW_TO_MAKE_ONE}")
    version = int.from_bytes(header[60:64], "big")
    if version > FORMAT_VERSION:
        raise CorpusError(
            f"The corpus {path} has format {version}, and this Trailhound reads formats up to "
            f"{FORMAT_VERSION}. Upgrade Trailhound, or import the corpus again with this one."
        )
    page_size = int.from_bytes(header[16:18], "big")
    if page_size == 1:
        page_size = 65536  # which does not fit into two bytes
    expected = page_size * int.from_bytes(header[28:32], "big")
    if size < expected:
        raise CorpusError(
            f"The corpus {path} is incomplete: {size:,} of {expected:,} bytes. "
            "Copy it again from where it came, or import it again."
        )


class StagedCorpus:
    """A corpus file under a temporary name beside its destination; one method per kind of content.

    Every method says in words what is wrong when the disk refuses.
    """

    def __init__(self, destination: Path) -> None:
        if is_written_straight(destination):
            raise UsageError(
                f"Cannot write a corpus into {destination}: it is no file, and a corpus cannot be "
                "written from its beginning to its end. Name a file."
            )
        self.destination = destination = Path(os.path.realpath(destination))  # a link stays
        if destination.is_dir():
            raise CorpusError(f"Cannot write {destination}: it is a folder. Name a file in it.")
        if not may_be_replaced(destination):
            raise CorpusError(
                f"Cannot write {destination}: there is a file that is no corpus. Choose another "
                "name, or remove it first."
            )
        token = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._temporary = destination.with_name(f".{destination.name}.{token}.partial")
        self._compress = new_compressor().compress
        self._waiting_trails: list[Trail] = []
        with self._errors_explained():
            destination.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self._temporary)
            try:
                # The file is thrown away on any failure, so it needs no journal.
                self._connection.executescript(
                    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + TABLES
                )
            except BaseException:
                self.discard()
                raise

    def add_page(self, number: int, page: PreparedPage) -> None:
        """A page, its record and its source."""
        self._insert("pages", [(number, page.url, page.status, page.content_type)])
        self._insert("records", [(number, page.record)])
        self._insert("sources", [(number, page.source)])

    def source(self, number: int) -> bytes:
        """The body of a page added before."""
        query = "SELECT data FROM sources WHERE id = ?"
        with self._errors_explained():
            (frame,) = self._connection.execute(query, (number,)).fetchone()
        return zstandard.ZstdDecompressor().decompress(frame)

    def add_trail(self, trail: Trail) -> None:
        """A trail; written when a block is full."""
        self._waiting_trails.append(trail)
        if len(self._waiting_trails) == TRAILS_PER_BLOCK:
            self._flush_trails()

    def add_session(self, session: Session) -> None:
        """A browsing session."""
        self._insert("sessions", [(None, session.topic, self._packed(session))])

    def add_rest(
        self,
        others: Iterable[tuple[str, OtherEntry]],
        side: PlacedSideData,
        graph: LinkGraph,
        info: CorpusInfo,
    ) -> None:
        """All that is known when all pages are: redirects and errors, labels, links."""
        self._flush_trails()
        self._insert("others", ((url, *entry) for url, entry in others))
        self._insert("labels", side.labels)
        self._insert("groups", side.groups)
        self._insert("duplicates", side.duplicates)
        meta = {
            META_INDPTR: self._compress(graph.indptr.astype("<i4").tobytes()),
            META_INDICES: self._compress(graph.indices.astype("<i4").tobytes()),
            META_INFO: msgspec.json.encode(info),
        }
        self._insert("meta", meta.items())

    def publish(self) -> int:
        """Give the file its final name, replacing what was there; returns its size."""
        with self._errors_explained():
            self._connection.commit()
            self._connection.close()
            with self._temporary.open("r+b") as file:
                os.fsync(file.fileno())
            size = self._temporary.stat().st_size
            self._temporary.replace(self.destination)
        return size

    def discard(self) -> None:
        """Remove the file, if it is not published; what stood under the final name stays."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()
        with contextlib.suppress(OSError):
            self._temporary.unlink(missing_ok=True)

    def _flush_trails(self) -> None:
        if self._waiting_trails:
            self._insert("trails", [(None, self._packed(self._waiting_trails))])
            self._waiting_trails = []

    def _packed(self, record: object) -> bytes:
        return self._compress(msgspec.msgpack.encode(record))

    def _insert(self, table: str, rows: Iterable[Sequence[object]]) -> None:
        """Whole rows, in the order of the table's columns."""
        with self._errors_explained():
            for row in rows:
                places = ", ".join("?" * len(row))
                self._connection.execute(f"INSERT INTO {table} VALUES ({places})", row)  # noqa: S608

    @contextlib.contextmanager
    def _errors_explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise CorpusError(
                f"Cannot write {self.destination}: {reason}. "
                "Make room there or choose another destination; nothing was changed."
            ) from error
