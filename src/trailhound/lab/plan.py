"""What an experiment is going to do: its runs in a fixed order, each with its own seed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from trailhound.lab.results import Parameters


class RunTask(msgspec.Struct, frozen=True):
    """One crawl to be made."""

    topic: str
    seed_set: int
    strategy: str


@dataclass(frozen=True)
class ExperimentPlan:
    """Where the recorded web is and what to try on it."""

    corpus: Path
    parameters: Parameters
    topics_file: Path | None = None

    def tasks(self) -> list[RunTask]:
        """All runs, topic by topic, so that a worker seldom has to change its topic."""
        return [
            RunTask(topic, seed_set, strategy)
            for topic in self.parameters.topics
            for seed_set in range(self.parameters.seed_sets)
            for strategy in self.parameters.strategies
        ]


def run_seed(seed: int, topic: str, seed_set: int) -> int:
    """The random seed of a run: the same for every strategy, on every machine."""
    text = f"{seed}\x1f{topic}\x1f{seed_set}".encode()
    # 32 bits: exact in any JSON reader, and enough to keep runs apart.
    return int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big")
