"""An experiment as a Matplotlib figure, for notebooks and papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trailhound.errors import UsageError
from trailhound.lab.report.curves import LineStyle, found, strategy_curve
from trailhound.lab.results import ExperimentResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
