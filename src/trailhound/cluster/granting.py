"""How many requests each shard may make next, so that together they go by one order, best first.

A shard reports how promising its best links are. The driver lines all of them up and grants
requests along that line: with reports that are up to date, and priorities that mean the same
everywhere, the next slice of requests goes to the links that one crawl would have leased.

A shard holds a *limit*, the number of requests that it may make in all. Only the driver raises it
and only the shard lowers it, in a report, to give back what it cannot use. So limits may be told
late, twice or never, and their sum stays within the budget.

How often they talk: every word costs time that pages could have. At the beginning each page changes
the order of what waits, and a crawl may be over in seconds; later a second more or less changes
little.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

PAUSE_SHARE = 10
"""News may be as old as this part of the crawl."""
LEAST_PAUSE_SECONDS = 0.2


class Pace:
    """Pauses that grow with the time since it was made, up to ``most`` seconds."""

    def __init__(self, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._began = clock()

    @property
    def seconds(self) -> float:
        """The next pause."""
        return min(
            max(LEAST_PAUSE_SECONDS, (self._clock() - self._began) / PAUSE_SHARE), self._most
        )

    @property
    def is_growing(self) -> bool:
        """Whether it is still early."""
        return self.seconds < self._most


class Speed:
    """Requests of all shards per second, lately."""

    def __init__(self) -> None:
        self.per_second = 0.0
        self._last: tuple[float, int] | None = None

    def note(self, requests: int) -> None:
        """So many were made in all by now."""
        now = time.monotonic()
        if self._last is not None and now > self._last[0]:
            latest = max(0, requests - self._last[1]) / (now - self._last[0])
            self.per_second = max(latest, 0.8 * self.per_second)
        self._last = now, requests


EXACT = 16
"""Best links that a report tells one by one; beyond, twice as many at a time."""
MAX_TOLD = 4096
"""Best links that a report tells of."""
SLICES = 50
"""A slice is one of so many parts of what the crawl has requested by then."""
MOST_SLICE = 100
"""Requests in one slice for each fetch in flight: longer ones would be told too late."""

Steps = list[tuple[int, float]]
"""So many links have this priority or a higher one than the next step's, best first."""


class ShardReport(msgspec.Struct, frozen=True, array_like=True):
    """What a shard tells the driver."""

    shard: int
    used: int
    """Requests that it has made, or that are under way."""
    limit: int
    """Requests that it may make in all, by the last grant it has heard of."""
    best: Steps | None = None
    """Its best links that wait; ``None`` when it does not know yet."""
    able: int | None = None
    """Requests that it could make soon, as hosts are to be spared; ``None``: any number."""


def steps(best: Iterable[float]) -> Steps:
    """A report's view of priorities, highest first: short, and exact where it matters most."""
    ordered = heapq.nlargest(MAX_TOLD, best)
    told: Steps = [(1, priority) for priority in ordered[:EXACT]]
    start, length = EXACT, EXACT
    while start < len(ordered):
        block = ordered[start : start + length]
        told.append((len(block), block[len(block) // 2]))
        start, length = start + length, 2 * length
    return told


def able_soon(hosts: int, delay_seconds: float, within_seconds: float) -> int | None:
    """Requests that so many hosts take within a time, each of them with a rest after each.

    Without it one slow host with the best links of all would hold all grants, and others idle.
    """
    return hosts * (1 + int(within_seconds / delay_seconds)) if delay_seconds > 0 else None


def slice_size(used: int, in_flight: int) -> int:
    """Requests of all shards together in the next slice, after ``used`` of them.

    ``in_flight`` is how many fetches they may have at once, all together: fewer requests would
    leave some of them idle, and more would be granted before what they find is known.
    """
    return min(max(in_flight, used // SLICES), MOST_SLICE * in_flight)


def grant(reports: Sequence[ShardReport], budget: int, size: int) -> dict[int, int]:
    """New limits of shards that may go on, by shard: their next ``size`` requests in all.

    One report a shard. No limit is lowered, and their sum does not exceed ``budget`` unless that
    of the reports did. A shard that does not know its links yet may make a request.
    """
    size = min(size, max(0, budget - sum(report.used for report in reports)))
    room = budget - sum(max(report.limit, report.used) for report in reports)
    held = {report.shard: max(0, report.limit - report.used) for report in reports}
    wanted = _along_the_line(reports, size)
    limits: dict[int, int] = {}
    by_shard = {report.shard: report for report in reports}
    for shard, count in wanted.items():
        more = min(max(0, count - held[shard]), max(0, room))
        if more:
            room -= more
            report = by_shard[shard]
            limits[shard] = max(report.limit, report.used) + more
    return limits


def _along_the_line(reports: Sequence[ShardReport], size: int) -> Mapping[int, int]:
    """How many of the next requests are each shard's; those with the best link come first."""
    wanted: dict[int, int] = {}
    left = size
    for report in reports:
        if report.best is None and left:
            wanted[report.shard] = 1
            left -= 1
    lines = (
        [(-priority, count, report.shard) for count, priority in report.best]
        for report in reports
        if report.best
    )
    able = {report.shard: report.able for report in reports}
    for _, count, shard in heapq.merge(*lines):
        if not left:
            break
        so_far, most = wanted.get(shard, 0), able[shard]
        taken = min(count, left, count if most is None else max(0, most - so_far))
        if taken:
            wanted[shard] = so_far + taken
            left -= taken
    return wanted
