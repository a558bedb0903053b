"""What all HTML reports share: one look, one way to make pictures, nothing loaded from elsewhere.

``inline_svg`` draws with Matplotlib into SVG whose colours are CSS variables; ``page`` renders
templates that can include ``report.css``.
"""

from trailhound.html_report.inline_svg import (
    GRID,
    INK,
    PANEL,
    SOFT,
    new_figure,
    series_colour,
    svg_text,
)
from trailhound.html_report.page import template_environment

__all__ = [
    "GRID",
    "INK",
    "PANEL",
    "SOFT",
    "new_figure",
    "series_colour",
    "svg_text",
    "template_environment",
]
