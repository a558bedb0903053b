"""An archive read, by fetch or by address: what its records say, and where each page's answer is.

Records of one fetch follow each other: an answer for each hop, each with its request, then what the
crawl thought of the page (``metadata``), with the page's number. Files that were gathered from the
shards of a cluster have numbers of their shards, which say nothing here: they are left out.

By address there is the latest successful answer of each page, as rendered.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from trailhound.errors import StorageError
from trailhound.records import header_value
from trailhound.storage.cdxj import INDEX_NAME, PART_SUFFIX, CdxEntry, parse_line
from trailhound.storage.files import OPEN_SUFFIX, explaining
from trailhound.storage.warc_records import CaptureNotes, page_address, read_notes
from trailhound.storage.warc_repair import (
    WARC_SUFFIX,
    Span,
    headers_in,
    is_gathered,
    serial_of,
    whole_records,
)
from trailhound.urls import canonicalize

_KEPT_HEADERS = frozenset({"content-type", "etag", "last-modified", "location", "x-robots-tag"})
_RAW_BYTE = re.compile("[\x80-\xff]")
_FIRST_WINDOW = 1 << 16
_WIDER = 4


class Place(NamedTuple):
    """Where a record is in its file, compressed."""

    file: Path
    start: int
    end: int

    def record(self) -> bytes:
        """The whole record, compressed."""
        with explaining(self.file), self.file.open("rb") as warc:
            warc.seek(self.start)
            return warc.read(self.end - self.start)


class ArchivedAnswer(NamedTuple):
    """A ``response`` or ``revisit`` record, without its body."""

    place: Place
    record_id: str
    url: str
    at: float
    """When it was asked for, in seconds since 1970."""
    status: int
    headers: tuple[tuple[str, str], ...]
    """Those that are of use later."""
    is_revisit: bool

    def leads_to(self, url: str) -> bool:
        """Whether an answer from ``url`` may be of the same fetch."""
        location = header_value(self.headers, "location")
        if not 300 <= self.status < 400 or not location:
            return False
        # As it was followed: bytes that are no ASCII were sent back escaped.
        escaped = _RAW_BYTE.sub(lambda raw: f"%{ord(raw[0]):02X}", location)
        return canonicalize(escaped, self.url) == canonicalize(url)


class ArchivedFetch(NamedTuple):
    """What was archived of one page."""

    answers: tuple[ArchivedAnswer, ...]
    """Redirects first."""
    notes: CaptureNotes | None = None
    """``None`` when that record is lost."""
    rendered: Place | None = None
    """What a browser made of the last answer, if one did."""

    @property
    def number(self) -> int | None:
        """The page's position in the crawl; ``None`` when it is not known."""
        return self.notes.number if self.notes is not None else None

    @property
    def url(self) -> str:
        """What was asked for."""
        return self.answers[0].url

    @property
    def last(self) -> ArchivedAnswer:
        """The answer that counts."""
        return self.answers[-1]

    def record(self) -> bytes:
        """Of that answer, or of what a browser made of it; compressed."""
        return (self.rendered or self.last.place).record()


def warc_files(folder: Path) -> list[Path]:
    """All of an archive, oldest first, those that are still open too.

    By their serial numbers: the times in their names are those of a clock that may have been put.
    """
    files = (*folder.glob(f"*{WARC_SUFFIX}"), *folder.glob(f"*{WARC_SUFFIX}{OPEN_SUFFIX}"))
    return sorted(files, key=lambda path: (serial_of(path), path.name))


def _numbered(folder: Path) -> list[Path]:
    """Those whose pages have numbers of this crawl, oldest first."""
    return [path for path in warc_files(folder) if not is_gathered(path)]


def fetches_after(folder: Path, number: int) -> list[ArchivedFetch]:
    """What was archived of pages behind the one with this number, in order; cheap for a few.

    Read from the end. Archives of earlier versions do not know their pages' numbers: they are left
    out, unless ``number`` is 0, for all.
    """
    if number <= 0:
        return [fetch for path in warc_files(folder) for fetch in fetches_in(path)]
    found: list[list[ArchivedFetch]] = []
    for path in reversed(_numbered(folder)):
        fetches, is_all = _tail(path, number)
        found.append(fetches)
        if is_all:
            break
    return list(chain.from_iterable(reversed(found)))


def last_number(folder: Path) -> int | None:
    """Of the page that was archived last; ``None`` when there is none, or it is not known."""
    for path in reversed(_numbered(folder)):
        window = _FIRST_WINDOW
        while True:
            start = max(0, path.stat().st_size - window)
            notes = [fetch.notes for fetch in fetches_in(path, start) if fetch.notes is not None]
            if notes:
                return notes[-1].number
            if start == 0:
                break
            window *= _WIDER
    return None


