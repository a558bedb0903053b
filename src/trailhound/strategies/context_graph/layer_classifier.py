"""Naive Bayes over the layers of a context graph, on reduced TF-IDF vectors.

The equations are those of Diligenti, Coetzee, Lawrence, Giles and Gori (2000).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.strategies.parts import DocumentCounts
from trailhound.text.tfidf import Terms

TERMS = 40
"""Components that a document keeps."""
QUANTILE = 0.05
"""Share of a layer's own documents that the robust threshold gives up."""
MIN_POSTERIOR = 0.5
"""As the hidden-Markov papers read the threshold."""
MIN_FEATURES = 3
"""A page with fewer known words says too little for any layer."""
THRESHOLDS = ("quantile", "min", "posterior")
PRIORS = ("equal", "sizes")

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClassifierParameters:
    """How documents are reduced and when a page is none of the layers."""

    n_terms: int = TERMS
    threshold: str = "posterior"
    """``min``: the least likelihood of the layer's own documents; ``quantile``: that of all but 5 %
    of them, each as if it had not been learned from; ``posterior``: one half, of the probability
    over all layers."""
    use_counts: bool = False
    """Whether a term that occurs twice counts twice; the paper's product has each term once."""
    per_feature: bool = True
    """Whether likelihoods are means over a document's terms; the paper's product shrinks with
    every term, so that long pages look unlikely."""
    min_features: int = MIN_FEATURES
    priors: str = "equal"
    """P(c): the same for all layers, as published; or ``sizes``, the share of the training
    documents that are in the layer."""


class Verdict(NamedTuple):
    """Where a page belongs."""

    queue: int
    """Its layer, or one more than the last layer: "other"."""
    likelihood: float
    """Log-likelihood under the winning layer, never above 0; minus infinity without any term."""
    posteriors: Floats
    """Shape (layers,): probability of each layer; 0 for layers without documents."""


