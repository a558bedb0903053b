"""``trailhound`` on a machine whose clock can be put: the process that the chaos run torments.

    python -m benchmarks.chaos.process CLOCK [ARGUMENT ...]

CLOCK is a file of eight bytes: by how many seconds the wall clock is wrong at this moment. Without
further arguments it reads lines of them, and forks a process for each.
"""

from __future__ import annotations

import json
import mmap
import os
import select
import struct
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO

_SECONDS = struct.Struct("d")
_IMPORTED = (
    "trailhound.cli.main",
    "trailhound.cli.crawl_view",
    "trailhound.topics.runs.crawl",
    "trailhound.crawling.worker_pool",
    "trailhound.judges.rules",
    "trailhound.strategies.intelligent.strategy",
    "trailhound.frontier.sqlite",
    "pydantic.type_adapter",
    "rich.live",
    "rich.table",
)
_SOME_PAGE = b"<p>" + b"What tells languages apart is unpacked for the first page. " * 10


class FalseClock:
    """The wall clock of one crawl; ``time.time`` of this process once it is installed."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(_SECONDS.pack(0.0))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), _SECONDS.size)
        self._true_time = time.time

    def put(self, seconds: float) -> None:
        """Be wrong by so much from now on, in every process that uses the file."""
        self._shared[:] = _SECONDS.pack(seconds)

    def time(self) -> float:
        """What it shows."""
        (wrong,) = _SECONDS.unpack(self._shared[:])
        return self._true_time() + float(wrong)

    def install(self) -> None:
        """For everything that is imported from now on."""
        time.time = self.time


class Stable:
    """Processes that are forked from one which has imported everything.

    A kill costs a start, and a start of Python costs far more than what is looked at here.
    """

    def __init__(self, clock: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.chaos.process", str(clock)]
        self._process = subprocess.Popen(
            command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def start(self, arguments: list[str], output: Path) -> ForkedProcess:
        """Run ``trailhound`` with these arguments; what it says is added to ``output``."""
        orders, answers = self._process.stdin, self._process.stdout
        if orders is None or answers is None:
            raise RuntimeError("the stable has no pipes")
        orders.write(json.dumps([*arguments, str(output)]).encode() + b"\n")
        return ForkedProcess(int(answers.readline()), answers)

    def close(self) -> None:
        """End it; the processes that it started must have ended."""
        self._process.communicate()


class ForkedProcess:
    """A process of the stable, with the methods of ``subprocess.Popen`` that are needed here."""

    def __init__(self, pid: int, answers: IO[bytes]) -> None:
        self.pid = pid
        self._answers = answers
        self._code: int | None = None

    def poll(self) -> int | None:
        """Its exit code; ``None`` while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has one."""
        if self._code is None:
            ready, _, _ = select.select([self._answers], [], [], timeout)
            if not ready:
                raise subprocess.TimeoutExpired("trailhound", timeout or 0.0)
            self._code = int(self._answers.readline())
        return self._code

    def send_signal(self, number: int) -> None:
        """As to any other process."""
        if self.poll() is None:
            os.kill(self.pid, number)


def _fork_as_told() -> None:
    """Start a process for each line of orders, wait for its end, and tell of both."""
    for name in _IMPORTED:
        import_module(name)
    import_module("trailhound.text.extract").extract_page(_SOME_PAGE, "http://example.org/")
    while order := sys.stdin.readline():
        *arguments, output = json.loads(order)
        pid = os.fork()
        if not pid:
            _become(arguments, output)
            return
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    sys.exit()


def _become(arguments: list[str], output: str) -> None:
    sys.argv[1:] = arguments
    with open(output, "ab") as file, open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)


def main() -> None:
    """Run a command."""
    FalseClock(Path(sys.argv.pop(1))).install()
    if not sys.argv[1:]:
        _fork_as_told()
    from trailhound.cli.main import run

    run()


if __name__ == "__main__":
    main()
