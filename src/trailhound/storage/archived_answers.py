"""Archived answers by address: where the latest successful one of each page is, as rendered."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from trailhound.errors import StorageError
from trailhound.storage.cdxj import INDEX_NAME, PART_SUFFIX, CdxEntry, parse_line
from trailhound.storage.files import OPEN_SUFFIX, explaining
from trailhound.storage.warc_records import page_address


class Place(NamedTuple):
    """Of one record; places sort in the order in which the records were written."""

    file_name: str
    offset: int
    length: int
    """Compressed bytes."""
    mime: str


class ArchivedAnswers:
    """What the archive in ``folder`` holds of some addresses, of a running crawl too.

    Of all there are, without ``addresses``. Empty when there is no archive. Reading is quickest in
    the order of the crawl.
    """

    def __init__(self, folder: Path, addresses: Iterable[str] | None = None) -> None:
        self._folder = folder
        self._open: tuple[str, BinaryIO] | None = None
        wanted = None if addresses is None else set(addresses)
        self._places = _places(folder, wanted) if folder.is_dir() else {}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, address: str) -> bool:
        return address in self._places

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
        return map(self._read, sorted(self._places.values()))

    def _read(self, place: Place) -> bytes:
        with explaining(self._folder):
            warc = self._file(place.file_name)
            warc.seek(place.offset)
            return warc.read(place.length)

    def _file(self, name: str) -> BinaryIO:
        if self._open is None or self._open[0] != name:
            self.close()
            self._open = name, _opened(self._folder / name)
        return self._open[1]

    def close(self) -> None:
        """Let the file go that was read last."""
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def __del__(self) -> None:
        self.close()


def require_archive(folder: Path) -> None:
    """StorageError when the crawl has none."""
    if not folder.is_dir():
        raise StorageError(
            f"There is no archive {folder}: the crawl was run without one. "
            "Crawl again with [output] archive = true."
        )


def _opened(path: Path) -> BinaryIO:
    with suppress(FileNotFoundError):
        return path.open("rb")
    with suppress(FileNotFoundError):
        return path.with_name(path.name + OPEN_SUFFIX).open("rb")  # it is still written to
    return path.open("rb")  # it was completed in this moment


def _places(folder: Path, wanted: set[str] | None) -> dict[str, Place]:
    latest: dict[str, tuple[tuple[str, bool], Place]] = {}
    for timestamp, entry in _entries(folder):
        url = page_address(entry.url)
        if not entry.status.startswith("2") or (wanted is not None and url not in wanted):
            continue
        rank = timestamp, url != entry.url  # of a page that was rendered, what came of that
        if url not in latest or rank >= latest[url][0]:
            latest[url] = rank, _place(entry)
    return {url: place for url, (_, place) in latest.items()}


def _place(entry: CdxEntry) -> Place:
    name, mime = sys.intern(entry.filename), sys.intern(entry.mime)  # the same for many
    return Place(name, int(entry.offset), int(entry.length), mime)


def _entries(folder: Path) -> Iterator[tuple[str, CdxEntry]]:
    """Of all parts of the index, in the order in which a crawl puts them together meanwhile."""
    for names in (f"*{PART_SUFFIX}{OPEN_SUFFIX}", f"*{PART_SUFFIX}", INDEX_NAME):
        for path in sorted(folder.glob(names)):
            if path.name == INDEX_NAME and names != INDEX_NAME:
                continue
            with explaining(path), suppress(FileNotFoundError), path.open("rb") as lines:
                yield from _parsed(lines)


def _parsed(lines: Iterable[bytes]) -> Iterator[tuple[str, CdxEntry]]:
    for line in lines:
        try:
            yield parse_line(line)
        except (ValueError, RecursionError):
            continue  # the torn last line of a crawl that was killed, or is writing now
