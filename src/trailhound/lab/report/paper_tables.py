"""Tables that the published evaluations have: union recall, and a sweep of the threshold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

import numpy as np

from trailhound.lab.bootstrap import estimate
from trailhound.lab.report.tables import UPPER_BOUND, Cell, Table, format_interval
from trailhound.lab.results import ExperimentResults, RunResult

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Cosines above which the hidden-Markov papers call a page relevant."""


def union_recall_table(results: ExperimentResults) -> Table:
    """Share of what all strategies found together that each of them found.

    The recall of Liu, Janssen and Milios (2006), who had no ground truth: R_c = |Rel_c| / |U Rel|.
    The upper bound takes no part.
    """
    unions = _unions(results)
    headings = (("strategy", ""), ("union recall", "of all relevant pages that any strategy found"))

    def share(run: RunResult) -> float:
        union = unions[run.topic, run.seed_set]
        return len(union.intersection(run.found_pages)) / len(union) if union else 0.0

    rows = [
        (_name(strategy), _mean_cell(results, strategy, share, digits=3))
        for strategy in _rivals(results)
    ]
    return Table(headings, tuple(rows) if any(unions.values()) else ())


def threshold_table(results: ExperimentResults) -> Table:
    """How many fetched pages are at least so similar to a training target."""
    if not any(run.similarities for run in results.runs):
        return Table((), ())
    headings = tuple((f"≥ {threshold}", "") for threshold in THRESHOLDS)
    rows = [
        (
            _name(strategy),
            *(_mean_cell(results, strategy, _at_least(each), digits=1) for each in THRESHOLDS),
        )
        for strategy in results.parameters.strategies
    ]
    return Table((("strategy", ""), *headings), tuple(rows))


def _at_least(threshold: float) -> Callable[[RunResult], float]:
    return lambda run: float(sum(each >= threshold for each in run.similarities))


def _rivals(results: ExperimentResults) -> list[str]:
    return [name for name in results.parameters.strategies if name != UPPER_BOUND]


def _unions(results: ExperimentResults) -> Mapping[tuple[str, int], set[int]]:
    unions: dict[tuple[str, int], set[int]] = defaultdict(set)
    for run in results.runs:
        if run.strategy != UPPER_BOUND:
            unions[run.topic, run.seed_set].update(run.found_pages)
    return unions


def _mean_cell(
    results: ExperimentResults,
    strategy: str,
    quantity: Callable[[RunResult], float],
    digits: int,
) -> Cell:
    """The mean over topics, the runs of each averaged first, with its interval."""
    by_topic: dict[str, list[float]] = defaultdict(list)
    for run in results.runs:
        if run.strategy == strategy:
            by_topic[run.topic].append(quantity(run))
    found = estimate([float(np.mean(values)) for values in by_topic.values()])
    text = f"{found.mean:.{digits}f}"
    return Cell(text, found.mean, extra=format_interval(found, digits))


def _name(strategy: str) -> Cell:
    return Cell(strategy, strategy, is_name=True)
