"""What an answer's ``X-Robots-Tag`` headers ask of us."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# Directives that take a value after a colon; before any other colon stands a robot's name.
_WITH_VALUE = frozenset(
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"]
)


@dataclass(frozen=True, slots=True)
class RobotsTags:
    """The two wishes that concern a crawl."""

    noindex: bool = False
    nofollow: bool = False


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
