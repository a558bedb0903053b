"""Run the chaos and print what was proved."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed

from benchmarks.chaos.kinds import KINDS
from benchmarks.chaos.rounds import Report, run_alone
from benchmarks.chaos.web import HEALTHY_HOSTS, ChaosWeb

KILLS_PER_ROUND = 84


def run(kills: int, seed: int, *, hosts: int, per_round: int, at_once: int) -> Report:
    """Rounds, some of them at the same time, until crawls have been killed so often."""
    report = Report()
    with ProcessPoolExecutor(at_once, multiprocessing.get_context("spawn")) as pool:
        starts = range(0, kills, per_round)
        rounds = [
            pool.submit(run_alone, ChaosWeb(seed + number, hosts), min(per_round, kills - start))
            for number, start in enumerate(starts)
        ]
        for done in as_completed(rounds):
            if error := done.exception():
                report.failures.append(f"{type(error).__name__}: {error}")
            else:
                report.add(done.result())
                _tell_round(report)
    return report


def _tell_round(report: Report) -> None:
    found = report.rounds[-1]
    print(
        f"round {len(report.rounds)}: {report.kills} kills so far, {found.requests:,} requests to "
        f"{found.hosts} hosts, {found.peak_bytes / 1e6:.0f} MB at most, {found.seconds:.0f} s",
        flush=True,
    )


def tell(report: Report, seconds: float) -> None:
    """The figures."""
    rounds = report.rounds
    told = ", ".join(f"{count} × {name}" for name, count in report.torments.most_common())
    broken = Counter(why.partition(": ")[2] for found in rounds for why in found.broken)
    print(
        f"{report.kills} kills in {len(rounds)} crawls and {seconds / 60:.0f} minutes ({told}). "
        f"{len(report.kinds)} of {len(KINDS)} kinds of misbehaviour beside {HEALTHY_HOSTS} healthy "
        f"hosts. All {sum(found.pages for found in rounds):,} healthy pages fetched; "
        f"{sum(found.finished for found in rounds):,} URLs agree in frontier, results and log; "
        f"{sum(found.requests for found in rounds):,} requests, none to a forbidden place, "
        f"{sum(found.gaps for found in rounds):,} delays kept; "
        f"{sum(found.records for found in rounds):,} archived answers valid by two readers; "
        f"{max(found.peak_bytes for found in rounds) / 1e6:.0f} MB at most; no error escaped."
    )
    for why, count in broken.most_common(10):
        print(f"  {count} pages of hostile hosts were given up: {why}")


def main() -> None:
    """Read the options."""
    parser = argparse.ArgumentParser(description="A hostile web, and a crawl that is tormented.")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hosts", type=int, default=360)
    parser.add_argument("--kills-per-round", type=int, default=KILLS_PER_ROUND)
    parser.add_argument("--at-once", type=int, default=2, help="rounds: they wait a lot")
    chosen = parser.parse_args()
    started = time.monotonic()
    report = run(
        chosen.kills,
        chosen.seed,
        hosts=chosen.hosts,
        per_round=chosen.kills_per_round,
        at_once=chosen.at_once,
    )
    if report.rounds:
        tell(report, time.monotonic() - started)
    for failure in report.failures:
        print(f"A round failed: {failure}")
    sys.exit(1 if report.failures else 0)


if __name__ == "__main__":
    os.environ.pop("TRAILHOUND_CONFIG", None)
    main()
