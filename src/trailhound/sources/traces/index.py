"""An index that answers who opened a page, and what a user opened; and its files.

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

While it is made, an index is ``.NAME.PID.part``: many gigabytes perhaps, which a build that is
killed leaves behind. Each draft holds a lock, which the system releases when the process dies:
unlike a process number it is not given to somebody else afterwards, and it tells of processes in
other containers, too.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Self

import msgspec
import numpy as np
from filelock import FileLock
from numpy.typing import ArrayLike, NDArray

from trailhound import __version__
from trailhound.errors import UNREADABLE, SourceError
from trailhound.sources.traces.sorting import url_key

SUFFIX = ".trace"
HEADER = "header.json"
FORMAT_NAME = "trailhound-trace"
FORMAT_VERSION = 1

_LOCK = "lock"
_DRAFT = re.compile(rf"\..+{re.escape(SUFFIX)}\.[0-9]+\.part")
_YOUNG_SECONDS = 60.0
"""A draft in which nothing is made or deleted for so long is not being begun or completed."""

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


def _read_header(folder: Path) -> TraceHeader:
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
    except UNREADABLE as error:
        raise _damaged(folder, str(error)) from error


def _map_columns(folder: Path, header: TraceHeader) -> dict[str, NDArray[np.generic]]:
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


class ColumnFiles:
    """Appends to the columns of one half of an index: what it writes to, it closes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}

    def write(self, column: str, values: ArrayLike) -> None:
        """Append numbers."""
        self.write_bytes(column, np.asarray(values).astype(COLUMNS[column]).tobytes())

    def write_bytes(self, column: str, content: bytes) -> None:
        """Append as it is."""
        file = self._files.get(column)
        if file is None:
            file = self._files[column] = column_path(self._folder, column).open("wb")
        file.write(content)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()


class Numbering:
    """Numbers keys that come in order, block by block: equal keys get equal numbers, from 0."""

    def __init__(self) -> None:
        self._last: int | None = None
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def _is_new(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        is_new = np.ones(len(keys), np.bool_)
        is_new[1:] = keys[1:] != keys[:-1]
        if len(keys) and self._last is not None:
            is_new[0] = int(keys[0]) != self._last
        return is_new

    def new(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Keys of the block that have not been numbered yet, and where in it they begin."""
        places = np.flatnonzero(self._is_new(keys))
        return keys[places].copy(), places

    def numbers(self, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The number of each key in the block."""
        if not len(keys):
            return keys.copy()
        numbers = self._count - 1 + np.cumsum(self._is_new(keys))
        self._last, self._count = int(keys[-1]), int(numbers[-1]) + 1
        return numbers.astype(np.uint64)


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """A place to make an index in, which replaces ``folder`` at the end, if all went well."""
    draft = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    try:
        with FileLock(draft / _LOCK, timeout=0):
            clear_leftovers(folder.parent)
            yield draft
        (draft / _LOCK).unlink(missing_ok=True)
        if folder.exists():
            shutil.rmtree(folder)
        draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def clear_leftovers(place: Path) -> None:
    """Delete the drafts in a folder whose makers are gone."""
    for path in list(place.iterdir()):
        is_draft = _DRAFT.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
        if is_draft and not _is_alive(path):
            shutil.rmtree(path, ignore_errors=True)


def _is_alive(draft: Path) -> bool:
    try:
        is_young = time.time() - draft.stat().st_mtime < _YOUNG_SECONDS
        if not (draft / _LOCK).exists():
            return is_young
        if is_young and (draft / HEADER).exists():
            return True  # complete: the lock is let go before it is renamed
        with FileLock(draft / _LOCK, timeout=0):
            return False
    except FileNotFoundError:
        return False  # gone meanwhile
    except OSError:
        return True


Numbers = NDArray[np.uint32]
Times = NDArray[np.float64]
_KNOWN_URLS = 20_000


class TraceIndex:
    """An :class:`~trailhound.sources.AccessTrace` over the columns of an index, mapped or not."""

    def __init__(self, header: TraceHeader, columns: Mapping[str, NDArray[np.generic]]) -> None:
        self.header = header
        self._columns = columns
        self._keys = columns["url-keys"]
        self._url_ends = columns["url-ends"]
        self._urls = columns["urls"]
        self._page_ends = columns["page-ends"]
        self._page_users = columns["page-users"].view(np.uint32)
        self._page_times = columns["page-times"].view(np.float64)
        self._user_ends = columns["user-ends"]
        self._user_pages = columns["user-pages"].view(np.uint32)
        self._user_times = columns["user-times"].view(np.float64)
        self.page_url: Callable[[int], str] = lru_cache(_KNOWN_URLS)(self._page_url)

    @classmethod
    def open(cls, folder: Path) -> TraceIndex:
        """Map an index into memory; SourceError when there is none, or a damaged one."""
        header = _read_header(folder)
        return cls(header, _map_columns(folder, header))

    def in_memory(self) -> TraceIndex:
        """The same, independent of its files."""
        copies = {name: np.array(column) for name, column in self._columns.items()}
        return TraceIndex(self.header, copies)

    def __len__(self) -> int:
        return self.header.accesses

    @property
    def n_users(self) -> int:
        """People in all."""
        return self.header.users

    @property
    def n_pages(self) -> int:
        """Pages in all."""
        return self.header.pages

    def page_number(self, url: str) -> int | None:
        """The place of a URL's key; the URL itself is compared as well."""
        content = url.encode("utf-8", "surrogatepass")
        page = int(np.searchsorted(self._keys, np.uint64(url_key(content))))
        if page < self.n_pages and self._url_bytes(page) == content:
            return page
        return None

    def _page_url(self, page: int) -> str:
        """The address of a page."""
        return self._url_bytes(page).decode("utf-8", "replace")

    def _url_bytes(self, page: int) -> bytes:
        start = int(self._url_ends[page - 1]) if page else 0
        return self._urls[start : int(self._url_ends[page])].tobytes()

    def visitors(self, page: int) -> tuple[Numbers, Times]:
        """Users and times of all visits to a page."""
        start = int(self._page_ends[page - 1]) if page else 0
        end = int(self._page_ends[page])
        return self._page_users[start:end], self._page_times[start:end]

    def some_visitors(
        self, pages: NDArray[np.int64], limit: int
    ) -> tuple[Numbers, NDArray[np.int64]]:
        """Users of at most ``limit`` visits to each page, and for each the place of the page."""
        starts = np.where(pages > 0, self._page_ends[pages - 1], 0).astype(np.int64)
        visits = self._page_ends[pages].astype(np.int64) - starts
        taken = np.minimum(visits, limit)
        owners = np.repeat(np.arange(len(pages)), taken)
        within = np.arange(len(owners)) - (np.cumsum(taken) - taken)[owners]
        steps = np.maximum(visits // limit, 1)
        return self._page_users[starts[owners] + within * steps[owners]], owners

    def history(self, user: int) -> tuple[Numbers, Times]:
        """Pages and times of all visits of a user."""
        start = int(self._user_ends[user - 1]) if user else 0
        end = int(self._user_ends[user])
        return self._user_pages[start:end], self._user_times[start:end]

    def sample(self, rng: np.random.Generator) -> str:
        """A page, each as likely as any other."""
        return self.page_url(int(rng.integers(self.n_pages)))
