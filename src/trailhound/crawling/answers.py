"""What plug-ins answer, as stores can keep it, and what they fail at while the crawl goes on.

A plug-in may answer with anything. What is wrong with the answers of strategies and judges is found
here, where it costs the page or the occasion; in a store it would cost the crawl.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import Counter
from collections.abc import Awaitable, Callable
from numbers import Real
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from trailhound.counting import counted
from trailhound.frontier.base import checked_priority
from trailhound.records import Candidate, Relevance, ScoredLink

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Troubles:
    """Failures that cost a page or a plug-in, never the crawl.

    All are counted. The first of each plug-in goes to the log with its traceback, and is told to
    whoever runs the crawl; what there was in all is in :meth:`summary`.
    """

    def __init__(self, tell: Callable[[str], None] = lambda _: None) -> None:
        self.counts: Counter[str] = Counter()
        """By who failed: ``The sink Finds``."""
        self.first: dict[str, str] = {}
        """The first failure of each, in words."""
        self._tell = tell

    def note(self, who: str, error: BaseException, where: str = "") -> None:
        """``who`` failed, at ``where`` (in words, with a blank in front)."""
        self.counts[who] += 1
        if self.counts[who] == 1:
            told = f"{type(error).__name__}: {error}"
            self.first[who] = f"{where.removeprefix(' on ')}: {told}" if where else told
            _log.error("%s failed%s", who, where, exc_info=error)
            self._tell(
                f"{who} failed{where}: {told}. The crawl goes on; further failures are counted and "
                "told at the end."
            )

    def note_end(self, who: str, why: str) -> None:
        """A plug-in is done with."""
        _log.error("%s %s", who, why)
        self._tell(f"{who} {why}")

    def summary(self) -> list[str]:
        """A sentence for each plug-in that failed."""
        return [f"{who} failed {counted(count, 'time')}." for who, count in self.counts.items()]


_LAST_SECONDS = 3.0
"""For a plug-in to let go when the crawl leaves it in the middle."""


async def answered(work: Awaitable[T], seconds: float | None) -> T:
    """What comes of a plug-in's ``work``; TimeoutError when it takes longer than ``seconds``.

    It is cancelled then and not waited for: what heeds no cancelling would be waited for as well.
    """
    if seconds is None:
        return await work
    task = asyncio.ensure_future(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())  # heard
    try:
        await asyncio.wait([task], timeout=seconds)
    except asyncio.CancelledError:  # of the crawl: what is closed next is in use no more
        task.cancel()
        await asyncio.wait([task], timeout=min(seconds, _LAST_SECONDS))
        raise
    if task.done():
        return task.result()
    task.cancel()
    raise TimeoutError(f"no answer within {seconds:g} s (plugin_seconds)")


def is_ours(part: object) -> bool:
    """Whether it is a part of Trailhound itself, which keeps limits of time of its own."""
    return type(part).__module__.startswith("trailhound.")


def name_of(part: object) -> str:
    """What to call a plug-in by: the name that it gives itself, or that of its class."""
    name = getattr(part, "name", None)
    return name if isinstance(name, str) and name else type(part).__name__


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
