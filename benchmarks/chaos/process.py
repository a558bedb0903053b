"""``trailhound`` on a machine whose clock can be put: the process that the chaos run torments.

    python -m benchmarks.chaos.process CLOCK ARGUMENT ...

CLOCK is a file of eight bytes: by how many seconds the wall clock is wrong at this moment.
"""

from __future__ import annotations

import mmap
import struct
import sys
import time
from pathlib import Path

_SECONDS = struct.Struct("d")


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


def main() -> None:
    """Run a command."""
    FalseClock(Path(sys.argv.pop(1))).install()
    from trailhound.cli.main import run

    run()


if __name__ == "__main__":
    main()
