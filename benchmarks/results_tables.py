"""Markdown tables for docs/results.md from finished experiments.

python -m benchmarks.results_tables OUT [OUT ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

from trailhound.lab.bootstrap import Estimate
from trailhound.lab.results import ExperimentResults, read_results

METRICS = (("nauc", "nAUC"), ("harvest", "harvest"), ("recall", "recall"))


def main(folders: list[str]) -> int:
    """Print one table per experiment."""
    for folder in folders:
        print(table(read_results(Path(folder))))
    return 0


def table(results: ExperimentResults) -> str:
    """Strategies by nAUC, means with intervals, difference to the baseline."""
    differences = {
        each.strategy: (each.difference, each.p_holm)
        for each in results.comparisons
        if each.metric == "nauc"
    }
    heads = ["strategy", *(name for _, name in METRICS), "hosts", f"nAUC − {results.baseline}", "p"]
    rows = [heads, ["---"] * len(heads)]
    for name in sorted(results.summary, key=lambda name: -results.summary[name]["nauc"].mean):
        figures = results.summary[name]
        difference, p = differences.get(name, (None, None))
        rows.append(
            [
                f"`{name}`",
                *(_interval(figures[metric]) for metric, _ in METRICS),
                f"{figures['hosts'].mean:.1f}",
                "–" if difference is None else _interval(difference, signed=True),
                "–" if p is None else f"{p:.3f}",
            ]
        )
    asked = results.parameters
    caption = (
        f"{results.corpus.kind}: {len(asked.topics)} topics × {asked.seed_sets} seed sets × "
        f"{asked.max_pages} requests, seed {asked.seed}; corpus {results.corpus.fingerprint[:12]}"
    )
    return "\n".join([caption, "", *("| " + " | ".join(row) + " |" for row in rows), ""])


def _interval(estimate: Estimate, *, signed: bool = False) -> str:
    sign = "+" if signed else ""
    return f"{estimate.mean:{sign}.3f} [{estimate.low:{sign}.3f}, {estimate.high:{sign}.3f}]"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
