"""The same judge in the latent space: largest cosine to a target after LSI."""

from __future__ import annotations

import numpy as np

from trailhound.models.topic_model import TopicModel
from trailhound.records import Page, Relevance
from trailhound.relevance.cosine import FALLBACK_THRESHOLD, best_threshold


class LatentJudge:
    """A page is relevant when its latent cosine to the nearest target reaches the threshold γ."""

    def __init__(self, model: TopicModel, threshold: float | None = None) -> None:
        self._model = model
        self._targets = model.space.coordinates[sorted(model.graph.targets)]
        self.threshold = _calibrated(model) if threshold is None else threshold

    def judge(self, page: Page) -> Relevance:
        """Score by the nearest target."""
        cosine = float((self._targets @ self._model.locate(page.terms)).max())
        score = min(1.0, max(0.0, cosine))
        return Relevance(score, score >= self.threshold)


def _calibrated(model: TopicModel) -> float:
    """γ by leave-one-out, as for the lexical judge."""
    targets = sorted(model.graph.targets)
    if len(targets) < 2:
        return FALLBACK_THRESHOLD
    points = model.space.coordinates
    cosines = points @ points[targets].T
    cosines[targets, np.arange(len(targets))] = -1.0
    return best_threshold(cosines.max(axis=1), targets)
