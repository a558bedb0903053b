"""CPU per page of reading pages, this version's against another one's.

    git worktree add ../before COMMIT
    python -m benchmarks.extraction_cost ../before/src [--surroundings] [--rounds 6]

Each version reads the pages of :mod:`benchmarks.measured_web` in a process of its own, 20 at a time
and in turns, so that both meet the same noise; between pages the processor's cache is emptied, as
the rest of a crawl would do. Prints the sum of each 20's fastest round, and of their medians.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from benchmarks.corpora import ROOT

N_PAGES = 800
TURN = 20
_CACHE_BYTES = 4_000_000


def read_in_turns(web: Path, surroundings: bool) -> None:
    """The part of one version's process: read 20 pages whenever told to, and say what it took."""
    from trailhound.text.extract import extract_page

    pages = list(msgspec.msgpack.decode(web.read_bytes())["pages"].items())

    def seconds(path: str, body: bytes) -> float:
        start = time.process_time()
        url = f"http://example.org{path}"
        extract_page(body, url, "text/html; charset=utf-8", surroundings=surroundings)
        return time.process_time() - start

    for path, body in pages:  # the words of all are known from here on
        seconds(path, body)
    evicting = bytearray(_CACHE_BYTES)
    print("ready", flush=True)
    for line in sys.stdin:
        taken = 0.0
        for path, body in pages[int(line) : int(line) + TURN]:
            evicting.count(1)
            taken += seconds(path, body)
        print(taken, flush=True)


class Version:
    """One version at work."""

    def __init__(self, source: Path, web: Path, surroundings: bool) -> None:
        command = [sys.executable, "-m", "benchmarks.extraction_cost", "--read", str(web)]
        self._process = subprocess.Popen(
            [*command, *["--surroundings"] * surroundings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(source.resolve())},
        )
        self.seconds: dict[int, list[float]] = {}
        self._answer()

    def take_turn(self, start: int) -> None:
        """Read the pages from ``start`` on."""
        assert self._process.stdin is not None
        print(start, file=self._process.stdin, flush=True)
        self.seconds.setdefault(start, []).append(float(self._answer()))

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def close(self) -> tuple[float, float]:
        """End the process; milliseconds a page, at best and in the median."""
        self._process.communicate()
        pages, turns = TURN * len(self.seconds), self.seconds.values()
        best = sum(min(seconds) for seconds in turns)
        median = sum(statistics.median(seconds) for seconds in turns)
        return 1000 * best / pages, 1000 * median / pages


def compare(source: Path, surroundings: bool, rounds: int) -> None:
    """Let both versions read in turns, and print what it took them."""
    from benchmarks.measured_web import measured_web

    web = measured_web()
    versions = [Version(path, web, surroundings) for path in (source, ROOT / "src")]
    for number in range(rounds):
        for start in range(0, N_PAGES, TURN):
            for version in versions[:: -1 if (number + start // TURN) % 2 else 1]:
                version.take_turn(start)
    (old, old_median), (new, new_median) = (version.close() for version in versions)
    print(f"at best    {old:.3f} ms, now {new:.3f} ms: {new / old:.3f}")
    print(f"in median  {old_median:.3f} ms, now {new_median:.3f} ms: {new_median / old_median:.3f}")


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="the other version's src folder")
    parser.add_argument("--surroundings", action="store_true")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        read_in_turns(options.source, options.surroundings)
    else:
        compare(options.source, options.surroundings, options.rounds)


if __name__ == "__main__":
    main()
