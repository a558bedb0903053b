"""The concept graph drawn: clusters of pages, and how they link to each other.

The targets are in the middle and the other clusters around them. A circle's area is the number of
pages, its colour the stronger the nearer its pages are to a target; an arrow's width is the number
of links.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch

from trailhound.models.diagnosis import ClusterFigures, Diagnosis
from trailhound.reports.html import INK, PANEL, SOFT, new_figure, series_colour, svg_text
from trailhound.reports.names import cluster_name

Point = tuple[float, float]

_SMALLEST, _LARGEST = 0.1, 0.24
"""Radii, where the circle of clusters has radius 1."""
_WIDEST = 6.0
"""Points, of the arrow with most links."""
_WORDS_SHOWN = 3


def draw_concept_graph(diagnosis: Diagnosis) -> str:
    """All clusters and the links between them."""
    clusters = diagnosis.clusters
    places = _places(len(clusters))
    most = max(1, *(cluster.pages for cluster in clusters))
    shares = [math.sqrt(cluster.pages / most) for cluster in clusters]
    radii = [_SMALLEST + (_LARGEST - _SMALLEST) * share for share in shares]
    with new_figure(6.4, 5.6) as figure:
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.set_aspect("equal")
        axes.set_xlim(-1.75, 1.75)
        axes.set_ylim(-1.45, 1.45)
        _draw_links(axes, diagnosis.concept_links, places, radii)
        n_states = len(diagnosis.level_sizes)
        for cluster, place, radius in zip(clusters, places, radii, strict=True):
            _draw_cluster(axes, cluster, place, radius, n_states)
        return svg_text(figure, "concept graph: clusters of pages and the links between them")


def _places(count: int) -> list[Point]:
    """The targets in the middle, the others on a circle from the top clockwise."""
    angles = [math.pi / 2 - 2 * math.pi * number / max(count - 1, 1) for number in range(count - 1)]
    return [(0.0, 0.0), *[(math.cos(angle), math.sin(angle)) for angle in angles]]


def _draw_links(
    axes: Axes, links: Sequence[Sequence[int]], places: Sequence[Point], radii: Sequence[float]
) -> None:
    between = {
        (source, end): count
        for source, row in enumerate(links)
        for end, count in enumerate(row)
        if count and source != end
    }
    most = max(between.values(), default=1)
    for (source, end), count in between.items():
        share = math.sqrt(count / most)
        axes.add_patch(
            FancyArrowPatch(
                *_ends(places[source], places[end], radii[source], radii[end]),
                connectionstyle="arc3,rad=0.14",  # both directions stay visible
                arrowstyle=f"-|>,head_length={2 + 3 * share},head_width={1 + 2 * share}",
                linewidth=max(0.4, _WIDEST * count / most),
                color=SOFT,
                alpha=0.25 + 0.5 * share,
            )
        )


def _ends(start: Point, end: Point, start_radius: float, end_radius: float) -> tuple[Point, Point]:
    """Where an arrow leaves one circle and meets the other, with a little room between."""
    length = math.dist(start, end)
    ux, uy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    leave, meet = start_radius + 0.03, end_radius + 0.03
    return (
        (start[0] + ux * leave, start[1] + uy * leave),
        (end[0] - ux * meet, end[1] - uy * meet),
    )


def _draw_cluster(
    axes: Axes, cluster: ClusterFigures, place: Point, radius: float, n_states: int
) -> None:
    nearness = 1 - cluster.mean_level / max(n_states - 1, 1)
    axes.add_patch(Circle(place, radius, facecolor=PANEL, edgecolor=INK, linewidth=0.8))
    colour = series_colour(2)
    strength = 0.08 + 0.72 * nearness
    axes.add_patch(Circle(place, radius, facecolor=colour, alpha=strength, linewidth=0))
    axes.text(*place, str(cluster.pages), ha="center", va="center", fontsize=9)
    _label(axes, cluster, place, radius)


def _label(axes: Axes, cluster: ClusterFigures, place: Point, radius: float) -> None:
    """Name and strongest words, above clusters in the upper half and below the others."""
    x, y = place
    words = ", ".join(word.word for word in cluster.log_odds[:_WORDS_SHOWN])
    is_above = y > 0.2
    first = y + radius + 0.14 if is_above else y - radius - 0.04
    for offset, text, style in (
        (0.0, cluster_name(cluster.number), {"weight": "bold"}),
        (0.1, words, {"color": SOFT, "fontsize": 7.5}),
    ):
        # The style sheet gives a halo to what is called "label".
        gid = f"label-{cluster.number}-{offset}"
        vertical = "bottom" if is_above else "top"
        axes.text(x, first - offset, text, ha="center", va=vertical, gid=gid, **style)
