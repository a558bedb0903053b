"""What strategies and judges answer, as stores can keep it.

A plug-in may answer with anything. What is wrong is found here, where it costs the page or the
occasion; in a store it would cost the crawl.
"""

from __future__ import annotations

import math
from numbers import Real

import msgspec
from msgspec.structs import replace

from trailhound.frontier.base import checked_priority
from trailhound.records import Candidate, Relevance, ScoredLink

_ROUNDING = 1e-4
"""By so much a score may miss its bounds, as a cosine of long pages in single precision does."""

_DEPTHS = 2**31
"""More than any way has clicks; what is added to them on the way can still be kept."""


class LinkScore(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A strategy's verdict on one link, as the frontier needs it."""

    url: str
    priority: float
    memory: bytes = b""
    nofollow: bool = False


def link_score(scored: ScoredLink) -> LinkScore:
    """A strategy's verdict without the link's surroundings."""
    link = scored.link
    priority, memory = float(scored.priority), _checked_memory(scored.memory)
    return LinkScore(_checked_address(link.url), priority, memory, link.nofollow)


def checked_candidate(candidate: Candidate) -> Candidate:
    """What a strategy names by itself; an error for what no frontier can keep."""
    checked = replace(
        candidate,
        url=_checked_address(candidate.url),
        priority=float(candidate.priority),
        memory=_checked_memory(candidate.memory),
        parent=None if candidate.parent is None else _checked_address(candidate.parent),
        depth=int(candidate.depth),
    )
    if not 0 <= checked.depth < _DEPTHS:
        raise ValueError(f"the depth of a link is a number of clicks, not {checked.depth}")
    checked_priority(checked)
    return checked


def checked_verdict(verdict: object, who: str = "a judge") -> Relevance:
    """What ``who`` gives; ValueError for what is no verdict."""
    if isinstance(verdict, Relevance):
        is_as_our_own = type(verdict.score) is float and type(verdict.relevant) is bool
        if is_as_our_own and 0.0 <= verdict.score <= 1.0:
            return verdict
        given: object = verdict.score  # of any kind of number, NumPy's among them
        score = float(given) if isinstance(given, Real) else math.nan
        bounded = min(1.0, max(0.0, score))
        if abs(bounded - score) <= _ROUNDING and verdict.relevant in (True, False):
            return Relevance(bounded, bool(verdict.relevant))
    raise ValueError(f"{who} gives a Relevance with a score from 0 to 1, not {verdict!r}")


def _checked_address(url: object) -> str:
    if not isinstance(url, str):
        raise TypeError(f"an address is a str, not {url!r}")
    if not url.isascii():
        url.encode()  # UnicodeEncodeError for half a character, which no store can keep
    return url


def _checked_memory(memory: object) -> bytes:
    if not isinstance(memory, bytes):
        raise TypeError(f"the memory of a link is bytes, not {memory!r}")
    return bytes(memory)  # of a kind of bytes that is not Python's own, such as NumPy's
