"""What words mean, by the company that they keep in the session.

The pages of the session are cut into windows of some hundred words. With X the matrix of windows
and words, ``(1 + log tf) · idf`` and rows of length one, and X ≈ U S Vᵀ its best approximation of
rank ``N_DIRECTIONS``, the meaning of a word is its row of ``V S``, brought to length one: words
that occur in the same windows, or in windows like them, point the same way. A text means the sum of
its words, each times its idf, brought to length one as well.

So a model that was taught by links to *lion* and *tiger* knows something of *leopard*, which no
link has named before. Nothing is learned of words on the way: what the models know stays valid.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from trailhound.records import Page
from trailhound.strategies.trail.columns import Ids, Matrix, Vector
from trailhound.strategies.trail.phrases import N_NUMBERS, Phrases, Sums, Weights, word_sums

N_DIRECTIONS = 32
"""Numbers that say what a word means."""
N_MEANINGS = 2 * N_DIRECTIONS
"""Of a link: what its anchor and address mean, and the words around it."""
STRENGTHS = (1.2, 1.0)
"""Their lengths as features."""
WINDOW = 100
"""Words."""
MAX_WINDOWS = 6_000
"""Of longer sessions windows at even distances: as many as a hundred long articles have."""
LEAST_WINDOWS = 2
"""In which a word has to occur."""
SPARE = 10
"""Directions more, that make those wanted exact enough."""

_READ = 3
"""Fields: the anchor, the address, and the words around the link."""


class Meaning:
    """Vectors of the session's words; of no use when its pages have hardly any text."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._places = np.zeros(N_NUMBERS, np.int32)
        """Of words by their checksums; 0 is that of all that are unknown."""
        self._vectors = np.zeros((1, N_DIRECTIONS), np.float32)
        """By place, times idf."""
        counts, words = _counted(list(pages))
        self.basis = 0
        """Of what the vectors were made: those of another session have nothing to do with them."""
        if counts.shape[0] < N_DIRECTIONS + SPARE or len(words) < N_DIRECTIONS + SPARE:
            return
        idf = np.log((counts.shape[0] + 1) / (_windows_with(counts) + 0.5))
        with threadpool_limits(limits=1):  # several make it slower, where others are busy too
            vectors = _directions(_weighed(counts, idf)) * idf[:, None]
        self._places[words] = np.arange(1, len(words) + 1)
        self._vectors = np.concatenate([self._vectors, vectors.astype(np.float32)])
        self.basis = crc32(counts.indices.tobytes(), crc32(words.tobytes())) or 1

    def said_alone(self, weights: Vector) -> tuple[Sums, Vector]:
        """Checksums of the session's words, and what each adds where an anchor is nothing else."""
        words = np.flatnonzero(self._places)
        vectors = self._vectors[self._places[words]].astype(np.float64)
        lengths = np.maximum(np.linalg.norm(vectors, axis=1), 1e-9)
        return words.astype(np.uint32), vectors @ weights[:N_DIRECTIONS] * STRENGTHS[0] / lengths

    def of_links(self, phrases: Phrases, found: Ids) -> Weights:
        """Sums over the words of links; rows of ``found`` are their phrases.

        Two vectors a link, one behind the other: of anchor and address, and of the words around.
        """
        sums, lengths = phrases.sums_of(found[:, :_READ])
        starts = np.zeros(2 * len(found) + 1, np.int32)
        ends = lengths.cumsum().reshape(-1, _READ)
        starts[1::2], starts[2::2] = ends[:, 1], ends[:, 2]
        ones, places = np.ones(len(sums), np.float32), self._places.take(sums.astype(np.intp))
        shape = len(starts) - 1, len(self._vectors)
        text = sparse.csr_array((ones, places, starts), shape)
        return np.asarray(text @ self._vectors).reshape(-1, N_MEANINGS)


def as_features(summed: Weights) -> Matrix:
    """Each of the two vectors of links, as long as its strength; nothing stays nothing."""
    vectors = summed.reshape(-1, 2, N_DIRECTIONS)
    lengths = np.sqrt(np.einsum("ijk,ijk->ij", vectors, vectors))
    scale = np.array(STRENGTHS) / np.maximum(lengths, 1e-9)
    return np.asarray(vectors * scale[:, :, None], np.float64).reshape(-1, N_MEANINGS)


def _counted(pages: list[Page]) -> tuple[sparse.csr_array, Sums]:
    """How often words occur in windows; the checksums of those words, which a few windows have."""
    texts = [f"{page.title}\n{page.text}" for page in pages]
    read = [word_sums([text], page.language)[0] for text, page in zip(texts, pages, strict=True)]
    windows = [
        window
        for words in read
        for window in np.array_split(words, max(1, round(len(words) / WINDOW)))
    ]
    if len(windows) > MAX_WINDOWS:
        even = np.linspace(0, len(windows) - 1, MAX_WINDOWS).astype(np.int64)
        windows = [windows[place] for place in even.tolist()]
    words = np.concatenate([np.zeros(0, np.uint32), *windows]).astype(np.int64)
    ends = np.append(0, np.cumsum([len(window) for window in windows], dtype=np.int64))
    ones = np.ones(len(words), np.float32)
    counts = sparse.csr_array((ones, words, ends), (len(windows), N_NUMBERS))
    counts.sum_duplicates()
    known = np.flatnonzero(_windows_with(counts) >= LEAST_WINDOWS)
    return counts[:, known], known.astype(np.uint32)


def _windows_with(counts: sparse.csr_array) -> Ids:
    return np.bincount(counts.indices, minlength=counts.shape[1])


def _weighed(counts: sparse.csr_array, idf: Matrix) -> sparse.csr_array:
    """``(1 + log tf) · idf``, each window's of length one."""
    weighed = counts.copy()
    weighed.data = ((1 + np.log(counts.data)) * idf[counts.indices]).astype(np.float32)
    lengths = np.sqrt(np.asarray(weighed.multiply(weighed).sum(axis=1)).ravel())
    weighed.data /= np.repeat(np.maximum(lengths, 1e-9), np.diff(weighed.indptr))
    return weighed


def _directions(windows: sparse.csr_array) -> Matrix:
    """What each word means, rows of length one: a randomised decomposition, always the same."""
    chance = np.random.default_rng(0)
    sketch = chance.normal(size=(windows.shape[1], N_DIRECTIONS + SPARE)).astype(np.float32)
    span = np.linalg.qr(windows @ sketch)[0]
    span = np.linalg.qr(windows @ (windows.T @ span))[0]
    across = np.asarray(windows.T @ span, np.float64)
    _, turn = np.linalg.eigh(across.T @ across)
    vectors = across @ turn[:, ::-1][:, :N_DIRECTIONS]
    strongest = np.abs(vectors).argmax(axis=0), np.arange(N_DIRECTIONS)
    vectors *= np.sign(vectors[strongest])  # which way a direction points is chance
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9))
