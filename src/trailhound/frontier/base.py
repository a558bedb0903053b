"""What a frontier is: the URLs seen so far, and which of them comes next.

One suite (``tests/contract/test_frontier.py``) runs over every store of ours, and
:func:`trailhound.testing.check_frontier` over any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from trailhound.errors import FrontierError
from trailhound.records import Candidate, Outcome

ASKED_FOR = 5e17
"""What waits with this priority or a higher one was asked for by a person: seeds, and finds that
are looked at again. No strategy ranks it, and no rule about links holds for it."""


class FrontierStats(msgspec.Struct, frozen=True):
    """How full the frontier is."""

    waiting: int
    leased: int
    finished: int
    hosts_waiting: int

    @property
    def discovered(self) -> int:
        """All URLs ever seen."""
        return self.waiting + self.leased + self.finished


class UrlStatus(StrEnum):
    """Where a URL is on its way through the frontier."""

    WAITING = "waiting"
    LEASED = "leased"
    FINISHED = "finished"


class UrlState(msgspec.Struct, frozen=True):
    """What the frontier knows about one URL."""

    url: str
    status: UrlStatus
    outcome: Outcome | None = None
    """How it ended, when it is finished."""
    candidate: Candidate | None = None
    """Its last place in the queue; ``None`` for a URL that never had one."""


Rescore = Callable[[Mapping[str, bytes]], Mapping[str, float] | None]
"""From waiting URLs with their memories to new priorities; ``None``: nothing has moved."""


class Frontier(Protocol):
    """A priority queue of URLs that never forgets one.

    A URL is *waiting*, *leased* to a fetch in progress, or *finished* with an outcome. Times are
    seconds on any clock that the caller keeps to; a store that outlives the process keeps them
    too, so that a crawl which is to be resumed must use the wall clock (``time.time``).

    **Order within a page.** A store on disk writes at *page boundaries* only. For each page the
    caller first calls ``mark_seen`` (the end of a redirect) and ``add`` (its links), then
    ``finish``, with nothing else in between. A crash thus keeps a page with all of its links, or
    neither: it is then waiting again. ``lease``, ``finish``, ``requeue`` and ``delay_host`` are
    boundaries.
    """

    def add(self, candidates: Iterable[Candidate]) -> int:
        """Queue unseen URLs; return how many were new.

        A waiting URL that arrives again with a higher priority takes the newcomer's priority,
        memory, parent and depth. Leased and finished URLs stay as they are.
        """
        ...

    def requeue(self, candidates: Iterable[Candidate]) -> None:
        """Queue URLs whatever became of them before: a retry of a leased one, or a refresh."""
        ...

    def lease(self, limit: int, now: float) -> Sequence[Candidate]:
        """Hand out up to ``limit`` waiting URLs, best first, from hosts that are ready."""
        ...

    def finish(self, url: str, outcome: Outcome) -> None:
        """End a lease."""
        ...

    def mark_seen(self, url: str, outcome: Outcome) -> None:
        """Record a URL as finished without a lease: the end of a redirect, say.

        A URL that is finished already keeps its outcome.
        """
        ...

    def outcome_of(self, url: str) -> Outcome | None:
        """How a URL ended; ``None`` while it has not."""
        ...

    def state_of(self, url: str) -> UrlState | None:
        """All that is known about a URL; ``None`` when it was never seen."""
        ...

    def delay_host(self, host: str, until: float) -> None:
        """Hand out nothing from ``host`` before ``until``. The last call counts."""
        ...

    def ready_at(self, host: str) -> float | None:
        """When the host may be asked again, as told by ``delay_host``.

        ``None`` when it was never delayed, or when that time is unknown.
        """
        ...

    def put_clock(self, seconds: float) -> None:
        """The clock was put forward by ``seconds`` (back, when they are negative).

        All times told by ``delay_host`` mean the same moments as before.
        """
        ...

    def pages_of(self, host: str) -> int:
        """How many leases of this host's URLs have been finished, whatever their outcome."""
        ...

    def ready_in(self, now: float) -> float | None:
        """Seconds until some waiting URL may be leased; ``None`` when none waits."""
        ...

    def rescore(self, score: Rescore, limit: int | None = None) -> int:
        """Let ``score`` give waiting URLs new priorities; return how many changed.

        ``score`` gets the ``limit`` best candidates, or all; the mapping may read from disk while
        it is iterated, and is valid only during the call. Ties keep their order of arrival. What a
        person has asked for (``ASKED_FOR``) keeps its priority.
        """
        ...

    def stats(self) -> FrontierStats:
        """Counts, for progress and stop rules."""
        ...

    def commit(self) -> None:
        """Let everything so far survive a crash. Call it between pages only."""
        ...

    def close(self) -> None:
        """Release the store. A lease that is still open is waiting again at the next start."""
        ...


@runtime_checkable
class Foreseeing(Protocol):
    """A frontier that knows what will be ready soon."""

    def better_in(
        self, now: float, seconds: float, margin: float, under_way: Mapping[str, float]
    ) -> float | None:
        """Seconds until a URL is ready whose priority beats by ``margin`` all that are ready now.

        ``None`` when there is none within ``seconds``, or when nothing is ready now. Hosts
        ``under_way`` are being asked, and count as ready in so many seconds, whatever was said by
        ``delay_host``.
        """
        ...


@runtime_checkable
class Showing(Protocol):
    """A frontier that shows how promising what waits is."""

    def best(self, limit: int) -> Sequence[float]:
        """Priorities of the ``limit`` best URLs that wait, whether their hosts are ready or not."""
        ...


@runtime_checkable
class CountingPages(Protocol):
    """A frontier that keeps how far the crawl has come: a resumed one notices an older copy."""

    def note_page(self, number: int) -> None:
        """The next lease to end is that of the crawl's page with this number."""
        ...

    def last_page(self) -> int | None:
        """The number of the last page whose lease has ended; ``None`` when it is not known."""
        ...


class FrontierKind(Protocol):
    """What a plug-in in the entry-point group ``trailhound.frontiers`` names: a class, mostly.

    Further arguments of ``open`` that are keyword-only are its options. A line of ``summary`` on
    the class is shown by ``trailhound plugins``.
    """

    def open(self, path: Path | None) -> Frontier:
        """The frontier that is kept in ``path``; ``None`` for one that need not outlive the crawl.

        A kind that cannot do without a path raises ``UsageError``.
        """
        ...


def checked_priority(candidate: Candidate) -> float:
    """The candidate's priority; a value without an order (NaN) would spoil every queue."""
    priority = candidate.priority
    if priority != priority:
        raise FrontierError(
            f"The priority of {candidate.url} is not a number: the strategy that gave it is at "
            "fault, and must give every link a number that can be compared."
        )
    return priority
