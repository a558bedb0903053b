"""The archived answers of chosen pages as one WARC file: records are copied as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from trailhound.errors import StorageError
from trailhound.storage.cdxj import INDEX_NAME, PART_SUFFIX, CdxEntry, parse_line
from trailhound.storage.files import OPEN_SUFFIX, explaining

_OPEN_PART_SUFFIX = PART_SUFFIX + OPEN_SUFFIX


def write_warc(folder: Path, addresses: Iterable[str], out: BinaryIO) -> int:
    """Copy the latest answer of each address; how many there were.

    ``folder`` is the archive. Also what a running crawl has archived so far is found.
    """
    if not folder.is_dir():
        raise StorageError(
            f"There is no archive {folder}: the crawl was run without one (archive = false)."
        )
    places = _places(folder, set(addresses))
    copied = 0
    for entry in sorted(places.values(), key=lambda entry: (entry.filename, int(entry.offset))):
        with explaining(folder), _open_warc(folder / entry.filename) as warc:
            warc.seek(int(entry.offset))
            out.write(warc.read(int(entry.length)))
        copied += 1
    return copied


def _places(folder: Path, wanted: set[str]) -> dict[str, CdxEntry]:
    """Where the latest successful answer of each address is."""
    latest: dict[str, tuple[str, CdxEntry]] = {}
    for timestamp, entry in _entries(folder):
        if entry.url in wanted and entry.status.startswith("2"):
            known = latest.get(entry.url)
            if known is None or known[0] <= timestamp:
                latest[entry.url] = (timestamp, entry)
    return {url: entry for url, (_, entry) in latest.items()}


def _entries(folder: Path) -> Iterator[tuple[str, CdxEntry]]:
    names = (INDEX_NAME, f"*{PART_SUFFIX}", f"*{_OPEN_PART_SUFFIX}")
    paths = dict.fromkeys(path for name in names for path in sorted(folder.glob(name)))
    for path in paths:
        with explaining(path), path.open("rb") as lines:
            for line in lines:
                try:
                    yield parse_line(line)
                except (ValueError, msgspec.DecodeError):
                    continue  # the torn last line of a crawl that was killed, or is writing now


def _open_warc(path: Path) -> BinaryIO:
    """A WARC file, complete or still written to."""
    if not path.exists():
        path = path.with_name(path.name + OPEN_SUFFIX)
    return path.open("rb")
