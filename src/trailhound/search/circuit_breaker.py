"""A source that keeps failing is left alone for a while."""

from __future__ import annotations

import time
from collections.abc import Callable

from trailhound.errors import SourceError

FAILURES = 3
"""In a row, before a source is left alone."""
REST_SECONDS = 60.0
"""How long it is left alone; then one question is let through."""


class CircuitBreaker:
    """Counts failures in a row. ``clock`` gives seconds that never run backwards."""

    def __init__(
        self,
        name: str,
        *,
        failures: int = FAILURES,
        rest_seconds: float = REST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._limit = failures
        self._rest_seconds = rest_seconds
        self._clock = clock
        self._failures = 0
        self._open_until = 0.0
        self._last = ""

    def check(self) -> None:
        """SourceError while the source is left alone."""
        if self._failures >= self._limit and self._clock() < self._open_until:
            raise SourceError(
                f"{self._name} failed {self._failures} times in a row and is left alone for "
                f"{self._rest_seconds:g} s. The last failure: {self._last}"
            )

    def failed(self, reason: str) -> None:
        """Count a failure."""
        self._failures += 1
        self._last = reason
        self._open_until = self._clock() + self._rest_seconds

    def succeeded(self) -> None:
        """All is well again."""
        self._failures = 0
