"""The number under which a process has a shard open, and whether that is still so."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from trailhound.cluster.fencing import Fence
from trailhound.storage.files import explaining

LOOK_EVERY_SECONDS = 1.0


class Epoch:
    """Of one opening of a shard, behind its :class:`~trailhound.cluster.fencing.Fence`.

    Whoever opens a shard claims a new one, and every earlier holder is out: it finds that before
    the next batch that it sends, and within a second of pages. (The lock of the shard's folder
    keeps the new holder out until then, where the file system has locks.)
    """

    def __init__(self, fence: Fence, number: int, clock: Callable[[], float]) -> None:
        self.number = number
        self._fence = fence
        self._clock = clock
        self._looked_at = clock()

    @classmethod
    def claim(
        cls,
        folder: Path,
        owner: str = "",
        clock: Callable[[], float] = time.monotonic,
        kept_at: str = "",
    ) -> Epoch:
        """Open a shard's folder; ``kept_at`` is where it is kept, if that is elsewhere."""
        with explaining(folder):
            folder.mkdir(parents=True, exist_ok=True)
        fence = Fence(kept_at or str(folder))
        return cls(fence, fence.advance(owner), clock)

    def check(self) -> None:
        """FencedError when another process has opened the shard since."""
        self._looked_at = self._clock()
        self._fence.check(self.number)

    def check_now_and_then(self) -> None:
        """The same, once in a second at most."""
        if self._clock() - self._looked_at >= LOOK_EVERY_SECONDS:
            self.check()
