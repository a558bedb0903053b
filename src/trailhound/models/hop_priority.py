"""From a predicted distribution over hops to one number that a queue can sort by.

The papers compare (P(T_0), P(T_1), …) lexicographically and call two entries equal when they
differ by less than ε. That relation is not transitive (a ~ b, b ~ c, a > c), and a queue needs a
total order; so each probability becomes a digit floor(P / ε), and the digits one number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailhound.errors import UsageError

EXACT_INTEGERS = 2**53
"""Below this every integer is a float of its own, so that packing loses no digit."""


@dataclass(frozen=True)
class LexicographicKey:
    """Nearest states first: P(T_0), ties by P(T_1), and so on, in steps of ε.

    Probabilities sum to one, so the last state says nothing new and has no digit. That leaves room
    for 6 states at ε = 0.001. The literal model's numbers do not sum to one: ``all_states``.
    """

    n_states: int
    epsilon: float = 0.001
    all_states: bool = False

    def __post_init__(self) -> None:
        if self.n_states < 2:
            raise UsageError(f"There must be at least 2 hidden states, not {self.n_states}.")
        if not 0 < self.epsilon <= 1:
            raise UsageError(f"epsilon must be above 0 and at most 1, not {self.epsilon}.")
        if self.base**self.n_digits > EXACT_INTEGERS:
            raise UsageError(
                f"{self.n_states} states compared in steps of {self.epsilon} do not fit into one "
                f"priority. Use epsilon {self._roomy_epsilon():.2g} or more, or fewer states."
            )

    @property
    def n_digits(self) -> int:
        """How many states count."""
        return self.n_states if self.all_states else self.n_states - 1

    @property
    def base(self) -> int:
        """How many values a digit has: a probability of 1 is the largest."""
        return int(np.floor(1 / self.epsilon + _ROUNDING)) + 1

    def digits(self, prediction: NDArray[np.float64]) -> NDArray[np.int64]:
        """floor(P / ε) of the states that count. Shape (n_digits,)."""
        steps = np.floor(prediction[: self.n_digits] / self.epsilon + _ROUNDING)
        return np.clip(steps, 0, self.base - 1).astype(np.int64)

    def __call__(self, prediction: NDArray[np.float64]) -> float:
        """The digits as one number, T_0 the most significant: a float that holds an integer."""
        key = 0
        for digit in self.digits(prediction).tolist():
            key = key * self.base + digit
        return float(key)

    def _roomy_epsilon(self) -> float:
        """A step that fits, and still does when it is printed with two digits."""
        largest_base = int(EXACT_INTEGERS ** (1 / self.n_digits))
        return min(1.0, 1.1 / max(1, largest_base - 1))


@dataclass(frozen=True)
class LikeliestStateKey:
    """The most probable state decides, the nearer first; ties by its probability."""

    n_states: int

    def __call__(self, prediction: NDArray[np.float64]) -> float:
        """States count down from the farthest; the probability is the fraction behind."""
        state = int(np.argmax(prediction))
        probability = float(prediction[state] / prediction.sum()) if prediction[state] > 0 else 0.0
        # Below 1, so that certainty in one state does not reach the next.
        return float(self.n_states - 1 - state) + min(probability, _ALMOST_ONE)


def priority(prediction: NDArray[np.float64], epsilon: float = 0.001) -> float:
    """The lexicographic key of one prediction."""
    return LexicographicKey(len(prediction), epsilon)(prediction)


PriorityKey = LexicographicKey | LikeliestStateKey

_ROUNDING = 1e-9
"""0.3 / 0.1 is 2.999…96 in floating point, and means 3."""
_ALMOST_ONE = float(np.nextafter(1.0, 0.0)) - 1e-9
