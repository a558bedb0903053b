"""The addresses of a trace: each once, in the order of their keys, however many there are."""

from __future__ import annotations

import hashlib
import heapq
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_ENTRY = struct.Struct("<QI")
_READ_BYTES = 4 * 1024 * 1024
"""In memory while merging, all pieces together."""
_FEWEST_READ_BYTES = 4 * 1024
_NO_PAGE = 0


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
