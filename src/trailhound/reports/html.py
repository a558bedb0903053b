"""What all HTML reports share: one look, one way to make pictures, nothing loaded from elsewhere.

Matplotlib draws into SVG text that is put inside the page. Colours are written as CSS variables, so
that one figure suits light and dark pages.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib as mpl
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from trailhound.counting import counted

N_COLOURS = 7
"""``report.css`` names so many series colours."""

# Matplotlib knows no CSS variables: these stand for them until the SVG text is written.
INK = "#010101"
GRID = "#020202"
SOFT = "#020303"
PANEL = "#020404"
_SERIES = "#0300{:02x}"
_VARIABLES = {INK: "currentColor", GRID: "var(--grid)", SOFT: "var(--soft)", PANEL: "var(--panel)"}

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "trailhound",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}


def series_colour(number: int) -> str:
    """The stand-in for series colour ``number``, from 1; after the last comes the first."""
    return _SERIES.format((number - 1) % N_COLOURS + 1)


@contextmanager
def new_figure(width: float, height: float) -> Iterator[Figure]:
    """An empty figure of so many inches. Draw it, and turn it into text, inside the context."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure


def svg_text(figure: Figure, description: str) -> str:
    """The figure as an ``<svg>`` element; ``description`` is for those who cannot see it."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Inside HTML the name spaces go without saying, and the page decides about the size.
    opening = re.search(r'<svg[^>]*viewBox="([^"]*)"[^>]*>', svg)
    if opening is None:
        raise ValueError("Matplotlib wrote an SVG without a view box")
    start = f'<svg viewBox="{opening[1]}" role="img" aria-label="{escape(description)}">'
    svg = start + svg[opening.end() :]
    for stand_in, colour in _VARIABLES.items():
        svg = svg.replace(stand_in, colour)
    return re.sub(r"#0300([0-9a-f]{2})", lambda match: f"var(--series-{int(match[1], 16)})", svg)


def template_environment(package: str) -> Environment:
    """The templates of ``package``, and those shared by all reports. Text is escaped."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("trailhound.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["counted"] = counted
    return environment
