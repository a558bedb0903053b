"""Reads many inputs of one target: counts what breaks its contract, keeps what is slow."""

from __future__ import annotations

import signal
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from benchmarks.fuzz.growth import peak_megabytes
from benchmarks.fuzz.mutations import Swollen, swollen
from benchmarks.fuzz.targets import Target, target_named

MAX_SECONDS = 20
"""Of CPU for one input: many times what any takes."""
LEAST_BYTES = 1_000
"""Smaller inputs count as much in microseconds per byte: a call has its fixed price."""
_SWOLLEN_SHARE = 0.02
_SWOLLEN_BYTES = (3_000, 12_000)
_KEPT = 3


class TooSlowError(Exception):
    """One input took far too long."""


@dataclass(frozen=True)
class Finding:
    """An input that broke the contract."""

    target: str
    number: int
    """Of the input: ``--target NAME --first NUMBER --inputs 1`` reads it again."""
    what: str
    data: bytes


@dataclass
class Report:
    """What came of some inputs of one target."""

    target: str
    inputs: int = 0
    refused: int = 0
    """With an error that the contract allows."""
    findings: list[Finding] = field(default_factory=list)
    slowest: float = 0.0
    """Microseconds per byte."""
    slow: list[tuple[float, Swollen]] = field(default_factory=list)
    """The slowest of the swollen inputs, with microseconds per byte."""
    megabytes: float = 0.0
    """Peak resident memory of the process."""

    def add(self, other: Report) -> None:
        """Take in what another process found."""
        self.inputs += other.inputs
        self.refused += other.refused
        self.findings += other.findings
        self.slowest = max(self.slowest, other.slowest)
        self.slow = _slowest(self.slow + other.slow)
        self.megabytes = max(self.megabytes, other.megabytes)


Job = tuple[str, range, int]
"""A target's name, the numbers of its inputs, and the seed."""


def run_job(job: Job) -> Report:
    """In a process of its own."""
    name, numbers, seed = job
    return run(target_named(name), numbers, seed)


def run(target: Target, numbers: range, seed: int) -> Report:
    """Read the inputs with these numbers; the same seed gives the same inputs."""
    report = Report(target.name)
    for number in numbers:
        rng = Random(f"{seed}/{target.name}/{number}")
        data, recipe = target.make(rng), None
        if rng.random() < _SWOLLEN_SHARE:
            recipe = swollen(rng, data)
            data = recipe.of_size(rng.choice(_SWOLLEN_BYTES))
        _try(target, number, data, recipe, report)
    report.megabytes = peak_megabytes()
    return report


def _try(target: Target, number: int, data: bytes, recipe: Swollen | None, report: Report) -> None:
    report.inputs += 1
    try:
        with limited():
            seconds = cpu_seconds(target, data)
            if _per_byte(seconds, data) > report.slowest:
                # Once more: what is loaded on first use must not count.
                seconds = min(seconds, cpu_seconds(target, data))
    except target.allowed:
        report.refused += 1
        return
    except Exception as error:
        what = traceback.format_exception(error)[-2].strip() + f" → {type(error).__name__}: {error}"
        report.findings.append(Finding(target.name, number, what[:500], data[:2_000]))
        return
    report.slowest = max(report.slowest, _per_byte(seconds, data))
    if recipe is not None:
        report.slow = _slowest([*report.slow, (_per_byte(seconds, data), recipe)])


def cpu_seconds(target: Target, data: bytes) -> float:
    """Of this process, to read ``data`` once."""
    start = time.process_time()
    target.read(data)
    return time.process_time() - start


def _per_byte(seconds: float, data: bytes) -> float:
    return 1e6 * seconds / max(LEAST_BYTES, len(data))


def _slowest(slow: list[tuple[float, Swollen]]) -> list[tuple[float, Swollen]]:
    return sorted(slow, key=lambda each: -each[0])[:_KEPT]


@contextmanager
def limited(seconds: float = MAX_SECONDS) -> Iterator[None]:
    """TooSlowError after so much CPU, where the system has such a timer."""
    in_main = threading.current_thread() is threading.main_thread()  # only there signals are heard
    if not (in_main and hasattr(signal, "setitimer")):
        yield
        return

    def stop(*_: object) -> None:
        raise TooSlowError(f"over {seconds:g} s of CPU")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
