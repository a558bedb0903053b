"""From rows of a frontier file to URLs and places, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from trailhound.frontier.standings import Numbers
from trailhound.records import Candidate

READ = (
    "SELECT u.site, u.path, l.first, l.parent, l.depth, l.memories, p.site, p.path "
    "FROM url AS u "
    "LEFT JOIN place AS l ON l.first = (SELECT max(first) FROM place WHERE first <= ?2) "
    "LEFT JOIN url AS p ON p.number = l.parent "
    "WHERE u.number = ?1"
)
"""What :meth:`SiteNames.candidate` takes, given the number and the last arrival of a URL."""

_NUMBER = np.dtype("<u4")
_PRIORITY = np.dtype("<f8")
_memories = msgspec.msgpack.Decoder(bytes | list[bytes])


class SiteNames:
    """The names of the hosts by number: the part of a URL that is stored once per host."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def append(self, host: str) -> None:
        """Name the next host."""
        self._names.append(host)

    def split(self, url: str, host_number: int) -> tuple[int, str]:
        """``site`` and ``path`` of a canonical URL."""
        https = url.startswith("https")
        start = len("https://" if https else "http://") + len(self._names[host_number])
        return 2 * host_number + https, url[start:]

    def join(self, site: int, path: str) -> str:
        """The URL."""
        return ("https://" if site & 1 else "http://") + self._names[site >> 1] + path

    def candidate(self, row: tuple[Any, ...], arrival: int, priority: float) -> Candidate:
        """The candidate of a ``READ`` row: the place with that arrival, the present priority."""
        site, path, first, parent, depth, memories, parent_site, parent_path = row
        if parent_site is not None:
            parent = self.join(parent_site, parent_path)
        memory = unpack_memory(memories, arrival - first)
        return Candidate(self.join(site, path), priority, memory, parent, depth)


def pack_memories(memories: Sequence[bytes]) -> bytes:
    """The memories of a page's links; one is enough if all are equal."""
    shared = all(memory == memories[0] for memory in memories)
    return msgspec.msgpack.encode(memories[0] if shared else memories)


def unpack_memory(memories: bytes, at: int) -> bytes:
    """One of the packed memories."""
    unpacked = _memories.decode(memories)
    return unpacked if isinstance(unpacked, bytes) else unpacked[at]


def pack_numbers(numbers: Sequence[int] | Numbers) -> bytes:
    """URL numbers as bytes."""
    return np.asarray(numbers, _NUMBER).tobytes()


def unpack_numbers(packed: bytes) -> Numbers:
    """URL numbers from bytes."""
    return np.frombuffer(packed, _NUMBER).astype(np.uintc, copy=False)


def pack_priorities(priorities: Sequence[float] | npt.NDArray[np.float64]) -> bytes:
    """Priorities as bytes."""
    return np.asarray(priorities, _PRIORITY).tobytes()


def unpack_priorities(packed: bytes) -> npt.NDArray[np.float64]:
    """Priorities from bytes."""
    return np.frombuffer(packed, _PRIORITY).astype(np.float64, copy=False)
