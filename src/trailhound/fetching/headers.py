"""What the headers of an answer ask for: of robots, and when to come back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

# Directives that take a value after a colon; before any other colon stands a robot's name.
_WITH_VALUE = frozenset(
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"]
)


@dataclass(frozen=True, slots=True)
class RobotsTags:
    """The two wishes that concern a crawl."""

    noindex: bool = False
    nofollow: bool = False


def robots_tags_of(headers: Iterable[tuple[str, str]], product: str) -> RobotsTags:
    """What all headers of an answer ask of robots."""
    wishes = [value for name, value in headers if name.lower() == "x-robots-tag"]
    return read_robots_tags(wishes, product)


def read_robots_tags(headers: Iterable[str], product: str) -> RobotsTags:
    """The wishes addressed to all robots or to ``product``; they add up.

    ``noindex``, ``nofollow`` and ``none`` (both) are known; a name before a colon limits the rest
    of its header to that robot.
    """
    words: set[str] = set()
    for header in headers:
        words |= _words_for(header.lower(), product.lower())
    return RobotsTags(
        noindex=not words.isdisjoint(("noindex", "none")),
        nofollow=not words.isdisjoint(("nofollow", "none")),
    )


def _words_for(header: str, product: str) -> set[str]:
    name, colon, rest = header.partition(":")
    name = name.strip()
    named = colon and "," not in name and " " not in name and name not in _WITH_VALUE
    if named and name not in (product, "*"):
        return set()
    return {word.strip() for word in (rest if named else header).split(",")}


_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:\s*,\s*[0-9]+(?:\.[0-9]*)?)*", re.ASCII)
_MAX_CHARS = 200
MAX_RETRY_SECONDS = 24 * 3600.0
"""More than a day is a mistake, or no way to run a crawl: then a day it is."""


def retry_after_seconds(header: str, now: float) -> float | None:
    """Seconds to wait by ``header``: a number of them, or a date; ``None`` if it says neither.

    ``now`` is in seconds since 1970. Dates in the past mean no wait. A header that was joined from
    several counts as its longest; fractions are wrong, and understood.
    """
    text = header.strip()
    if _SECONDS.fullmatch(text[:_MAX_CHARS]):
        numbers = (float(each.strip()[:12]) for each in text[:_MAX_CHARS].split(","))
        return min(max(numbers), MAX_RETRY_SECONDS)
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        seconds = date.timestamp() - now
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return min(max(seconds, 0.0), MAX_RETRY_SECONDS)
