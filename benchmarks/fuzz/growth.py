"""How time and memory grow with an input: measured at one, two and four times a size.

Time is CPU time of this process, the best of two. Memory is the peak of resident memory in a
process of its own, which also sees what libraries in C take.
"""

from __future__ import annotations

import multiprocessing
import re
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.fuzz.targets import Target, target_named

FIRST_BYTES = 64_000
MOST_BYTES = 1_000_000
ENOUGH_SECONDS = 0.02
"""Less than this at one size is noise; then a larger size is measured."""
TRIES = 3
"""Of a measurement that looks bad: other programs disturb it."""
MAX_RATIO = 7.0
"""From a size to four times as much: 4 is linear, 16 quadratic."""
MAX_MULTIPLE = 40
ALWAYS_MEGABYTES = 64.0

Make = Callable[[int], bytes]
"""From a size in bytes to an input of about that size."""


@dataclass(frozen=True)
class Growth:
    """What a family of inputs costs."""

    target: str
    family: str
    size: int
    """Of the smallest input, in bytes."""
    seconds: tuple[float, float, float]
    """At one, two and four times the size."""
    megabytes: float
    """Taken by one of the target's largest."""
    allowed_megabytes: float
    """By the contract, for that one."""

    @property
    def ratio(self) -> float:
        """Of the time for four times the size; 0 when the times are too short to tell."""
        if self.seconds[2] < 4 * ENOUGH_SECONDS:
            return 0.0
        return self.seconds[2] / max(self.seconds[0], ENOUGH_SECONDS / 4)

    @property
    def is_kept(self) -> bool:
        """Whether the contract is."""
        return self.ratio <= MAX_RATIO and self.megabytes <= self.allowed_megabytes

    def __str__(self) -> str:
        times = " / ".join(f"{1000 * seconds:.0f}" for seconds in self.seconds)
        return (
            f"{self.target:16} {self.family[:44]:44} {self.size // 1000:5} KB {times:>18} ms "
            f"{self.ratio:5.1f}x {self.megabytes:6.0f} of {self.allowed_megabytes:4.0f} MB"
            + ("" if self.is_kept else "   BROKEN")
        )


def measure(target: Target, family: str, make: Make) -> Growth:
    """Find a size at which the time can be measured, and measure there."""
    most = min(MOST_BYTES, target.largest // 4)
    size = min(FIRST_BYTES, most)
    while 2 * size <= most and _seconds(target, make(size)) < ENOUGH_SECONDS:
        size *= 2
    megabytes = megabytes_to_read(target, make(target.largest))
    allowed = MAX_MULTIPLE * target.largest / 1e6 + ALWAYS_MEGABYTES
    inputs = [make(times * size) for times in (1, 2, 4)]
    measured: list[Growth] = []
    while len(measured) < TRIES and not any(each.is_kept for each in measured):
        first, second, third = (_seconds(target, data) for data in inputs)
        seconds = (first, second, third)
        measured.append(Growth(target.name, family, size, seconds, megabytes, allowed))
    return min(measured, key=lambda each: each.ratio)


def _seconds(target: Target, data: bytes) -> float:
    return min(_once(target, data), _once(target, data))


def _once(target: Target, data: bytes) -> float:
    start = time.process_time()
    with suppress(*target.allowed):
        target.read(data)
    return time.process_time() - start


def megabytes_to_read(target: Target, data: bytes) -> float:
    """What reading ``data`` adds to the peak of a process that has read something small before."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_measure_peak, args=(there, target.name, data))
    process.start()
    there.close()
    try:
        grown: float = here.recv()
    except EOFError:
        raise MemoryError(f"{target.name}: reading {len(data):,} bytes ended the process") from None
    finally:
        process.join()
    return grown


def _measure_peak(connection: Connection, name: str, data: bytes) -> None:
    # Whatever it is that is measured, this machine is to survive it.
    resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    target = target_named(name)
    for warming in (b"<p>bees", data[:2_000]):
        _once(target, warming)
    with suppress(OSError):  # on Linux: the peak begins anew with what is resident now
        Path("/proc/self/clear_refs").write_text("5")
    before = peak_megabytes()
    _once(target, data)
    connection.send(peak_megabytes() - before)


def peak_megabytes() -> float:
    """Of resident memory, in the life of this process."""
    with suppress(OSError):  # on Linux, where getrusage() also tells of the process before
        found = re.search(r"VmHWM:\s*([0-9]+) kB", Path("/proc/self/status").read_text())
        if found is not None:
            return int(found[1]) / 1e3
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3
