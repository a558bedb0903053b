"""How much time and memory the analysis of one page may take in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class PageLimits(NamedTuple):
    """Of a worker process, page by page."""

    seconds: float = 10.0
    """By the clock. A process that takes longer is killed; one that a busy machine does not let
    work gets up to six times as long."""
    memory_bytes: int = 320_000_000
    """Beyond what the process has when it is ready for its first page."""

    def in_words(self) -> str:
        """``10 s and 320 MB``."""
        return f"{self.seconds:g} s and {self.memory_bytes / 1e6:,.0f} MB"


PAGE_LIMITS = PageLimits()

MAX_LOOKS = 12
"""At a process with one page, two for each limit of time."""


def cpu_seconds(process: int | None) -> float | None:
    """What a process has worked so far; ``None`` where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):
        return None


@contextmanager
def beside_the_limit() -> Iterator[None]:
    """What this process takes meanwhile does not count: a limit of its memory grows by as much.

    For what is our own to load, never for what a page says.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    limit, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = _address_bytes()
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    try:
        yield
    finally:
        if limit != resource.RLIM_INFINITY:
            limit += max(0, _address_bytes() - before)
            limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _address_bytes() -> int:
    """What this process has of its address space (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


def limit_memory(more_bytes: int) -> bool:
    """Let this process grow by so much at the most; whether the system sees to it.

    Linux does: what asks for more gets a MemoryError. macOS takes the limit and forgets it, and
    Windows has none.
    """
    if sys.platform != "linux":
        return False
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = _address_bytes() + more_bytes
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    return True
