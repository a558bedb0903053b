"""Waiting in a crawl's loop: for something to happen, and for a strategy that waits itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def sleep_until(woken: asyncio.Event, seconds: float | None) -> None:
    """Wait until something happens, or for so long."""
    woken.clear()
    alarm = None
    if seconds is not None:
        alarm = asyncio.get_running_loop().call_later(seconds, woken.set)
    await woken.wait()
    if alarm is not None:
        alarm.cancel()


async def meanwhile(
    dealing: Coroutine[Any, Any, T], woken: asyncio.Event, go_on: Callable[[], float | None]
) -> T:
    """What comes of ``dealing``; while it waits, ``go_on`` whenever something happens.

    ``go_on`` says in how many seconds it wants to be called at the latest. Even when this is
    cancelled, ``dealing`` comes to its end: a strategy left half way could not be kept.
    """
    task = asyncio.ensure_future(dealing)
    task.add_done_callback(lambda _: woken.set())
    try:
        await asyncio.sleep(0)  # what it does before it waits comes first
        while not task.done():
            await sleep_until(woken, go_on())
    finally:
        await asyncio.wait([task])
    return task.result()
