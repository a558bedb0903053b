"""From single runs to statements about strategies: means over topics and paired comparisons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from trailhound.lab.bootstrap import Estimate, estimate, holm, sign_flip_p
from trailhound.lab.results import Comparison, RunResult

FloatArray = npt.NDArray[np.float64]

SUMMARY_METRICS = (
    "nauc",
    "harvest",
    "recall",
    "auhc",
    "found",
    "hosts",
    "effective_hosts",
    "max_host_share",
    "mean_max_similarity",
    "eq9_similarity",
    "fetches",
    "links_outside",
    "cpu_seconds",
    "cpu_ms_per_fetch",
    "learning_cpu_seconds",
    "learning_queries",
    "learning_pages",
    "queries",
    "nauc_learning_free",
)
COMPARED_METRICS = ("nauc", "harvest", "recall")
PREFERRED_BASELINE = "best-first"


def metric_of(run: RunResult, metric: str) -> float:
    """One run's value of a summary metric."""
    if metric == "cpu_ms_per_fetch":
        return 1000 * run.cpu_seconds / max(run.crawl_fetches or run.fetches, 1)
    return float(getattr(run, metric))


def topic_means(runs: Sequence[RunResult], strategy: str, metric: str) -> dict[str, float]:
    """Mean over a topic's runs, by topic in the order of first appearance."""
    values: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        if run.strategy == strategy:
            values[run.topic].append(metric_of(run, metric))
    return {topic: float(np.mean(of_topic)) for topic, of_topic in values.items()}


def summarise(
    runs: Sequence[RunResult], strategies: Sequence[str]
) -> dict[str, dict[str, Estimate]]:
    """Per strategy and metric: mean over topics and its bootstrap interval."""
    return {
        strategy: {
            metric: estimate(list(topic_means(runs, strategy, metric).values()))
            for metric in SUMMARY_METRICS
        }
        for strategy in strategies
    }


def choose_baseline(strategies: Sequence[str]) -> str | None:
    """``best-first`` where it took part, else the first strategy; ``None`` without a rival."""
    if len(strategies) < 2:
        return None
    return PREFERRED_BASELINE if PREFERRED_BASELINE in strategies else strategies[0]


def compare(
    runs: Sequence[RunResult], strategies: Sequence[str], baseline: str | None
) -> list[Comparison]:
    """Every other strategy against the baseline, for each compared metric."""
    if baseline is None:
        return []
    rivals = [strategy for strategy in strategies if strategy != baseline]
    return [
        comparison
        for metric in COMPARED_METRICS
        for comparison in _compare_by(metric, runs, rivals, baseline)
    ]


def _compare_by(
    metric: str, runs: Sequence[RunResult], rivals: Sequence[str], baseline: str
) -> list[Comparison]:
    differences = [_paired_differences(runs, rival, baseline, metric) for rival in rivals]
    p_values = [sign_flip_p(values) for values in differences]
    return [
        Comparison(
            strategy=rival,
            baseline=baseline,
            metric=metric,
            difference=estimate(values),
            topics=len(values),
            p=p,
            p_holm=p_holm,
        )
        for rival, values, p, p_holm in zip(
            rivals, differences, p_values, holm(p_values), strict=True
        )
    ]


def _paired_differences(
    runs: Sequence[RunResult], rival: str, baseline: str, metric: str
) -> FloatArray:
    """Rival minus baseline, one value per topic that both crawled."""
    of_rival = topic_means(runs, rival, metric)
    of_baseline = topic_means(runs, baseline, metric)
    return np.array([of_rival[topic] - of_baseline[topic] for topic in of_rival])
