"""Figures as SVG text to be put inside the page; each strategy has a line style of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from trailhound.html_report import new_figure, series_colour, svg_text
from trailhound.html_report.inline_svg import N_COLOURS
from trailhound.lab.report.curves import Curve

LINE_DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.2, 1.2), (5, 2, 1.2, 2))
"""Pairs of on and off lengths in line widths; 7 colours × 4 dashes stay distinct up to 28."""

ROUND_STEPS = [1, 2, 2.5, 5, 10]


@dataclass(frozen=True)
class LineStyle:
    """How a strategy is drawn everywhere."""

    number: int
    """Position among the strategies, from 0."""

    @property
    def colour(self) -> str:
        """CSS colour."""
        return f"var(--series-{self.number % N_COLOURS + 1})"

    @property
    def stand_in(self) -> str:
        """The colour as Matplotlib is told it."""
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
    size = (2.7, 1.7) if is_small else (4.3, 3.0)
    with new_figure(*size) as figure:
        axes = figure.add_subplot()
        for strategy, curve in curves.items():
            _draw_line(axes, curve, styles[strategy], width=1.2 if is_small else 1.8)
        _dress(axes, curves, y_label, is_small)
        return svg_text(figure, description)


def _draw_line(axes: Axes, curve: Curve, style: LineStyle, width: float) -> None:
    dashes = (0, style.dashes) if style.dashes else "solid"
    axes.fill_between(
        curve.fetches, curve.low, curve.high, color=style.stand_in, alpha=0.14, linewidth=0
    )
    axes.plot(curve.fetches, curve.mean, color=style.stand_in, linestyle=dashes, linewidth=width)


def _dress(axes: Axes, curves: Mapping[str, Curve], y_label: str, is_small: bool) -> None:
    last = max(float(curve.fetches[-1]) for curve in curves.values())
    axes.set_xlim(0, last)
    axes.set_ylim(bottom=0)
    if axes.get_ylim()[1] <= 0 or not any(curve.high.any() for curve in curves.values()):
        axes.set_ylim(0, 1)
    axes.xaxis.set_major_locator(MaxNLocator(4 if is_small else 6, integer=True, steps=ROUND_STEPS))
    axes.yaxis.set_major_locator(MaxNLocator(4 if is_small else 6, steps=ROUND_STEPS))
    axes.set_axisbelow(True)
    if not is_small:
        axes.set_xlabel("fetches")
        axes.set_ylabel(y_label)
