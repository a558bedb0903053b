"""Sorting more than fits into memory: sorted pieces on disk, merged while they are read."""

from __future__ import annotations

import hashlib
import heapq
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

ROW = np.dtype([("user", "<u8"), ("time", "<f8"), ("url", "<u8")])
"""One access; users and URLs as keys at first, and as numbers once they have some."""
Rows = NDArray[np.void]
Key = tuple[int, float]
Side = Literal["left", "right"]

PIECE_ROWS = 250_000
"""Rows that are in memory at a time (6 MB), while sorting and while merging."""
MAX_PIECES = 64
"""Read at once. With more, blocks would be short, and most of the time would go into seeking."""
_FEWEST_BLOCK_ROWS = 64
_ENTRY = struct.Struct("<QI")
_READ_BYTES = 4 * 1024 * 1024
"""In memory while merging, all pieces together."""
_FEWEST_READ_BYTES = 4 * 1024


class SortedRows:
    """Rows that come out in order of ``major`` (user or url) and time.

    Rows that agree in both stay in the order in which they came.
    """

    def __init__(self, path: Path, major: str, piece_rows: int = PIECE_ROWS) -> None:
        self._path = path
        self._major = major
        self._piece_rows = piece_rows
        self._file: BinaryIO | None = path.open("wb")
        self._unsorted: list[Rows] = []
        self._n_unsorted = 0
        self._ends: list[int] = []

    def add(self, rows: Rows) -> None:
        """Take rows in any order."""
        self._unsorted.append(rows)
        self._n_unsorted += len(rows)
        if self._n_unsorted >= self._piece_rows:
            self._write_piece()

    def _write_piece(self) -> None:
        if self._file is None or not self._n_unsorted:
            return
        piece = _in_order(np.concatenate(self._unsorted), self._major)
        self._file.write(piece.tobytes())
        self._ends.append(len(piece) + (self._ends[-1] if self._ends else 0))
        self._unsorted, self._n_unsorted = [], 0

    def merged(self) -> Iterator[Rows]:
        """All rows in order, block by block; may be gone through several times."""
        self._write_piece()
        if self._file is not None:
            self._file.close()
            self._file = None
        while len(self._ends) > MAX_PIECES:
            self._join_pieces()
        yield from self._merged(0, len(self._ends))

    def _join_pieces(self) -> None:
        """Make fewer and longer pieces, each of some neighbours."""
        joined = self._path.with_name(f"{self._path.name}.joined")
        ends = []
        with joined.open("wb") as file:
            for first in range(0, len(self._ends), MAX_PIECES):
                last = min(first + MAX_PIECES, len(self._ends))
                for rows in self._merged(first, last):
                    file.write(rows.tobytes())
                ends.append(self._ends[last - 1])
        joined.replace(self._path)
        self._ends = ends

    def _merged(self, first: int, last: int) -> Iterator[Rows]:
        """The rows of some pieces in order."""
        block_rows = max(_FEWEST_BLOCK_ROWS, self._piece_rows // max(1, last - first))
        starts = [0, *self._ends]
        with self._path.open("rb") as file:
            runs = [
                _Run(file, starts[piece], starts[piece + 1], self._major, block_rows)
                for piece in range(first, last)
            ]
            while runs := [run for run in runs if run.fill()]:
                yield _in_order(np.concatenate(_first_rows(runs)), self._major)

    def remove(self) -> None:
        """Delete the pieces."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._path.unlink(missing_ok=True)


class _Run:
    """One sorted piece, read block by block."""

    def __init__(self, file: BinaryIO, start: int, end: int, major: str, block_rows: int) -> None:
        self._file = file
        self._next = start
        self._end = end
        self._major = major
        self._block_rows = block_rows
        self._block: Rows = np.empty(0, ROW)

    @property
    def has_more(self) -> bool:
        """Whether something is left beyond the block in memory."""
        return self._next < self._end

    @property
    def last_key(self) -> Key:
        """Of the block in memory: what comes later is not smaller."""
        last = self._block[-1]
        return int(last[self._major]), float(last["time"])

    def fill(self) -> bool:
        """Have a block in memory, if any is left."""
        if not len(self._block) and self.has_more:
            count = min(self._block_rows, self._end - self._next)
            self._file.seek(self._next * ROW.itemsize)
            self._block = np.frombuffer(self._file.read(count * ROW.itemsize), ROW)
            self._next += count
        return len(self._block) > 0

    def take(self, bound: Key | None, side: Side) -> Rows:
        """Rows up to the bound, those at it if ``right``; they are gone from here afterwards."""
        count = len(self._block) if bound is None else self._count_up_to(bound, side)
        taken, self._block = self._block[:count], self._block[count:]
        return taken

    def _count_up_to(self, bound: Key, side: Side) -> int:
        major, time = bound
        majors = self._block[self._major]
        # The same type on both sides: otherwise numpy compares 64-bit keys as floats.
        wanted = majors.dtype.type(major)
        first = int(np.searchsorted(majors, wanted, "left"))
        beyond = int(np.searchsorted(majors, wanted, "right"))
        return first + int(np.searchsorted(self._block["time"][first:beyond], time, side))


def _first_rows(runs: list[_Run]) -> list[Rows]:
    """Of each piece, the rows in memory before which nothing is left.

    The piece whose block ends first may go on with rows like its last; such rows of later pieces
    wait for these.
    """
    ends = ((run.last_key, place) for place, run in enumerate(runs) if run.has_more)
    bound, first = min(ends, default=(None, 0))
    return [
        run.take(bound, "right" if place <= first else "left") for place, run in enumerate(runs)
    ]


def _in_order(rows: Rows, major: str) -> Rows:
    times = np.ascontiguousarray(rows["time"])
    return rows[np.lexsort((times, np.ascontiguousarray(rows[major])))]


def url_key(url: bytes) -> int:
    """64 bits that stand for a URL.

    Among 30 million URLs two share a key once in 40,000 traces; one of them then looks unvisited.
    """
    return int.from_bytes(hashlib.blake2b(url, digest_size=8).digest(), "little") or 1


class SortedAddresses:
    """Addresses in sorted pieces on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = path.open("wb")
        self._ends: list[int] = []

    def add(self, addresses: dict[int, bytes]) -> None:
        """One piece: addresses by key; what earlier pieces hold may be among them."""
        if self._file is None or not addresses:
            return
        for key in sorted(addresses):
            url = addresses[key]
            self._file.write(_ENTRY.pack(key, len(url)) + url)
        self._ends.append(self._file.tell())

    def merged(self) -> Iterator[tuple[int, bytes]]:
        """All of them in order of key, repeats included."""
        if self._file is not None:
            self._file.close()
            self._file = None
        starts = [0, *self._ends[:-1]]
        at_once = max(_FEWEST_READ_BYTES, _READ_BYTES // max(1, len(self._ends)))
        with self._path.open("rb") as file:
            pieces = [
                _entries(file, start, end, at_once)
                for start, end in zip(starts, self._ends, strict=True)
            ]
            yield from heapq.merge(*pieces)

    def remove(self) -> None:
        """Delete the pieces."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._path.unlink(missing_ok=True)


def _entries(file: BinaryIO, start: int, end: int, at_once: int) -> Iterator[tuple[int, bytes]]:
    """The entries of one piece; many are read in turns from one file."""
    rest = b""
    while start < end or rest:
        file.seek(start)
        piece = file.read(min(at_once, end - start))
        start += len(piece)
        rest += piece
        at = 0
        while len(rest) - at >= _ENTRY.size:
            key, length = _ENTRY.unpack_from(rest, at)
            after = at + _ENTRY.size + length
            if after > len(rest):
                break
            yield key, rest[at + _ENTRY.size : after]
            at = after
        rest = rest[at:]
