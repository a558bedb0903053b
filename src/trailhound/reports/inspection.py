"""The page of ``trailhound inspect --html``: what was learned, in tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence

from trailhound.models.judge_figures import JudgeFigures
from trailhound.reports.concept_picture import draw_concept_graph
from trailhound.reports.html import template_environment
from trailhound.reports.names import cluster_name, distances, state_names, told_lessons
from trailhound.reports.svg import (
    INK,
    SOFT,
    Plane,
    element,
    picture,
    round_ticks,
    series_colour,
    text,
    tick_names,
)
from trailhound.topics.finds.opinions import LinkLessons
from trailhound.topics.learned import LearnedTopic

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
    left, top, wide, high = 82.0, 26.0, 45.0, 30.0
    drawn = [
        text(name, left - 6, top + (y + 0.5) * high + 3, "end", font_size=8)
        for y, name in enumerate(row_names)
    ]
    for x, name in enumerate(column_names):
        # Two words above each other: columns are narrow.
        for line, word in enumerate(reversed(name.split(" ", 1))):
            drawn.append(text(word, left + (x + 0.5) * wide, top - 5 - 10 * line, font_size=8))
    for y, row in enumerate(rows):
        for x, value in enumerate(row):
            place = {"x": left + x * wide, "y": top + y * high, "width": wide, "height": high}
            strength = min(max(value, 0.0), 1.0) * _DARKEST
            drawn.append(element("rect", **place, fill=OTHER_COLOUR, opacity=strength))
            middle = (place["x"] + wide / 2, place["y"] + high / 2 + 3)
            drawn.append(text(f"{value:.2f}", *middle, font_size=8))
    size = (left + wide * len(column_names) + 4, top + high * len(rows) + 4)
    return picture(*size, description, drawn)


def draw_level_sizes(sizes: Sequence[int]) -> str:
    """How many pages are how far from a target."""
    left, width, high = 82.0, 310.0, 26.0
    bottom = high * len(sizes)
    most = max(*sizes, 1) * 1.12
    drawn = []
    ticks = round_ticks(most, 5, whole=True)
    per_page = (width - left - 8) / most
    for value, name in zip(ticks, tick_names(ticks), strict=True):
        x = left + value * per_page
        drawn.append(element("line", x1=x, x2=x, y1=2, y2=bottom, stroke="var(--grid)"))
        drawn.append(text(name, x, bottom + 11))
    for number, (size, name) in enumerate(zip(sizes, state_names(len(sizes)), strict=True)):
        y, long = number * high, size * per_page
        colour = OTHER_COLOUR if number else TARGET_COLOUR
        drawn.append(text(name, left - 6, y + high / 2 + 3, "end"))
        drawn.append(element("rect", x=left, y=y + 4, width=long, height=high - 8, fill=colour))
        drawn.append(text(f"{size:,}", left + long + 4, y + high / 2 + 3, "start"))
    drawn.append(text("pages", (left + width) / 2, bottom + 24))
    return picture(width, bottom + 28, "pages by hops to the nearest target", drawn)


def draw_judge(judge: JudgeFigures) -> str:
    """Which share of the targets, and of the other pages, reaches each score."""
    titles = ("score, had the page not been seen", "share of pages that reach it")
    plane = Plane((331, 216), (1.0, 1.02), titles, n_steps=5, top=18)
    gamma = plane.x(judge.threshold)
    top, bottom = plane.y(1.02), plane.y(0)
    rule = {"stroke": INK, "stroke_dasharray": "1 1.65"}
    lines = [
        element("line", x1=gamma, x2=gamma, y1=top, y2=bottom, **rule),
        text(f"γ = {judge.threshold:.3f}", gamma, top - 4),
    ]
    for number, (scores, colour, label, dashes) in enumerate(
        (
            (judge.other_scores, OTHER_COLOUR, "other pages", (3.7, 1.6)),
            (judge.target_scores, TARGET_COLOUR, "targets", ()),
        )
    ):
        if scores:
            xs, ys = _shares(scores)
            lines.append(plane.line(xs, ys, colour, 1.8, dashes))
            y = 0.93 - number * 0.08
            lines.append(plane.line([0.73, 0.8], [y, y], colour, 1.8, dashes))
            lines.append(text(label, plane.x(0.82), plane.y(y) + 3, "start", fill=SOFT))
    described = "leave-one-out scores of targets and other pages, with the threshold"
    return plane.drawn(described, lines)


def _shares(scores: Sequence[float]) -> tuple[list[float], list[float]]:
    """The corners of a line that falls from 1 to 0 by a step per page; best scores come first."""
    xs, ys = [0.0], [1.0]
    for n_left, score in zip(range(len(scores), 0, -1), reversed(scores), strict=True):
        xs += [score, score]
        ys += [n_left / len(scores), (n_left - 1) / len(scores)]
    return [*xs, 1.0], [*ys, 0.0]
