"""Who visited what: access logs, sessions and trails as an index on disk.

A log is read once and sorted in pieces, so that a hundred million accesses need no more memory than
a million; afterwards the index is mapped into memory and only what is asked for is read. Here is
what indexes are made from, and how they are used as long as that stays as it is; ``building`` makes
them, ``index`` answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from trailhound.counting import counted
from trailhound.errors import SessionError, SourceError, UsageError
from trailhound.sessions.events import Session, Visit
from trailhound.sessions.importers.base import Tally
from trailhound.sessions.importers.log_formats import (
    NO_HOST,
    combined_accesses,
    squid_accesses,
)
from trailhound.sessions.importers.logs import first_lines, log_lines
from trailhound.sources.traces.building import (
    PageAccess,
    Piece,
    Progress,
    UserKey,
    build_from_pieces,
    piece_of,
)
from trailhound.sources.traces.index import HEADER, SUFFIX, TraceIndex
from trailhound.urls import canonicalize

PART_BYTES = 4 * 1024 * 1024
"""Of a log, in a part that a process reads: some 30,000 lines, a tenth of a second."""


@dataclass(frozen=True)
class TraceSource:
    """What an index is made from."""

    name: str
    """For people: the path of a log, say."""
    files: Sequence[Path]
    """If one of them changes, so does the origin."""
    pieces: Callable[[Tally], Iterable[Piece]]
    """Its accesses; the tally has counted those that were gone through."""
    detail: str = ""
    """What else they depend on."""
    unit: str = "line"

    def origin(self) -> str:
        """Names, sizes and times of change, as one line."""
        parts = [self.name, self.detail]
        for path in self.files:
            try:
                status = path.stat()
            except OSError as error:
                raise SourceError(
                    f"There is no trace {path}: {error.strerror or error}. Check the name."
                ) from error
            parts.append(f"{path.name}:{status.st_size}:{status.st_mtime_ns}")
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def kept_trace(
    source: TraceSource,
    place: Path,
    user_key: UserKey,
    *,
    progress: Progress = lambda _: None,
) -> tuple[TraceIndex, bool]:
    """The index of a source in the folder ``place``, and whether it had to be made.

    When the source is gone (logs are rotated), the index that was made of it stays in use.
    """
    name = hashlib.sha256(source.name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    folder = place / f"{name}{SUFFIX}"
    index = _known(folder)
    try:
        origin = source.origin()
    except SourceError:
        if index is None:
            raise
        return index, False
    if index is not None and index.header.origin == origin:
        return index, False
    del index  # where files in use cannot be deleted, it could not be replaced
    tally = Tally(source.unit)
    pieces = source.pieces(tally)
    build_from_pieces(folder, pieces, tally, user_key, origin=origin, progress=progress)
    return TraceIndex.open(folder), True


def _known(folder: Path) -> TraceIndex | None:
    """The index in a folder; ``None`` when it is damaged or of another version, too."""
    if not (folder / HEADER).is_file():
        return None
    try:
        return TraceIndex.open(folder)
    except SourceError:
        return None


class LogFormat(NamedTuple):
    """How the lines of a log are read."""

    is_squid: bool
    site: str

    def accesses(self, batches: Iterable[list[bytes]], tally: Tally) -> Iterator[PageAccess]:
        """What the lines tell."""
        accesses = (
            squid_accesses(batches, tally)
            if self.is_squid
            else combined_accesses(batches, tally, self.site)
        )
        for client, when, url, _ in accesses:
            yield client, when, url


ReadParts = Callable[[LogFormat, Iterable[bytes]], Iterable[tuple[Piece, Tally]]]
"""Reads parts of a log, in their order, perhaps in many processes: :func:`part_reader`."""


def log_accesses(path: Path, tally: Tally, site: str = "") -> Iterator[PageAccess]:
    """Accesses of a log in Squid's native or the combined format, whichever fits its first lines.

    ``site`` (``https://www.example.org``) is where the paths of a combined log are.
    """
    with _reading(path, tally, site) as form:
        yield from form.accesses(log_lines(path, tally), tally)


def log_pieces(path: Path, tally: Tally, site: str, read: ReadParts) -> Iterator[Piece]:
    """The same in pieces, whose lines are read by ``read``."""
    with _reading(path, tally, site) as form:
        for piece, counts in read(form, _parts(log_lines(path, tally))):
            tally.read += counts.read
            tally.skipped += counts.skipped
            yield piece


def part_reader(form: LogFormat) -> Callable[[bytes], tuple[Piece, Tally]]:
    """Reads parts of a log, in any process; by which key clients are named it need not know."""

    def read(part: bytes) -> tuple[Piece, Tally]:
        tally = Tally("line")
        return piece_of(form.accesses([part.split(b"\n")], tally)), tally

    return read


def _parts(batches: Iterable[list[bytes]]) -> Iterator[bytes]:
    """Lines of a log as bytes, some megabytes each."""
    part, size = list[bytes](), 0
    for lines in batches:
        part.append(b"\n".join(lines))
        size += len(part[-1])
        if size >= PART_BYTES:
            yield b"\n".join(part)
            part, size = [], 0
    if part:
        yield b"\n".join(part)


@contextmanager
def _reading(path: Path, tally: Tally, site: str) -> Iterator[LogFormat]:
    """The format of a log; what goes wrong while it is read is explained."""
    if site and canonicalize(site) is None:
        raise UsageError(f"'{site}' is not the address of a site. Write https://www.example.org.")
    try:
        yield LogFormat(_is_squid(path), site)
    except SessionError as error:
        raise SourceError(str(error)) from error
    if tally.skipped[NO_HOST] and not tally.kept:
        raise UsageError(
            f"The lines of {path} do not say which site they are of. Name it before the file: "
            f"https://www.example.org={path}"
        )


def _is_squid(path: Path) -> bool:
    """Which format reads more of the first lines; SourceError when none reads any."""
    number, in_format = first_lines(path)
    if not any(in_format.values()):
        raise SourceError(
            f"{path} is no access log: none of its first {counted(number, 'line')} is in "
            "Squid's native or in the combined format of Apache and Nginx. Check the file's kind."
        )
    return in_format["squid"] >= in_format["combined"]


def session_accesses(sessions: Iterable[tuple[str, Session]], tally: Tally) -> Iterator[PageAccess]:
    """Visits of recorded sessions; whoever has no name counts as one person per session.

    Sessions come with a name that tells them apart.
    """
    for name, session in sessions:
        client = (session.user or f"session {name}").encode()
        for event in session.events:
            if isinstance(event, Visit):
                tally.read += 1
                yield client, event.time, event.url.encode()
