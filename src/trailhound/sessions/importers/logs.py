"""Server and proxy logs as sessions, one for each person in them.

Programs and shared proxies are left out as the papers on collaborative crawling do it: whoever made
more than 2,000 accesses on any day, or more than 100 in any minute.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from trailhound.counting import counted
from trailhound.errors import SessionError, UsageError
from trailhound.sessions.events import Reached, Session, Visit
from trailhound.sessions.importers.base import Imported, Tally, file_to_read, in_succession
from trailhound.sessions.importers.log_formats import (
    NO_HOST,
    NOT_A_LINE,
    NOT_ON_THE_WEB,
    Access,
    combined_accesses,
    is_whole_in_squid,
    squid_accesses,
)
from trailhound.urls import canonicalize

MAX_LINE_BYTES = 64 * 1024
"""Servers refuse longer requests; what is longer is no line of a log."""
_PIECE_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_NO_PAGE = -1
_MINUTE, _DAY = 60, 86_400
_PLAIN_ORIGIN = re.compile(rb"https?://[A-Za-z0-9.:-]++(?=/)")
_NO_UTF8 = re.compile("[\udc80-\udcff]")
"""What ``surrogateescape`` makes of a byte."""
_TOO_LONG = f"longer than {MAX_LINE_BYTES // 1024} KB"


def log_lines(
    path: Path, tally: Tally, is_whole: Callable[[bytes], bool] = lambda _: True
) -> Iterator[list[bytes]]:
    """The lines of the file in batches, without line ends; blank ones may be among them.

    Lines that are too long are counted. A file that breaks off is read as far as it goes;
    ``is_whole`` is asked about a last line that has no end.
    """
    rest = b""
    try:
        with _opened(path) as file:
            _pass_mark(file)
            # Not read(): it would lose what was unpacked before the end of a cut file.
            while piece := file.read1(_PIECE_BYTES):
                *lines, rest = (rest + piece).split(b"\n")
                if len(rest) > MAX_LINE_BYTES:
                    rest = _pass_long_line(file, tally)
                yield _without_long_ones(lines, tally)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        tally.notes.append(f"the file is damaged and was read only up to there: {error}")
    except OSError as error:
        raise SessionError(f"{path} cannot be read: {error.strerror or error}.") from error
    *lines, last = rest.split(b"\n")
    if last.strip() and not is_whole(last):
        tally.read += 1
        tally.skip(NOT_A_LINE)
        last = b""
    yield _without_long_ones([*lines, last], tally)


def _opened(path: Path) -> BufferedReader:
    with file_to_read(path, "log").open("rb") as file:
        is_gzip = file.read(2) == _GZIP
    return cast("BufferedReader", gzip.open(path, "rb")) if is_gzip else path.open("rb")


def _pass_mark(file: BufferedReader) -> None:
    """Leave out the mark of UTF-8 at the beginning, which some editors write."""
    if file.peek(len(codecs.BOM_UTF8)).startswith(codecs.BOM_UTF8):
        file.read(len(codecs.BOM_UTF8))


def _without_long_ones(lines: list[bytes], tally: Tally) -> list[bytes]:
    if max(map(len, lines), default=0) <= MAX_LINE_BYTES:
        return lines
    kept = [line for line in lines if len(line) <= MAX_LINE_BYTES]
    tally.read += len(lines) - len(kept)
    tally.skip(_TOO_LONG, len(lines) - len(kept))
    return kept


def _pass_long_line(file: BufferedReader, tally: Tally) -> bytes:
    """Leave out the line that has begun; what follows it in the last piece that was read."""
    tally.read += 1
    tally.skip(_TOO_LONG)
    while piece := file.read1(_PIECE_BYTES):
        _, line_end, rest = piece.partition(b"\n")
        if line_end:
            # The piece may hold many lines; they are split with the next one.
            return rest
    return b""


@dataclass(frozen=True)
class GroupFilter:
    """Who counts as a person."""

    max_per_day: int = 2000
    max_per_minute: int = 100
    min_pages: int = 2
    """Fewer pages tell nothing about a way."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                option = name.replace("_", "-")
                raise UsageError(f"--{option} {value} is too small: it should be 1 or more.")

    def is_person(self, times: array[float]) -> bool:
        """Whether accesses at these times may be one person's."""
        if len(times) <= min(self.max_per_minute, self.max_per_day):
            return True
        ordered = np.sort(np.frombuffer(times, np.float64))
        return not (
            too_many_within(_MINUTE, self.max_per_minute, ordered).any()
            or too_many_within(_DAY, self.max_per_day, ordered).any()
        )


