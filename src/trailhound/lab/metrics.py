"""How well a crawl went, from its curve of relevant pages found.

A *curve* gives R(t), the number of distinct relevant pages found after t GETs, for t = 1, 2, …
Every request counts, so an item that cost three GETs fills three positions. A crawl whose queue
ran empty before the budget can find nothing more: wherever a metric sums up to the budget, its
curve is held flat.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import entr

FloatArray = npt.NDArray[np.float64]


def curve_from_finds(steps: Iterable[tuple[int, bool]], budget: int) -> list[int]:
    """R(t) from ``(GETs this item cost, did it find a new relevant page)`` in crawl order.

    A page counts at the last of its GETs, when it has arrived. What lies beyond the budget is
    cut off: an item that begins within the budget and ends outside it was not found in time.
    """
    curve: list[int] = []
    found = 0
    for requests, is_new in steps:
        curve.extend([found] * requests)
        found += is_new
        if curve:  # an item that cost nothing, as it was known, belongs to the GET before
            curve[-1] = found
    return curve[:budget]


def hold_flat(curve: Sequence[int] | FloatArray, budget: int) -> FloatArray:
    """The curve as ``budget`` numbers, its last value repeated when the crawl ended early."""
    values = np.asarray(curve, dtype=np.float64)[:budget]
    last = values[-1] if len(values) else 0.0
    return np.concatenate([values, np.full(budget - len(values), last)])


def nauc(curve: Sequence[int], relevant_total: int, budget: int) -> float:
    """ΣR(t) / Σmin(t, R_total) over t = 1..budget: 1 when every GET finds until none is left."""
    best_possible = np.minimum(np.arange(1, budget + 1), relevant_total).sum()
    if not best_possible:
        return 0.0
    return float(hold_flat(curve, budget).sum() / best_possible)


def auhc(curve: Sequence[int], budget: int) -> float:
    """Area under the harvest curve, (1/budget) Σ R(t)/t: weighs early finds more than nAUC."""
    if budget < 1:
        return 0.0
    return float((hold_flat(curve, budget) / np.arange(1, budget + 1)).mean())


def requests_until(n_finds: int, curve: Sequence[int], budget: int) -> int:
    """Requests up to the n-th find; one more than the budget when there were fewer finds."""
    before = int(np.searchsorted(np.asarray(curve), n_finds))
    return before + 1 if before < len(curve) else budget + 1


def harvest(curve: Sequence[int]) -> float:
    """Relevant pages per GET over the crawl as long as it lasted."""
    return curve[-1] / len(curve) if curve else 0.0


def recall(curve: Sequence[int], relevant_total: int) -> float:
    """Share of the findable relevant pages that were found."""
    return curve[-1] / relevant_total if curve and relevant_total else 0.0


def effective_hosts(relevant_by_host: Sequence[int]) -> float:
    """exp(entropy) of the relevant pages' hosts: 3.0 is a spread as over three equal hosts."""
    total = sum(relevant_by_host)
    return float(np.exp(entr(np.asarray(relevant_by_host) / total).sum())) if total else 0.0


def max_host_share(relevant_by_host: Sequence[int]) -> float:
    """Share of the relevant pages that came from the most productive host."""
    total = sum(relevant_by_host)
    return max(relevant_by_host) / total if total else 0.0


def mean_of_max(similarities: FloatArray) -> float:
    """Mean over pages of the similarity to the nearest training target.

    ``similarities`` has shape (pages, targets). This is what the prose of Liu, Janssen and Milios
    (2006) describes and their figures show.
    """
    return float(similarities.max(axis=1).mean()) if similarities.size else 0.0


def max_of_mean(similarities: FloatArray) -> float:
    """Eq. 9 of the same paper as printed: the best target's mean similarity to all pages."""
    return float(similarities.mean(axis=0).max()) if similarities.size else 0.0
