"""A log for machines: one JSON object per line, each complete when the call returns."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from trailhound.errors import UNREADABLE
from trailhound.records import FinishedPage, PageEvent
from trailhound.storage.files import AppendFile, explaining, json_of
from trailhound.urls import host_key

_MENDED = "mended"
_IS_PAGE = b'"event":"page"'
_BEGINNING = 80
"""Bytes within which a line says what it is about."""
_FIRST_WINDOW = 1 << 16
_WIDER = 8
_LOOKED_THROUGH = 4
"""Windows in which a URL is looked for: the last is 32 MB, about 60,000 pages."""
PUT_OFF = "put-off"


class EventLog:
    """Appends to ``path``. Every line has ``at`` (seconds since 1970) and ``event``.

    Events: ``start`` and ``end`` of each run, ``page`` for each page dealt with, ``notice`` for
    what a person was told, ``put-off`` for a URL that waits for another attempt, ``problem`` for
    errors inside, ``mended`` when lost lines are back.
    """

    def __init__(self, path: str | Path, clock: Callable[[], float]) -> None:
        self.path = Path(path)
        self._clock = clock
        self._file = AppendFile(self.path, may_exist=True)
        if self._file.size:
            with explaining(self.path), self.path.open("rb") as file:
                file.seek(-1, os.SEEK_END)
                ends_well = file.read() == b"\n"
            if not ends_well:  # a killed process left half a line
                self._file.append(b"\n")

    def note(self, event: str, **details: Any) -> None:
        """One line."""
        self._append({"at": self._clock(), "event": event, **details})

    def keep(self, finished: FinishedPage) -> None:
        """One line for a page."""
        self.keep_again(finished.event, finished.result.status)

    def keep_again(self, event: PageEvent, status: int | None) -> None:
        """One line for a page whose line was lost."""
        told = {**msgspec.structs.asdict(event), "status": status}
        self._append({"at": event.at, "event": "page", **told})

    def note_again(self, line: dict[str, Any]) -> None:
        """One line of another log, as it was written there."""
        self._append(line)

    def note_mended(self, until: int) -> None:
        """All lines up to the page with this number are here, if not in their order."""
        self.note(_MENDED, number=until)

    def _append(self, line: dict[str, Any]) -> None:
        self._file.append(json_of(line) + b"\n")

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


class LoggedPage(NamedTuple):
    """A line about a page."""

    event: PageEvent
    status: int | None


class _Line(msgspec.Struct):
    event: str = ""
    number: int | None = None
    status: int | None = None


_read_line = msgspec.json.Decoder(_Line).decode
_read_event = msgspec.json.Decoder(PageEvent).decode


def last_number(path: Path) -> int | None:
    """Of the page that was logged last; ``None`` without any."""
    for lines in _ever_more_lines(path):
        numbers = [line.number for line in map(_line, lines) if _tells_number(line)]
        if numbers:
            return numbers[-1]
    return None


def logged_pages(path: Path) -> Iterator[LoggedPage | None]:
    """All lines about pages, in order; ``None`` for a line that cannot be read."""
    if not path.is_file():
        return
    with explaining(path), path.open("rb") as file:
        for content in file:
            try:
                line = _read_line(content)
                if line.event == "page":
                    yield LoggedPage(_read_event(content), line.status)
            except UNREADABLE:
                yield None


def events_named(path: Path, name: str) -> list[dict[str, Any]]:
    """All lines of one kind, as they were written."""
    if not path.is_file():
        return []
    with explaining(path), path.open("rb") as file:
        lines = [content for content in file if _line(content).event == name]
    return [msgspec.json.decode(content) for content in lines]


class PutOff(msgspec.Struct):
    """Why a URL waits for another attempt."""

    at: float
    why: str
    seconds: float
    """From then on."""


def last_put_off(path: Path, url: str) -> PutOff | None:
    """How a URL was put off last, if it was among the last events."""
    said = msgspec.json.encode({"event": PUT_OFF, "url": url})[1:-1]
    for lines in islice(_ever_more_lines(path), _LOOKED_THROUGH):
        for content in reversed(lines):
            if said in content:
                with suppress(*UNREADABLE):
                    return msgspec.json.decode(content, type=PutOff)
    return None


class _PutOffUrl(PutOff):
    url: str


def hosts_put_off(path: Path, hosts: Collection[str]) -> dict[str, PutOff]:
    """How something on each of these hosts was put off last, if it was among the last events."""
    said, found = msgspec.json.encode({"event": PUT_OFF})[1:-1], dict[str, PutOff]()
    for lines in islice(_ever_more_lines(path), _LOOKED_THROUGH):
        for content in reversed(lines):
            if said in content:
                with suppress(*UNREADABLE):
                    line = msgspec.json.decode(content, type=_PutOffUrl)
                    if (host := host_key(line.url)) in hosts:
                        found.setdefault(host, line)
        if len(found) == len(hosts):
            break
    return found


def other_lines(path: Path, start: int) -> tuple[list[dict[str, Any]], int]:
    """Whole lines from a byte on that are about no page, and the byte behind the last line.

    Those that count pages are left out as well: their numbers are those of this log alone.
    """
    if not path.is_file() or path.stat().st_size <= start:
        return [], start
    found: list[dict[str, Any]] = []
    with explaining(path), path.open("rb") as file:
        file.seek(start)
        for content in file:
            if not content.endswith(b"\n"):
                break
            start += len(content)
            if _IS_PAGE not in content[:_BEGINNING]:
                with suppress(*UNREADABLE):
                    found.append(msgspec.json.decode(content, type=dict[str, Any]))
    return [line for line in found if line.get("event") != _MENDED], start


def pages_after(path: Path, number: int) -> list[LoggedPage]:
    """The lines about pages behind the one with this number; read from the end, cheap for a few."""
    if number <= 0:
        return [page for page in logged_pages(path) if page is not None]
    found: list[LoggedPage] = []
    for lines in _ever_more_lines(path):
        found, is_all = [], False
        for content in lines:
            line = _line(content)
            is_all = is_all or (_tells_number(line) and 0 < (line.number or 0) <= number)
            if line.event == "page" and (line.number or 0) > number:
                with suppress(*UNREADABLE):
                    found.append(LoggedPage(_read_event(content), line.status))
        if is_all:
            break
    return found


def _ever_more_lines(path: Path) -> Iterator[list[bytes]]:
    """The last lines of a file, then more of them, at last all."""
    if not path.is_file():
        return
    with explaining(path), path.open("rb") as file:
        size, window = os.fstat(file.fileno()).st_size, _FIRST_WINDOW
        while True:
            start = max(0, size - window)
            file.seek(start)
            lines = file.read(size - start).splitlines()
            yield lines[1:] if start else lines
            if start == 0:
                return
            window *= _WIDER


def _line(content: bytes) -> _Line:
    try:
        return _read_line(content)
    except UNREADABLE:
        return _Line()


def _tells_number(line: _Line) -> bool:
    return line.event in ("page", _MENDED) and line.number is not None


class ProblemHandler(logging.Handler):
    """Sends Python's own log records to an event log."""

    def __init__(self, log: EventLog, level: int = logging.WARNING) -> None:
        super().__init__(level)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """One line; a log that cannot be written must not stop the crawl here."""
        try:
            self._log.note(
                "problem", level=record.levelname, where=record.name, message=self.format(record)
            )
        except Exception:
            self.handleError(record)
