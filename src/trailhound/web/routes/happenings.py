"""What goes on: jobs, and a stream of everything that happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from aiohttp import web

from trailhound.web.api import Nothing, Routes
from trailhound.web.hub import Happening
from trailhound.web.jobs import Job

if TYPE_CHECKING:
    from trailhound.web.state import App

LOOK_SECONDS = 1.0
"""Until it is noticed that a page was hidden or closed."""
STILL_HERE_SECONDS = 20.0
"""Between two signs of life on a stream on which nothing happens."""

routes = Routes("What goes on")


class OneJob(msgspec.Struct, frozen=True, kw_only=True):
    """Of a route about one job."""

    number: int


@routes.get("/api/jobs")
def list_jobs(app: App, asked: Nothing) -> list[Job]:
    """What is being done or was done lately: learning, judging again, experiments."""
    del asked
    return app.jobs.all()


@routes.get("/api/jobs/{number}")
def show_job(app: App, asked: OneJob) -> Job:
    """How far a job is, or what came of it."""
    return app.jobs.one(asked.number)


@routes.post("/api/jobs/{number}/stop")
def stop_job(app: App, asked: OneJob) -> Job:
    """Ask a job to end soon; what it has done stays."""
    return app.jobs.stop(asked.number)


@routes.get("/api/happenings")
async def stream_happenings(app: App, asked: Nothing, request: web.Request) -> web.StreamResponse:
    """Everything that happens from now on, as server-sent events."""
    del asked
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
    )
    await response.prepare(request)
    async with app.hub.listening() as queue:
        with suppress(ConnectionError):
            await response.write(b": listening\n\n")
            async for told in _until_gone(request, queue):
                words = b": still here" if told is None else b"data: " + msgspec.json.encode(told)
                await response.write(words + b"\n\n")
    return response


async def _until_gone(
    request: web.Request, queue: asyncio.Queue[Happening]
) -> AsyncIterator[Happening | None]:
    """What happens while the page is there; nothing, now and then, when nothing does."""
    quiet_seconds = 0.0
    while request.transport is not None and not request.transport.is_closing():
        try:
            told = await asyncio.wait_for(queue.get(), LOOK_SECONDS)
        except TimeoutError:
            quiet_seconds += LOOK_SECONDS
            if quiet_seconds < STILL_HERE_SECONDS:
                continue
            told = None
        quiet_seconds = 0.0
        yield told
