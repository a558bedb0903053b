"""What the users of a page say about it: the formulas of Aggarwal's collaborative crawler (2002).

They are interest ratios as in :mod:`trailhound.models.interest.rule`, whose rule says how counts
become ratios; the event is that a user has opened a page. Numbers in brackets are the paper's.
Ratios are natural logarithms throughout: products become sums, and 0 says nothing either way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trailhound.models.interest.rule import Counts, InterestRule, Vector


def deviations(rule: InterestRule, hits: Counts, seen: Counts, base: float, total: int) -> Vector:
    """(3): standard deviations between a user's share of relevant pages and the base rate.

    The share of q pages varies as q pages do; the paper divides by the root of all ``total``.
    """
    if not 0 < base < 1:
        return np.zeros(len(seen))
    samples = np.full(len(seen), total) if rule.literal else seen
    shares = hits / np.maximum(seen, 1)
    return np.abs(shares - base) * np.sqrt(samples / (base * (1 - base))) * (seen > 0)


def share(rule: InterestRule, hits: Counts, seen: Counts, base: float) -> Vector:
    """P(U given a user), drawn towards the base rate unless the rule is literal; 0 for nothing."""
    kappa = 0.0 if rule.literal else rule.smoothing
    shares: Vector = (hits + kappa * base) / np.maximum(seen + kappa, 1e-12)
    return shares


def product(rule: InterestRule, logs: Vector, owners: NDArray[np.int64], n_owners: int) -> Vector:
    """(2), (5): the ratios of each page's users, multiplied. Shape (n_owners,).

    Users of one page are no independent witnesses, and a popular page has many: the sum of their
    logarithms is divided by the root of their number. The literal product is plain.
    """
    sums = np.bincount(owners, logs, n_owners).astype(np.float64)
    if rule.literal:
        return sums
    counts = np.bincount(owners, minlength=n_owners)
    return sums / np.sqrt(np.maximum(counts, 1))


def log_of(rule: InterestRule, ratios: Vector) -> Vector:
    """Logarithms of ratios, with the rule's bounds on what one user may say."""
    return rule.bounded(np.log(np.maximum(ratios, 1e-6)))


def outliers(values: Vector, threshold: float) -> NDArray[np.bool_]:
    """(6), (7), (8): which values are at least so many standard deviations from their mean.

    None of them when all are equal.
    """
    spread = float(values.std()) if values.size else 0.0
    if spread <= 1e-12:
        return np.zeros(values.shape, np.bool_)
    far: NDArray[np.bool_] = np.abs(values - values.mean()) / spread >= threshold
    return far
