"""A process that does one thing after the other, each within limits of time and memory.

The plain sibling of :mod:`~trailhound.crawling.worker_pool`, for work outside a crawl's loop. What
goes beyond its limits costs itself: the process is killed, or is refused the memory, and the next
piece of work gets another one.
"""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Self

from trailhound.crawling.page_limits import (
    MAX_LOOKS,
    PAGE_LIMITS,
    PageLimits,
    cpu_seconds,
    limit_memory,
)
from trailhound.crawling.worker_start import start_process
from trailhound.errors import TrailhoundError
from trailhound.signals import leave_signals_to_parent

Work = Callable[[bytes], bytes]
Recipe = Callable[[], Work]
"""Makes the work inside the process; it must be picklable."""

_START_SECONDS = 120.0
_MAX_STARTS = 3
_DONE, _FAILED, _NO_MEMORY = b"+", b"-", b"m"


def serve(connection: Connection, recipe: Recipe, memory_bytes: int) -> None:
    """Answer jobs until the other end is gone."""
    leave_signals_to_parent()
    logging.disable(logging.CRITICAL)  # strangers' pages are no news to the user
    with connection, suppress(EOFError, ConnectionError):
        work = recipe()
        connection.send_bytes(_DONE)
        limit_memory(memory_bytes)
        while True:
            connection.send_bytes(_answer(work, connection.recv_bytes()))


def _answer(work: Work, job: bytes) -> bytes:
    try:
        return _DONE + work(job)
    except MemoryError:
        return _NO_MEMORY
    except Exception as error:
        return _FAILED + repr(error).encode("utf-8", "replace")


class TooCostlyError(Exception):
    """A piece of work went beyond its limits."""


class WorkFailedError(Exception):
    """A piece of work could not be done; the message says why."""


class LimitedProcess:
    """One process, started by its first job. Close it, or use it in a ``with`` statement.

    One thread at a time may ask.
    """

    def __init__(self, recipe: Recipe, limits: PageLimits = PAGE_LIMITS) -> None:
        self._recipe = recipe
        self._limits = limits
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None

    def ask(self, job: bytes) -> bytes:
        """The answer to one job; TooCostlyError or WorkFailedError when there is none."""
        process, connection = self._running()
        try:
            connection.send_bytes(job)
            is_in_time = self._waits_for(process, connection)
            answer = connection.recv_bytes() if is_in_time else _NO_MEMORY
        except (EOFError, OSError):  # it died, most likely for want of memory
            self.close()
            raise TooCostlyError from None
        if not is_in_time:
            self.close()
        if answer[:1] == _NO_MEMORY:
            raise TooCostlyError
        if answer[:1] == _FAILED:
            raise WorkFailedError(answer[1:].decode("utf-8", "replace"))
        return answer[1:]

    def _waits_for(self, process: SpawnProcess, connection: Connection) -> bool:
        """Whether an answer comes in time, by the rule of the worker pool."""
        between = self._limits.seconds / 2
        before: float | None = None
        for look in range(MAX_LOOKS):
            if connection.poll(between):
                return True
            now = cpu_seconds(process.pid)
            is_starved = None not in (before, now) and (now or 0) - (before or 0) < between / 4
            if look > 0 and not is_starved:
                return False
            before = now
        return False

    def _running(self) -> tuple[SpawnProcess, Connection]:
        if self._process is not None and self._connection is not None:
            return self._process, self._connection
        for _ in range(_MAX_STARTS):
            with suppress(EOFError, OSError):
                return self._started()
            self.close()
        raise TrailhoundError(
            "A process that reads pages could not be started, perhaps for want of memory. Close "
            "other programs and try again."
        )

    def _started(self) -> tuple[SpawnProcess, Connection]:
        ours, theirs = multiprocessing.get_context("spawn").Pipe()
        self._connection = ours
        process = multiprocessing.get_context("spawn").Process(
            target=serve,
            args=(theirs, self._recipe, self._limits.memory_bytes),
            daemon=True,
            name="trailhound-reader",
        )
        with theirs:
            start_process(process, imports_main=False)
        self._process = process
        if not ours.poll(_START_SECONDS):
            raise EOFError
        ours.recv_bytes()
        return process, ours

    def close(self) -> None:
        """End the process, whatever it is doing: it holds nothing that could be lost."""
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._connection = self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
