"""The hop HMM: hidden states are hops to a target, observations are clusters of pages.

Where it sits: the page graph's levels (:func:`trailhound.sessions.page_graph.hop_levels`) and the
clusters of its pages give the counts; a crawl then filters along each path and orders its links by
the predicted distribution of the next page.

Symbols, once for this module: n states T_0 … T_{n-1}, T_i being i hops from a target and T_{n-1}
that many or more; an alphabet of x + 1 clusters, 0 for targets and 1 … x for the others; A the
transition matrix, B the emission matrix, π the start distribution, α the belief P(T_j | O_1 … O_t).

The papers order a queue by (P(T_0), P(T_1), …), lexicographically, and call two entries equal when
they differ by less than ε. That relation is not transitive (a ~ b, b ~ c, a > c), and a queue needs
a total order; so each probability becomes a digit floor(P / ε), and the digits one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailhound.errors import ModelError, UsageError

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

BELIEF_FLOOR = 1e-12
"""No state is ever ruled out: one misleading page must not blind the rest of the path."""
MOST_EVIDENCE = 500.0
"""Logarithm of the largest factor that one observation may be worth: what any float can bear."""

_STORED = np.dtype("<f4")


@dataclass(frozen=True)
class HopHMM:
    """A trained model, and the filter that a crawl runs with it.

    ``literal`` is the papers' reading: the belief is the joint probability of states and
    observations, which is never normalised and may die.
    """

    transition: Matrix
    """A, shape (n_states, n_states): row i is P(next state | T_i)."""
    emission: Matrix
    """B, shape (n_states, n_clusters + 1): row j is P(cluster | T_j)."""
    literal: bool = False

    def __post_init__(self) -> None:
        n_states = len(self.transition)
        if n_states < 2 or self.transition.shape != (n_states, n_states):
            raise ModelError(
                f"The transition matrix has shape {self.transition.shape}. Learn anew."
            )
        if self.emission.ndim != 2 or len(self.emission) != n_states:
            raise ModelError(f"The emission matrix has shape {self.emission.shape}. Learn anew.")

    @property
    def n_states(self) -> int:
        """Number of hidden states."""
        return len(self.transition)

    @property
    def start(self) -> Vector:
        """π, uniform. Shape (n_states,)."""
        return np.full(self.n_states, 1 / self.n_states)

    def first(self, observation: int) -> Vector:
        """α(j, 1) = π_j b_j(O_1): the belief on a path's first page. Shape (n_states,)."""
        return self.seen(self.start, observation)

    def step(self, belief: Vector, observation: int) -> Vector:
        """α(j, t) = b_j(O_t) Σ_i α(i, t-1) a_ij: the belief after one more page."""
        return self.seen(belief @ self.transition, observation)

    def predict(self, belief: Vector) -> Vector:
        """α'(j, t+1) = Σ_i α(i, t) a_ij: the states of the next page, before it is seen."""
        return self._normalised(belief @ self.transition)

    def told(self, states: Vector, evidence: Vector) -> Matrix:
        """What is expected behind each link, given what its own words say: shape (n, n_states).

        ``evidence``, shape (n,), is the logarithm of how much more often such a link leads to a
        target than to another page: α'(0) counts exp(evidence) times, and all is normalised.
        """
        expected = np.tile(states, (len(evidence), 1))
        expected[:, 0] *= np.exp(np.clip(evidence, -MOST_EVIDENCE, MOST_EVIDENCE))
        return np.asarray(expected / expected.sum(axis=1, keepdims=True))

    def judged(self, states: Vector, relevance: float, observation: int | None) -> Vector:
        """The belief on a page that was expected in ``states`` and that a judge has read.

        α(0) = r, the relevance, is what the judge says. The page's cluster, unless it is that of
        the targets or unknown (``None``), tells the other states apart, α(j) ∝ b_j(O) α'(j),
        which share what is left, 1 - r.
        """
        others = states[1:] * self.emission[1:, observation] if observation else states[1:]
        total = float(others.sum())
        others = others / total if total > 0 else np.full(len(others), 1 / len(others))
        return self._normalised(np.append(relevance, (1 - relevance) * others))

    def seen(self, states: Vector, observation: int) -> Vector:
        """α(j) = b_j(O) α'(j): the belief on a page that was expected in ``states``."""
        emitted = self.emission[:, observation]
        joint = states * emitted
        if not self.literal and not joint.any():  # the path is impossible: start anew from here
            joint = self.start * emitted
        return self._normalised(joint)

    def _normalised(self, joint: Vector) -> Vector:
        if self.literal:
            return joint
        total = float(joint.sum())
        belief = np.maximum(joint / total if total > 0 else self.start, BELIEF_FLOOR)
        return belief / float(belief.sum())


