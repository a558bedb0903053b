"""One plane from several views of the same pages, blended by what leave-one-out says of each.

A view is a way to weigh pages: by the words of their text, by those of their title. A *candidate*
gives each view a say. For each candidate a logistic regression as in
:mod:`trailhound.judges.contrast` is fitted, its left-out margins are made chances, and the log
loss L of these chances over all pages tells how well the candidate would have known pages it had
not seen. The blend is the mean of the candidates' log odds, each with the share ::

    q ∝ exp(-(L + price))

so that a candidate that is hardly better hardly counts for more. The mean of planes is a plane:
judging a page costs the same, whatever the number of candidates.

Margins m of pages as a judge would see them that had not been shown them (leave one out) become
chances by Platt's rule ``p = 1 / (1 + exp(-(a m + b)))``. Seven marks that happen to be separable
prove no certainty, so that a and b are held back twice: the labels are those of Platt's paper,
``(n + 1) / (n + 2)`` for n marked pages and not 1, and a is drawn towards a prior.

Those are chances among the pages of a session. In a crawl what is wanted is rarer, for people go
where they expect it: there the odds are taken to be ``RARER`` times smaller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from trailhound.judges.contrast import (
    INTERCEPT_ROOM,
    Documents,
    Vector,
    left_out_by_products,
    shares,
)

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


class Candidate(NamedTuple):
    """A way to look at pages."""

    says: tuple[float, ...]
    """Of each view: the square of what its vectors of length one are multiplied by."""
    price: float
    """How much smaller its log loss must be, in nats over all pages, to be worth the same."""


class Blend(NamedTuple):
    """A plane through all views, and what it would say of pages it had not seen."""

    coefficients: tuple[Vector, ...]
    """For each view, shape (n_columns,)."""
    intercept: float
    left_out: Vector
    """Log odds of each page, shape (n_pages,)."""


class Scaling(NamedTuple):
    """From margins to log odds."""

    slope: float
    offset: float

    def logits(self, margins: Vector) -> Vector:
        """log(p / (1 - p)) of each."""
        return self.slope * margins + self.offset


class _Fitted(NamedTuple):
    duals: Vector
    scaling: Scaling
    left_out: Vector
    cost: float


def blend(
    views: Sequence[Documents], wanted: NDArray[np.bool_], candidates: Sequence[Candidate]
) -> Blend:
    """Fit all candidates and blend them; both kinds of pages must be there."""
    products = [(view @ view.T).toarray() for view in views]
    fits = [_fit(products, wanted, candidate) for candidate in candidates]
    costs = np.array([fit.cost for fit in fits])
    q = np.exp(costs.min() - costs)
    q /= q.sum()
    slopes, offsets = np.array([fit.scaling for fit in fits]).T
    duals = (q * slopes)[:, None] * np.array([fit.duals for fit in fits])
    by_view = np.array([candidate.says for candidate in candidates]).T @ duals
    return Blend(
        tuple(np.asarray(view.T @ each) for view, each in zip(views, by_view, strict=True)),
        INTERCEPT_ROOM * float(duals.sum()) + float(q @ offsets),
        q @ np.array([fit.left_out for fit in fits]),
    )


def _fit(products: Sequence[Vector], wanted: NDArray[np.bool_], candidate: Candidate) -> _Fitted:
    """One candidate, with the log loss of its left-out chances."""
    views = zip(candidate.says, products, strict=True)
    together = sum(
        (say * each for say, each in views if say), np.full_like(products[0], INTERCEPT_ROOM)
    )
    duals = separate_by_products(together, wanted)
    margins = together @ duals
    left_out = left_out_by_products(together, wanted, margins)
    if wanted.sum() == 1:  # nothing is left to know it by: what was learned from it has to do
        left_out[wanted] = margins[wanted]
    scaling = scaled(left_out, wanted)
    logits = scaling.logits(left_out)
    loss = float(np.sum(np.logaddexp(0, logits) - wanted * logits))
    return _Fitted(duals, scaling, logits, loss + candidate.price)


def separate_by_products(products: Vector, wanted: NDArray[np.bool_]) -> Vector:
    """The plane of ``contrast`` as a sum over documents; returns what each adds to it.

    With the products K of documents, margins are f = K c. Newton's method; its time grows with the
    third power of the number of documents and not with that of terms.
    """
    says, labels = shares(wanted), wanted.astype(np.float64)

    def loss(duals: Vector, margins: Vector) -> float:
        misfit = says @ (np.logaddexp(0, margins) - labels * margins)
        return float(duals @ margins / 2 + misfit)

    duals, margins = np.zeros(len(wanted)), np.zeros(len(wanted))
    least = loss(duals, margins)
    for _ in range(50):
        chances = expit(margins)
        curvature = np.maximum(says * chances * (1 - chances), 1e-10)
        aim = margins - says * (chances - labels) / curvature
        roots = np.sqrt(curvature)
        system = np.outer(roots, roots) * products
        system.flat[:: len(roots) + 1] += 1
        step = roots * np.linalg.solve(system, roots * aim) - duals
        moved = products @ step
        while loss(duals + step, margins + moved) > least and np.abs(moved).max() > 1e-9:
            step, moved = step / 2, moved / 2
        duals, margins = duals + step, margins + moved
        least = loss(duals, margins)
        if np.abs(moved).max() < 1e-7:
            break
    return duals


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
