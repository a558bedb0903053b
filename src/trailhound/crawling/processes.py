"""Processes for work that might do harm: how they start, and what time and memory they may take.

A worker imports no more than it must, and dies quietly with its parent. Workers of a crawl's loop
are :mod:`~trailhound.crawling.worker_pool`; their plain sibling here does one thing after the
other. What goes beyond its limits costs itself: the process is killed, or is refused the memory,
and the next piece of work gets another one.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import spawn
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Self

from trailhound.errors import ConfigError, TrailhoundError
from trailhound.signals import leave_signals_to_parent


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


_plain_command_line = spawn.get_command_line
_starting = threading.Lock()
"""What a start changes belongs to the whole program: threads start processes one by one."""

# A parent that dies leaves a child which has just begun without its orders; Ctrl-C reaches it, too.
# Neither is worth a traceback. Single quotes alone: Windows puts double ones around it all.
_QUIET_PROGRAM = """\
import pickle, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
try:
    {}
except (EOFError, pickle.UnpicklingError):
    sys.exit(1)
"""


def start_process(process: SpawnProcess, *, imports_main: bool) -> None:
    """Start it; ConfigError when what it is to work with cannot be sent there."""
    try:
        with _starting, _main_module(imports_main), _quiet_start():
            process.start()
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise ConfigError(
            f"The strategy or the judge cannot be sent to a worker process: {error}. Crawl with "
            "--workers 1, or give the crawler a recipe that makes them there."
        ) from error


@contextmanager
def _main_module(is_shown: bool) -> Iterator[None]:
    """Hide the main module, unless it is to be shown: a script without a guard would run again."""
    main = sys.modules["__main__"]
    if not is_shown:
        sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _quiet_start() -> Iterator[None]:
    spawn.get_command_line = quiet_command_line
    try:
        yield
    finally:
        spawn.get_command_line = _plain_command_line


def quiet_command_line(**handles: Any) -> list[str]:
    """The command that starts a process, which says nothing when nobody tells it what to do."""
    command = _plain_command_line(**handles)
    if "-c" in command:  # not in a frozen program
        at = command.index("-c") + 1
        command[at] = _QUIET_PROGRAM.format(command[at])
    return command


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
