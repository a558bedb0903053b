"""From margins to chances, and what chances promise: carefully, where few pages were marked.

Margins m of pages as a judge would see them that had not been shown them (leave one out) become
chances by Platt's rule ``p = 1 / (1 + exp(-(a m + b)))``. Seven marks that happen to be separable
prove no certainty, so that a and b are held back twice: the labels are those of Platt's paper,
``(n + 1) / (n + 2)`` for n marked pages and not 1, and a is drawn towards a prior.

Those are chances among the pages of a session. In a crawl what is wanted is rarer, for people go
where they expect it: there the odds are taken to be ``RARER`` times smaller.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Vector = NDArray[np.float64]

PRIOR_SLOPE = 1.5
"""Log odds for each standard deviation of the margins within one kind of page."""
PRIOR_STRENGTH = 1.0
"""What a slope off by one costs twice, in the unit of the log loss of one page."""
OFFSET_STRENGTH = 0.01
SMALLEST_SLOPE = 0.1
MOST_APART = 5.0
"""Standard deviations that both kinds of pages are taken to be apart at most."""
SMALLEST_SPREAD = 0.01
RARER = 2.0
"""How much smaller the odds of a page are in a crawl than in the session."""
UNKNOWN_QUALITY = 0.5
"""The F1 to reckon with when a single mark leaves nothing to measure it by."""


class Scaling(NamedTuple):
    """From margins to log odds."""

    slope: float
    offset: float

    def logits(self, margins: Vector) -> Vector:
        """log(p / (1 - p)) of each."""
        return self.slope * margins + self.offset


def scaled(margins: Vector, wanted: NDArray[np.bool_]) -> Scaling:
    """Platt's rule, fitted by Newton's method; both kinds of pages must be there."""
    n_wanted, n_others = int(wanted.sum()), int((~wanted).sum())
    labels = np.where(wanted, (n_wanted + 1) / (n_wanted + 2), 1 / (n_others + 2))
    middle, spread = _standard(margins, wanted)
    rows = np.stack([(margins - middle) / spread, np.ones(len(margins))], axis=1)
    prior = np.array([PRIOR_SLOPE, np.log((n_wanted + 1) / (n_others + 1))])
    slope, offset = _newton(rows, labels, prior, np.array([PRIOR_STRENGTH, OFFSET_STRENGTH]))
    slope = max(slope, SMALLEST_SLOPE) / spread
    return Scaling(slope, offset - slope * middle)


def _standard(margins: Vector, wanted: NDArray[np.bool_]) -> tuple[float, float]:
    """Halfway between both kinds, and the deviation within them: a few may be too much alike."""
    kinds = margins[wanted], margins[~wanted]
    upper, lower = (float(kind.mean()) for kind in kinds)
    within = sum(len(kind) * float(kind.var()) for kind in kinds) / len(margins)
    spread = max(float(np.sqrt(within)), abs(upper - lower) / MOST_APART, SMALLEST_SPREAD)
    return (upper + lower) / 2, spread


def _newton(rows: Vector, labels: Vector, prior: Vector, strength: Vector) -> tuple[float, float]:
    """The least penalised log loss; steps that overshoot are halved."""

    def loss(parameters: Vector) -> float:
        logits = rows @ parameters
        misfit = np.sum(np.logaddexp(0, logits) - labels * logits)
        return float(misfit + strength @ (parameters - prior) ** 2 / 2)

    found = prior
    for _ in range(50):
        chances = expit(rows @ found)
        gradient = rows.T @ (chances - labels) + strength * (found - prior)
        curvature = (rows.T * (chances * (1 - chances))) @ rows + np.diag(strength)
        step = np.linalg.solve(curvature, gradient)
        before = loss(found)
        while loss(found - step) > before and np.abs(step).max() > 1e-9:
            step = step / 2
        found = found - step
        if np.abs(step).max() < 1e-6:
            break
    return float(found[0]), float(found[1])


def expected_f1(chances: NDArray[np.floating]) -> float:
    """The best F1 that pages with these chances promise.

    Taking the best k of them finds Σp of those k, of Σp that there are.
    """
    known = -np.sort(-chances.astype(np.float64))
    if not known.any():
        return 0.0
    return float((2 * np.cumsum(known) / (np.arange(1, len(known) + 1) + known.sum())).max())


def in_a_crawl(logits: Vector) -> Vector:
    """Chances of pages in a crawl, by their log odds in a session."""
    return np.asarray(expit(logits - math.log(RARER)))


def chance_threshold(chances: NDArray[np.floating]) -> float:
    """γ, by the chances in a crawl of the session's own pages, each as if it had not been shown.

    Among pages as the session has them, F1 is best from half of its expected value on. Where kinds
    are hard to tell apart, a page need not be likelier than not. Unlike a cut through the marked
    pages themselves, γ turns no near misses away when these happen to be far above all others.
    """
    quality = UNKNOWN_QUALITY
    if (chances >= 0).all():
        odds = RARER * chances / (1 - np.minimum(chances, 1 - 1e-9))
        quality = expected_f1(odds / (1 + odds))
    odds_at_cut = quality / (2 - quality) / RARER
    return odds_at_cut / (1 + odds_at_cut)