def too_many_within(seconds: float, limit: int, times: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each access but the first ``limit`` ends a run of more than ``limit`` so close by.

    ``times`` are in order. A minute is any sixty seconds, wherever the clock's minutes begin.
    """
    close: NDArray[np.bool_] = times[limit:] - times[: max(0, len(times) - limit)] < seconds
    return close


@dataclass(slots=True)
class _Client:
    """One client's accesses: 8 bytes each, and 16 more for a page."""

    times: array[float] = field(default_factory=lambda: array("d"))
    page_times: array[float] = field(default_factory=lambda: array("d"))
    pages: array[int] = field(default_factory=lambda: array("l"))
    referers: array[int] = field(default_factory=lambda: array("l"))


class Traces:
    """Sessions made of accesses, one for each person; may be gone through several times."""

    def __init__(self, topic: str, recorder: str) -> None:
        self._topic = topic
        self._recorder = recorder
        self._clients: dict[bytes, _Client] = {}
        self._numbers: dict[bytes, int] = {b"": _NO_PAGE}
        self._urls: list[bytes] = []
        self._origins: dict[bytes, bool] = {}

    def collect(self, accesses: Iterable[Access], tally: Tally, groups: GroupFilter) -> None:
        """Take everything in, and then leave out who is no person."""
        clients, numbers = self._clients, self._numbers
        for name, when, url, referer in accesses:
            client = clients.get(name)
            if client is None:
                client = clients[name] = _Client()
            client.times.append(when)
            if url is None:
                continue
            number = numbers.get(url)
            if number is None:
                number = self._number(url)
            if number == _NO_PAGE:
                tally.skip(NOT_ON_THE_WEB)
                continue
            client.page_times.append(when)
            client.pages.append(number)
            came_from = numbers.get(referer)
            client.referers.append(self._number(referer) if came_from is None else came_from)
        self._keep_people(tally, groups)

    def _number(self, url: bytes) -> int:
        """A new URL's number; that of no page when it is no address on the web."""
        number = _NO_PAGE
        if self._is_on_the_web(url):
            number = len(self._urls)
            self._urls.append(url)
        self._numbers[url] = number
        return number

    def _is_on_the_web(self, url: bytes) -> bool:
        """Whether it has a canonical form. No path spoils that, so origins are looked at once."""
        plain = _PLAIN_ORIGIN.match(url)
        if plain is None:
            return canonicalize(_text(url)) is not None
        origin = plain[0]
        if origin not in self._origins:
            self._origins[origin] = canonicalize(_text(origin) + "/") is not None
        return self._origins[origin]

    def _keep_people(self, tally: Tally, groups: GroupFilter) -> None:
        kept: dict[bytes, _Client] = {}
        dropped = 0
        too_busy = (
            f"by clients with over {groups.max_per_day:,} accesses a day or "
            f"{groups.max_per_minute:,} a minute"
        )
        for name, client in self._clients.items():
            n_pages = len(client.pages)
            if not groups.is_person(client.times):
                dropped += 1
                tally.skip(too_busy, n_pages)
            elif n_pages >= groups.min_pages:
                kept[name] = client
            elif n_pages:
                tally.skip(f"by clients with under {counted(groups.min_pages, 'page')}", n_pages)
        tally.notes.append(
            f"{counted(len(self._clients), 'client')}, "
            f"{len(kept):,} of them people with enough pages"
            + (f"; {dropped:,} too busy to be one person" if dropped else "")
        )
        self._clients = kept
        self._numbers, self._origins = {}, {}

    def __len__(self) -> int:
        return len(self._clients)

    def __iter__(self) -> Iterator[Session]:
        # Squid's logs, and those in the common format, have no place for referring pages.
        named = any(
            number != _NO_PAGE for client in self._clients.values() for number in client.referers
        )
        for name, client in self._clients.items():
            visits = self._visits(client)
            chained = visits if named else in_succession(visits)
            yield Session(self._topic, tuple(chained), _text(name), self._recorder)

    def _visits(self, client: _Client) -> list[Visit]:
        visits = []
        for when, page, referer in zip(
            client.page_times, client.pages, client.referers, strict=True
        ):
            before = _text(self._urls[referer]) if referer != _NO_PAGE else None
            reached = Reached.TYPED if before is None else Reached.LINK
            url = _text(self._urls[page])
            visits.append(Visit(time=when, url=url, reached=reached, from_url=before))
        return sorted(visits, key=lambda visit: visit.time)


def _text(url: bytes) -> str:
    """An address as text; bytes that are no UTF-8 stay what they are, in percent."""
    try:
        return url.decode()
    except UnicodeDecodeError:
        text = url.decode("utf-8", "surrogateescape")
    return _NO_UTF8.sub(lambda byte: f"%{ord(byte[0]) & 0xFF:02X}", text)


_PROBED_LINES = 200
_FORMATS = {"squid": "Squid's native format", "combined": "the combined format"}
"""By the names of their importers."""

PerDay = Annotated[int, "Clients with more accesses on any day are no person."]
PerMinute = Annotated[int, "Clients with more accesses in any minute are no person."]
MinPages = Annotated[int, "Clients with fewer pages are left out."]


class SquidImporter:
    """Every client becomes one person with a session of its own, under a pseudonym. Programs and
    shared proxies are left out: see --max-per-day and --max-per-minute.

    Example:

      trailhound import squid access.log.gz --topic bees --useful useful.txt --fetch
        --user-agent 'bees-bot (+https://example.org/bot)'
    """

    name = "squid"
    summary = "Import the log of a Squid proxy in its native format, plain or gzipped."
    reads = "An access log of Squid."
    by_address = True

    def read(
        self,
        source: Path,
        topic: str,
        *,
        max_per_day: PerDay = 2000,
        max_per_minute: PerMinute = 100,
        min_pages: MinPages = 2,
    ) -> Imported:
        """A session for each person. The log names no referring pages: the page before counts."""
        tally = Tally("line")
        traces = Traces(topic, "squid import")
        groups = GroupFilter(max_per_day, max_per_minute, min_pages)
        traces.collect(
            squid_accesses(log_lines(source, tally, is_whole_in_squid), tally), tally, groups
        )
        _check_format(tally, source, "squid")
        return Imported(traces, tally)


class CombinedImporter:
    """Every client becomes one person with a session of its own, under a pseudonym. The Referer
    tells which page led where.

    Example:

      trailhound import combined access.log --site https://example.org --topic bees -u useful.txt
    """

    name = "combined"
    summary = "Import an access log of Apache or Nginx (combined format), plain or gzipped."
    reads = "An access log."
    by_address = True

    def read(
        self,
        source: Path,
        topic: str,
        *,
        site: Annotated[str, "Where the log's paths are: https://example.org"] = "",
        max_per_day: PerDay = 2000,
        max_per_minute: PerMinute = 100,
        min_pages: MinPages = 2,
    ) -> Imported:
        """A session for each person, with the referring pages that the log names."""
        if site and canonicalize(site) is None:
            raise UsageError(
                f"'{site}' is not the address of a site. Write for example "
                "--site https://example.org"
            )
        tally = Tally("line")
        traces = Traces(topic, "combined import")
        groups = GroupFilter(max_per_day, max_per_minute, min_pages)
        traces.collect(combined_accesses(log_lines(source, tally), tally, site), tally, groups)
        if tally.skipped[NO_HOST] and not tally.kept:
            raise UsageError(
                f"The lines of {source} do not say which site they are of. Name it, for example: "
                "--site https://www.example.org"
            )
        _check_format(tally, source, "combined")
        return Imported(traces, tally)


def _check_format(tally: Tally, path: Path, kind: str) -> None:
    """SessionError when no line is in the format; it may be in the other one."""
    if tally.read != tally.skipped[NOT_A_LINE]:
        return
    lines = f"none of {counted(tally.read, 'line')} is" if tally.read else "it holds no line"
    advice = "Check the file's kind."
    for other, fitting in first_lines(path).in_format.items():
        if fitting and other != kind:
            advice = f"It is one in {_FORMATS[other]}: read it with 'trailhound import {other}'."
    raise SessionError(f"{path} is no log in {_FORMATS[kind]}: {lines} in that format. {advice}")


class FirstLines(NamedTuple):
    """Of a log, without blank ones."""

    number: int
    in_format: dict[str, int]
    """How many of them are in each format, by the names of the importers."""


def first_lines(path: Path) -> FirstLines:
    """Look at the beginning of a log in all formats."""
    lines = chain.from_iterable(log_lines(path, Tally("line")))
    probed = list(islice((line for line in lines if line.strip()), _PROBED_LINES))
    fitting = {}
    for name, read in (("squid", squid_accesses), ("combined", combined_accesses)):
        tally = Tally("line")
        for _ in read([probed], tally):
            pass
        fitting[name] = tally.read - tally.skipped[NOT_A_LINE]
    return FirstLines(len(probed), fitting)
