"""Results for other programs: JSON lines, CSV, Parquet, a list of addresses, WARC, or a folder.

Every table has the same fields in the same order (:data:`FIELDS`); JSON lines and Parquet may have
the pages' main texts in one field more. A WARC file holds the archived answers, whose records are
copied as they are. A folder that an export fills is renewed by the next export of the same kind.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import msgspec

from trailhound.errors import UsageError
from trailhound.storage.archive_reading import ArchivedAnswers, require_archive
from trailhound.storage.files import cannot_write, whole_file
from trailhound.storage.results_reading import StoredPage

_KINDS = {
    "rank": "int64",
    "url": "string",
    "title": "string",
    "score": "float64",
    "relevant": "bool_",
    "snippet": "string",
    "fetched_at": "string",
    "language": "string",
    "parent": "string",
    "depth": "int64",
    "requested_url": "string",
    "number": "int64",
    "priority": "float64",
    "outcome": "string",
    "status": "int64",
    "duplicate_of": "string",
    "noindex": "bool_",
    "known": "bool_",
    "etag": "string",
    "last_modified": "string",
    "content_type": "string",
    "marked": "string",
    "path": "list",
}
"""Fields and their types in Parquet."""

FIELDS = tuple(_KINDS)
TEXT_FIELD = "text"
"""The last one, where texts are wanted."""


class ExportedPage(NamedTuple):
    """A result with what other stores say of it."""

    page: StoredPage
    content_type: str = ""
    """The media type that the server stated; empty when it is not archived."""
    marked: str | None = None
    """``useful`` or ``not useful``, if the person has said so."""
    path: Sequence[str] = ()
    """The addresses from a seed to this page."""
    text: str | None = None
    """The main text; ``None`` when it is not wanted."""


_FORMULA_SIGNS = "=+-@\N{MINUS SIGN}"
"""With one of these in front, a spreadsheet would calculate what a stranger wrote."""
_CELL_BREAKS = "\t\r\n"
"""Likewise: what follows may land in a cell of its own."""
_UNSEEN = ("Cc", "Cf", "Mn", "Zl", "Zp", "Zs")
"""Categories of characters that a spreadsheet may drop: controls, joiners, marks, spaces."""

_PARQUET_BATCH = 2_000


def write_jsonl(pages: Iterable[ExportedPage], out: BinaryIO) -> int:
    """One JSON object per line; the number of lines."""
    return _write_lines(map(msgspec.json.Encoder().encode, _rows(pages)), out)


def write_csv(pages: Iterable[ExportedPage], out: BinaryIO) -> int:
    """A header and one line per page, in UTF-8; text that a spreadsheet would calculate is quoted
    with an apostrophe.
    """
    text = io.TextIOWrapper(out, encoding="utf-8", errors="replace", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(FIELDS)
    written = 0
    for row in _rows(pages):
        row["path"] = " ".join(row["path"])
        writer.writerow(_harmless(row[name]) for name in FIELDS)
        written += 1
    text.flush()
    text.detach()
    return written


def write_urls(pages: Iterable[StoredPage], out: BinaryIO) -> int:
    """One address per line."""
    return _write_lines((page.address.encode() for page in pages), out)


def _write_lines(lines: Iterable[bytes], out: BinaryIO) -> int:
    written = 0
    for line in lines:
        out.write(line + b"\n")
        written += 1
    return written


def write_parquet(pages: Iterable[ExportedPage], out: BinaryIO) -> int:
    """A Parquet file; needs pyarrow."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError(
            "Parquet needs the package pyarrow, which is not installed. Install it with: "
            "pip install 'trailhound[parquet]'"
        ) from None
    rows, written = _rows(pages), 0
    batch = list(islice(rows, _PARQUET_BATCH))
    kinds = {name: getattr(pyarrow, kind) for name, kind in _KINDS.items() if kind != "list"}
    types = {name: kind() for name, kind in kinds.items()}
    types["path"] = pyarrow.list_(pyarrow.string())
    if batch and TEXT_FIELD in batch[0]:
        types[TEXT_FIELD] = pyarrow.string()
    schema = pyarrow.schema(types)
    with parquet.ParquetWriter(out, schema) as writer:
        while batch:
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
            written += len(batch)
            batch = list(islice(rows, _PARQUET_BATCH))
    return written


WRITERS: dict[str, Callable[[Iterable[ExportedPage], BinaryIO], int]] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "parquet": write_parquet,
}


def _rows(pages: Iterable[ExportedPage]) -> Iterator[dict[str, Any]]:
    for rank, exported in enumerate(pages, start=1):
        page = exported.page
        values = msgspec.structs.asdict(page) | {
            "rank": rank,
            "url": page.address,
            "requested_url": page.url,
            "outcome": page.outcome.value,
            "fetched_at": time_in_words(page.at),
            "content_type": exported.content_type,
            "marked": exported.marked,
            "path": list(exported.path),
        }
        row = {name: values[name] for name in FIELDS}
        if exported.text is not None:
            row[TEXT_FIELD] = exported.text
        yield row


