"""Command line of the quality gate."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.corpora import real_corpus
from benchmarks.quality_gate.floors import (
    FLOORS_FILE,
    Suite,
    load_suites,
    measured_means,
    save_suites,
    shortfalls,
    updated_suite,
)
from trailhound.errors import TrailhoundError, unknown_name
from trailhound.lab.experiment import plan_experiment, run_experiment
from trailhound.lab.importers import import_corpus
from trailhound.lab.report.tables import cautions
from trailhound.lab.results import ExperimentResults

GROUPS = {
    "demo": ("demo", "demo-default"),
    "real": (
        "wikispeedia",
        "wikispeedia-open",
        "webkb",
        "wikispeedia-default",
        "webkb-default",
    ),
}
"""Suites named after a web judge by ``contrast``; ``-default`` is what a user gets unasked."""


def main(arguments: list[str] | None = None) -> int:
    """Check or update the suites named; 0 when all floors hold, 1 when one does not."""
    options = _parse(arguments)
    try:
        suites = load_suites(options.floors)
        names = _chosen(options.suites, suites)
        with tempfile.TemporaryDirectory(prefix="trailhound-gate-") as folder:
            # Every suite is run, even after one has failed: the whole picture in one go.
            guarded = [_guard(name, suites, Path(folder), options) for name in names]
        return max(guarded, default=0)
    except TrailhoundError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality_gate", description=__doc__)
    parser.add_argument("suites", nargs="+", help="demo, real, or the names of single suites")
    parser.add_argument("--update", action="store_true", help="raise floors to what is measured")
    parser.add_argument("--allow-lower", action="store_true", help="let --update lower a floor")
    parser.add_argument("--reason", default="", help="why a floor is lowered; kept in the file")
    parser.add_argument("--fresh", action="store_true", help="import the real corpora again")
    parser.add_argument("--jobs", type=int, default=2, help="processes to use")
    parser.add_argument("--floors", type=Path, default=FLOORS_FILE, help="file of the floors")
    return parser.parse_args(arguments)


def _chosen(wanted: list[str], suites: dict[str, Suite]) -> list[str]:
    names = [name for word in wanted for name in GROUPS.get(word, (word,))]
    for name in names:
        if name not in suites:
            raise unknown_name("suite", name, [*suites, *GROUPS])
    return names


def _guard(name: str, suites: dict[str, Suite], folder: Path, options: argparse.Namespace) -> int:
    suite = suites[name]
    corpus = _corpus(suite, folder, options)
    if corpus is None:
        return 0
    results = _measure(suite, corpus, folder / name, options.jobs)
    _show(name, suite, results)
    if options.update:
        return _update(name, suites, results, options)
    return _verdict(name, suite, results)


def _corpus(suite: Suite, folder: Path, options: argparse.Namespace) -> Path | None:
    if suite.kind == "demo":
        # Generated anew at every check, for all suites of it: the generator is guarded as well.
        generated = folder / "demo.thc"
        if not generated.exists():
            import_corpus("demo", None, generated, jobs=options.jobs)
        return generated
    return real_corpus(suite.kind, jobs=options.jobs, fresh=options.fresh)


def _measure(suite: Suite, corpus: Path, folder: Path, jobs: int) -> ExperimentResults:
    plan = plan_experiment(
        corpus,
        suite.strategies,
        topics=suite.topics,
        max_requests=suite.max_requests,
        seed_sets=suite.seed_sets,
        seed=suite.seed,
        without=suite.without,
        settings=suite.settings,
        judge=suite.judge,
    )
    return run_experiment(plan, folder, jobs=jobs)


def _show(name: str, suite: Suite, results: ExperimentResults) -> None:
    topics, runs = len(results.parameters.topics), len(results.runs)
    print(f"{name}: {topics} topics, {runs} runs of at most {suite.max_requests} requests")
    for strategy, means in measured_means(results).items():
        floors = suite.floors.get(strategy, {})
        cells = [
            f"{metric} {value:.4f} (floor {floors[metric]:.4f})"
            if metric in floors
            else f"{metric} {value:.4f} (no floor)"
            for metric, value in means.items()
        ]
        print(f"  {strategy:<24} {'   '.join(cells)}")


def _update(
    name: str,
    suites: dict[str, Suite],
    results: ExperimentResults,
    options: argparse.Namespace,
) -> int:
    suites[name] = updated_suite(
        suites[name],
        measured_means(results),
        results.corpus.fingerprint,
        may_lower=options.allow_lower,
        reason=options.reason,
    )
    save_suites(suites, options.floors)
    print(f"{name}: floors updated in {options.floors}")
    return 0


def _verdict(name: str, suite: Suite, results: ExperimentResults) -> int:
    missed = shortfalls(suite, measured_means(results))
    if suite.fingerprint and suite.fingerprint != results.corpus.fingerprint:
        print(f"{name}: note: the corpus is not the one on which the floors were measured")
    doubts = cautions(results)
    for doubt in doubts:
        print(f"{name}: NOT TO BE TRUSTED: {doubt}")
    for item in missed:
        print(f"{name}: BELOW THE FLOOR: {item}")
    if missed or doubts:
        meant = " If the loss is meant: --update --allow-lower --reason 'why'" if missed else ""
        print(f"{name}: FAILED.{meant}")
        return 1
    print(f"{name}: passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
