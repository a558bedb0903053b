"""The judges' thresholds together with what they were calibrated on, for a model's records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trailhound.models.judge_figures import CalibrationMethod, JudgeCalibration
from trailhound.models.topic_model import TopicModel
from trailhound.relevance.contrast import Contrast, ContrastJudge, tells_apart
from trailhound.relevance.cosine import (
    FALLBACK_THRESHOLD,
    CosineJudge,
    best_threshold,
    leave_one_out_scores,
)
from trailhound.relevance.latent import LatentJudge, latent_left_out_scores
from trailhound.sessions.page_graph import PageGraph
from trailhound.text.target_similarity import target_similarity


def calibrate_judge(graph: PageGraph, threshold: float | None = None) -> JudgeCalibration:
    """The γ that ``CosineJudge`` uses on this graph, and every page's leave-one-out score."""
    similarity = target_similarity(graph)
    scores = leave_one_out_scores(similarity, graph.pages, sorted(graph.targets))
    return _calibration(scores, graph, threshold)


def calibrate_judges(
    model: TopicModel, threshold: float | None = None
) -> dict[str, JudgeCalibration]:
    """The same for every judge that learns from sessions, by name.

    ``contrast`` is missing when all visited pages are targets, or none is.
    """
    graph, targets = model.graph, sorted(model.graph.targets)
    documents = model.weights.matrix([page.terms for page in graph.pages])
    similarity = target_similarity(graph, model.weights)
    scores = {
        CosineJudge.name: leave_one_out_scores(similarity, graph.pages, targets, documents),
        LatentJudge.name: latent_left_out_scores(model),
    }
    if tells_apart(graph):
        scores[ContrastJudge.name] = Contrast(graph, documents).left_out_scores()
    return {name: _calibration(each, graph, threshold) for name, each in scores.items()}


def _calibration(
    scores: NDArray[np.float32], graph: PageGraph, threshold: float | None
) -> JudgeCalibration:
    targets = sorted(graph.targets)
    kept = tuple(scores.tolist())
    if threshold is not None:
        return JudgeCalibration(threshold, CalibrationMethod.GIVEN, kept)
    if len(targets) < 2:
        return JudgeCalibration(FALLBACK_THRESHOLD, CalibrationMethod.FALLBACK, kept)
    best = best_threshold(scores, targets)
    return JudgeCalibration(best, CalibrationMethod.LEAVE_ONE_OUT, kept)
