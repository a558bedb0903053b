"""CPU time per page of a full focused crawl, ours against Scrapy's.

    python -m benchmarks.crawl_cost [--rounds 3] [--pages 3000]

Ours is what ``trailhound crawl`` runs when told nothing else: its default strategy, gate,
duplicates, SQLite, results, log and WARC. Scrapy runs
(a) an idiomatic spider with scikit-learn, (b) a spider that uses our extraction and scoring; see
:mod:`benchmarks.scrapy_crawls`. All fetch the same pages from a server in another process, in turns
whose order alternates; figures are medians over the rounds. Exits with 1 when a limit is exceeded.
"""

from __future__ import annotations

import argparse
import importlib.util
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

OURS = "ours"
CONTENDERS = {
    OURS: ["benchmarks.focused_crawl"],
    "idiomatic": ["benchmarks.scrapy_crawls", "idiomatic"],
    "our-parts": ["benchmarks.scrapy_crawls", "our-parts"],
}
LIMITS = {"idiomatic": 0.15, "our-parts": 2 / 3}
"""Our cost at most, as a share of each other's."""
NAMES = {
    OURS: "trailhound crawl",
    "idiomatic": "(a) Scrapy, idiomatic",
    "our-parts": "(b) Scrapy, our extraction and scoring",
}


def run(contender: str, web: Path, port: int) -> CrawlCost:
    """One crawl in a process and a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", *CONTENDERS[contender], str(web), str(port), folder]
        # Threads of linear algebra would wait for each other, for every contender alike.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, env=environment
        )
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=CrawlCost)


def measure(web: Path, rounds: int) -> dict[str, list[CrawlCost]]:
    """All contenders in turn, each round in the opposite order of the one before."""
    costs: dict[str, list[CrawlCost]] = {contender: [] for contender in CONTENDERS}
    with running_server(web) as port:
        for number in range(rounds):
            for contender in [*CONTENDERS][:: -1 if number % 2 else 1]:
                cost = run(contender, web, port)
                costs[contender].append(cost)
                load = os.getloadavg()[0]
                print(
                    f"round {number + 1}  {NAMES[contender]:<40} {cost.cpu_ms_per_page:7.2f} ms  "
                    f"{cost.pages} pages in {cost.seconds:.0f} s  (load {load:.1f})",
                    flush=True,
                )
    return costs


def verdict(costs: dict[str, list[CrawlCost]], n_pages: int) -> int:
    """Print medians and ratios; 1 when a limit is exceeded or a crawl was incomplete."""
    medians = {
        contender: statistics.median(cost.cpu_ms_per_page for cost in found)
        for contender, found in costs.items()
    }
    failed = any(cost.pages < n_pages for found in costs.values() for cost in found)
    if failed:
        print(f"INCOMPLETE: not every crawl fetched all {n_pages} pages")
    print(f"{NAMES[OURS]:<40} {medians[OURS]:7.2f} ms per page")
    for contender, limit in LIMITS.items():
        ratio = medians[OURS] / medians[contender]
        is_over = ratio > limit
        failed |= is_over
        print(
            f"{NAMES[contender]:<40} {medians[contender]:7.2f} ms per page   ratio {ratio:.3f} "
            f"(limit {limit:.3f}){'  EXCEEDED' * is_over}"
        )
    return int(failed)


def main(arguments: list[str] | None = None) -> int:
    """Measure and compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crawl_cost", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=N_PAGES)
    options = parser.parse_args(arguments)
    if importlib.util.find_spec("scrapy") is None:
        print("SKIPPED: Scrapy is not installed. Install it with: pip install scrapy")
        return 0
    web = measured_web(options.pages)
    print(load_web(web).describe())
    return verdict(measure(web, options.rounds), options.pages)


if __name__ == "__main__":
    sys.exit(main())
