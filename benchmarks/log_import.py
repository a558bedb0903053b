"""A million lines of a log, imported: seconds and memory, for Squid's and the combined format.

::

    python -m benchmarks.log_import [--lines 1000000] [--users 5000]

The limits are 20 s and 500 MB each; the exit code is 1 when one is exceeded.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from trailhound.sessions.importers import importer, read_recording
from trailhound.topics.importing import ChosenSessions, keep_sessions, pseudonyms
from trailhound.topics.workspace import Workspace

MAX_SECONDS = 20.0
MAX_MEGABYTES = 500.0
_START = 1_772_366_400
_SPAN_SECONDS = 7 * 86_400

Line = Callable[[random.Random, str, float], str]


def squid_line(rng: random.Random, client: str, when: float) -> str:
    """Of four requests, one is for a page."""
    page = rng.random() < 0.25
    kind, ending = ("text/html", "html") if page else ("image/png", "png")
    url = f"http://www{rng.randrange(2000)}.example.org/section/{rng.randrange(200)}.{ending}"
    return (
        f"{when:.3f} {rng.randrange(900):6d} {client} TCP_MISS/200 {rng.randrange(90000)} "
        f"GET {url} - HIER_DIRECT/192.0.2.1 {kind}\n"
    )


def combined_line(rng: random.Random, client: str, when: float) -> str:
    """Of four requests, one is for a page, with the page before as its referer."""
    ending = "html" if rng.random() < 0.25 else "png"
    stamp = time.strftime("%d/%b/%Y:%H:%M:%S", time.gmtime(when))
    site = "https://www.example.org/section"
    return (
        f'{client} - - [{stamp} +0000] "GET /section/{rng.randrange(200_000)}.{ending} HTTP/1.1" '
        f'200 {rng.randrange(90000)} "{site}/{rng.randrange(200_000)}.html" '
        f'"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"\n'
    )


LINES: dict[str, Line] = {"squid": squid_line, "combined": combined_line}


def generated(kind: str, lines: int, users: int) -> Iterator[str]:
    """A log in order of time; every 500th line is damaged."""
    rng = random.Random(7)
    for number in range(lines):
        user = rng.randrange(users)
        client = f"10.{user >> 16}.{user >> 8 & 255}.{user & 255}"
        line = LINES[kind](rng, client, _START + number * _SPAN_SECONDS / lines)
        yield line[: len(line) // 3] + "\n" if number % 500 == 0 else line


def measure(kind: str, log: Path, workspace: Path) -> None:
    """One import in this process; prints seconds and megabytes."""
    options = {"site": "https://www.example.org"} if kind == "combined" else {}
    started, cpu_before = time.perf_counter(), time.process_time()
    imported = read_recording(importer(kind), log, "bees", options)
    folder = Workspace(workspace).folder_for("bees")
    keep_sessions(folder, ChosenSessions(imported, folder, name_of=pseudonyms(workspace)))
    seconds = time.perf_counter() - started
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cpu = time.process_time() - cpu_before
    print(f"{kind}: {seconds:.1f} s ({cpu:.1f} s of CPU), {megabytes:.0f} MB")
    if seconds > MAX_SECONDS or megabytes > MAX_MEGABYTES:
        sys.exit(1)


def main() -> None:
    """Generate each log, and import it in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--users", type=int, default=5_000)
    parser.add_argument("--measure", nargs=3, metavar=("KIND", "LOG", "WORKSPACE"))
    given = parser.parse_args()
    if given.measure:
        kind, log, workspace = given.measure
        measure(kind, Path(log), Path(workspace))
        return
    codes = []
    for kind in LINES:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / f"{kind}.log"
            with log.open("w") as file:
                file.writelines(generated(kind, given.lines, given.users))
            command = [sys.executable, "-m", "benchmarks.log_import", "--measure", kind, str(log)]
            codes.append(subprocess.run([*command, str(Path(folder) / "workspace")]).returncode)
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
