"""Only a part of the time: histories and logs go back for years."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from trailhound.sessions.events import Session
from trailhound.sessions.imports.imported import Tally


@dataclass(frozen=True)
class Period:
    """From ``since`` up to, but not at, ``until``: Unix times in seconds."""

    since: float = float("-inf")
    until: float = float("inf")

    def __contains__(self, time: object) -> bool:
        return isinstance(time, float | int) and self.since <= time < self.until


class SessionsInPeriod:
    """The parts of sessions that lie in a period; the others are counted once, at the first go."""

    def __init__(self, sessions: Iterable[Session], period: Period, tally: Tally) -> None:
        self._sessions = sessions
        self._period = period
        self._tally: Tally | None = tally

    def __iter__(self) -> Iterator[Session]:
        outside = 0
        for session in self._sessions:
            kept = tuple(event for event in session.events if event.time in self._period)
            outside += len(session.events) - len(kept)
            if kept:
                yield msgspec.structs.replace(session, events=kept)
        if self._tally is not None and outside:
            self._tally.skip("outside the time asked for", outside)
        self._tally = None
