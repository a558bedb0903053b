"""Steps towards the least of a smooth convex function: L-BFGS with a guess of the curvature."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from trailhound.strategies.trail.columns import Vector

MEMORY = 5
"""Steps whose curvature is remembered."""
_LEAST_SLOPE = 1e-5
_LEAST_GAIN = 1e-9
_DECREASE = 1e-4
_HALVINGS = 20

Loss = Callable[[Vector], tuple[float, Vector]]
"""Value and gradient at a place."""


def descend(loss: Loss, start: Vector, curvature: Vector, steps: int) -> Vector:
    """The place after at most so many steps; ``curvature`` is roughly the second derivatives."""
    place, (value, slope) = start, loss(start)
    past: deque[tuple[Vector, Vector, float]] = deque(maxlen=MEMORY)
    for _ in range(steps):
        if np.abs(slope).max(initial=0.0) < _LEAST_SLOPE:
            break
        direction = _direction(slope, past, curvature)
        length, descent = 1.0, float(slope @ direction)
        for _ in range(_HALVINGS):
            there = place + length * direction
            new_value, new_slope = loss(there)
            if new_value <= value + _DECREASE * length * descent:
                break
            length /= 2
        else:
            break
        moved, turned = there - place, new_slope - slope
        bend = float(moved @ turned)
        if bend > 0:
            past.append((moved, turned, 1 / bend))
        gain, place, value, slope = value - new_value, there, new_value, new_slope
        if gain <= _LEAST_GAIN * max(abs(value), 1.0):
            break
    return place


def _direction(
    slope: Vector, past: deque[tuple[Vector, Vector, float]], curvature: Vector
) -> Vector:
    """Downhill, by what the last steps have told of the curvature (Nocedal's two loops)."""
    direction, shares = -slope, []
    for moved, turned, inverse in reversed(past):
        shares.append(inverse * float(moved @ direction))
        direction = direction - shares[-1] * turned
    direction = direction / curvature
    if past:  # features that go together bend the function more than each by itself
        _, turned, inverse = past[-1]
        direction = direction / (inverse * float(turned @ (turned / curvature)))
    for (moved, turned, inverse), share in zip(past, reversed(shares), strict=True):
        direction = direction + (share - inverse * float(turned @ direction)) * moved
    return direction
