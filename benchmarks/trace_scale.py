"""Traces of a million, ten million and a hundred million accesses: what they cost to build and use.

::

    python -m benchmarks.trace_scale [--accesses 1000000 10000000 100000000] [--fetches 2000]

Lines of a Squid log are generated as they are read, and go through the reading, sorting and
indexing that ``--trace FILE`` goes through; then the collaborative strategy crawls on paper
(:mod:`benchmarks.collaborative_cost`). Each part runs in a process of its own. *Resident* is all
memory of the process at its peak, with the pages of mapped files that happen to be in it, which
the system takes back when it needs them; *anonymous* is the part that it cannot take back (sampled
ten times a second, where ``/proc`` tells). The exit code is 1 when building the largest trace
takes over 1.5 times the anonymous memory of the smallest.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from benchmarks.collaborative_cost import synthetic, user_key
from trailhound.sessions.importers.base import Tally
from trailhound.sessions.importers.log_formats import squid_accesses
from trailhound.sources.traces.building import PageAccess, build_trace

SIZES = (1_000_000, 10_000_000, 100_000_000)
MAX_GROWTH = 1.5
SAMPLE_SECONDS = 0.1
_LINES_AT_ONCE = 8_000
"""About a megabyte, as a log is read."""


class Peak(NamedTuple):
    """Memory of a process at its peak, in megabytes."""

    resident: float
    anonymous: float


def log_lines(n_accesses: int) -> Iterator[list[bytes]]:
    """A proxy's log in batches of lines, as a file would give them."""
    lines = (
        b"%.3f     90 %s TCP_MISS/200 4000 GET %s - HIER_DIRECT/192.0.2.1 text/html"
        % (when, client, url or b"")
        for client, when, url in synthetic(n_accesses)
    )
    while batch := list(islice(lines, _LINES_AT_ONCE)):
        yield batch


def accesses(n_accesses: int, tally: Tally) -> Iterator[PageAccess]:
    """What the log tells."""
    for client, when, url, _ in squid_accesses(log_lines(n_accesses), tally):
        yield client, when, url


def build(folder: Path, n_accesses: int) -> None:
    """Index the trace; prints what was made and how long it took."""
    begun, cpu = time.perf_counter(), time.process_time()
    generated = sum(len(batch) for batch in log_lines(100_000))
    generating = (time.process_time() - cpu) / generated
    begun, cpu = time.perf_counter(), time.process_time()
    tally = Tally("lines")
    header = build_trace(folder, accesses(n_accesses, tally), tally, user_key)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(
        f"built: {header.accesses:,} accesses, {header.users:,} users, {header.pages:,} pages in "
        f"{time.perf_counter() - begun:.0f} s ({time.process_time() - cpu:.0f} s of CPU, "
        f"{generating * n_accesses:.0f} of them to generate the lines); {size / 2**20:,.0f} MB on "
        f"disk, {size / header.accesses:.0f} bytes an access",
        flush=True,
    )


def measured(command: list[str]) -> tuple[int, Peak]:
    """Run a command to its end, watching its memory."""
    anonymous = 0.0
    with subprocess.Popen(command) as process:
        status = Path(f"/proc/{process.pid}/status")
        while True:
            anonymous = max(anonymous, _anonymous(status))
            ended, code, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                process.returncode = os.waitstatus_to_exitcode(code)
                return process.returncode, Peak(usage.ru_maxrss / 1024, anonymous)
            time.sleep(SAMPLE_SECONDS)


def _anonymous(status: Path) -> float:
    try:
        found = re.search(r"RssAnon:\s+(\d+) kB", status.read_text())
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


def main() -> None:
    """Build and use each trace."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accesses", type=int, nargs="+", default=SIZES)
    parser.add_argument("--fetches", type=int, default=2000)
    parser.add_argument("--place", type=Path, help="where there is room: 150 bytes an access")
    parser.add_argument("--build", nargs=2, metavar=("FOLDER", "ACCESSES"))
    given = parser.parse_args()
    if given.build:
        build(Path(given.build[0]), int(given.build[1]))
        return
    peaks = [_measure(size, given.fetches, given.place) for size in given.accesses]
    if peaks[-1].anonymous > MAX_GROWTH * peaks[0].anonymous:
        sys.exit("Building takes more memory for more accesses.")


def _measure(n_accesses: int, n_fetches: int, place: Path | None) -> Peak:
    python = [sys.executable, "-m"]
    with tempfile.TemporaryDirectory(dir=place) as made:
        folder = f"{made}/synthetic.trace"
        code, peak = measured(
            [*python, "benchmarks.trace_scale", "--build", folder, str(n_accesses)]
        )
        if code:
            sys.exit(code)
        _print("building", peak)
        use = ["benchmarks.collaborative_cost", "--fetches", str(n_fetches)]
        _print("using", measured([*python, *use, "--part", "update", folder])[1])
    return peak


def _print(what: str, peak: Peak) -> None:
    print(
        f"{what}: {peak.resident:,.0f} MB resident, {peak.anonymous:,.0f} MB anonymous", flush=True
    )


if __name__ == "__main__":
    main()
