"""The judges' thresholds with what they were calibrated on, and verdicts by people's own marks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trailhound.judges.base import RelevanceJudge
from trailhound.judges.contrast import Contrast, ContrastJudge, tells_apart
from trailhound.judges.cosine import (
    FALLBACK_THRESHOLD,
    CosineJudge,
    LatentJudge,
    best_threshold,
    latent_left_out_scores,
    leave_one_out_scores,
)
from trailhound.models.judge_figures import CalibrationMethod, JudgeCalibration
from trailhound.models.topic_model import TopicModel
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.text.tfidf import target_similarity


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


class OwnVerdicts:
    """What the pages that people marked themselves say of a page found later.

    A crawl that learns from its finds must not let these vouch for the next ones: a find is scored
    by a judge that knows the people's sessions alone, however often the topic was learned again.
    It is ``contrast`` where the session has unmarked pages, else ``cosine``.

    ``model`` was learned from the people's own sessions. ``own_scores`` are those of the marked
    pages, each judged as if it had not been shown.
    """

    def __init__(self, model: TopicModel) -> None:
        graph, calibrated = model.graph, calibrate_judges(model)
        by_contrast = ContrastJudge.name in calibrated
        judge = ContrastJudge if by_contrast else CosineJudge
        self._judge: RelevanceJudge = judge.from_graph(graph, 0.0)
        scores = calibrated[judge.name].scores
        self.own_scores: list[float] = [scores[target] for target in sorted(graph.targets)]

    def score(self, page: Page) -> float:
        """How much the page is one of those wanted, 0 to 1."""
        return self._judge.judge(page).score
