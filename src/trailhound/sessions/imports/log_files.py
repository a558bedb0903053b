"""Lines of a log, plain or gzipped, in little memory whatever their length."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import cast

from trailhound.errors import SessionError
from trailhound.sessions.imports.imported import Tally, file_to_read

MAX_LINE_BYTES = 64 * 1024
"""Servers refuse longer requests; what is longer is no line of a log."""
_PIECE_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_TOO_LONG = f"longer than {MAX_LINE_BYTES // 1024} KB"


def log_lines(path: Path, tally: Tally) -> Iterator[list[bytes]]:
    """The lines of the file in batches, without line ends; blank ones may be among them.

    Lines that are too long are counted. A file that breaks off is read as far as it goes.
    """
    rest = b""
    try:
        with _opened(path) as file:
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
    if rest:
        yield _without_long_ones(rest.split(b"\n"), tally)


def _opened(path: Path) -> BufferedReader:
    with file_to_read(path, "log").open("rb") as file:
        is_gzip = file.read(2) == _GZIP
    return cast("BufferedReader", gzip.open(path, "rb")) if is_gzip else path.open("rb")


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
