"""Tables of the published evaluations, by hand."""

from __future__ import annotations

import msgspec
from made_results import make_results

from trailhound.lab.report.tables import threshold_table, union_recall_table
from trailhound.lab.results import ExperimentResults, RunResult


def results_with(runs: dict[str, tuple[list[int], list[float]]]) -> ExperimentResults:
    base = make_results()
    like = base.runs[0]

    def made(strategy: str, found: list[int], similarities: list[float]) -> RunResult:
        return msgspec.structs.replace(
            like, strategy=strategy, topic="t", found_pages=found, similarities=similarities
        )

    parameters = msgspec.structs.replace(base.parameters, strategies=list(runs), topics=["t"])
    made_runs = [made(strategy, *values) for strategy, values in runs.items()]
    return msgspec.structs.replace(base, parameters=parameters, runs=made_runs)


RUNS = {
    "a": ([1, 2, 3], [0.95, 0.72, 0.2]),
    "b": ([3, 4], [0.5, 0.49]),
    "oracle": ([1, 2, 3, 4, 5, 6, 7, 8], [0.9]),
}


def test_union_recall_leaves_the_upper_bound_out() -> None:
    rows = union_recall_table(results_with(RUNS)).rows
    # a ∪ b = {1, 2, 3, 4}: a found three of them, b two.
    assert [(row[0].text, row[1].value) for row in rows] == [("a", 0.75), ("b", 0.5)]


def test_the_sweep_counts_pages_at_or_above_each_threshold() -> None:
    rows = threshold_table(results_with(RUNS)).rows
    counts = {row[0].text: [cell.value for cell in row[1:]] for row in rows}
    assert counts == {"a": [2, 2, 2, 1, 1], "b": [1, 0, 0, 0, 0], "oracle": [1, 1, 1, 1, 1]}


def test_results_of_before_have_neither_table() -> None:
    old = results_with({"a": ([], [])})
    assert not union_recall_table(old).rows
    assert not threshold_table(old).rows
