"""Figures as SVG text to be put inside the page.

Colours are written as CSS variables, so that one figure suits light and dark pages; each strategy
has a line style of its own besides its colour.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from trailhound.lab.report.curves import Curve

N_COLOURS = 7
LINE_DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.2, 1.2), (5, 2, 1.2, 2))
"""Pairs of on and off lengths in line widths; 7 colours × 4 dashes stay distinct up to 28."""

ROUND_STEPS = [1, 2, 2.5, 5, 10]

# Matplotlib knows no CSS variables: these stand for them until the SVG text is written.
_INK = "#010101"
_GRID = "#020202"
_SERIES = "#0300{:02x}"

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "trailhound",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": _GRID,
    "grid.linewidth": 0.6,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}


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
        return _SERIES.format(self.number % N_COLOURS + 1)

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
    with mpl.rc_context(_STYLE):
        size = (2.7, 1.7) if is_small else (4.3, 3.0)
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        for strategy, curve in curves.items():
            _draw_line(axes, curve, styles[strategy], width=1.2 if is_small else 1.8)
        _dress(axes, curves, y_label, is_small)
        return _as_inline_svg(figure, description)


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


def _as_inline_svg(figure: Figure, description: str) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Inside HTML the name spaces go without saying, and the page decides about the size.
    opening = re.search(r'<svg[^>]*viewBox="([^"]*)"[^>]*>', svg)
    if opening is None:
        raise ValueError("Matplotlib wrote an SVG without a view box")
    label = description.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    start = f'<svg viewBox="{opening[1]}" role="img" aria-label="{label}">'
    return _with_css_colours(start + svg[opening.end() :])


def _with_css_colours(svg: str) -> str:
    svg = svg.replace(_INK, "currentColor").replace(_GRID, "var(--grid)")
    return re.sub(r"#0300([0-9a-f]{2})", lambda match: f"var(--series-{int(match[1], 16)})", svg)
