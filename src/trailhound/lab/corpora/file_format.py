"""The file of a corpus: its tables, how records become bytes in them, and opening one.

A corpus is one SQLite database. The application id in its header tells it from other databases,
the user version is the version of this format. Pages are numbered 0, 1, 2 … in the order in which
they were added; every other table refers to them by that number. Records are MessagePack,
compressed with zstd; each frame carries a checksum, so a flipped bit is noticed when it is read.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import zstandard

from trailhound.errors import CorpusError, UsageError

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

_HOW_TO_MAKE_ONE = "Make one with: trailhound corpus import KIND PATH -o FILE"


def new_compressor() -> zstandard.ZstdCompressor:
    """For one thread. Level 9 costs 1 ms for a page of 40 KB; above, size barely falls."""
    return zstandard.ZstdCompressor(level=9, write_checksum=True)


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
