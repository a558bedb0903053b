"""What happens, told to every open page of the app as it happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

MOST_WAITING = 500
"""Of events that a page has not fetched yet; one that sleeps loses the oldest and looks anew."""


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an open page may want to show."""

    kind: str
    """``session``, ``job``, ``crawl``, ``schedule``, ``topic``, ``results`` or ``said``."""
    topic: str = ""
    text: str = ""
    """In words, for people."""


class Hub:
    """Passes happenings on; may be told from any thread once a loop is running."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: set[asyncio.Queue[Happening]] = set()

    @property
    def has_listeners(self) -> bool:
        """Whether anybody would hear."""
        return bool(self._listeners)

    def tell(self, happening: Happening) -> None:
        """Pass it on, soon."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._pass_on, happening)

    def _pass_on(self, happening: Happening) -> None:
        for queue in self._listeners:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(happening)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[asyncio.Queue[Happening]]:
        """A queue of what happens from now on."""
        self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Happening] = asyncio.Queue(MOST_WAITING)
        self._listeners.add(queue)
        try:
            yield queue
        finally:
            self._listeners.discard(queue)
