"""How well the judge's threshold γ separates the targets of a session from its other pages.

The scores are leave-one-out: a target is compared with the *other* targets, so that no page
vouches for itself.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

import msgspec


class CalibrationMethod(StrEnum):
    """Where a threshold came from."""

    LEAVE_ONE_OUT = "leave-one-out"
    """The best F1 on the session's own pages."""
    FALLBACK = "fallback"
    """A single target leaves nothing to calibrate on."""
    GIVEN = "given"
    """The user chose it."""


class JudgeCalibration(msgspec.Struct, frozen=True):
    """A judge's threshold, and what it was calibrated on."""

    threshold: float
    """γ: the least score of a relevant page."""
    method: CalibrationMethod
    scores: tuple[float, ...]
    """For each page of the graph, the largest cosine to a target other than itself; -1 when there
    is no other target."""


class JudgeFigures(msgspec.Struct, frozen=True):
    """Leave-one-out quality at the threshold; ``None`` where nothing can be measured."""

    threshold: float
    method: CalibrationMethod
    precision: float | None
    recall: float | None
    f1: float | None
    target_scores: tuple[float, ...]
    """Of the targets, best first; empty when there is only one."""
    other_scores: tuple[float, ...]
    """Of all other pages, best first."""


def judge_figures(calibration: JudgeCalibration, targets: Collection[int]) -> JudgeFigures:
    """Precision, recall and F1 of "score ≥ γ" as a way to tell targets from other pages."""
    scores = calibration.scores
    of_targets = sorted((scores[page] for page in targets if scores[page] >= 0), reverse=True)
    others = [score for page, score in enumerate(scores) if page not in targets]
    right = sum(score >= calibration.threshold for score in of_targets)
    found = right + sum(score >= calibration.threshold for score in others)
    return JudgeFigures(
        calibration.threshold,
        calibration.method,
        precision=right / found if found and of_targets else None,
        recall=right / len(of_targets) if of_targets else None,
        f1=2 * right / (found + len(of_targets)) if of_targets else None,
        target_scores=tuple(of_targets),
        other_scores=tuple(sorted(others, reverse=True)),
    )
