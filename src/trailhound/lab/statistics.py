"""From single runs to statements about strategies: means over topics and paired comparisons.

Runs of one topic are no independent samples, so they are averaged first: every value that is
resampled or compared here is one topic's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from trailhound.lab.results import BeatenBound, Comparison, Estimate, RunResult

FloatArray = npt.NDArray[np.float64]

N_RESAMPLES = 9_999
N_FLIPS = 99_999
"""Sign patterns of a paired test: all of them up to 16 topics, beyond that so many at random."""
CONFIDENCE = 0.95
_SEED = 20_060_270
"""Fixed, so that the same results give the same report."""
_BATCH = 500  # resamples held in memory at a time

SUMMARY_METRICS = (
    "nauc",
    "harvest",
    "recall",
    "auhc",
    "found",
    "first_find",
    "third_find",
    "tenth_find",
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
UPPER_BOUND = "oracle"
"""A strategy that is told the answers: shown, but never the best."""
_TIE = 1e-9


def estimate(per_topic: Sequence[float] | FloatArray) -> Estimate:
    """Mean and percentile interval; with one topic the interval is that one value."""
    values = np.asarray(per_topic, dtype=np.float64)
    if not len(values):
        raise ValueError("no topic to average over")
    mean, low, high = bands(values[:, None])
    return Estimate(mean=float(mean[0]), low=float(low[0]), high=float(high[0]))


def bands(rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Column means of ``rows`` (topics, points) with pointwise lower and upper 95 % limits.

    Percentile limits: bias-corrected ones are undefined where all topics are equal, as at the
    beginning of every curve.
    """
    mean = rows.mean(axis=0)
    if len(rows) < 2:
        return mean, mean, mean
    from scipy.stats import bootstrap  # here: loading it takes half a second, in every process

    found = bootstrap(
        (rows,),
        np.mean,
        axis=0,
        method="percentile",
        n_resamples=N_RESAMPLES,
        confidence_level=CONFIDENCE,
        batch=_BATCH,
        rng=np.random.default_rng(_SEED),
    ).confidence_interval
    # Rounding must not put the mean of equal values outside its interval.
    return mean, np.minimum(found.low, mean), np.maximum(found.high, mean)


def sign_flip_p(differences: Sequence[float] | FloatArray) -> float:
    """Two-sided p of the paired sign-flip test: how often random signs give as large a sum.

    Exact up to 16 topics. The smallest possible value is then 2 / 2^n: .03125 with six topics.
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) < 2:
        return 1.0
    from scipy.stats import permutation_test

    found = permutation_test(
        (values,),
        _rounded_sum,
        permutation_type="samples",
        n_resamples=N_FLIPS,
        rng=np.random.default_rng(_SEED),
    )
    return float(found.pvalue)


def _rounded_sum(values: FloatArray, axis: int) -> FloatArray:
    """Sums of the same numbers in another order differ in their last digits and must still tie."""
    sums: FloatArray = np.round(values.sum(axis=axis), 9)
    return sums


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction for several comparisons, in the order given."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def metric_of(run: RunResult, metric: str) -> float:
    """One run's value of a summary metric."""
    if metric == "cpu_ms_per_fetch":
        return 1000 * run.cpu_seconds / max(run.crawl_fetches or run.fetches, 1)
    return float(getattr(run, metric))


def topic_means(
    runs: Sequence[RunResult], strategy: str, metric: str | Callable[[RunResult], float]
) -> dict[str, float]:
    """Mean over a topic's runs, by topic in the order of first appearance."""
    values: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        if run.strategy == strategy:
            value = metric_of(run, metric) if isinstance(metric, str) else metric(run)
            values[run.topic].append(value)
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


def bound_beaten(runs: Sequence[RunResult]) -> list[BeatenBound]:
    """Runs with a larger nAUC than the oracle's from the same seeds; none where it did not run."""
    bounds = {(run.topic, run.seed_set): run.nauc for run in runs if run.strategy == UPPER_BOUND}
    return [
        BeatenBound(run.topic, run.seed_set, run.strategy, run.nauc, bound)
        for run in runs
        if (bound := bounds.get((run.topic, run.seed_set))) is not None and run.nauc > bound + _TIE
    ]


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
    comparisons: list[Comparison] = []
    for metric in COMPARED_METRICS:
        of_baseline = topic_means(runs, baseline, metric)
        differences = [
            [mean - of_baseline[topic] for topic, mean in topic_means(runs, rival, metric).items()]
            for rival in rivals
        ]
        p_values = [sign_flip_p(values) for values in differences]
        found = zip(rivals, differences, p_values, holm(p_values), strict=True)
        comparisons += [
            Comparison(rival, baseline, metric, estimate(values), len(values), p, p_holm)
            for rival, values, p, p_holm in found
        ]
    return comparisons
