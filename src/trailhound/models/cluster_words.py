"""Which words set a group of pages apart from the others, by two measures.

Log odds with an informative Dirichlet prior (Monroe, Colaresi, Quinn 2008), on term *counts*. With
y the count of a term in the group, n all counts of the group, y', n' the same for the other pages,
and a prior of α_0 counts spread like the terms of all pages, α = α_0 (y + y') / (n + n')::

    δ = log (y + α) / (n + α_0 - y - α)  -  log (y' + α) / (n' + α_0 - y' - α)
    score = δ / sqrt(1 / (y + α) + 1 / (y' + α))

Mutual information, on *presence*: how many bits the presence of a term tells about membership,
Σ p(t, g) log2(p(t, g) / (p(t) p(g))) over pages, among terms that are more frequent in the group.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from trailhound.text.tfidf import Terms, TermWeights

Counts = sparse.csr_array[np.int64]
Vector = NDArray[np.float64]

PRIOR_COUNTS = 500.0
"""α_0: the prior weighs as much as one page of ordinary length."""


def term_counts(weights: TermWeights, documents: Sequence[Terms]) -> Counts:
    """Counts of known terms, documents as rows. Shape (n_documents, n_terms)."""
    column = weights.vocabulary
    columns = [column[term] for terms in documents for term in terms]
    values = [count for terms in documents for count in terms.values()]
    ends = np.cumsum([0, *map(len, documents)])
    data = (np.array(values, np.int64), np.array(columns, np.int64), ends)
    return sparse.csr_array(data, shape=(len(documents), len(column)))


def log_odds(counts: Counts, members: NDArray[np.bool_], prior: float = PRIOR_COUNTS) -> Vector:
    """The score of every term; positive where the group uses it more. Shape (n_terms,)."""
    inside, outside = (
        np.asarray(counts[chosen].sum(axis=0), np.float64).ravel() for chosen in (members, ~members)
    )
    total = inside.sum() + outside.sum()
    if total == 0:
        return np.zeros(counts.shape[1])
    alpha = prior * (inside + outside) / total
    difference = _log_odds_of(inside, alpha, prior) - _log_odds_of(outside, alpha, prior)
    scores: Vector = difference / np.sqrt(1 / (inside + alpha) + 1 / (outside + alpha))
    return scores


def mutual_information(counts: Counts, members: NDArray[np.bool_]) -> Vector:
    """Bits per term; 0 for terms that are not more frequent in the group. Shape (n_terms,)."""
    n_inside, n_outside = int(members.sum()), int((~members).sum())
    if not n_inside or not n_outside:
        return np.zeros(counts.shape[1])
    inside, outside = document_counts(counts[members]), document_counts(counts[~members])
    with_term, total = inside + outside, n_inside + n_outside
    bits = np.zeros(counts.shape[1])
    for present, size in ((inside, n_inside), (outside, n_outside)):
        bits += _information(present, size, with_term, total)
        bits += _information(size - present, size, total - with_term, total)
    bits[inside * n_outside <= outside * n_inside] = 0
    return np.maximum(bits, 0)


def strongest(scores: Vector, counts: Counts, members: NDArray[np.bool_]) -> list[int]:
    """Columns of terms that set the group apart by their scores, strongest first."""
    # A word of one page alone says little about a group of several.
    shared = document_counts(counts[members]) >= min(2, int(members.sum()))
    order: list[int] = np.argsort(-scores * shared, kind="stable").tolist()
    return [column for column in order if shared[column] and scores[column] > 0]


def document_counts(counts: Counts) -> Vector:
    """In how many rows each term occurs. Shape (n_terms,)."""
    present = np.bincount(counts.indices[counts.data > 0], minlength=counts.shape[1])
    return present.astype(np.float64)


def _information(both: Vector, size: int, with_term: Vector, n_pages: int) -> Vector:
    """p(t, g) log2(p(t, g) / (p(t) p(g))), and 0 where p(t, g) is."""
    ratio = np.divide(both * n_pages, with_term * size, out=np.ones_like(both), where=both > 0)
    information: Vector = both / n_pages * np.log2(ratio)
    return information


def _log_odds_of(counted: Vector, alpha: Vector, prior: float) -> Vector:
    rest = counted.sum() + prior - counted - alpha
    # With a single term in the whole dictionary there is no rest to compare with.
    odds: Vector = np.log(counted + alpha) - np.log(np.maximum(rest, 1e-9))
    return odds
