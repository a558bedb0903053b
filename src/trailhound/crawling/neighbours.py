"""Crawls that share one web: what each of them asks of the others, and brings to them.

A crawl by itself has no neighbours. In a cluster (:mod:`trailhound.cluster`) each crawl owns some
hosts; what it finds elsewhere is its neighbours' work, and it does not end while they may still
bring something. Their work on its frontier is done while no page is half way through it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from trailhound.crawling.budget import StopReason
from trailhound.fetching.politeness import AddressTurns
from trailhound.frontier.base import Frontier

if TYPE_CHECKING:
    from trailhound.crawling.engine import Crawler


class Neighbours(AddressTurns, Protocol):
    """The others, as one crawl sees them. All is called in the crawl's event loop."""

    def around(self, frontier: Frontier) -> Frontier:
        """The crawl's frontier, with a way out for URLs that others own."""
        ...

    def own(self, url: str) -> bool:
        """Whether another crawl asks for this URL; redirects to it are not followed here."""
        ...

    def have_room(self) -> bool:
        """Whether they can take more links; while they cannot, nothing is fetched."""
        ...

    async def work(self, crawler: Crawler) -> None:
        """What is to be done beside the crawl from its begin on; cancelled at its end.

        The crawl ends with any error of this.
        """
        ...

    def may_bring_more(self, reason: StopReason) -> bool:
        """Whether a crawl that would end for this reason is to wait.

        It goes on when it is given something: see ``between_pages`` and ``allow`` of the engine.
        """
        ...


T = TypeVar("T")


class BetweenPages:
    """What waits for its turn. ``commit`` puts what it changed on disk; ``wake`` the crawl up."""

    def __init__(self, commit: Callable[[], None], wake: Callable[[], None]) -> None:
        self._commit = commit
        self._wake = wake
        self._waiting: list[tuple[Callable[[], object], asyncio.Future[object]]] = []

    async def wait_for(self, work: Callable[[], T]) -> T:
        """What comes of ``work``, once it was done."""
        done: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._waiting.append((work, done))
        self._wake()
        return cast(T, await done)

    def work(self) -> None:
        """No page is half way: do all of it."""
        waiting, self._waiting = self._waiting, []
        for work, done in waiting:
            if done.cancelled():
                continue
            try:
                result = work()
                self._commit()
            except Exception as error:
                done.set_exception(error)
            else:
                done.set_result(result)

    def cancel(self) -> None:
        """The crawl has ended."""
        for _, done in self._waiting:
            done.cancel()
        self._waiting.clear()
