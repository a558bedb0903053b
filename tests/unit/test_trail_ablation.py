"""The benchmark that takes trail apart must find the parts where they are."""

from __future__ import annotations

from benchmarks.trail_ablation import PARTS


def test_every_part_that_is_left_out_is_there() -> None:
    for name, part in PARTS.items():
        for owner, attribute, _ in part.instead:
            assert hasattr(owner, attribute), f"{name}: {owner.__name__} has no {attribute}"
