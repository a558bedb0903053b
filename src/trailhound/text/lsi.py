"""Latent semantic indexing: term weights to a space of a few dozen dimensions.

The training documents' weights form A (terms × documents), and A ≈ U_k Σ_k V_kᵀ by Lanczos
iteration. A training document has the coordinates of its row of V_k Σ_k; any other document d is
folded in as U_kᵀ d, which for a training document gives the same, because U_kᵀ A = Σ_k V_kᵀ.
Coordinates are scaled to length one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from trailhound.errors import ModelError, UsageError

MAX_RANK = 100
VARIANCE_SHARE = 0.6
LANCZOS_TOLERANCE = 1e-6
"""Accuracy of the singular triplets in the papers; it is no rule for the rank."""

_NO_WEIGHT = 1e-6
"""Singular values below this share of the largest are rounding, given the tolerance."""

_MAX_GRAM = 3_000
"""Documents whose products with each other are kept as a matrix: 70 MB."""


_Decomposition = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""U, σ and VΣ."""


@dataclass(frozen=True)
class LatentSpace:
    """A trained space. ``coordinates`` belong to the training documents, in their order."""

    term_vectors: NDArray[np.float32]
    """U_k, shape (n_terms, rank)."""
    singular_values: NDArray[np.float64]
    """σ_1 ≥ … ≥ σ_k, shape (rank,)."""
    coordinates: NDArray[np.float32]
    """Rows of V_k Σ_k with length one, or zero for an empty document. Shape (n_documents, rank)."""
    variance_share: float
    """Which part of Σσ² the space holds."""

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.singular_values)

    def fold_in(self, ids: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float32]:
        """Coordinates of a document given the columns and weights of its terms. Shape (rank,).

        Only the rows of its own terms are gathered: a page costs hundredths of a millisecond.
        A document without known terms is the zero vector.
        """
        return self.fold_in_with_share(ids, weights)[0]

    def fold_in_with_share(
        self, ids: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float32], float]:
        """The coordinates, and the length that they had: the share of the weights in this space.

        Between 0, for a document at right angles to all dimensions, and 1.
        """
        point: NDArray[np.float32] = weights.astype(np.float32) @ self.term_vectors[ids]
        length = float(np.linalg.norm(point))
        return (point / np.float32(length) if length > 0 else point), length

    @classmethod
    def fit(
        cls,
        documents: sparse.csr_array[np.float64],
        max_rank: int = MAX_RANK,
        variance_share: float = VARIANCE_SHARE,
    ) -> LatentSpace:
        """Decompose a matrix of weights, documents as rows.

        The rank is ``min(max_rank, r - 1, k)``, at least 1: r the rank of the matrix, k the
        smallest number of dimensions that hold ``variance_share`` of Σσ².
        """
        _check(max_rank, variance_share)
        total = _total_variance(documents)
        parts = _decompose(documents, max_rank)
        return cls._keep(parts, _rank(parts[1], total, variance_share), total)

    @classmethod
    def rotate(cls, documents: sparse.csr_array[np.float64]) -> LatentSpace:
        """Keep all dimensions: a mere rotation, in which every cosine is that of the weights."""
        total = _total_variance(documents)
        parts = _decompose(documents, min(documents.shape))
        return cls._keep(parts, _full_rank(parts[1]), total)

    @classmethod
    def _keep(cls, parts: _Decomposition, rank: int, total: float) -> LatentSpace:
        terms, sigmas, coordinates = parts
        return cls(
            np.ascontiguousarray(terms[:, :rank], np.float32),
            sigmas[:rank],
            _unit_rows(coordinates[:, :rank]),
            min(1.0, float((sigmas[:rank] ** 2).sum()) / total),
        )


def _total_variance(documents: sparse.csr_array[np.float64]) -> float:
    """Σσ², the sum of all squared weights."""
    total = float((documents.data**2).sum())
    if total == 0:
        raise ModelError(
            "None of the pages has any words to learn from. "
            "Record the pages' sources, or browse pages that hold text."
        )
    return total


def _decompose(documents: sparse.csr_array[np.float64], max_rank: int) -> _Decomposition:
    """As many triplets as could be needed, σ decreasing."""
    # One thread fixes the order of sums, and is ten times as fast on matrices this small.
    with threadpool_limits(limits=1):
        u, sigmas, vt = _triplets(documents, max_rank)
    order = np.argsort(-sigmas, kind="stable")
    u, sigmas, vt = u[:, order], sigmas[order], vt[order]
    # The decomposition leaves signs open: each dimension's largest term weight is positive.
    signs = np.sign(u[np.abs(u).argmax(axis=0), np.arange(u.shape[1])])
    return u * signs, sigmas, vt.T * (signs * sigmas)


def _triplets(documents: sparse.csr_array[np.float64], max_rank: int) -> _Decomposition:
    """(U, σ, Vᵀ) in any order."""
    shorter = min(documents.shape)
    wanted = min(max_rank + 1, shorter)  # one more, to see whether the rank ends there
    if wanted >= shorter:  # Lanczos cannot give them all
        u, sigmas, vt = np.linalg.svd(documents.toarray().T, full_matrices=False)
        return u, sigmas, vt
    from scipy.sparse.linalg import (
        eigsh,
    )  # here: loading it takes 0.1 s, and crawls only read models

    # A fixed start: another one each time would turn the same session into another crawl.
    start = np.random.default_rng(0).standard_normal(documents.shape[0])
    _, v = eigsh(_products(documents), k=wanted, tol=LANCZOS_TOLERANCE, v0=start)
    return _polished(np.asarray(documents.T @ v), v)


def _products(documents: sparse.csr_array[np.float64]) -> Any:
    """AᵀA, whose eigenvectors are V: as a matrix while that is small, else as two steps."""
    if documents.shape[0] <= _MAX_GRAM:
        return (documents @ documents.T).toarray()
    from scipy.sparse.linalg import LinearOperator

    shape, terms = (documents.shape[0],) * 2, documents.T.tocsr()

    def times(v: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(documents @ (terms @ v))

    return LinearOperator(shape, matvec=times, dtype=np.float64)


def _polished(av: NDArray[np.float64], v: NDArray[np.float64]) -> _Decomposition:
    """(U, σ, Vᵀ) within the span of ``v``, given A·v: exact there, whatever Lanczos left open.

    By the eigenvectors W of (AV)ᵀAV = W Σ² Wᵀ, which is small: U = A V W Σ⁻¹. An SVD of A·V, as
    tall as the vocabulary, would give the same digits and takes ten times as long.
    """
    squares, w = np.linalg.eigh(av.T @ av)
    sigmas = np.sqrt(np.maximum(squares, 0.0))
    # Dimensions without weight are left out later; they only must not divide by zero.
    u = (av @ w) / np.maximum(sigmas, _NO_WEIGHT * sigmas.max())
    return u, sigmas, (v @ w).T


def _rank(sigmas: NDArray[np.float64], total: float, variance_share: float) -> int:
    shares = np.cumsum(sigmas**2) / total
    enough = int(np.searchsorted(shares, variance_share - 1e-12)) + 1
    return max(1, min(enough, _full_rank(sigmas) - 1))


def _full_rank(sigmas: NDArray[np.float64]) -> int:
    return int((sigmas > _NO_WEIGHT * sigmas[0]).sum())


def _unit_rows(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _check(max_rank: int, variance_share: float) -> None:
    if max_rank < 1:
        raise UsageError(f"The rank of the latent space must be at least 1, not {max_rank}.")
    if not 0 < variance_share <= 1:
        raise UsageError(f"The share of variance must be above 0, at most 1, not {variance_share}.")
