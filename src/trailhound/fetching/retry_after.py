"""When a busy server wants to be asked again: the ``Retry-After`` header."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime

MAX_RETRY_SECONDS = 24 * 3600.0
"""More than a day is a mistake, or no way to run a crawl: then a day it is."""


def retry_after_seconds(header: str, now: float) -> float | None:
    """Seconds to wait by ``header``: a number of them, or a date; ``None`` if it says neither.

    ``now`` is in seconds since 1970. Dates in the past mean no wait.
    """
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:12]), MAX_RETRY_SECONDS)
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        seconds = date.timestamp() - now
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return min(max(seconds, 0.0), MAX_RETRY_SECONDS)
