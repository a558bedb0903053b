"""The floors, their file, and the only ways in which they may change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from trailhound.errors import StorageError, UsageError
from trailhound.lab.results import ExperimentResults
from trailhound.storage.files import write_whole

FLOORS_FILE = Path(__file__).with_name("floors.json")

GUARDED_METRICS = ("nauc", "recall")

MARGIN = 0.02
"""A floor lies this share below what was measured. Another processor may round a cosine in its
last bit and swap two links of equal worth; one page found ten fetches later in a crawl of 150
moves nAUC by about 0.002."""

Floors = dict[str, dict[str, float]]
"""Smallest allowed mean by strategy and metric."""


class Suite(msgspec.Struct, frozen=True):
    """One experiment that is repeated at every check, and what it must reach."""

    kind: str
    """Of the corpus."""
    strategies: list[str]
    topics: list[str]
    """Empty: all that the corpus has."""
    max_requests: int
    seed_sets: int
    seed: int
    without: list[str] = []
    """Beginnings of addresses that are closed to everybody."""
    settings: dict[str, Any] = {}
    """What differs from a live crawl: floors are measured one fetch after the other."""
    judge: str = "auto"
    """By whom strategies learn what is relevant; a better default does not move others' floors."""
    fingerprint: str = ""
    """Of the corpus on which the floors were measured."""
    margin: float = MARGIN
    """How far below a measurement its floor lies. A strategy that learns on every page goes another
    way after one swapped link, and needs more room."""
    floors: Floors = {}
    lowered: list[str] = []
    """Why a floor was ever lowered, oldest first."""


class Shortfall(msgspec.Struct, frozen=True):
    """A floor that was not reached."""

    strategy: str
    metric: str
    measured: float
    floor: float

    def __str__(self) -> str:
        return f"{self.strategy}: {self.metric} is {self.measured:.4f}, floor {self.floor:.4f}"


def load_suites(path: Path = FLOORS_FILE) -> dict[str, Suite]:
    """All suites by name."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Suite])
    except (OSError, msgspec.DecodeError) as error:
        raise StorageError(f"Cannot read the floors in {path}: {error}") from error


def save_suites(suites: Mapping[str, Suite], path: Path = FLOORS_FILE) -> None:
    """Replace the file."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(suites), indent=2) + b"\n")


def measured_means(results: ExperimentResults) -> Floors:
    """The guarded means of an experiment."""
    return {
        strategy: {metric: estimates[metric].mean for metric in GUARDED_METRICS}
        for strategy, estimates in results.summary.items()
    }


def shortfalls(suite: Suite, measured: Floors) -> list[Shortfall]:
    """Every floor that the measurement misses; a strategy that did not run misses all of its."""
    missed = []
    for strategy, floors in suite.floors.items():
        for metric, floor in floors.items():
            value = measured.get(strategy, {}).get(metric, 0.0)
            if value < floor:
                missed.append(Shortfall(strategy, metric, value, floor))
    return missed


def updated_suite(
    suite: Suite, measured: Floors, fingerprint: str, *, may_lower: bool, reason: str
) -> Suite:
    """The suite with floors raised to the measurement; lowered only by leave and with a reason."""
    missed = shortfalls(suite, measured)
    if missed and not (may_lower and reason.strip()):
        raise UsageError(
            "These floors would have to be lowered:\n  "
            + "\n  ".join(map(str, missed))
            + "\nIf the loss is meant, say so: --update --allow-lower --reason 'why'."
        )
    lowered = {(item.strategy, item.metric) for item in missed}
    floors = {
        strategy: {
            metric: _new_floor(suite, strategy, metric, value, (strategy, metric) in lowered)
            for metric, value in means.items()
        }
        for strategy, means in measured.items()
    }
    history = [*suite.lowered, reason.strip()] if missed else suite.lowered
    return msgspec.structs.replace(suite, floors=floors, fingerprint=fingerprint, lowered=history)


def _new_floor(
    suite: Suite, strategy: str, metric: str, measured: float, is_lowered: bool
) -> float:
    proposed = math.floor(measured * (1 - suite.margin) * 10_000) / 10_000
    if is_lowered:
        return proposed
    return max(proposed, suite.floors.get(strategy, {}).get(metric, 0.0))
