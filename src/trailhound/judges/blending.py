"""One plane from several views of the same pages, blended by what leave-one-out says of each.

A view is a way to weigh pages: by the words of their text, by those of their title. A *candidate*
gives each view a say. For each candidate a logistic regression as in
:mod:`trailhound.judges.contrast` is fitted, its left-out margins are made chances
(:mod:`trailhound.judges.chances`), and the log loss L of these chances over all pages tells how
well the candidate would have known pages it had not seen. The blend is the mean of the candidates'
log odds, each with the share ::

    q ∝ exp(-(L + price))

so that a candidate that is hardly better hardly counts for more. The mean of planes is a plane:
judging a page costs the same, whatever the number of candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from trailhound.judges.chances import Scaling, Vector, scaled
from trailhound.judges.contrast import INTERCEPT_ROOM, Documents, left_out_by_products, shares


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
