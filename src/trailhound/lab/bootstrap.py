"""What can be said from few topics: intervals, paired tests, and bands around curves.

Runs of one topic are no independent samples, so callers average within each topic first; here
every row is one topic.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

N_RESAMPLES = 10_000
CONFIDENCE = 0.95
EXACT_TOPICS = 40
"""Up to here all sign patterns are counted, 2^20 sums a half; beyond, they are sampled."""
SAMPLED_FLIPS = 100_000
_SEED = 20_060_270
"""Fixed, so that the same results give the same report."""


class Estimate(msgspec.Struct, frozen=True):
    """A mean over topics with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


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
