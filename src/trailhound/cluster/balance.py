"""Which machine has which shard: as many as its processors can bear, like all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

Capacity = Mapping[str, float]
"""Processors of each machine."""


class Move(NamedTuple):
    """A shard that another machine should have."""

    shard: int
    machine: str


def least_loaded(owners: Mapping[int, str], capacity: Capacity) -> str:
    """The machine that the next shard should go to."""
    counts = Counter(owners.values())
    return min(capacity, key=lambda name: ((counts[name] + 1) / capacity[name], name))


def next_move(owners: Mapping[int, str], capacity: Capacity) -> Move | None:
    """One shard from a machine that has too many to one that has too few; ``None`` when balanced.

    Shards of machines that are gone are none of this: they are opened anew.
    """
    counts = Counter(name for name in owners.values() if name in capacity)
    if not counts:
        return None
    target = least_loaded(owners, capacity)
    source = max(counts, key=lambda name: (counts[name] / capacity[name], name))
    if counts[source] / capacity[source] <= (counts[target] + 1) / capacity[target]:
        return None
    return Move(max(shard for shard, name in owners.items() if name == source), target)
