"""The judges' thresholds with what they were calibrated on, and verdicts by people's own marks."""

from __future__ import annotations

import logging

from trailhound.errors import plugin_faults
from trailhound.judges.base import LearningJudge
from trailhound.judges.choosing import best_ranked, make_judge, suiting_judges
from trailhound.judges.cosine import calibrated_threshold
from trailhound.models.judge_figures import CalibrationMethod, JudgeCalibration
from trailhound.models.topic_model import TopicModel
from trailhound.records import Page
from trailhound.strategies.base import Briefing

_log = logging.getLogger(__name__)


def calibrate_judges(
    model: TopicModel, threshold: float | None = None
) -> dict[str, JudgeCalibration]:
    """The γ of every judge that can learn from the model's sessions, by name.

    With every page's score by a judge that had not seen it. ``threshold`` is taken instead of what
    would be calibrated.
    """
    calibrated = {}
    for name, kind in suiting_judges(model.graph).items():
        if hasattr(kind, "left_out_scores"):
            try:
                calibrated[name] = _calibration(kind, model, threshold)
            except plugin_faults() as error:  # somebody else's judge: learning goes on without it
                if kind.__module__.startswith("trailhound."):
                    raise
                _log.warning("The judge '%s' is not calibrated, it failed: %r", name, error)
    return calibrated


def _calibration(
    kind: type[LearningJudge], model: TopicModel, threshold: float | None
) -> JudgeCalibration:
    scores, targets = kind.left_out_scores(model), model.graph.targets
    kept = tuple(scores.tolist())
    if threshold is not None:
        return JudgeCalibration(threshold, CalibrationMethod.GIVEN, kept)
    own_way = hasattr(kind, "threshold_by")
    cut = kind.threshold_by(scores) if own_way else calibrated_threshold(scores, targets)
    method = CalibrationMethod.EXPECTED if own_way else CalibrationMethod.LEAVE_ONE_OUT
    return JudgeCalibration(cut, CalibrationMethod.FALLBACK if len(targets) < 2 else method, kept)


class OwnVerdicts:
    """What the pages that people marked themselves say of a page found later.

    A crawl that learns from its finds must not let these vouch for the next ones: a find is scored
    by a judge that knows the people's sessions alone, however often the topic was learned again.
    It is the best judge that these sessions calibrate: ``fields``, or ``cosine`` when all visited
    pages are marked.

    ``model`` was learned from the people's own sessions. ``own_scores`` are those of the marked
    pages, each judged as if it had not been shown.
    """

    def __init__(self, model: TopicModel) -> None:
        calibrated = calibrate_judges(model)
        name = best_ranked(calibrated)
        self._judge = make_judge(
            name, Briefing(model.graph, model=model), calibrated={name: calibrated[name].threshold}
        )
        scores = calibrated[name].scores
        self.own_scores: list[float] = [scores[target] for target in sorted(model.graph.targets)]

    def score(self, page: Page) -> float:
        """How much the page is one of those wanted, 0 to 1."""
        return self._judge.judge(page).score
