"""What states, clusters and lessons about links are called wherever people see them."""

from __future__ import annotations

from collections.abc import Sequence

from trailhound.counting import counted
from trailhound.models.diagnosis import ClusterFigures
from trailhound.strategies.base import Lesson
from trailhound.topics.finds.opinions import LinkLessons
from trailhound.topics.learned import Origin

_FIELDS = {
    "anchor": "anchor",
    "address": "address",
    "context": "near the link",
    "heading": "heading above it",
    "title": "title of its page",
    "place": "place on its page",
    "meaning": "anchors that mean",
    "": "what else counts",
}
"""Of links, in the order in which they are told."""


def state_names(n_states: int) -> list[str]:
    """Hops to a target, nearest first; the last state holds all that is farther."""
    names = ["target", *(counted(hops, "hop") for hops in range(1, n_states))]
    return [*names[:-1], f"{names[-1]} or more"] if n_states > 1 else names


def cluster_name(number: int) -> str:
    """Cluster 0 holds the targets."""
    return "targets" if number == 0 else f"cluster {number}"


def distances(cluster: ClusterFigures) -> str:
    """How far a cluster's pages are from a target: ``1 hop: 12 · 2 hops: 3``."""
    named = zip(state_names(len(cluster.by_level)), cluster.by_level, strict=True)
    return " · ".join(f"{name}: {count}" for name, count in named if count)


def sessions_line(origin: Origin) -> str:
    """``2 sessions of 1 person``."""
    return f"{counted(origin.sessions, 'session')} of {counted(origin.people, 'person')}"


def distance_line(level_sizes: Sequence[int]) -> str:
    """How many of all pages are how far from a target."""
    named = zip(state_names(len(level_sizes)), level_sizes, strict=True)
    return ", ".join(f"{name} {size:,}" for name, size in named)


def told_lessons(links: LinkLessons, n_told: int) -> dict[str, str]:
    """By field what was learned, the strongest first: ``jam +1.2 (+0.3), tax -0.8 (+0.1)``.

    In brackets what was known before: from the sessions when there was a crawl, otherwise nothing
    for words and a guess for what else counts.
    """
    known = {(each.field, each.name): each.weight for each in links.from_sessions}
    told: dict[str, list[str]] = {name: [] for name in _FIELDS.values()}
    for lesson in links.after_crawl or links.from_sessions:
        before = known.get((lesson.field, lesson.name)) if links.after_crawl else lesson.prior
        told.setdefault(_FIELDS.get(lesson.field, lesson.field), []).append(_told(lesson, before))
    return {name: ", ".join(lines[:n_told]) for name, lines in told.items() if lines}


def _told(lesson: Lesson, before: float | None) -> str:
    is_word = bool(lesson.field)
    earlier = "" if not before and is_word else f" ({before or 0.0:+.1f})"
    return f"{lesson.name or '(nothing)'} {lesson.weight:+.1f}{earlier}"
