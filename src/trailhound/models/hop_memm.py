"""The hop MEMM: transitions between hops to a target that depend on what is known of a link.

A maximum-entropy Markov model. Where the hop HMM (:mod:`trailhound.models.hop_hmm`) has one row of
its transition matrix for each state s, this has a multinomial logistic regression over features x
of the link, of which the first is always 1::

    P(T_j | T_s, x) = exp(w_sj · x) / Σ_k exp(w_sk · x)
    α'(j) = Σ_s α(s) P(T_j | T_s, x)

Learned from links whose end is known, each with a belief α about its page and a distribution y of
the states of its end: the weights are where ::

    |w - w₀|² / 2 + Σ_links Σ_s α(s) (log Σ_k exp(w_sk · x) - Σ_j y_j w_sj · x)

is least. w₀ are the weights of an HMM: the logarithms of its transitions for the constant feature,
and what the words of a link are worth in it. With few examples the model is the HMM.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trailhound.models.hop_hmm import Matrix, Vector


@dataclass(frozen=True)
class HopMEMM:
    """Weights, and those that they are drawn to; both of shape (n_states, n_states, n_features)."""

    weights: Matrix
    prior: Matrix

    @classmethod
    def like(cls, transition: Matrix, towards_targets: Vector) -> HopMEMM:
        """The model that knows transitions alone, and what speaks for T_0 in every state.

        Row s of ``transition`` are the odds of the next states, in any unit.
        ``towards_targets`` has the prior weight of each feature behind the constant one.
        """
        n_states = len(transition)
        prior = np.zeros((n_states, n_states, 1 + len(towards_targets)))
        prior[:, :, 0] = np.log(np.maximum(transition, 1e-9))
        prior[:, 0, 1:] = towards_targets
        return cls(prior, prior)

    def predict(self, beliefs: Matrix, rows: Matrix) -> Matrix:
        """α' for each link: beliefs of shape (n, n_states), features of shape (n, n_features)."""
        shares = np.exp(self._log_shares(self.weights, rows))
        return np.asarray((beliefs[:, :, None] * shares).sum(axis=1))

    @staticmethod
    def _log_shares(weights: Matrix, rows: Matrix) -> Matrix:
        """log P(T_j | T_s, x) for each row x: shape (n, n_states, n_states)."""
        n_from, n_to, n_features = weights.shape
        scores = (rows @ weights.reshape(-1, n_features).T).reshape(-1, n_from, n_to)
        scores -= scores.max(axis=2, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=2, keepdims=True)))

    def fitted(self, beliefs: Matrix, rows: Matrix, ends: Matrix, steps: int = 100) -> HopMEMM:
        """The same, having learned from examples; ``ends`` are the y, shape (n, n_states)."""
        from scipy.optimize import minimize  # here: loading it takes 0.2 s

        shape, prior, n = self.prior.shape, self.prior.ravel(), len(rows)
        counts = beliefs[:, :, None]
        wanted = (counts * ends[:, None, :]).reshape(n, -1)

        def loss(flat: Vector) -> tuple[float, Vector]:
            logs = self._log_shares(flat.reshape(shape), rows)
            away = flat - prior
            slopes = (counts * np.exp(logs)).reshape(n, -1) - wanted
            value = float(away @ away / 2 - np.vdot(wanted, logs))
            return value, (slopes.T @ rows).ravel() + away

        found = minimize(
            loss, self.weights.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": steps}
        )
        return HopMEMM(found.x.reshape(shape), self.prior)
