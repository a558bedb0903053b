"""Work of others on a crawl's frontier, done while no page is half way through it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar, cast

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
