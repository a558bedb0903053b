"""The same judge in the latent space: largest cosine to a target after LSI."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trailhound.models.topic_model import TopicModel, learn_topic
from trailhound.records import Page, Relevance
from trailhound.relevance.cosine import FALLBACK_THRESHOLD, best_threshold
from trailhound.strategies.base import Briefing


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
