"""Results for other programs: JSON lines, CSV, Parquet, a plain list of addresses, or WARC.

Every table has the same fields in the same order (:data:`FIELDS`); JSON lines and Parquet may have
the pages' main texts in one field more. A WARC file holds the archived answers, whose records are
copied as they are.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from trailhound.errors import UsageError
from trailhound.storage.archived_answers import ArchivedAnswers, require_archive
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
