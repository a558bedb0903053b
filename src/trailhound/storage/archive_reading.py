"""An archive read fetch by fetch: what its records say about pages that other stores may lack.

Records of one fetch follow each other: an answer for each hop, each with its request, then what the
crawl thought of the page (``metadata``), with the page's number. Files that were gathered from the
shards of a cluster have numbers of their shards, which say nothing here: they are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from trailhound.records import header_value
from trailhound.storage.files import OPEN_SUFFIX, explaining
from trailhound.storage.warc_records import CaptureNotes, read_notes
from trailhound.storage.warc_repair import (
    WARC_SUFFIX,
    Span,
    headers_in,
    is_gathered,
    serial_of,
    whole_records,
)

_KEPT_HEADERS = frozenset({"content-type", "etag", "last-modified", "location", "x-robots-tag"})
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

    @property
    def leads_on(self) -> bool:
        """Whether another answer of the same fetch may follow."""
        return 300 <= self.status < 400 and bool(header_value(self.headers, "location"))


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
                if waiting and not waiting[-1].leads_on:
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