def _tail(path: Path, number: int) -> tuple[list[ArchivedFetch], bool]:
    """Fetches behind a number, and whether that number was seen, or nothing has one here."""
    size, window = path.stat().st_size, _FIRST_WINDOW
    while True:
        start = max(0, size - window)
        fetches = list(fetches_in(path, start))
        numbers = [fetch.number for fetch in fetches]
        before = [at for at, each in enumerate(numbers) if each is not None and each <= number]
        if before:
            return fetches[before[-1] + 1 :], True
        if start == 0:
            has_numbers = any(each is not None for each in numbers)
            return (fetches, False) if has_numbers else ([], True)
        window *= _WIDER


def fetches_in(path: Path, start: int = 0) -> Iterator[ArchivedFetch]:
    """The fetches of one file from a place on; what belongs to none stands alone."""
    return fetches_of(path, whole_records(path, start))


def fetches_of(path: Path, spans: Iterator[Span]) -> Iterator[ArchivedFetch]:
    """The fetches that some records of a file make up."""
    waiting: list[ArchivedAnswer] = []
    rendered: Place | None = None
    with explaining(path):
        for span in spans:
            warc, block = _parts(span)
            kind = header_value(warc, "warc-type")
            if kind in ("response", "revisit"):
                # What was thought of a redirect may be forgotten, and another fetch follows then.
                if waiting and not waiting[-1].leads_to(header_value(warc, "warc-target-uri")):
                    yield ArchivedFetch(tuple(waiting), rendered=rendered)
                    waiting, rendered = [], None
                with suppress(ValueError, IndexError):
                    waiting.append(_answer(path, span, warc, block, kind == "revisit"))
            elif kind == "resource" and waiting and _is_about(warc, waiting[-1]):
                rendered = Place(path, span.start, span.end)
            elif kind == "metadata" and waiting and _is_about(warc, waiting[-1]):
                notes = _notes(block)
                if notes is not None and is_gathered(path):
                    notes = msgspec.structs.replace(notes, number=None)
                yield ArchivedFetch(tuple(waiting), notes, rendered)
                waiting, rendered = [], None
    if waiting:
        yield ArchivedFetch(tuple(waiting), rendered=rendered)


def _parts(span: Span) -> tuple[list[tuple[str, str]], bytes]:
    """Headers and block; of a large record its beginning."""
    head, _, block = span.head.partition(b"\r\n\r\n")
    return headers_in(head.decode("utf-8", "replace")), block


def _is_about(warc: list[tuple[str, str]], answer: ArchivedAnswer) -> bool:
    return header_value(warc, "warc-concurrent-to") == answer.record_id


def _answer(
    path: Path, span: Span, warc: list[tuple[str, str]], block: bytes, is_revisit: bool
) -> ArchivedAnswer:
    http = block.partition(b"\r\n\r\n")[0].decode("latin-1")
    return ArchivedAnswer(
        Place(path, span.start, span.end),
        header_value(warc, "warc-record-id"),
        header_value(warc, "warc-target-uri"),
        datetime.fromisoformat(header_value(warc, "warc-date")).timestamp(),
        int(http.split(" ", 2)[1]),
        tuple(each for each in headers_in(http) if each[0].lower() in _KEPT_HEADERS),
        is_revisit,
    )


def _notes(block: bytes) -> CaptureNotes | None:
    # Behind a line of its own: fields of metadata have none.
    fields = dict(headers_in("\r\n" + block.decode("utf-8", "replace").rstrip("\r\n")))
    try:
        return read_notes(fields)
    except ValueError:
        return None


class _IndexedPlace(NamedTuple):
    """Of one record in an index; places sort in the order in which the records were written."""

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

    def _read(self, place: _IndexedPlace) -> bytes:
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


def _places(folder: Path, wanted: set[str] | None) -> dict[str, _IndexedPlace]:
    latest: dict[str, tuple[tuple[str, bool], _IndexedPlace]] = {}
    for timestamp, entry in _entries(folder):
        url = page_address(entry.url)
        if not entry.status.startswith("2") or (wanted is not None and url not in wanted):
            continue
        rank = timestamp, url != entry.url  # of a page that was rendered, what came of that
        if url not in latest or rank >= latest[url][0]:
            latest[url] = rank, _place(entry)
    return {url: place for url, (_, place) in latest.items()}


def _place(entry: CdxEntry) -> _IndexedPlace:
    name, mime = sys.intern(entry.filename), sys.intern(entry.mime)  # the same for many
    return _IndexedPlace(name, int(entry.offset), int(entry.length), mime)


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
