"""From single runs to statements about strategies: means over topics and paired comparisons.

Runs of one topic are no independent samples, so they are averaged first: every value that is
resampled or compared here is one topic's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from trailhound.lab.results import Comparison, Estimate, RunResult

FloatArray = npt.NDArray[np.float64]

N_RESAMPLES = 10_000
CONFIDENCE = 0.95
EXACT_TOPICS = 40
"""Up to here all sign patterns are counted, 2^20 sums a half; beyond, they are sampled."""
SAMPLED_FLIPS = 100_000
_SEED = 20_060_270
"""Fixed, so that the same results give the same report."""


def estimate(per_topic: Sequence[float] | FloatArray) -> Estimate:
    """Mean and percentile interval; with one topic the interval is that one value."""
    values = np.asarray(per_topic, dtype=np.float64)
    if not len(values):
        raise ValueError("no topic to average over")
    mean, low, high = bands(values[:, None])
    return Estimate(mean=float(mean[0]), low=float(low[0]), high=float(high[0]))


def bands(rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Column means of ``rows`` (topics, points) with pointwise lower and upper 95 % limits."""
    means = _resampling_weights(len(rows)) @ rows
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    mean = rows.mean(axis=0)
    # Rounding in the matrix product must not put the mean of equal values outside its interval.
    return mean, np.minimum(low, mean), np.maximum(high, mean)


def _resampling_weights(n_topics: int) -> FloatArray:
    """Shape (resamples, topics): how often each resample drew each topic, divided by the size."""
    generator = np.random.default_rng(_SEED)
    counts = generator.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=N_RESAMPLES)
    return counts.astype(np.float64) / n_topics


def sign_flip_p(differences: Sequence[float] | FloatArray) -> float:
    """Two-sided p of the paired sign-flip test: how often random signs give as large a sum.

    Exact up to 40 topics. The smallest possible value is 2 / 2^n: .03125 with six topics.
    """
    values = np.asarray(differences, dtype=np.float64)
    observed = abs(float(values.sum()))
    # Sums of the same numbers in another order differ in their last digits and must still tie.
    tolerance = 1e-9 * float(np.abs(values).sum())
    if observed <= tolerance:
        return 1.0
    if len(values) > EXACT_TOPICS:
        return _sampled_p(values, observed - tolerance)
    return _exact_p(values, observed - tolerance)


def _exact_p(values: FloatArray, threshold: float) -> float:
    """Counts all 2^n sign patterns by pairing the sums of two halves."""
    half = len(values) // 2
    left, right = _signed_sums(values[:half]), np.sort(_signed_sums(values[half:]))
    at_least = len(right) - np.searchsorted(right, threshold - left, side="left")
    # Flipping every sign mirrors a pattern, so the lower tail is as heavy as the upper.
    return min(1.0, 2.0 * float(at_least.sum()) / 2.0 ** len(values))


def _signed_sums(values: FloatArray) -> FloatArray:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _sampled_p(values: FloatArray, threshold: float) -> float:
    generator = np.random.default_rng(_SEED)
    hits = 0
    for _ in range(10):
        signs = generator.choice([-1.0, 1.0], size=(SAMPLED_FLIPS // 10, len(values)))
        hits += int((np.abs(signs @ values) >= threshold).sum())
    # The observed pattern counts as one of the draws, so that p is never zero.
    return (hits + 1) / (SAMPLED_FLIPS + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction for several comparisons, in the order given."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


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
