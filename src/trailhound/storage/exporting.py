"""Results for other programs: JSON lines, CSV, Parquet, a plain list of addresses, or WARC.

Every table has the same fields in the same order (:data:`FIELDS`). A WARC file holds the archived
answers, whose records are copied as they are.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from trailhound.errors import StorageError, UsageError
from trailhound.storage.cdxj import INDEX_NAME, PART_SUFFIX, CdxEntry, parse_line
from trailhound.storage.files import OPEN_SUFFIX, explaining
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

_FORMULA_SIGNS = "=+-@\N{MINUS SIGN}"
"""With one of these in front, a spreadsheet would calculate what a stranger wrote."""
_CELL_BREAKS = "\t\r\n"
"""Likewise: what follows may land in a cell of its own."""
_UNSEEN = ("Cc", "Cf", "Mn", "Zl", "Zp", "Zs")
"""Categories of characters that a spreadsheet may drop: controls, joiners, marks, spaces."""

_PARQUET_BATCH = 5_000


def write_jsonl(pages: Iterable[StoredPage], out: BinaryIO) -> int:
    """One JSON object per line; the number of lines."""
    return _write_lines(map(msgspec.json.Encoder().encode, _rows(pages)), out)


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
    return _write_lines((page.address.encode() for page in pages), out)


def _write_lines(lines: Iterable[bytes], out: BinaryIO) -> int:
    written = 0
    for line in lines:
        out.write(line + b"\n")
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
    rows, written = _rows(pages), 0
    with parquet.ParquetWriter(out, schema) as writer:
        while batch := list(islice(rows, _PARQUET_BATCH)):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
            written += len(batch)
    return written


WRITERS: dict[str, Callable[[Iterable[StoredPage], BinaryIO], int]] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "parquet": write_parquet,
    "urls": write_urls,
}


def _rows(pages: Iterable[StoredPage]) -> Iterator[dict[str, Any]]:
    for rank, page in enumerate(pages, start=1):
        values = msgspec.structs.asdict(page) | {
            "rank": rank,
            "url": page.address,
            "requested_url": page.url,
            "outcome": page.outcome.value,
            "fetched_at": datetime.fromtimestamp(page.at, UTC).isoformat(timespec="seconds"),
        }
        yield {name: values[name] for name in FIELDS}


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
    """Copy the latest answer of each address; how many there were.

    ``folder`` is the archive. Also what a running crawl has archived so far is found.
    """
    if not folder.is_dir():
        raise StorageError(
            f"There is no archive {folder}: the crawl was run without one (archive = false)."
        )
    places = _places(folder, set(addresses))
    for entry in sorted(places, key=lambda entry: (entry.filename, int(entry.offset))):
        path = folder / entry.filename
        if not path.exists():  # it is still written to
            path = path.with_name(path.name + OPEN_SUFFIX)
        with explaining(folder), path.open("rb") as warc:
            warc.seek(int(entry.offset))
            out.write(warc.read(int(entry.length)))
    return len(places)


def _places(folder: Path, wanted: set[str]) -> list[CdxEntry]:
    """Where the latest successful answer of each address is."""
    successful = (
        (timestamp, entry)
        for timestamp, entry in _entries(folder)
        if entry.url in wanted and entry.status.startswith("2")
    )
    by_time = sorted(successful, key=itemgetter(0))
    return list({entry.url: entry for _, entry in by_time}.values())


def _entries(folder: Path) -> Iterator[tuple[str, CdxEntry]]:
    names = (INDEX_NAME, f"*{PART_SUFFIX}", f"*{PART_SUFFIX}{OPEN_SUFFIX}")
    paths = dict.fromkeys(path for name in names for path in sorted(folder.glob(name)))
    for path in paths:
        with explaining(path), path.open("rb") as lines:
            for line in lines:
                try:
                    yield parse_line(line)
                except (ValueError, RecursionError):
                    continue  # the torn last line of a crawl that was killed, or is writing now
