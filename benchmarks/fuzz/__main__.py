"""Fuzzing of every reader: a million inputs, then time and memory of the slowest.

::

    python -m benchmarks.fuzz [--inputs 1000000] [--seed 7] [--target NAME [--first NUMBER]]

The contract of a reader: it gives a result or an error that it documents, in time linear in the
input's size and in memory below 40 times that size plus 64 MB. The exit code is 1 if one breaks it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence

from benchmarks.fuzz.campaign import Finding, Job, Report, limited, run_job
from benchmarks.fuzz.families import FAMILIES
from benchmarks.fuzz.growth import Growth, Make, measure
from benchmarks.fuzz.targets import TARGETS, Target, target_named

_CHUNK = 40_000
_MEASURE_SECONDS = 120.0


def main() -> None:
    """Run as the command line asks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="of all targets together")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--target", help="only this one")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--no-growth", action="store_true", help="leave out time and memory")
    given = parser.parse_args()
    targets = [target_named(given.target)] if given.target else list(TARGETS)
    reports = _campaign(targets, given.inputs, given.first, given.seed)
    findings = [finding for report in reports for finding in report.findings]
    _show(reports, findings)
    broken = [] if given.no_growth else _growth(targets, reports)
    sys.exit(1 if findings or broken else 0)


def _jobs(targets: Sequence[Target], inputs: int, first: int, seed: int) -> Iterator[Job]:
    shares = sum(target.share for target in targets)
    for target in targets:
        end = first + -(-inputs * target.share // shares)
        for start in range(first, end, _CHUNK):
            yield target.name, range(start, min(start + _CHUNK, end)), seed


def _campaign(targets: Sequence[Target], inputs: int, first: int, seed: int) -> list[Report]:
    """Every few thousand inputs in a process of their own, so that memory is told apart."""
    reports = {target.name: Report(target.name) for target in targets}
    jobs, told = list(_jobs(targets, inputs, first, seed)), time.monotonic()
    processes = min(len(jobs), os.cpu_count() or 1)
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=1) as pool:
        for number, report in enumerate(pool.imap_unordered(run_job, jobs), start=1):
            reports[report.target].add(report)
            if time.monotonic() - told > 10:
                told = time.monotonic()
                print(f"{number} of {len(jobs)} parts done", file=sys.stderr, flush=True)
    return list(reports.values())


def _show(reports: Sequence[Report], findings: Sequence[Finding]) -> None:
    print(f"{'target':16} {'inputs':>9} {'refused':>9} {'broken':>7} {'µs/byte':>8} {'peak MB':>8}")
    for each in reports:
        print(
            f"{each.target:16} {each.inputs:9,} {each.refused:9,} {len(each.findings):7,} "
            f"{each.slowest:8.2f} {each.megabytes:8.0f}"
        )
    inputs = sum(each.inputs for each in reports)
    print(f"{'all':16} {inputs:9,} {sum(r.refused for r in reports):9,} {len(findings):7,}")
    for found in {finding.what: finding for finding in findings}.values():
        print(f"\n{found.target}, input {found.number}: {found.what}\n  {found.data[:300]!r}")


def _growth(targets: Sequence[Target], reports: Sequence[Report]) -> list[str]:
    """Time at one, two and four times a size, and memory; what broke the contract."""
    print("\nslow on purpose, and the slowest found: time at 1, 2 and 4 times the size, memory")
    slow = {report.target: report.slow for report in reports}
    broken = []
    for target in targets:
        made: dict[str, Make] = dict(FAMILIES.get(target.name, {}))
        for _, recipe in slow[target.name]:
            made[f"found: {recipe.piece[:30]!r}"] = recipe.of_size
        for family, make in made.items():
            growth = _measured(target, family, make)
            print(growth, flush=True)
            if not isinstance(growth, Growth) or not growth.is_kept:
                broken.append(f"{target.name}: {family}")
    print(f"{len(broken)} broken" + "".join(f"\n  {each}" for each in broken))
    return broken


def _measured(target: Target, family: str, make: Make) -> Growth | str:
    try:
        with limited(_MEASURE_SECONDS):
            return measure(target, family, make)
    except Exception as error:
        return f"{target.name:16} {family[:44]:44} {type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
