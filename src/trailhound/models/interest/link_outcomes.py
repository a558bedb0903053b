"""Where links lead: how often from relevant pages to relevant ones, and the other three ways."""

from __future__ import annotations

import msgspec
import numpy as np

from trailhound.models.interest.rule import InterestRule, Vector


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
        return rule.product(relevant * log_p + other * log_q, (relevant + other).astype(np.int64))