@dataclass(frozen=True)
class LayerClassifier:
    """One class of words per layer."""

    parameters: ClassifierParameters
    vocabulary: Mapping[str, int]
    """Term to column."""
    idf: Floats
    """Shape (terms,): ln(N / f(w)) of eq. (1)."""
    log_p: Floats
    """Shape (layers, terms): ln P(w|c) of eq. (4); minus infinity for a layer without documents."""
    thresholds: Floats
    """Shape (layers,): the least likelihood that a page of the layer has."""
    log_priors: Floats
    """Shape (layers,): ln P(c), up to a constant; minus infinity for a layer without documents."""

    @property
    def n_layers(self) -> int:
        """Layers, targets included."""
        return len(self.thresholds)

    @property
    def other(self) -> int:
        """The queue of pages that fit nowhere."""
        return self.n_layers

    def reduced(self, terms: Terms) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Columns, TF-IDF weights and counts of the highest terms of a document, best first.

        ``v(w) = f_d(w) / max f_d · ln(N / f(w))``, eq. (1); the rest is cut off.
        """
        size = len(terms)
        columns = np.fromiter(map(self.vocabulary.get, terms, repeat(-1)), np.int64, size)
        counts = np.fromiter(terms.values(), np.float64, size)
        most = float(counts.max()) if size else 1.0
        known = columns >= 0
        columns, counts = columns[known], counts[known]
        weights = counts / most * self.idf[columns]
        # Equal weights in order of the vocabulary: the same page always gives the same terms.
        best = np.lexsort((columns, -weights))[: self.parameters.n_terms]
        best = best[weights[best] > 0]
        return columns[best], weights[best], counts[best]

    def classify(self, terms: Terms) -> Verdict:
        """The most likely layer, or "other" when even that one fits too badly."""
        columns, _, counts = self.reduced(terms)
        if len(columns) < max(self.parameters.min_features, 1):
            return Verdict(self.other, -math.inf, np.zeros(self.n_layers))
        logs, uses_counts = self.log_p[:, columns], self.parameters.use_counts
        products: Floats = logs @ counts if uses_counts else logs.sum(axis=1)  # eq. (3)
        joint = products + self.log_priors
        layer = int(joint.argmax())
        posteriors = np.exp(joint - joint[layer])
        posteriors /= posteriors.sum()
        likelihood = float(products[layer])
        if self.parameters.per_feature:
            likelihood /= float(counts.sum()) if uses_counts else len(counts)
        if self.parameters.threshold == "posterior":
            fits = posteriors[layer] >= MIN_POSTERIOR
        else:
            fits = likelihood >= self.thresholds[layer]
        return Verdict(layer if fits else self.other, likelihood, posteriors)

    def to_bytes(self) -> bytes:
        """For keeping; see :func:`classifier_from_bytes`."""
        arrays = (self.idf, self.log_p, self.thresholds, self.log_priors)
        kept = _Kept(self.n_layers, list(self.vocabulary), *(each.tobytes() for each in arrays))
        return msgspec.msgpack.encode(kept)


class _Kept(msgspec.Struct, array_like=True):
    n_layers: int
    terms: list[str]
    idf: bytes
    log_p: bytes
    thresholds: bytes
    log_priors: bytes = b""
    """Missing in what older versions kept: priors were equal."""


def classifier_from_bytes(content: bytes, parameters: ClassifierParameters) -> LayerClassifier:
    """What :meth:`LayerClassifier.to_bytes` made; ValueError when it makes no sense."""
    kept = msgspec.msgpack.decode(content, type=_Kept)
    idf, log_p, thresholds = (
        np.frombuffer(each, np.float64) for each in (kept.idf, kept.log_p, kept.thresholds)
    )
    equal = np.zeros(kept.n_layers)
    priors = np.frombuffer(kept.log_priors, np.float64) if kept.log_priors else equal
    shapes = (len(idf), len(log_p), len(thresholds), len(priors))
    size = len(kept.terms)
    if shapes != (size, size * kept.n_layers, kept.n_layers, kept.n_layers):
        raise ValueError("its parts do not fit together")
    vocabulary = {term: column for column, term in enumerate(kept.terms)}
    return LayerClassifier(
        parameters, vocabulary, idf, log_p.reshape(kept.n_layers, size), thresholds, priors
    )


def fit_layers(
    layers: Sequence[Sequence[Terms]],
    reference: DocumentCounts,
    parameters: ClassifierParameters,
    n_master_layers: int = 2,
) -> LayerClassifier:
    """Learn from the documents of each layer, targets first.

    The vocabulary are the terms of the first ``n_master_layers`` layers: the paper's master
    document, from the targets alone (1) or with the pages that link to them (2).
    """
    master = {term for layer in layers[:n_master_layers] for terms in layer for term in terms}
    vocabulary = {term: column for column, term in enumerate(sorted(master))}
    idf = np.fromiter(map(reference.weight, vocabulary), np.float64, len(vocabulary))
    sizes = np.array([len(documents) for documents in layers], np.float64)
    with np.errstate(divide="ignore"):
        log_priors = np.log(sizes if parameters.priors == "sizes" else np.sign(sizes))
    no_p, no_limits = np.zeros((len(layers), len(idf))), np.full(len(layers), math.inf)
    blank = LayerClassifier(parameters, vocabulary, idf, no_p, no_limits, log_priors)
    counted = [_CountedLayer(blank, documents) for documents in layers]
    return replace(
        blank,
        log_p=np.array([layer.log_probabilities() for layer in counted]),
        thresholds=np.array([layer.threshold() for layer in counted]),
    )


class _CountedLayer:
    """The reduced documents of one layer and how often each term occurs in them."""

    def __init__(self, blank: LayerClassifier, documents: Sequence[Terms]) -> None:
        self._blank = blank
        self._documents: list[tuple[NDArray[np.int64], Floats]] = []
        self._occurrences = np.zeros(len(blank.idf))
        for terms in documents:
            columns, _, counts = blank.reduced(terms)
            own = counts if blank.parameters.use_counts else np.ones(len(columns))
            self._occurrences[columns] += own
            self._documents.append((columns, own))

    def log_probabilities(self) -> Floats:
        """Eq. (4): ``P(w|c) = (1 + Σ_d N(w,d)) / (|V| + Σ_w Σ_d N(w,d))``. Shape (terms,)."""
        size = len(self._occurrences)
        if not self._documents or not size:
            # Smoothing alone would make an empty layer the best place for all that is strange.
            return np.full(size, -np.inf)
        return np.log1p(self._occurrences) - math.log(size + self._occurrences.sum())

    def threshold(self) -> float:
        """The least likelihood that a page of this layer should have."""
        known = [each for each in self._documents if len(each[0])]
        if not known:
            return math.inf
        if self._blank.parameters.threshold == "min":
            return min(self._likelihood(columns, own, 0.0) for columns, own in known)
        return float(np.quantile([self._likelihood(c, own, 1.0) for c, own in known], QUANTILE))

    def _likelihood(self, columns: NDArray[np.int64], own: Floats, left_out: float) -> float:
        """Of a document of the layer; ``left_out=1`` as if it had not been learned from.

        A document always looks likely where its own words were counted, more than any new page.
        """
        size = len(self._occurrences)
        others = self._occurrences[columns] - left_out * own
        total = self._occurrences.sum() - left_out * own.sum()
        logs = np.log1p(others) - math.log(size + total)
        log_product = float(logs @ own)
        return log_product / float(own.sum()) if self._blank.parameters.per_feature else log_product
