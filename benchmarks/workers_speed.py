"""Pages per second of a crawl whose pages are analysed by two workers, against one process.

    python -m benchmarks.workers_speed [--rounds 3] [--pages 3000] [--workers 2]

The crawl is that of :mod:`benchmarks.crawl_cost`, from a server in another process that never makes
it wait. It needs as many free cores as workers: the load before each run is printed. The first
pages, during which workers load, do not count. Medians over rounds in alternating order; exits
with 1 when the limit is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from benchmarks.crawl_measures import CrawlCost
from benchmarks.measured_web import N_PAGES, load_web, measured_web
from benchmarks.page_server import running_server

MIN_SPEED_UP = 1.6
WARM_UP_PAGES = 500


def run(web: Path, port: int, workers: int) -> CrawlCost:
    """One crawl in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.focused_crawl", str(web), str(port), folder]
        command += ["--workers", str(workers), "--warm-up", str(WARM_UP_PAGES)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=CrawlCost)


def measure(web: Path, rounds: int, workers: int) -> dict[int, list[float]]:
    """Pages per second, by the number of workers."""
    speeds: dict[int, list[float]] = {1: [], workers: []}
    with running_server(web) as port:
        for number in range(rounds):
            for count in [*speeds][:: -1 if number % 2 else 1]:
                load = os.getloadavg()[0]
                cost = run(web, port, count)
                speeds[count].append(cost.pages_per_second)
                print(
                    f"round {number + 1}  workers {count}  {cost.pages_per_second:6.1f} pages/s  "
                    f"main process {cost.cpu_ms_per_page:.2f} ms of CPU a page  (load {load:.1f})",
                    flush=True,
                )
    return speeds


def main(arguments: list[str] | None = None) -> int:
    """Measure and compare with the limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workers_speed", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=N_PAGES)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    web = measured_web(options.pages)
    print(load_web(web).describe())
    speeds = measure(web, options.rounds, options.workers)
    alone, together = (statistics.median(found) for found in speeds.values())
    speed_up = together / alone
    missed = options.workers == 2 and speed_up < MIN_SPEED_UP
    print(
        f"{alone:.1f} pages/s alone, {together:.1f} with {options.workers} workers: "
        f"{speed_up:.2f} times (at least {MIN_SPEED_UP} wanted on two free cores)"
        f"{'  MISSED' * missed}"
    )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
