"""From an asynchronous crawl to an ordinary loop over its events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import TypeVar

T = TypeVar("T")


def drive(
    events: AsyncGenerator[T], close: Callable[[], Awaitable[None]] | None = None
) -> Generator[T]:
    """All of ``events`` in an event loop of their own, and ``close`` at the end of it."""
    loop = asyncio.new_event_loop()
    try:
        while (found := _next(loop, events)) is not None:
            yield found[0]
    finally:
        loop.run_until_complete(events.aclose())
        if close is not None:
            loop.run_until_complete(_awaited(close))
        loop.close()


async def _awaited(close: Callable[[], Awaitable[None]]) -> None:
    await close()


def _next(loop: asyncio.AbstractEventLoop, events: AsyncGenerator[T]) -> tuple[T] | None:
    """The next event; ``None`` after the last. An interrupt (Ctrl-C) reaches the crawl as well."""

    async def step() -> tuple[T] | None:
        async for event in events:
            return (event,)
        return None

    task = loop.create_task(step())
    try:
        return loop.run_until_complete(task)
    except BaseException:
        if not task.done():
            task.cancel()
            loop.run_until_complete(asyncio.wait([task]))
        raise
