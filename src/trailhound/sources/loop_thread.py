"""Asynchronous parts for callers that are not: strategies ask their sources and wait."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

_CLOSING_SECONDS = 5.0


class LoopThread:
    """An event loop in a thread of its own, begun by the first question.

    It works from any thread, also from inside another event loop, which waits meanwhile. ``close``
    is called in the loop when this object goes, or when the program ends.
    """

    def __init__(self, close: Callable[[], Awaitable[None]]) -> None:
        self._close = close
        self._loop: asyncio.AbstractEventLoop | None = None
        self._finalizer: Callable[[], Any] = lambda: None

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The coroutine's result, or what it raised."""
        if self._loop is None:
            self._loop = self._started()
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def stop(self) -> None:
        """Close now; a later question begins anew."""
        self._finalizer()
        self._loop = None

    def _started(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="trailhound-asking", daemon=True)
        thread.start()
        self._finalizer = weakref.finalize(self, _finish, loop, thread, self._close)
        return loop


def _finish(
    loop: asyncio.AbstractEventLoop, thread: threading.Thread, close: Callable[[], Awaitable[None]]
) -> None:
    async def closed() -> None:
        await close()

    with suppress(Exception):  # nobody is left to hear of it
        asyncio.run_coroutine_threadsafe(closed(), loop).result(_CLOSING_SECONDS)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(_CLOSING_SECONDS)
    loop.close()
