"""What states and clusters are called wherever people see them."""

from __future__ import annotations

from collections.abc import Sequence

from trailhound.counting import counted
from trailhound.models.diagnosis import ClusterFigures
from trailhound.topics.learned import Origin


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
