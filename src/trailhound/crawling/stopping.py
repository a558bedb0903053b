"""When a crawl ends, and the reason it gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class StopReason(StrEnum):
    """Why a crawl ended."""

    PAGES_SPENT = "the page budget is spent"
    TIME_SPENT = "the time budget is spent"
    FRONTIER_EMPTY = "no candidate is left: give more seeds, or a wider scope"
    HOSTS_ASLEEP = "all hosts that are left want to be left alone: resume later, or give more seeds"
    BARREN = "it found nothing relevant for too long: give other seeds, or learn from more pages"
    INTERRUPTED = "it was interrupted"


@dataclass(frozen=True)
class Budget:
    """Limits of a crawl; ``None`` is no limit."""

    max_pages: int | None = None
    """GETs, redirect hops and failures included."""
    max_seconds: float | None = None

    def spent(self, requests: int, seconds: float) -> StopReason | None:
        """The limit that has been reached, if any."""
        if self.max_pages is not None and requests >= self.max_pages:
            return StopReason.PAGES_SPENT
        if self.max_seconds is not None and seconds >= self.max_seconds:
            return StopReason.TIME_SPENT
        return None
