"""How well the judge's threshold γ separates the targets of a session from its other pages.

The scores are leave-one-out: a target is known by the *other* targets, so that no page vouches
for itself.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

import msgspec


class CalibrationMethod(StrEnum):
    """Where a threshold came from."""

    LEAVE_ONE_OUT = "leave-one-out"
    """The best F1 on the session's own pages."""
    EXPECTED = "expected F1"
    """The best F1 that the judge itself expects, by the scores of the session's own pages."""
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
    """For each page of the graph, what a judge would say that had not seen it; -1 when that leaves
    no target to know it by."""


class JudgeFigures(msgspec.Struct, frozen=True):
    """Leave-one-out quality at the threshold; ``None`` where nothing can be measured.

    All by the rule of succession, (k + 1) / (n + 2) for k of n: seven pages out of seven prove no
    perfect judge.
    """

    threshold: float
    method: CalibrationMethod
    precision: float | None
    recall: float | None
    f1: float | None
    f1_range: tuple[float, float] | None
    """Within which F1 is with nine chances in ten, for this many marks."""
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
    wrong = found + len(of_targets) - 2 * right
    return JudgeFigures(
        calibration.threshold,
        calibration.method,
        precision=_succession(right, found) if found and of_targets else None,
        recall=_succession(right, len(of_targets)) if of_targets else None,
        f1=_f1(_succession(right, right + wrong)) if of_targets else None,
        f1_range=_f1_range(right, wrong) if of_targets else None,
        target_scores=tuple(of_targets),
        other_scores=tuple(sorted(others, reverse=True)),
    )


def _succession(right: int, of: int) -> float:
    return (right + 1) / (of + 2)


def _f1(share: float) -> float:
    """F1 by the share of right pages among all that were found or should have been."""
    return 2 * share / (1 + share)


def _f1_range(right: int, wrong: int) -> tuple[float, float]:
    """That share is one of a Beta distribution, as after ``right`` of ``right + wrong`` throws."""
    from scipy.special import betaincinv  # not above: most of what loads this draws no range

    low, high = betaincinv(right + 1, wrong + 1, (0.05, 0.95)).tolist()
    return _f1(low), _f1(high)
