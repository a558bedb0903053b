"""The judge's threshold together with what it was calibrated on, for a model's records."""

from __future__ import annotations

from trailhound.models.judge_figures import CalibrationMethod, JudgeCalibration
from trailhound.relevance.cosine import (
    FALLBACK_THRESHOLD,
    best_threshold,
    leave_one_out_scores,
)
from trailhound.sessions.page_graph import PageGraph
from trailhound.text.target_similarity import target_similarity


def calibrate_judge(graph: PageGraph, threshold: float | None = None) -> JudgeCalibration:
    """The γ that ``CosineJudge`` uses on this graph, and every page's leave-one-out score."""
    targets = sorted(graph.targets)
    scores = leave_one_out_scores(target_similarity(graph), graph.pages, targets)
    kept = tuple(scores.tolist())
    if threshold is not None:
        return JudgeCalibration(threshold, CalibrationMethod.GIVEN, kept)
    if len(targets) < 2:
        return JudgeCalibration(FALLBACK_THRESHOLD, CalibrationMethod.FALLBACK, kept)
    best = best_threshold(scores, targets)
    return JudgeCalibration(best, CalibrationMethod.LEAVE_ONE_OUT, kept)
