"""How often shards and their driver talk.

Every word costs time that pages could have. At the beginning each page changes the order of what
waits, and a crawl may be over in seconds; later a second more or less changes little.
"""

from __future__ import annotations

import time
from collections.abc import Callable

SHARE = 10
"""News may be as old as this part of the crawl."""
LEAST_SECONDS = 0.2


class Pace:
    """Pauses that grow with the time since it was made, up to ``most`` seconds."""

    def __init__(self, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._began = clock()

    @property
    def seconds(self) -> float:
        """The next pause."""
        return min(max(LEAST_SECONDS, (self._clock() - self._began) / SHARE), self._most)

    @property
    def is_growing(self) -> bool:
        """Whether it is still early."""
        return self.seconds < self._most


class Speed:
    """Requests of all shards per second, lately."""

    def __init__(self) -> None:
        self.per_second = 0.0
        self._last: tuple[float, int] | None = None

    def note(self, requests: int) -> None:
        """So many were made in all by now."""
        now = time.monotonic()
        if self._last is not None and now > self._last[0]:
            latest = max(0, requests - self._last[1]) / (now - self._last[0])
            self.per_second = max(latest, 0.8 * self.per_second)
        self._last = now, requests
