"""The judge of the hidden-Markov papers: largest cosine to a target page, with a threshold.

Once by weighted terms, and once in the latent space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from trailhound.errors import SessionError
from trailhound.models.topic_model import TopicModel, learn_topic
from trailhound.records import Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.text.tfidf import TargetSimilarity, target_similarity

FALLBACK_THRESHOLD = 0.5
"""Used when a single target leaves nothing to calibrate on."""


class CosineJudge:
    """A page is relevant when its cosine to the nearest target reaches the threshold γ."""

    name: ClassVar[str] = "cosine"
    summary: ClassVar[str] = "the largest cosine to a page marked useful"

    def __init__(self, similarity: TargetSimilarity, threshold: float) -> None:
        self._similarity = similarity
        self.threshold = threshold

    @classmethod
    def from_graph(
        cls,
        graph: PageGraph,
        threshold: float | None = None,
        similarity: TargetSimilarity | None = None,
    ) -> CosineJudge:
        """Learn from a session's pages; without ``threshold``, calibrate it on them.

        ``similarity`` saves work when it has been made for this graph already.
        """
        if not graph.targets:
            raise SessionError(
                "The session has no page marked useful, so there is nothing to look for. "
                "Mark at least one page as useful and try again."
            )
        similarity = similarity or target_similarity(graph)
        if threshold is None:
            threshold = calibrate_threshold(similarity, graph.pages, sorted(graph.targets))
        return cls(similarity, threshold)

    @classmethod
    def from_briefing(cls, briefing: Briefing, *, threshold: float | None = None) -> CosineJudge:
        """As ``--judge cosine`` asks for it."""
        return cls.from_graph(briefing.graph, threshold, briefing.similarity)

    def judge(self, page: Page) -> Relevance:
        """Score by the nearest target."""
        score = self._similarity.to_nearest(page.terms)
        return Relevance(score, score >= self.threshold)


def calibrate_threshold(
    similarity: TargetSimilarity, pages: Sequence[Page], targets: Sequence[int]
) -> float:
    """The γ that separates left-out targets from the other visited pages with the best F1.

    Each target is compared with the remaining targets, never with itself.
    """
    if len(targets) < 2:
        return FALLBACK_THRESHOLD
    return best_threshold(leave_one_out_scores(similarity, pages, targets), targets)


def best_threshold(scores: NDArray[np.float32], targets: Sequence[int]) -> float:
    """Taking pages from this score on for targets has the best F1.

    The threshold lies halfway between the last page that is taken and the first that is not:
    unseen pages on the topic score a little lower than those it was set on.
    """
    wanted = np.zeros(len(scores), bool)
    wanted[targets] = True
    order = np.argsort(-scores, kind="stable")
    found = np.cumsum(wanted[order])
    f1 = 2 * found / (np.arange(1, len(scores) + 1) + len(targets))
    last = int(np.argmax(f1))
    below = scores[order[last + 1]] if last + 1 < len(scores) else 0.0
    return float(scores[order[last]] + max(below, 0.0)) / 2


def leave_one_out_scores(
    similarity: TargetSimilarity,
    pages: Sequence[Page],
    targets: Sequence[int],
    documents: sparse.csr_array[np.float64] | None = None,
) -> NDArray[np.float32]:
    """Each page's largest cosine to a target other than itself, -1 without one. Shape (n_pages,).

    ``targets`` are the positions in ``pages`` of the similarity's targets, in its order.
    ``documents`` saves work when the pages have been weighed already, one in a row.
    """
    if documents is None:
        documents = similarity.weights.matrix([page.terms for page in pages])
    to_targets = similarity.rows_to_each(documents)
    to_targets[targets, np.arange(len(targets))] = -1.0
    scores: NDArray[np.float32] = to_targets.max(axis=1)
    return scores


class LatentJudge:
    """A page is relevant when its latent cosine to the nearest target reaches the threshold γ."""

    name: ClassVar[str] = "latent"
    summary: ClassVar[str] = "the largest cosine to a page marked useful, after LSI"

    def __init__(self, model: TopicModel, threshold: float | None = None) -> None:
        self._model = model
        self._targets = model.space.coordinates[sorted(model.graph.targets)]
        self.threshold = _calibrated(model) if threshold is None else threshold

    @classmethod
    def from_briefing(cls, briefing: Briefing, *, threshold: float | None = None) -> LatentJudge:
        """As ``--judge latent`` asks for it; learns the topic unless that has been done."""
        return cls(briefing.model or learn_topic(briefing.graph), threshold)

    def judge(self, page: Page) -> Relevance:
        """Score by the nearest target."""
        cosine = float((self._targets @ self._model.locate(page.terms)).max())
        score = min(1.0, max(0.0, cosine))
        return Relevance(score, score >= self.threshold)


def latent_left_out_scores(model: TopicModel) -> NDArray[np.float32]:
    """Each page's largest latent cosine to a target other than itself, -1 without one.

    Shape (n_pages,).
    """
    targets = sorted(model.graph.targets)
    points = model.space.coordinates
    cosines = points @ points[targets].T
    cosines[targets, np.arange(len(targets))] = -1.0
    scores: NDArray[np.float32] = cosines.max(axis=1)
    return scores


def _calibrated(model: TopicModel) -> float:
    """γ by leave-one-out, as for the lexical judge."""
    targets = sorted(model.graph.targets)
    if len(targets) < 2:
        return FALLBACK_THRESHOLD
    return best_threshold(latent_left_out_scores(model), targets)
