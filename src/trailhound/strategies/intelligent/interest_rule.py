"""Interest ratios: how much likelier a page is to be relevant, given something known beforehand.

C is an event that can be seen before a page is fetched ("a page that links to it has this word"),
U the event that it turns out relevant::

    I(C, U) = P(U | C) / P(U)
    S(C, U) = |P(U | C) - P(U)| / sqrt(P(U) (1 - P(U)) / n)

An event counts only when S reaches a threshold. As published, n is the number of all pages
fetched, and probabilities are plain shares. Here n is the number of pages with the event, shares
are drawn towards P(U) by ``smoothing`` pages, and no single event may say more than a factor of
twenty: one unlucky page must not cancel all other evidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.errors import UsageError

Vector = NDArray[np.float64]
Counts = NDArray[np.int64]

LARGEST_LOG_RATIO = math.log(20)
"""What one event, or one factor, can say at most in the repaired reading."""
SMALLEST_RATIO = 1e-6
"""Stands for a ratio of zero in the literal reading: queues cannot order by minus infinity."""
MIN_SEEN = 3
"""Pages with an event before it counts in the repaired reading; S means little below."""


@dataclass(frozen=True)
class InterestRule:
    """From counts to logarithms of interest ratios."""

    significance: float = 2.0
    """Smallest S(C, U) of an event that counts."""
    smoothing: float = 4.0
    """κ: pages at the average rate added to what was seen of an event."""
    literal: bool = False
    """The formulas as published: no shrinking, no bounds, n of all pages."""

    def __post_init__(self) -> None:
        if self.significance < 0 or self.smoothing < 0:
            raise UsageError(
                f"Neither significance ({self.significance}) nor smoothing ({self.smoothing}) can "
                "be negative. The usual values are 2 and 4."
            )

    def base_rate(self, relevant: float, total: float) -> float:
        """P(U). The repaired one is never 0 or 1; the literal one is 0 before the first find."""
        if self.literal:
            return relevant / total if total else 0.0
        return (relevant + 0.5) / (total + 1)

    def log_ratios(self, hits: Counts | Vector, seen: Counts | Vector, base: float) -> Vector:
        """log I for events that were seen so often, with so many relevant pages; 0 if never."""
        if not 0 < base < 1:
            return np.zeros(len(seen))
        known = np.maximum(seen, 1)
        if self.literal:
            ratios = np.maximum(hits / known / base, SMALLEST_RATIO)
            return np.where(seen > 0, np.log(ratios), 0.0)
        pages = seen + self.smoothing
        shrunk = (hits + self.smoothing * base) / np.maximum(pages, SMALLEST_RATIO)
        logs = self.bounded(np.log(np.maximum(shrunk / base, SMALLEST_RATIO)))
        return np.where(pages > 0, logs, 0.0)

    def are_significant(
        self, hits: Counts, seen: Counts, base: float, total: int
    ) -> NDArray[np.bool_]:
        """Whether S(C, U) reaches the threshold. ``total`` is the number of pages fetched."""
        if not 0 < base < 1:
            return np.zeros(len(seen), np.bool_)
        known = np.maximum(seen, 1)
        samples = max(total, 1) if self.literal else known
        strength = np.abs(hits / known - base) / np.sqrt(base * (1 - base) / samples)
        least = 1 if self.literal else MIN_SEEN
        return (strength >= self.significance) & (seen >= least)

    def product(self, sums: Vector, events: Counts | Vector) -> Vector:
        """The logarithm of a product of so many ratios, given the sum of their logarithms.

        Words of a page come together, so their ratios are no independent evidence: the repaired
        reading divides by the square root of their number.
        """
        if self.literal:
            return sums
        return self.bounded(sums / np.sqrt(np.maximum(events, 1)))

    def bounded(self, logs: Vector) -> Vector:
        """Not below 1/20, not above 20; as it is in the literal reading."""
        if self.literal:
            return logs
        # Twice as fast as np.clip on vectors as short as a page's links.
        return np.minimum(np.maximum(logs, -LARGEST_LOG_RATIO), LARGEST_LOG_RATIO)


class LinkOutcomes(msgspec.Struct):
    """Links between fetched pages, counted when the page they lead to was fetched.

    With f1 … f4 as shares of all these links, the ratios of a candidate with m relevant and n
    irrelevant linking pages are::

        p = f1 / ((f1 + f2) (f1 + f3))      q = f3 / ((f3 + f4) (f1 + f3))      I_l = p^m q^n
    """

    from_relevant_to_relevant: int = 0
    """f1."""
    from_relevant_to_other: int = 0
    """f2."""
    from_other_to_relevant: int = 0
    """f3."""
    from_other_to_other: int = 0
    """f4."""

    def count(self, from_relevant: int, from_other: int, relevant: bool) -> None:
        """A page was fetched to which so many known pages of either kind link."""
        if relevant:
            self.from_relevant_to_relevant += from_relevant
            self.from_other_to_relevant += from_other
        else:
            self.from_relevant_to_other += from_relevant
            self.from_other_to_other += from_other

    def log_p_and_q(self, rule: InterestRule) -> tuple[float, float]:
        """Logarithms of p and q; 0 for what cannot be told yet."""
        f1, f2 = self.from_relevant_to_relevant, self.from_relevant_to_other
        f3, f4 = self.from_other_to_relevant, self.from_other_to_other
        base = rule.base_rate(f1 + f3, f1 + f2 + f3 + f4)
        # p is P(to relevant | from relevant) / P(to relevant): an interest ratio, and so is q.
        logs = rule.log_ratios(np.array([f1, f3]), np.array([f1 + f2, f3 + f4]), base)
        return float(logs[0]), float(logs[1])

    def log_ratios(self, rule: InterestRule, relevant: Vector, other: Vector) -> Vector:
        """log I_l of candidates with so many relevant and other linking pages."""
        log_p, log_q = self.log_p_and_q(rule)
        return rule.product(relevant * log_p + other * log_q, relevant + other)
