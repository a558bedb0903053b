"""What a strategy learned on the way survives the process."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from trailhound.live.strategy_memory import KEEP_EVERY, StrategyMemory
from trailhound.strategies.breadth_first import BreadthFirstStrategy


class Counting(BreadthFirstStrategy):
    name: ClassVar[str] = "counting"

    def __init__(self) -> None:
        self.count = 0

    def snapshot(self) -> bytes:
        return str(self.count).encode()

    def restore(self, snapshot: bytes) -> None:
        self.count = int(snapshot)


def test_a_snapshot_is_kept_every_few_pages_and_given_back(tmp_path: Path) -> None:
    path, strategy = tmp_path / "strategy.bin", Counting()
    memory = StrategyMemory(strategy, path)
    for _ in range(KEEP_EVERY + 1):
        strategy.count += 1
        memory.page_done()
    later = Counting()
    StrategyMemory(later, path).restore(lambda _: None)
    assert later.count == KEEP_EVERY
    memory.keep()
    StrategyMemory(later, path).restore(lambda _: None)
    assert later.count == KEEP_EVERY + 1


def test_a_snapshot_that_makes_no_sense_is_told_and_passed_over(tmp_path: Path) -> None:
    path, told = tmp_path / "strategy.bin", list[str]()
    path.write_bytes(b"nonsense")
    strategy = Counting()
    StrategyMemory(strategy, path).restore(told.append)
    assert strategy.count == 0
    assert "learns anew" in told[0]


def test_nothing_is_kept_of_a_strategy_that_learns_nothing(tmp_path: Path) -> None:
    memory = StrategyMemory(BreadthFirstStrategy(), tmp_path / "strategy.bin")
    memory.keep()
    memory.restore(lambda _: None)
    assert not list(tmp_path.iterdir())
