"""The concept graph drawn: clusters of pages, and how they link to each other.

The targets are in the middle and the other clusters around them. A circle's area is the number of
pages, its colour the stronger the nearer its pages are to a target; an arrow's width is the number
of links.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from trailhound.models.diagnosis import ClusterFigures, Diagnosis
from trailhound.reports.names import cluster_name
from trailhound.reports.svg import INK, PANEL, SOFT, element, picture, series_colour, text

Point = tuple[float, float]

_WIDTH, _HEIGHT, _SCALE = 460.0, 400.0, 132.0
"""Of the picture, and the radius of the circle that the clusters are on."""
_SMALLEST, _LARGEST = 13.0, 32.0
"""Radii of clusters."""
_WIDEST = 6.0
"""Of the arrow with most links."""
_WORDS_SHOWN = 3


def draw_concept_graph(diagnosis: Diagnosis) -> str:
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
        text(cluster_name(cluster.number), x, first, class_="label", font_weight="bold"),
        text(words, x, first + 11, class_="label", fill=SOFT, font_size=7.5),
    ]
