"""The judge of the hidden-Markov papers: largest cosine to a target page, with a threshold.

Once by weighted terms, and once in the latent space.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

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
    rank: ClassVar[float] = 0.50
    needs_only_words: ClassVar[bool] = True

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
        if not cls.suits(graph):
            raise SessionError(
                "The session has no page marked useful, so there is nothing to look for. "
                "Mark at least one page as useful and try again."
            )
        similarity = similarity or target_similarity(graph)
        if threshold is None:
            threshold = calibrated_threshold(_left_out_cosines(graph, similarity), graph.targets)
        return cls(similarity, threshold)

    @classmethod
    def from_briefing(cls, briefing: Briefing, *, threshold: float | None = None) -> CosineJudge:
        """As ``--judge cosine`` asks for it."""
        return cls.from_graph(briefing.graph, threshold, briefing.similarity)

    @classmethod
    def suits(cls, graph: PageGraph) -> bool:
        """Sessions with a page marked useful."""
        return bool(graph.targets)

    @classmethod
    def left_out_scores(cls, model: TopicModel) -> NDArray[np.float32]:
        """Each page's largest cosine to a target other than itself, -1 without one."""
        return _left_out_cosines(model.graph, target_similarity(model.graph, model.weights))

    def judge(self, page: Page) -> Relevance:
        """Score by the nearest target."""
        score = min(1.0, self._similarity.to_nearest(page.terms))
        return Relevance(score, score >= self.threshold)


class LatentJudge:
    """A page is relevant when its latent cosine to the nearest target reaches the threshold γ."""

    name: ClassVar[str] = "latent"
    summary: ClassVar[str] = "the largest cosine to a page marked useful, after LSI"
    rank: ClassVar[float] = 0.46
    needs_only_words: ClassVar[bool] = True

    def __init__(self, model: TopicModel, threshold: float | None = None) -> None:
        self._model = model
        self._targets = model.space.coordinates[sorted(model.graph.targets)]
        if threshold is None:
            threshold = calibrated_threshold(self.left_out_scores(model), model.graph.targets)
        self.threshold = threshold

    @classmethod
    def from_briefing(cls, briefing: Briefing, *, threshold: float | None = None) -> LatentJudge:
        """As ``--judge latent`` asks for it; learns the topic unless that has been done."""
        return cls(briefing.model or learn_topic(briefing.graph), threshold)

    @classmethod
    def suits(cls, graph: PageGraph) -> bool:
        """Sessions with a page marked useful."""
        return bool(graph.targets)

    @classmethod
    def left_out_scores(cls, model: TopicModel) -> NDArray[np.float32]:
        """Each page's largest latent cosine to a target other than itself, -1 without one."""
        points = model.space.coordinates
        return _largest_of_others(points @ points[sorted(model.graph.targets)].T, model.graph)

    def judge(self, page: Page) -> Relevance:
        """Score by the nearest target."""
        cosine = float((self._targets @ self._model.locate(page.terms)).max())
        score = min(1.0, max(0.0, cosine))
        return Relevance(score, score >= self.threshold)


def calibrated_threshold(scores: NDArray[np.float32], targets: Collection[int]) -> float:
    """γ: taking pages from this score on for targets has the best F1 on the session's own pages.

    ``scores`` are those of judges that had not seen each page. γ lies halfway between the last page
    that is taken and the first that is not: unseen pages on the topic score a little lower than
    those it was set on.
    """
    if len(targets) < 2:
        return FALLBACK_THRESHOLD
    wanted = np.zeros(len(scores), bool)
    wanted[list(targets)] = True
    order, last = best_cut(scores, wanted)
    below = scores[order[last + 1]] if last + 1 < len(scores) else 0.0
    return float(scores[order[last]] + max(below, 0.0)) / 2


def best_cut(
    scores: NDArray[np.floating], wanted: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], int]:
    """Pages by falling score, and the place of the last that is taken where F1 is best."""
    order = np.argsort(-scores, kind="stable")
    found = np.cumsum(wanted[order])
    f1 = 2 * found / (np.arange(1, len(scores) + 1) + wanted.sum())
    return order, int(np.argmax(f1))


def _left_out_cosines(graph: PageGraph, similarity: TargetSimilarity) -> NDArray[np.float32]:
    documents = similarity.weights.matrix([page.terms for page in graph.pages])
    return _largest_of_others(similarity.rows_to_each(documents), graph)


def _largest_of_others(cosines: NDArray[np.float32], graph: PageGraph) -> NDArray[np.float32]:
    """From the cosines of all pages to each target: the largest to a target other than itself."""
    targets = sorted(graph.targets)
    cosines[targets, np.arange(len(targets))] = -1.0
    scores: NDArray[np.float32] = cosines.max(axis=1)
    return scores
