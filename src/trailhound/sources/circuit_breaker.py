"""A source that keeps failing is left alone for a while, and then for longer and longer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from trailhound.errors import SourceError

FAILURES = 3
"""In a row, before a source is left alone."""
REST_SECONDS = 60.0
"""How long it is left alone at first. Then one question is let through; when that fails, twice."""
LONGEST_REST_SECONDS = 3600.0

_log = logging.getLogger(__name__)


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
        self._has_told = False

    @property
    def is_open(self) -> bool:
        """Whether the source is left alone now."""
        return self._failures >= self._limit and self._clock() < self._open_until

    def check(self) -> None:
        """SourceError while the source is left alone."""
        if self.is_open:
            raise SourceError(
                f"{self._name} cannot be used: it failed {self._failures} times in a row and is "
                f"left alone for {self._rest():g} s. The last failure: {self._last}"
            )

    def failed(self, reason: str) -> None:
        """Count a failure; the log hears of the first rest."""
        self._failures += 1
        self._last = reason
        if self._failures < self._limit:
            return
        self._open_until = self._clock() + self._rest()
        if not self._has_told:
            _log.warning(
                "%s failed %d times in a row and is left alone for %g s, and twice as long each "
                "time that it fails again. The last failure: %s",
                *(self._name, self._failures, self._rest(), reason),
            )
        self._has_told = True

    def succeeded(self) -> None:
        """All is well again."""
        self._failures = 0

    def _rest(self) -> float:
        doublings = min(self._failures - self._limit, 30)
        return min(self._rest_seconds * 2.0**doublings, LONGEST_REST_SECONDS)
