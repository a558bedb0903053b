"""Curves over an experiment's fetches: means over topics, and the figures they are drawn in.

Those of the report are SVG; one for notebooks and papers is Matplotlib's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trailhound.errors import UsageError
from trailhound.lab.metrics import hold_flat
from trailhound.lab.results import ExperimentResults, RunResult
from trailhound.lab.statistics import bands
from trailhound.reports.html import Plane, series_colour

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FloatArray = npt.NDArray[np.float64]
WINDOW = 200
"""Fetches of the sliding window, as in the context-graph paper."""

LINE_DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.2, 1.2), (5, 2, 1.2, 2))
"""Pairs of on and off lengths in line widths; 7 colours × 4 dashes stay distinct up to 28."""

RunCurve = Callable[[RunResult, FloatArray], FloatArray]
"""Turns a run's R(t), t = 1..budget, into the quantity of a figure."""


@dataclass(frozen=True)
class Curve:
    """One line of a figure: values at t = ``fetches`` and the limits of its band."""

    fetches: npt.NDArray[np.int64]
    mean: FloatArray
    low: FloatArray
    high: FloatArray


def found(_run: RunResult, relevant: FloatArray) -> FloatArray:
    """Relevant pages found so far."""
    return relevant


def recall(run: RunResult, relevant: FloatArray) -> FloatArray:
    """Share of the findable pages found so far."""
    return relevant / max(run.relevant_total, 1)


def harvest(run: RunResult, relevant: FloatArray) -> FloatArray:
    """Relevant pages per fetch so far; after an early end, per fetch that was made."""
    fetches = np.minimum(np.arange(1, len(relevant) + 1), max(run.fetches, 1))
    return relevant / fetches


def recent_harvest(run: RunResult, relevant: FloatArray) -> FloatArray:
    """Relevant pages per fetch among the last 200; after an early end, as it was then."""
    before = np.concatenate([np.zeros(min(WINDOW, len(relevant))), relevant[:-WINDOW]])
    fetches = np.minimum(np.arange(1, len(relevant) + 1), WINDOW)
    recent: FloatArray = (relevant - before) / fetches
    end = max(run.fetches, 1)
    recent[end:] = recent[end - 1]
    return recent


def similarity(run: RunResult, relevant: FloatArray) -> FloatArray:
    """Mean cosine to the nearest target over the pages so far: the papers' "average similarity"."""
    if not run.similarities:
        return np.zeros_like(relevant)
    means = np.cumsum(run.similarities) / np.arange(1, len(run.similarities) + 1)
    return hold_flat(means, len(relevant))


def lift(n_pages: int) -> RunCurve:
    """Harvest rate over the share of relevant pages among all ``n_pages`` of the web."""

    def curve(run: RunResult, relevant: FloatArray) -> FloatArray:
        return harvest(run, relevant) * n_pages / max(run.relevant_all, 1)

    return curve


def strategy_curve(results: ExperimentResults, strategy: str, quantity: RunCurve) -> Curve:
    """Mean over topics (runs averaged within each) with its pointwise bootstrap band."""
    budget = results.parameters.max_requests
    points = _drawn_points(budget, 160)
    by_topic: dict[str, list[FloatArray]] = defaultdict(list)
    for run in results.runs:
        if run.strategy == strategy:
            by_topic[run.topic].append(quantity(run, hold_flat(run.curve, budget))[points])
    mean, low, high = bands(np.array([np.mean(rows, axis=0) for rows in by_topic.values()]))
    return Curve(points + 1, mean, low, high)


def topic_curve(results: ExperimentResults, strategy: str, topic: str) -> Curve:
    """Mean of one topic's runs, with their smallest and largest values as limits."""
    budget = results.parameters.max_requests
    points = _drawn_points(budget, 60)
    rows = np.array(
        [
            hold_flat(run.curve, budget)[points]
            for run in results.runs
            if run.strategy == strategy and run.topic == topic
        ]
    )
    return Curve(points + 1, rows.mean(axis=0), rows.min(axis=0), rows.max(axis=0))


def _drawn_points(budget: int, n_points: int) -> npt.NDArray[np.int64]:
    """Positions to draw, first and last included: more would only make the file larger.

    Position 0 is the state after the first fetch.
    """
    return np.unique(np.linspace(0, budget - 1, min(budget, n_points)).round().astype(np.int64))


@dataclass(frozen=True)
class LineStyle:
    """How a strategy is drawn everywhere."""

    number: int
    """Position among the strategies, from 0."""

    @property
    def colour(self) -> str:
        """CSS colour."""
        return series_colour(self.number + 1)

    @property
    def dashes(self) -> tuple[float, ...]:
        """Dash pattern in line widths; empty for a solid line."""
        return LINE_DASHES[self.number % len(LINE_DASHES)]


def draw_curves(
    curves: Mapping[str, Curve],
    styles: Mapping[str, LineStyle],
    *,
    description: str,
    y_label: str = "",
    is_small: bool = False,
) -> str:
    """One panel with a line and a band per strategy, as an ``<svg>`` element."""
    highest = max(float(curve.high.max()) for curve in curves.values())
    last = max(float(curve.fetches[-1]) for curve in curves.values())
    plane = Plane(
        (194, 122) if is_small else (310, 216),
        (last, highest * 1.05 or 1.0),
        ("", "") if is_small else ("requests", y_label),
        n_steps=4 if is_small else 6,
        whole=(True, False),
    )
    lines = [
        _line(plane, curve, styles[strategy], width=1.2 if is_small else 1.8)
        for strategy, curve in curves.items()
    ]
    return plane.drawn(description, lines)


def _line(plane: Plane, curve: Curve, style: LineStyle, width: float) -> str:
    x = curve.fetches.tolist()
    band = plane.band(x, curve.low.tolist(), curve.high.tolist(), style.colour)
    return band + plane.line(x, curve.mean.tolist(), style.colour, width, style.dashes)


def overview_figure(results: ExperimentResults) -> Figure:
    """Relevant pages found by every strategy, with a legend: a figure that stands alone."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError(
            "Figures need Matplotlib. Install it with: pip install 'trailhound[plots]'"
        ) from error
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for number, name in enumerate(results.parameters.strategies):
        curve, dashes = strategy_curve(results, name, found), LineStyle(number).dashes
        x, colour = curve.fetches, f"C{number}"
        axes.fill_between(x, curve.low, curve.high, color=colour, alpha=0.14, linewidth=0)
        line = (0, dashes) if dashes else "solid"
        axes.plot(x, curve.mean, color=colour, label=name, linestyle=line, linewidth=1.8)
    axes.set_xlim(0, results.parameters.max_requests)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("requests")
    axes.set_ylabel("relevant pages found")
    axes.legend(frameon=False)
    return figure
