"""Results for other programs: JSON lines, CSV, Parquet, or a plain list of addresses.

Every format has the same fields in the same order (:data:`FIELDS`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO

import msgspec

from trailhound.errors import UsageError
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
}
"""Fields and their types in Parquet."""

FIELDS = tuple(_KINDS)

_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""With one of these in front, a spreadsheet would calculate what a stranger wrote."""

_PARQUET_BATCH = 5_000


def write_jsonl(pages: Iterable[StoredPage], out: BinaryIO) -> int:
    """One JSON object per line; the number of lines."""
    encoder = msgspec.json.Encoder()
    written = 0
    for row in _rows(pages):
        out.write(encoder.encode(row) + b"\n")
        written += 1
    return written


def write_csv(pages: Iterable[StoredPage], out: BinaryIO) -> int:
    """A header and one line per page, in UTF-8; text that a spreadsheet would calculate is quoted
    with an apostrophe.
    """
    text = io.TextIOWrapper(out, encoding="utf-8", errors="replace", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(FIELDS)
    written = 0
    for row in _rows(pages):
        writer.writerow(map(_harmless, row.values()))
        written += 1
    text.flush()
    text.detach()
    return written


def write_urls(pages: Iterable[StoredPage], out: BinaryIO) -> int:
    """One address per line."""
    written = 0
    for page in pages:
        out.write(page.address.encode() + b"\n")
        written += 1
    return written


def write_parquet(pages: Iterable[StoredPage], out: BinaryIO) -> int:
    """A Parquet file; needs pyarrow."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError(
            "Parquet needs the package pyarrow, which is not installed. Install it with: "
            "pip install 'trailhound[parquet]'"
        ) from None
    schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in _KINDS.items()])
    written = 0
    with parquet.ParquetWriter(out, schema) as writer:
        for batch in _batches(_rows(pages)):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
            written += len(batch)
    return written


Writer = Callable[[Iterable[StoredPage], BinaryIO], int]
WRITERS: dict[str, Writer] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "parquet": write_parquet,
    "urls": write_urls,
}


def _rows(pages: Iterable[StoredPage]) -> Iterator[dict[str, Any]]:
    for rank, page in enumerate(pages, start=1):
        yield {
            "rank": rank,
            "url": page.address,
            "title": page.title,
            "score": page.score,
            "relevant": page.relevant,
            "snippet": page.snippet,
            "fetched_at": datetime.fromtimestamp(page.at, UTC).isoformat(timespec="seconds"),
            "language": page.language,
            "parent": page.parent,
            "depth": page.depth,
            "requested_url": page.url,
            "number": page.number,
            "priority": page.priority,
            "outcome": page.outcome.value,
            "status": page.status,
            "duplicate_of": page.duplicate_of,
            "noindex": page.noindex,
            "known": page.known,
            "etag": page.etag,
            "last_modified": page.last_modified,
        }


def _harmless(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA_SIGNS):
        return "'" + value
    return value


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _PARQUET_BATCH:
            yield batch
            batch = []
    yield batch
