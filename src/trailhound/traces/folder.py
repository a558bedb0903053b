"""The files of an index.

::

    NAME.trace/header.json         format, origin, counts, what was left out and why
               url-keys.bin        uint64, ascending: the keys of the pages' URLs
               url-ends.bin        uint64: where each URL ends in urls.bin
               urls.bin            UTF-8
               page-ends.bin       uint64: where each page's visits end in the next two
               page-users.bin      uint32
               page-times.bin      float64, ascending for each page
               user-ends.bin       uint64: where each user's visits end in the next two
               user-pages.bin      uint32
               user-times.bin      float64, ascending for each user

All numbers are little-endian. Pages and users are numbered by place; who a user was is not kept.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound import __version__
from trailhound.errors import SourceError

SUFFIX = ".trace"
HEADER = "header.json"
FORMAT_NAME = "trailhound-trace"
FORMAT_VERSION = 1

COLUMNS: dict[str, np.dtype[np.generic]] = {
    "url-keys": np.dtype("<u8"),
    "url-ends": np.dtype("<u8"),
    "urls": np.dtype("u1"),
    "page-ends": np.dtype("<u8"),
    "page-users": np.dtype("<u4"),
    "page-times": np.dtype("<f8"),
    "user-ends": np.dtype("<u8"),
    "user-pages": np.dtype("<u4"),
    "user-times": np.dtype("<f8"),
}


class TraceHeader(msgspec.Struct, frozen=True, kw_only=True):
    """``header.json``."""

    origin: str
    """What it was made from, with size and time of change: another origin, another index."""
    accesses: int
    users: int
    pages: int
    url_bytes: int
    read: int = 0
    """Lines or visits that were read."""
    skipped: dict[str, int] = msgspec.field(default_factory=dict)
    """How many of them were left out, by reason."""
    notes: tuple[str, ...] = ()
    made_by: str = f"trailhound {__version__}"
    format: str = FORMAT_NAME
    version: int = FORMAT_VERSION

    def length_of(self, column: str) -> int:
        """How many numbers a column has."""
        if column == "urls":
            return self.url_bytes
        if column.endswith(("-users", "-pages", "-times")):
            return self.accesses
        return self.users if column.startswith("user") else self.pages


class _Format(msgspec.Struct):
    format: str
    version: int


def column_path(folder: Path, column: str) -> Path:
    """Where a column is."""
    return folder / f"{column}.bin"


def write_header(folder: Path, header: TraceHeader) -> None:
    """Written last: an index without it is none."""
    content = msgspec.json.format(msgspec.json.encode(header), indent=1)
    (folder / HEADER).write_bytes(content)


def read_header(folder: Path) -> TraceHeader:
    """SourceError says what is wrong with it."""
    path = folder / HEADER
    try:
        content = path.read_bytes()
        found = msgspec.json.decode(content, type=_Format)
        if found.format != FORMAT_NAME or found.version != FORMAT_VERSION:
            raise SourceError(
                f"{folder} has format '{found.format}' version {found.version}, and this "
                f"Trailhound reads '{FORMAT_NAME}' {FORMAT_VERSION}. Delete it and give the log "
                "again: the index is made anew."
            )
        return msgspec.json.decode(content, type=TraceHeader)
    except OSError as error:
        raise SourceError(
            f"{folder} is no index of a trace: {path.name} cannot be read "
            f"({error.strerror or error}). Name a log, or 'sessions'."
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _damaged(folder, str(error)) from error


def map_columns(folder: Path, header: TraceHeader) -> dict[str, NDArray[np.generic]]:
    """All columns, mapped into memory; nothing is read yet."""
    return {name: _mapped(folder, name, header.length_of(name)) for name in COLUMNS}


def _mapped(folder: Path, column: str, length: int) -> NDArray[np.generic]:
    path, kind = column_path(folder, column), COLUMNS[column]
    try:
        size = path.stat().st_size
        if size != length * kind.itemsize:
            raise _damaged(folder, f"{path.name} has {size:,} bytes")
        if not length:
            return np.empty(0, kind)
        # A plain view of the map: slices of it cost a third of those of a memmap.
        return np.asarray(np.memmap(path, kind, mode="r", shape=(length,)))
    except OSError as error:
        raise _damaged(folder, f"{path.name}: {error.strerror or error}") from error


def _damaged(folder: Path, reason: str) -> SourceError:
    return SourceError(
        f"The index {folder} is damaged ({reason}). Delete it and give the log again: it is made "
        "anew."
    )
