"""Archived answers by address: where the latest successful one of each page is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path

from trailhound.errors import StorageError
from trailhound.storage.cdxj import INDEX_NAME, PART_SUFFIX, CdxEntry, parse_line
from trailhound.storage.files import OPEN_SUFFIX, explaining


class ArchivedAnswers:
    """What the archive in ``folder`` holds of some addresses, of a running crawl too.

    Empty when there is no archive.
    """

    def __init__(self, folder: Path, addresses: Iterable[str]) -> None:
        self._folder = folder
        self._places = _places(folder, set(addresses)) if folder.is_dir() else {}

    def __len__(self) -> int:
        return len(self._places)

    def content_type(self, address: str) -> str:
        """The media type that the server stated, without parameters; empty when unknown."""
        place = self._places.get(address)
        return place.mime if place is not None else ""

    def record(self, address: str) -> bytes | None:
        """The WARC record, compressed; ``None`` when there is none."""
        place = self._places.get(address)
        return self._read(place) if place is not None else None

    def records(self) -> Iterator[bytes]:
        """All of them, in the order of the archive."""
        in_order = sorted(self._places.values(), key=lambda each: (each.filename, int(each.offset)))
        return map(self._read, in_order)

    def _read(self, place: CdxEntry) -> bytes:
        path = self._folder / place.filename
        if not path.exists():  # it is still written to
            path = path.with_name(path.name + OPEN_SUFFIX)
        with explaining(self._folder), path.open("rb") as warc:
            warc.seek(int(place.offset))
            return warc.read(int(place.length))


def require_archive(folder: Path) -> None:
    """StorageError when the crawl has none."""
    if not folder.is_dir():
        raise StorageError(
            f"There is no archive {folder}: the crawl was run without one (archive = false)."
        )


def _places(folder: Path, wanted: set[str]) -> dict[str, CdxEntry]:
    successful = (
        (timestamp, entry)
        for timestamp, entry in _entries(folder)
        if entry.url in wanted and entry.status.startswith("2")
    )
    by_time = sorted(successful, key=itemgetter(0))
    return {entry.url: entry for _, entry in by_time}


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