def fit_hop_hmm(
    edges: Sequence[tuple[int, int]],
    levels: ArrayLike,
    clusters: ArrayLike,
    n_states: int,
    n_clusters: int,
    smoothing: float = 0.5,
    literal: bool = False,
) -> HopHMM:
    """Count the transitions of links and the emissions of pages.

    ``levels`` and ``clusters`` hold one number per page; clusters run from 0 (targets) to
    ``n_clusters``. With κ = ``smoothing``::

        a_ij = (|L_ij| + κ) / (Σ_j |L_ij| + κ n)        L_ij: links from level i to level j
        b_jc = (|N_jc| + κ) / (|N_j| + κ (x + 1))       N_jc: pages of level j in cluster c

    Levels are shortest distances, so no link skips towards the targets and many counts are zero by
    construction; κ > 0 lets the filter survive pages that training never showed. A row without any
    count is uniform.

    ``literal`` follows the papers' equation 3, which divides by the column (what share of the links
    into level j came from level i), without smoothing and without normalising the belief.
    """
    if n_states < 2:
        raise UsageError(f"There must be at least 2 hidden states, not {n_states}.")
    if n_clusters < 0:
        raise UsageError(f"The number of clusters cannot be {n_clusters}.")
    if not 0 <= smoothing < float("inf"):
        raise UsageError(f"Smoothing must be 0 or a small positive number, not {smoothing}.")
    state_of, cluster_of = np.asarray(levels, np.int64), np.asarray(clusters, np.int64)
    _check_range("level", state_of, n_states)
    _check_range("cluster", cluster_of, n_clusters + 1)
    links = np.asarray(edges, np.int64).reshape(-1, 2)
    transitions = _count(state_of[links[:, 0]], state_of[links[:, 1]], (n_states, n_states))
    emissions = _count(state_of, cluster_of, (n_states, n_clusters + 1))
    if literal:
        return HopHMM(_shares(transitions.T).T, _shares(emissions), literal=True)
    return HopHMM(_stochastic(transitions + smoothing), _stochastic(emissions + smoothing))


def pack_belief(belief: Vector) -> bytes:
    """A belief as it travels with a candidate: 4 bytes per state, little-endian."""
    return belief.astype(_STORED).tobytes()


def pack_beliefs(beliefs: Matrix) -> list[bytes]:
    """Each row as :func:`pack_belief` does it."""
    packed, size = beliefs.astype(_STORED).tobytes(), beliefs.shape[1] * _STORED.itemsize
    return [packed[start : start + size] for start in range(0, len(packed), size)]


def unpack_belief(memory: bytes, n_states: int) -> Vector:
    """The belief that :func:`pack_belief` stored."""
    if len(memory) != n_states * _STORED.itemsize:
        raise ModelError(
            f"A queued link remembers {len(memory)} bytes where a model of {n_states} states "
            f"needs {n_states * _STORED.itemsize}. Start the crawl anew: its model has changed."
        )
    return np.frombuffer(memory, _STORED).astype(np.float64)


def _count(rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]) -> Matrix:
    counts = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float64)


def _stochastic(counts: Matrix) -> Matrix:
    """Rows that sum to one; a row of zeros becomes uniform."""
    shares = _shares(counts)
    shares[counts.sum(axis=1) == 0] = 1 / counts.shape[1]
    return shares


def _shares(counts: Matrix) -> Matrix:
    """Rows divided by their sums; a row of zeros stays."""
    totals = counts.sum(axis=1, keepdims=True)
    return counts / np.where(totals > 0, totals, 1)


def _check_range(kind: str, values: NDArray[np.int64], size: int) -> None:
    if values.size and not (values.min() >= 0 and values.max() < size):
        found = values.min() if values.min() < 0 else values.max()
        raise ModelError(f"A page has {kind} {found}, outside 0 to {size - 1}. Learn anew.")


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
                f"priority. Use at most {self._most_states()} states, or another order."
            )

    def _most_states(self) -> int:
        """As many as fit."""
        digits = 1
        while self.base ** (digits + 1) <= EXACT_INTEGERS:
            digits += 1
        return digits if self.all_states else digits + 1

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

    def of_each(self, predictions: Matrix) -> list[float]:
        """The same for each row."""
        return [self(prediction) for prediction in predictions]


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

    def of_each(self, predictions: Matrix) -> list[float]:
        """The same for each row."""
        return [self(prediction) for prediction in predictions]


@dataclass(frozen=True)
class DiscountedHopsKey:
    """Σ_j P(T_j) γ^j: a target is worth 1, and γ times as much for each hop in front of it."""

    n_states: int
    discount: float = 0.4

    def __post_init__(self) -> None:
        if not 0 < self.discount < 1:
            raise UsageError(f"The discount must be between 0 and 1, not {self.discount:g}.")

    @cached_property
    def _worth(self) -> Vector:
        return np.asarray(self.discount ** np.arange(self.n_states))

    def __call__(self, prediction: NDArray[np.float64]) -> float:
        """Between γ^(n-1) and 1."""
        return float(prediction @ self._worth)

    def of_each(self, predictions: Matrix) -> list[float]:
        """The same for each row."""
        found: list[float] = (predictions @ self._worth).tolist()
        return found


PriorityKey = DiscountedHopsKey | LexicographicKey | LikeliestStateKey

_ROUNDING = 1e-9
"""0.3 / 0.1 is 2.999…96 in floating point, and means 3."""
_ALMOST_ONE = float(np.nextafter(1.0, 0.0)) - 1e-9
