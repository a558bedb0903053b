"""Random numbers that depend on the run's seed and on names, and on nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


def generator_for(seed: int, *names: str) -> np.random.Generator:
    """A generator that is the same for the same arguments in every process and on every machine.

    Python's own ``hash`` of a string changes from process to process; a digest does not.
    """
    digest = hashlib.blake2b(repr((seed, names)).encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def shuffled(items: Sequence[Item], rng: np.random.Generator) -> list[Item]:
    """The items in random order; the argument is left alone."""
    return [items[int(position)] for position in rng.permutation(len(items))]