def time_in_words(seconds: float) -> str:
    """``2026-03-01T12:00:00+00:00``."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _harmless(value: Any) -> Any:
    return "'" + value if isinstance(value, str) and _may_calculate(value) else value


def _may_calculate(text: str) -> bool:
    """Whether the first character that is seen begins a formula, full-width signs included."""
    for character in text:
        if character in _CELL_BREAKS:
            return True
        if unicodedata.category(character) not in _UNSEEN:
            return unicodedata.normalize("NFKC", character)[0] in _FORMULA_SIGNS
    return False


def write_warc(folder: Path, addresses: Iterable[str], out: BinaryIO) -> int:
    """Copy the latest answer of each address; how many there were. ``folder`` is the archive."""
    require_archive(folder)
    answers = ArchivedAnswers(folder, addresses)
    for record in answers.records():
        out.write(record)
    return len(answers)


MARKER = ".trailhound-export"
"""A file by which we know what we may overwrite: the kind of export, and its files, in lines."""

_OUR_NAMES = re.compile(
    r"site\.js|(terms|pages)-\d+\.js|\d+\.html|([\w-]+-)?[0-9a-f]{12}\.(md|txt)"
)
"""What files in sub-folders are called, for exports that have no list of them yet."""

MAX_NAME_CHARS = 60
MAX_NAME_BYTES = 120
_NO_WORD = re.compile(r"[\W_]+")


class ExportFolder:
    """Write files into ``path``, in a ``with`` statement.

    The folder is made when it is missing. One that holds other things than an export of the same
    ``kind`` is refused with a UsageError. What an earlier export has left in the sub-folders
    ``owned`` goes when all is written; whatever a user has put anywhere stays.
    """

    def __init__(self, path: Path, kind: str, owned: Sequence[str]) -> None:
        self._path = path
        self._marker = path / MARKER
        self._kind = kind
        self._owned = owned
        self._earlier: set[str] = set()
        self._written: set[str] = set()

    def __enter__(self) -> Self:
        self._check()
        with _explaining(self._path):
            self._path.mkdir(parents=True, exist_ok=True)
            self._earlier = self._written_earlier()
            self._mark(self._earlier)  # first, lest a full disk leave a folder that is refused
            for name in self._owned:
                (self._path / name).mkdir(exist_ok=True)
        return self

    def _check(self) -> None:
        with _explaining(self._path):
            lines = self._marker_lines()
            is_free = not self._path.exists() or (
                self._path.is_dir() and not any(self._path.iterdir())
            )
        if lines[:1] != [self._kind] and not is_free:
            raise UsageError(
                f"{self._path} is not an empty folder, nor an earlier export as {self._kind}. Name "
                "a folder that does not exist yet, or empty it."
            )

    def _marker_lines(self) -> list[str]:
        return (
            self._marker.read_text("utf-8", "replace").splitlines()
            if self._marker.is_file()
            else []
        )

    def _written_earlier(self) -> set[str]:
        """Names of files in the sub-folders that are ours."""
        lines = self._marker_lines()
        if len(lines) > 1:
            return {line for line in lines[1:] if self._is_owned(line)}
        return {
            f"{name}/{path.name}"
            for name in self._owned
            for path in (self._path / name).glob("*")
            if _OUR_NAMES.fullmatch(path.name)
        }

    def _is_owned(self, name: str) -> bool:
        folder, _, file = name.partition("/")
        return folder in self._owned and file not in ("", "..") and "/" not in file

    def _mark(self, names: Iterable[str]) -> None:
        with whole_file(self._marker, sync=False) as file:
            file.writelines(f"{line}\n".encode() for line in (self._kind, *sorted(names)))

    def write(self, name: str, content: bytes) -> None:
        """Write one file; ``name`` is of our making, with a slash before a name in a sub-folder."""
        path = self._path / name
        with _explaining(path):
            if name not in self._earlier:  # known before it is there, should we be killed
                with self._marker.open("ab") as marker:
                    marker.write(f"{name}\n".encode())
            with whole_file(path, sync=False) as file:
                file.write(content)
        self._written.add(name)

    def __exit__(self, error: object, *_: object) -> None:
        if error is not None:
            return
        with _explaining(self._path):
            for name in self._earlier - self._written:
                (self._path / name).unlink(missing_ok=True)
            self._mark(self._written)


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from error


def file_stem(title: str, address: str) -> str:
    """A name that every system can have: words of the title, and a checksum of the address.

    It is the same in every export, whatever the rank of the page.
    """
    words = _NO_WORD.sub("-", unicodedata.normalize("NFC", title).lower())[:MAX_NAME_CHARS]
    words = words.encode("utf-8", "ignore")[:MAX_NAME_BYTES].decode("utf-8", "ignore").strip("-")
    checksum = hashlib.sha256(address.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{words}-{checksum}" if words else checksum
