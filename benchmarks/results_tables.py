"""Markdown tables for docs/results.md from finished experiments.

python -m benchmarks.results_tables OUT [OUT ...]

For each: strategies by nAUC, what learning cost, then what the published evaluations have: union
recall, and how many pages are at least so similar to a target.
"""

from __future__ import annotations

import sys
from pathlib import Path

from trailhound.lab.report.tables import Cell, Table, threshold_table, union_recall_table
from trailhound.lab.results import Estimate, ExperimentResults
from trailhound.lab.results_files import read_results

METRICS = (("nauc", "nAUC"), ("harvest", "harvest"), ("recall", "recall"))


def main(folders: list[str]) -> int:
    """Print one table per experiment."""
    for folder in folders:
        results = read_results(Path(folder))
        print(table(results))
        print(learning_table(results))
        print(markdown(union_recall_table(results)))
        print(markdown(threshold_table(results)))
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
        f"{asked.max_requests} requests, seed {asked.seed}; "
        f"corpus {results.corpus.fingerprint[:12]}"
    )
    if asked.without:
        caption += f"; without {', '.join(asked.without)}"
    return "\n".join([caption, "", *map(_row, rows), ""])


def learning_table(results: ExperimentResults) -> str:
    """What strategies asked before the crawl, and nAUC if that were free; empty if none asked."""
    rows = [["strategy", "questions first", "pages read first", "nAUC, learning free"], ["---"] * 4]
    for name, figures in results.summary.items():
        asked, read = (figures[key].mean for key in ("learning_queries", "learning_pages"))
        if asked or read:
            free = _interval(figures["nauc_learning_free"])
            rows.append([f"`{name}`", f"{asked:,.0f}", f"{read:,.0f}", free])
    return "\n".join([*map(_row, rows), ""]) if len(rows) > 2 else ""


def markdown(shown: Table) -> str:
    """A table of the report; empty when it has no rows."""
    if not shown.rows:
        return ""
    heads = [heading for heading, _ in shown.headings]
    rows = [[_cell(cell) for cell in row] for row in shown.rows]
    return "\n".join([*map(_row, [heads, ["---"] * len(heads), *rows]), ""])


def _cell(cell: Cell) -> str:
    if cell.is_name:
        return f"`{cell.text}`"
    return f"{cell.text} ({cell.extra})" if cell.extra else cell.text


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _interval(estimate: Estimate, *, signed: bool = False) -> str:
    sign = "+" if signed else ""
    return f"{estimate.mean:{sign}.3f} [{estimate.low:{sign}.3f}, {estimate.high:{sign}.3f}]"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
