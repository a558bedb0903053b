"""Recorded navigation of many users: who clicked from where to where, back clicks included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

BACK = "<"
"""The step of a trail that says: back to the page before."""


class TrailVisit(NamedTuple):
    """One page shown on a trail."""

    time: float
    """Unix time in seconds."""
    url: str
    from_url: str | None
    """The page shown before; ``None`` for the first."""
    back: bool
    """Shown again by a back click."""


class Access(NamedTuple):
    """One line of an access log. Sorts by time."""

    time: float
    """Unix time in seconds."""
    user: str
    url: str


class Trail(msgspec.Struct, frozen=True, omit_defaults=True):
    """One walk of one user through recorded pages."""

    user: str
    time: float
    """Unix time of the first page."""
    duration_seconds: float
    """From the first page to the last."""
    steps: tuple[str, ...]
    """URLs of recorded pages in the order in which they were clicked, and :data:`BACK`."""
    finished: bool = True
    """The user reached what she wanted."""
    goal: str = ""
    """The page she was looking for, when it was recorded and is known."""

    def visits(self) -> Iterator[TrailVisit]:
        """Every page shown, back clicks resolved.

        Trails carry one time and one duration: the clicks between are spaced evenly.
        A back click on the first page shows nothing new and is passed over.
        """
        pause = self.duration_seconds / max(1, len(self.steps) - 1)
        opened: list[str] = []
        for number, step in enumerate(self.steps):
            time = self.time + pause * number
            shown = opened[-1] if opened else None
            if step != BACK:
                opened.append(step)
                yield TrailVisit(time, step, shown, back=False)
            elif len(opened) > 1:
                opened.pop()
                yield TrailVisit(time, opened[-1], shown, back=True)


def access_log(trails: Iterable[Trail]) -> Iterator[Access]:
    """The trails as a server or proxy would have logged them, in order of time.

    Back clicks are left out: the browser shows its own copy and asks nobody.
    """
    accesses = [
        Access(visit.time, trail.user, visit.url)
        for trail in trails
        for visit in trail.visits()
        if not visit.back
    ]
    accesses.sort()
    return iter(accesses)
