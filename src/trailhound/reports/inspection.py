"""The page of ``trailhound inspect --html``: what was learned, in tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from trailhound.models.judge_figures import JudgeFigures
from trailhound.reports.concept_picture import draw_concept_graph
from trailhound.reports.html import (
    INK,
    SOFT,
    new_figure,
    series_colour,
    svg_text,
    template_environment,
)
from trailhound.reports.names import cluster_name, distances, state_names, told_lessons
from trailhound.topics.learned import LearnedTopic
from trailhound.topics.link_lessons import LinkLessons

TARGET_COLOUR = series_colour(2)
OTHER_COLOUR = series_colour(1)

LESSONS_SHOWN = 20
"""About links, of each field."""

# Ink on the series colour stays readable up to here.
_DARKEST = 0.75


def render_inspection(learned: LearnedTopic, links: LinkLessons | None = None) -> str:
    """The whole page as HTML text. It loads nothing and runs nothing."""
    diagnosis = learned.diagnosis
    states = state_names(len(diagnosis.level_sizes))
    clusters = [cluster_name(cluster.number) for cluster in diagnosis.clusters]
    transition = "transition matrix A: from a page's distance to that of a page it links to"
    emission = "emission matrix B: which clusters the pages at each distance belong to"
    pictures = {
        "levels": draw_level_sizes(diagnosis.level_sizes),
        "concepts": draw_concept_graph(diagnosis),
        "transition": draw_heat_map(diagnosis.transition, states, states, transition),
        "emission": draw_heat_map(diagnosis.emission, states, clusters, emission),
        "judge": draw_judge(diagnosis.judge),
    }
    template = template_environment("trailhound.reports").get_template("inspect.html.j2")
    return template.render(
        origin=learned.origin,
        diagnosis=diagnosis,
        states=states,
        cluster_names=clusters,
        distances=[distances(cluster) for cluster in diagnosis.clusters],
        pictures=pictures,
        judge_name=learned.judge_name,
        judges=learned.figures_by_judge,
        links=links,
        lessons=told_lessons(links, LESSONS_SHOWN) if links is not None else {},
    )


def draw_heat_map(
    rows: Sequence[Sequence[float]],
    row_names: Sequence[str],
    column_names: Sequence[str],
    description: str,
) -> str:
    """A matrix of probabilities; the stronger the colour, the likelier."""
    width = 1.3 + 0.62 * len(column_names)
    with new_figure(width, 0.75 + 0.42 * len(rows)) as figure:
        axes = figure.add_subplot()
        for y, row in enumerate(rows):
            for x, value in enumerate(row):
                strength = min(max(value, 0.0), 1.0) * _DARKEST
                corner = (x - 0.5, y - 0.5)
                axes.add_patch(Rectangle(corner, 1, 1, fc=OTHER_COLOUR, alpha=strength, lw=0))
                axes.text(x, y, f"{value:.2f}", ha="center", va="center", fontsize=8)
        _frame(axes, row_names, column_names)
        return svg_text(figure, description)


def _frame(axes: Axes, row_names: Sequence[str], column_names: Sequence[str]) -> None:
    axes.set_xlim(-0.5, len(column_names) - 0.5)
    axes.set_ylim(len(row_names) - 0.5, -0.5)
    # Two words above each other: columns are narrow.
    stacked = [name.replace(" ", "\n", 1) for name in column_names]
    axes.set_xticks(range(len(column_names)), stacked)
    axes.set_yticks(range(len(row_names)), row_names)
    axes.tick_params(length=0, labelsize=8)
    axes.xaxis.tick_top()
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def draw_level_sizes(sizes: Sequence[int]) -> str:
    """How many pages are how far from a target."""
    with new_figure(4.3, 0.6 + 0.36 * len(sizes)) as figure:
        axes = figure.add_subplot()
        colours = [TARGET_COLOUR, *[OTHER_COLOUR] * (len(sizes) - 1)]
        bars = axes.barh(range(len(sizes)), sizes, color=colours, height=0.65)
        axes.bar_label(bars, padding=3)
        axes.set_yticks(range(len(sizes)), state_names(len(sizes)))
        axes.invert_yaxis()
        axes.set_xlim(0, max(*sizes, 1) * 1.12)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.grid(visible=False, axis="y")
        axes.set_axisbelow(True)
        axes.set_xlabel("pages")
        return svg_text(figure, "pages by hops to the nearest target")


def draw_judge(judge: JudgeFigures) -> str:
    """Which share of the targets, and of the other pages, reaches each score."""
    with new_figure(4.6, 3.0) as figure:
        axes = figure.add_subplot()
        _share_line(axes, judge.other_scores, OTHER_COLOUR, "other pages", "--")
        _share_line(axes, judge.target_scores, TARGET_COLOUR, "targets", "-")
        axes.axvline(judge.threshold, color=INK, linewidth=1, linestyle=":")
        axes.text(judge.threshold, 1.03, f"γ = {judge.threshold:.3f}", ha="center", va="bottom")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("score, had the page not been seen")
        axes.set_ylabel("share of pages that reach it")
        if judge.target_scores or judge.other_scores:
            axes.legend(frameon=False, labelcolor=SOFT, loc="upper right")
        return svg_text(
            figure, "leave-one-out scores of targets and other pages, with the threshold"
        )


def _share_line(
    axes: Axes, scores: Sequence[float], colour: str, label: str, linestyle: str
) -> None:
    """Falls from 1 to 0 by one step per page; ``scores`` come best first."""
    if not scores:
        return
    x = np.array([0.0, *reversed(scores), 1.0])
    y = np.array([len(scores), *range(len(scores), 0, -1), 0]) / len(scores)
    axes.step(x, y, where="pre", color=colour, label=label, linestyle=linestyle, linewidth=1.8)
