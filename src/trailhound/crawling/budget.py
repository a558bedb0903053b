"""A crawl's limits: when it ends and why, how many requests are left, which URLs come again.

Every request is written down before it is made: no kill can make one uncounted. What is on disk is
a promise: not fewer than were made, and a few more, so that most requests find theirs promised
already and the next one goes to the disk together with a finished page. A run that is killed leaves
the promise for the count; one that ends leaves the count itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from trailhound.records import Candidate, FetchResult, Outcome
from trailhound.urls import host_key

MAX_ATTEMPTS = 3
"""Requests for one URL whose server asks to come back later."""


MAX_PUT_OFF = 10_000
"""Hosts whose reasons are remembered: the first. They are for a person to read."""


class StopReason(StrEnum):
    """Why a crawl ended."""

    REQUESTS_SPENT = "the request budget is spent"
    TIME_SPENT = "the time budget is spent"
    FRONTIER_EMPTY = "no candidate is left: give more seeds, or a wider scope"
    HOSTS_ASLEEP = "all hosts that are left want to be left alone: resume later, or give more seeds"
    BARREN = "it found nothing relevant for too long: give other seeds, or learn from more pages"
    INTERRUPTED = "it was interrupted"


@dataclass(frozen=True)
class Budget:
    """Limits of a crawl; ``None`` is no limit."""

    max_requests: int | None = None
    """GETs, redirect hops and failures included, and questions to sources."""
    max_seconds: float | None = None

    def spent(self, requests: int, seconds: float) -> StopReason | None:
        """The limit that has been reached, if any."""
        if self.max_requests is not None and requests >= self.max_requests:
            return StopReason.REQUESTS_SPENT
        if self.max_seconds is not None and seconds >= self.max_seconds:
            return StopReason.TIME_SPENT
        return None

    def within(self, seconds: float, spent_seconds: float) -> float:
        """``seconds``, or as many as are left of the time after ``spent_seconds``."""
        if self.max_seconds is None:
            return seconds
        return min(seconds, max(0.0, self.max_seconds - spent_seconds))


class Allowance:
    """At most ``max_requests``, of which the crawl has ``spent()``; ``None`` is no limit.

    A fetch in flight has a request set aside for it, and asks for one more before it follows a
    redirect. What it has really made counts as spent when it is settled. ``promise`` is told of
    each request before it is made, with the number of all so far.
    """

    def __init__(
        self,
        max_requests: int | None,
        spent: Callable[[], int],
        promise: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.max_requests = max_requests
        """May be changed at any time."""
        self._spent = spent
        self._promise = promise
        self._set_aside: Counter[str] = Counter()

    def left(self) -> int | None:
        """Requests that nobody has been promised; ``None`` without a limit."""
        if self.max_requests is None:
            return None
        return max(0, self.max_requests - self.used())

    def used(self) -> int:
        """Requests that were made, or may be under way."""
        return self._spent() + self.under_way()

    def under_way(self) -> int:
        """Requests that are set aside for fetches in flight."""
        return self._set_aside.total()

    def begin(self, url: str) -> None:
        """Set a request aside for a new fetch."""
        self._set_aside[url] += 1
        self._promise(self.used())

    def go_on(self, url: str) -> bool:
        """Set one more aside for this fetch; whether there was one."""
        if self.left() == 0:
            return False
        self.begin(url)
        return True

    def ask(self) -> bool:
        """Whether a source may be asked now; ``spent`` must know of it at once."""
        if self.left() == 0:
            return False
        self._promise(self.used() + 1)
        return True

    def settle(self, url: str) -> None:
        """This fetch is over; what it cost is counted elsewhere."""
        del self._set_aside[url]


class Attempts:
    """Counts the requests for URLs that come again."""

    def __init__(self) -> None:
        self._requested: Counter[str] = Counter()
        self.put_off: dict[str, str] = {}
        """Why hosts are to be asked again later; those that have answered since are gone."""
        self.in_trouble: dict[str, str] = {}
        """Those of them that are not merely to be spared for a while."""

    def comes_again(self, candidate: Candidate, result: FetchResult) -> bool:
        """Whether the server, or a host's delay, asks us to try this URL later."""
        url, host = candidate.url, host_key(candidate.url)
        if result.retry_after_seconds is None:
            self.put_off.pop(host, None)
            self.in_trouble.pop(host, None)
            del self._requested[url]
            return False
        if result.requests:  # a wait that sent nothing is no attempt
            self._requested[url] += 1
        if self._requested[url] < MAX_ATTEMPTS:
            self._put_off(host, result)
            return True
        del self._requested[url]
        return False

    def _put_off(self, host: str, result: FetchResult) -> None:
        if len(self.put_off) >= MAX_PUT_OFF and host not in self.put_off:
            return
        if result.outcome is Outcome.POSTPONED:  # says less than what it was put off for
            self.put_off.setdefault(host, result.detail)
        else:
            self.put_off[host] = self.in_trouble[host] = result.detail


AHEAD = 2
"""Requests, of pages and of robots.txt files, that are promised beyond those that were made."""


class LedgerStore(Protocol):
    """Keeps the promise: a :class:`~trailhound.storage.results.ResultsStore`."""

    @property
    def promised(self) -> tuple[int, int]:
        """What is on disk: requests that the budget counts, and those for robots.txt files."""
        ...

    def promise(self, requests: int, robots: int) -> None:
        """Put a promise on disk, now."""
        ...

    def promise_with_page(self, requests: int, robots: int) -> None:
        """Put it there together with the next page."""
        ...


class RequestLedger:
    """Promises requests in the ``store``; without one, it merely counts.

    ``limit`` is the budget, beyond which nothing is promised in advance.
    """

    def __init__(self, store: LedgerStore | None = None) -> None:
        self._store = store
        self.robots = 0 if store is None else store.promised[1]
        """Requests for robots.txt files so far, which no budget counts."""
        self.limit: int | None = None
        self._made = 0

    def promise(self, requests: int) -> None:
        """One more request is about to be made, the last of ``requests`` in all."""
        self._made = requests
        if self._store is not None and self._store.promised[0] < requests:
            self._store.promise(*self._with_some_ahead())

    def promise_robots(self) -> None:
        """A robots.txt file is about to be asked for."""
        self.robots += 1
        if self._store is not None and self._store.promised[1] < self.robots:
            self._store.promise(*self._with_some_ahead())

    def renew(self, requests: int) -> None:
        """A page is about to be kept, with ``requests`` made in all: the next one's go with it."""
        self._made = requests
        if self._store is not None:
            self._store.promise_with_page(*self._with_some_ahead())

    def _with_some_ahead(self) -> tuple[int, int]:
        limit = self._made + AHEAD if self.limit is None else max(self.limit, self._made)
        return min(self._made + AHEAD, limit), self.robots + AHEAD
