"""A few thousand of the inputs that ``python -m benchmarks.fuzz`` makes a million of."""

from __future__ import annotations

import pytest
from benchmarks.fuzz.campaign import run
from benchmarks.fuzz.families import FAMILIES
from benchmarks.fuzz.mutations import Swollen
from benchmarks.fuzz.targets import TARGETS, Target, target_named

SEED = 7
INPUTS_PER_SHARE = 25
SMALL = 20_000


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_readers_keep_their_contract(target: Target) -> None:
    report = run(target, range(INPUTS_PER_SHARE * target.share), SEED)
    assert report.findings == []


@pytest.mark.parametrize("name", FAMILIES)
def test_inputs_that_are_meant_to_be_slow_break_nothing(name: str) -> None:
    target = target_named(name)
    for make in FAMILIES[name].values():
        try:
            target.read(make(SMALL))
        except target.allowed:
            continue


def test_the_same_seed_gives_the_same_inputs() -> None:
    target = target_named("robots")
    first, second = (run(target, range(200), SEED) for _ in range(2))
    assert (first.inputs, first.refused) == (second.inputs, second.refused)


def test_a_piece_is_repeated_up_to_the_size() -> None:
    assert Swollen(b"<", b"ab", b">").of_size(9) == b"<ababab>"
    assert Swollen(b"", b"/######").of_size(14) == b"/000000/000001"
