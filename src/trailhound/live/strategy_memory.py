"""What a strategy learns on the way outlives the process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from trailhound.archive.files import explaining
from trailhound.strategies.base import Remembering, Strategy
from trailhound.workspace.whole_files import write_whole

KEEP_EVERY = 100
"""Pages between two snapshots: what a crash may cost the strategy in experience."""


class StrategyMemory:
    """Snapshots of a strategy that has something to remember; for others, nothing happens."""

    def __init__(self, strategy: Strategy, path: Path) -> None:
        self._strategy = strategy if isinstance(strategy, Remembering) else None
        self._path = path
        self._pages = 0

    def restore(self, notify: Callable[[str], None]) -> None:
        """Give back what an earlier run learned."""
        if self._strategy is None or not self._path.is_file():
            return
        with explaining(self._path):
            snapshot = self._path.read_bytes()
        try:
            self._strategy.restore(snapshot)
        except ValueError as error:
            notify(
                f"What the strategy had learned on the way cannot be used ({error}); it learns "
                "anew, and nothing else is lost."
            )

    def page_done(self) -> None:
        """Count a page; keep a snapshot every so many."""
        self._pages += 1
        if self._pages % KEEP_EVERY == 0:
            self.keep()

    def keep(self) -> None:
        """Keep a snapshot now."""
        if self._strategy is not None:
            write_whole(self._path, self._strategy.snapshot())
