"""The judge's threshold together with what it was calibrated on, for a model's records."""

from __future__ import annotations

from trailhound.models.judge_figures import CalibrationMethod, JudgeCalibration
from trailhound.relevance.cosine import CosineJudge, leave_one_out_scores
from trailhound.sessions.page_graph import PageGraph
from trailhound.text.target_similarity import target_similarity


def calibrate_judge(graph: PageGraph, threshold: float | None = None) -> JudgeCalibration:
    """The γ that :class:`CosineJudge` uses on this graph, and every page's leave-one-out score."""
    similarity = target_similarity(graph)
    judge = CosineJudge.from_graph(graph, threshold, similarity)
    scores = leave_one_out_scores(similarity, graph.pages, sorted(graph.targets))
    return JudgeCalibration(judge.threshold, _method(graph, threshold), tuple(scores.tolist()))


def _method(graph: PageGraph, threshold: float | None) -> CalibrationMethod:
    if threshold is not None:
        return CalibrationMethod.GIVEN
    few = len(graph.targets) < 2
    return CalibrationMethod.FALLBACK if few else CalibrationMethod.LEAVE_ONE_OUT
