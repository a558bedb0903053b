"""A judge made of any function of a page."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

import numpy as np

from trailhound.records import Page, Relevance

PREDICATE_THRESHOLD = 0.5
"""From which score on a page is relevant, when a function gives scores."""

Verdict = bool | float | Relevance
"""Yes or no; a score from 0 to 1; or both."""


class PredicateJudge:
    """Asks ``predicate`` about each page; a score is relevant from ``threshold`` on."""

    def __init__(
        self, predicate: Callable[[Page], Verdict], threshold: float = PREDICATE_THRESHOLD
    ) -> None:
        self._predicate = predicate
        self.threshold = threshold

    def judge(self, page: Page) -> Relevance:
        """What the function says; ValueError when that is no verdict."""
        return as_relevance(self._predicate(page), self.threshold)


def as_relevance(verdict: object, threshold: float = PREDICATE_THRESHOLD) -> Relevance:
    """A verdict as the crawler keeps it."""
    if isinstance(verdict, Relevance):
        return verdict
    if isinstance(verdict, bool | np.bool_):
        return Relevance(float(verdict), bool(verdict))
    if isinstance(verdict, Real) and 0 <= float(verdict) <= 1:
        return Relevance(float(verdict), float(verdict) >= threshold)
    raise ValueError(f"a judge answers True, False or a score from 0 to 1, not {verdict!r}")
