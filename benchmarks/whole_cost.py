"""Runs a command, and tells the CPU time of every process that it came to start.

    python -m benchmarks.whole_cost COMMAND...

What the command prints comes first; the last line is the CPU time in seconds. Processes that their
own parents left behind, as those of browsers are, become children of this one and are waited for,
so that none is missed. Linux only.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
from typing import NamedTuple

_PR_SET_CHILD_SUBREAPER = 36


class WholeRun(NamedTuple):
    """A command that has ended, with all that it started."""

    output: str
    cpu_seconds: float


def run_whole(command: list[str], given: str = "") -> WholeRun:
    """Run ``command`` with ``given`` as its input, in a process that takes in all orphans."""
    done = subprocess.run(
        [sys.executable, "-m", __name__, *command],
        input=given,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    *output, cpu_seconds = done.stdout.splitlines()
    return WholeRun("\n".join(output), float(cpu_seconds))


def main() -> int:
    """Run the command of the command line."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "orphans cannot be taken in")
    code = subprocess.run(sys.argv[1:], check=False).returncode
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(used.ru_utime + used.ru_stime)
    return code


if __name__ == "__main__":
    sys.exit(main())
