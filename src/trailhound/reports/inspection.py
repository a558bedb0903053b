"""The page of ``trailhound inspect --html``: what was learned, in tables and pictures.

In the picture of the concept graph the targets are in the middle and the other clusters around
them. A circle's area is the number of pages, its colour the stronger the nearer its pages are to a
target; an arrow's width is the number of links.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from trailhound.models.diagnosis import ClusterFigures, Diagnosis, state_names
from trailhound.models.judge_figures import JudgeFigures
from trailhound.reports.html import (
    INK,
    PANEL,
    SOFT,
    Plane,
    element,
    picture,
    round_ticks,
    series_colour,
    template_environment,
    text,
    tick_names,
)
from trailhound.topics.finds.opinions import LinkLessons
from trailhound.topics.learned import LearnedTopic

Point = tuple[float, float]

_WIDTH, _HEIGHT, _SCALE = 460.0, 400.0, 132.0
"""Of the picture, and the radius of the circle that the clusters are on."""
_SMALLEST, _LARGEST = 13.0, 32.0
"""Radii of clusters."""
_WIDEST = 6.0
"""Of the arrow with most links."""
_WORDS_SHOWN = 3


def _draw_concept_graph(diagnosis: Diagnosis) -> str:
    """All clusters and the links between them."""
    clusters = diagnosis.clusters
    places = _places(len(clusters))
    most = max(1, *(cluster.pages for cluster in clusters))
    shares = [math.sqrt(cluster.pages / most) for cluster in clusters]
    radii = [_SMALLEST + (_LARGEST - _SMALLEST) * share for share in shares]
    drawn = _links(diagnosis.concept_links, places, radii)
    n_states = len(diagnosis.level_sizes)
    for cluster, place, radius in zip(clusters, places, radii, strict=True):
        drawn += _cluster(cluster, place, radius, n_states)
    described = "concept graph: clusters of pages and the links between them"
    return picture(_WIDTH, _HEIGHT, described, drawn)


def _places(count: int) -> list[Point]:
    """The targets in the middle, the others on a circle from the top clockwise."""
    x, y = _WIDTH / 2, _HEIGHT / 2
    angles = [math.pi / 2 - 2 * math.pi * number / max(count - 1, 1) for number in range(count - 1)]
    around = [(x + _SCALE * math.cos(each), y - _SCALE * math.sin(each)) for each in angles]
    return [(x, y), *around]


def _links(
    links: Sequence[Sequence[int]], places: Sequence[Point], radii: Sequence[float]
) -> list[str]:
    between = {
        (source, end): count
        for source, row in enumerate(links)
        for end, count in enumerate(row)
        if count and source != end
    }
    most = max(between.values(), default=1)
    return [
        _arrow(*_ends(places[source], places[end], radii[source], radii[end]), count / most)
        for (source, end), count in between.items()
    ]


def _ends(start: Point, end: Point, start_radius: float, end_radius: float) -> tuple[Point, Point]:
    """Where an arrow leaves one circle and meets the other, with a little room between."""
    length = math.dist(start, end)
    ux, uy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    leave, meet = start_radius + 4, end_radius + 4
    return (
        (start[0] + ux * leave, start[1] + uy * leave),
        (end[0] - ux * meet, end[1] - uy * meet),
    )


def _arrow(start: Point, end: Point, share: float) -> str:
    """A bent arrow, so that both directions stay visible; ``share`` is that of the widest."""
    width = max(0.4, _WIDEST * share)
    dx, dy = end[0] - start[0], end[1] - start[1]
    bend = ((start[0] + end[0]) / 2 - 0.14 * dy, (start[1] + end[1]) / 2 + 0.14 * dx)
    length = max(math.dist(bend, end), 1e-6)
    ux, uy = (end[0] - bend[0]) / length, (end[1] - bend[1]) / length
    long, half = 4 + 1.2 * width, 2 + 0.8 * width
    neck = (end[0] - ux * long, end[1] - uy * long)
    shaft = element("path", d=f"M{_at(start)} Q{_at(bend)} {_at(neck)}", fill="none")
    sides = [(neck[0] - uy * half, neck[1] + ux * half), (neck[0] + uy * half, neck[1] - ux * half)]
    head = element("path", d=f"M{_at(end)} L{_at(sides[0])} L{_at(sides[1])} Z", stroke="none")
    faint = 0.25 + 0.5 * math.sqrt(share)
    return element("g", shaft, head, stroke=SOFT, fill=SOFT, stroke_width=width, opacity=faint)


def _at(point: Point) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


def _cluster(cluster: ClusterFigures, place: Point, radius: float, n_states: int) -> list[str]:
    nearness = 1 - cluster.mean_level / max(n_states - 1, 1)
    circle = {"cx": place[0], "cy": place[1], "r": radius}
    strength = 0.08 + 0.72 * nearness
    return [
        element("circle", **circle, fill=PANEL, stroke=INK, stroke_width=0.8),
        element("circle", **circle, fill=series_colour(2), opacity=strength),
        text(str(cluster.pages), place[0], place[1] + 3),
        *_label(cluster, place, radius),
    ]


def _label(cluster: ClusterFigures, place: Point, radius: float) -> list[str]:
    """Name and strongest words, above clusters in the upper half and below the others."""
    x, y = place
    words = ", ".join(word.word for word in cluster.log_odds[:_WORDS_SHOWN])
    first = y - radius - 16 if y < _HEIGHT / 2 - 27 else y + radius + 13
    return [
        text(cluster.name, x, first, class_="label", font_weight="bold"),
        text(words, x, first + 11, class_="label", fill=SOFT, font_size=7.5),
    ]


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
    clusters = [cluster.name for cluster in diagnosis.clusters]
    transition = "transition matrix A: from a page's distance to that of a page it links to"
    emission = "emission matrix B: which clusters the pages at each distance belong to"
    pictures = {
        "levels": draw_level_sizes(diagnosis.level_sizes),
        "concepts": _draw_concept_graph(diagnosis),
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
        pictures=pictures,
        judge_name=learned.judge_name,
        judges=learned.figures_by_judge,
        links=links,
        lessons=links.told(LESSONS_SHOWN) if links is not None else {},
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
