"""Every request of a crawl is written down before it is made: no kill can make one uncounted.

What is on disk is a promise: not fewer than were made, and a few more, so that most requests find
theirs promised already and the next one goes to the disk together with a finished page. A run that
is killed leaves the promise for the count; one that ends leaves the count itself.
"""

from __future__ import annotations

from typing import Protocol

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
