"""The collector: an HTTP server on this machine's loopback address, which learns after a submit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

import msgspec
from aiohttp import hdrs, web

import trailhound
from trailhound.collector.finds import (
    AccessMessage,
    MarkMessage,
    NewsMessage,
    SeenMessage,
    all_news,
    decoded,
    keep_cookies,
    mark_find,
    note_seen,
)
from trailhound.collector.guard import (
    MAX_BODY_BYTES,
    PREFIX,
    Guard,
    Pairing,
    error_response,
    guarded,
)
from trailhound.collector.store import (
    EventsMessage,
    ForgetMessage,
    SessionStore,
    StatusMessage,
    read_message,
)
from trailhound.counting import counted
from trailhound.errors import ConfigError, StorageError, TrailhoundError
from trailhound.sessions.events import Event, Mark, Submit
from trailhound.topics.control.schedule import note_submit
from trailhound.topics.learned import LearnedTopic
from trailhound.topics.learning import learn_into, request_as_before
from trailhound.topics.workspace import Workspace

DEFAULT_PORT = 8917
_LOOPBACK = "127.0.0.1"
_SHUTDOWN_SECONDS = 2.0

Report = Callable[[str], None]
"""Told in a line what happened. The words may come from the web."""
LearnTopic = Callable[[str], str]
"""Learns a topic, which may take a while, and says in a sentence what came of it."""


def extension_folder() -> Path:
    """The folder to load into a browser."""
    package = Path(trailhound.__file__).resolve().parent
    for folder in (package / "extension", package.parents[1] / "extension"):
        if (folder / "manifest.json").is_file():
            return folder
    raise StorageError(
        f"The browser extension is not beside {package}. Install Trailhound again, or use "
        "'trailhound import' with another recording."
    )


@dataclass(frozen=True)
class LearningStatus:
    """How far the learning of a topic is."""

    learning: Literal["no", "running", "done", "failed"]
    message: str = ""


class Learner:
    """Learns in a thread, so that browsers are answered meanwhile."""

    def __init__(self, workspace: Workspace, learn: LearnTopic, report: Report) -> None:
        self._workspace = workspace
        self._learn = learn
        self._report = report
        self._one_at_a_time = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._status: dict[str, LearningStatus] = {}

    def submitted(self, topic: str) -> None:
        """Start learning ``topic``, or queue it."""
        self._status[topic] = LearningStatus("running")
        task = asyncio.create_task(self._run(topic))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def status(self, topic: str) -> LearningStatus:
        """What became of the last submit."""
        return self._status.get(topic, LearningStatus("no"))

    async def finish(self) -> None:
        """Wait until all that was submitted is learned."""
        await asyncio.gather(*self._tasks)

    async def _run(self, topic: str) -> None:
        async with self._one_at_a_time:
            try:
                learned = await asyncio.to_thread(self._learn, topic)
                self._status[topic] = LearningStatus("done", learned)
                note_submit(self._workspace.folder_for(topic), time.time())
            except TrailhoundError as error:
                self._status[topic] = LearningStatus("failed", f"Learning failed: {error}")
            except Exception as error:
                # A mistake of ours is told, as the app tells it, and ends no collector.
                broke = f"Learning failed, something broke: {type(error).__name__}: {error}"
                self._status[topic] = LearningStatus("failed", broke)
        self._report(self._status[topic].message)


def learn_simply(workspace: Workspace, topic: str) -> str:
    """Learn from all sessions that the topic has."""
    return learned_in_words(learn_into(workspace, request_as_before(workspace.folder_for(topic))))


def learned_in_words(learned: LearnedTopic) -> str:
    """What a topic was learned from, in a sentence."""
    graph = learned.model.graph
    return (
        f"Learned '{learned.origin.topic}' from {counted(len(graph.pages), 'page')}, "
        f"{len(graph.targets)} of them useful."
    )


class Collector:
    """Receives sessions from paired browsers and writes them into a workspace.

    ::

        async with Collector(workspace, pairing) as collector:
            await collector.start()
            ...  # pairing.code(collector.port) is what the user copies into the popup
    """

    def __init__(
        self,
        workspace: Workspace,
        pairing: Pairing,
        *,
        learn: bool | LearnTopic = False,
        report: Report = lambda _: None,
        arrived: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``learn`` may say how a submitted topic is learned, ``arrived`` is told the topic of
        each message that brought something new."""
        self._pairing = pairing
        self._report = report
        self._workspace = workspace
        self._arrived = arrived
        self._store = SessionStore(workspace)
        how = partial(learn_simply, workspace) if learn is True else learn
        self._learner = Learner(workspace, how, report) if how else None
        self._guard = Guard(pairing)
        self._runner: web.AppRunner | None = None

    @property
    def port(self) -> int:
        """Where it listens; 0 while it does not."""
        return self._guard.port

    async def start(self, port: int = 0) -> int:
        """Listen, by default at a free port; the port."""
        # Without lingering, the rest of a body that is too large is not read.
        runner = web.AppRunner(
            self.application(PREFIX),
            access_log=None,
            shutdown_timeout=_SHUTDOWN_SECONDS,
            lingering_time=0.0,
        )
        await runner.setup()
        try:
            await web.TCPSite(runner, _LOOPBACK, port).start()
        except OSError as error:
            await runner.cleanup()
            raise ConfigError(
                f"The collector cannot listen at port {port}: {error.strerror or error}. Is "
                "another one running? Stop it, or choose another port with --port."
            ) from error
        self._runner = runner
        self.listen_at(int(runner.addresses[0][1]))
        return self.port

    def listen_at(self, port: int) -> None:
        """Whoever serves :meth:`application` says where, so that other names can be refused."""
        self._guard.port = port

    async def stop(self) -> None:
        """Stop listening, finish learning, close all files."""
        if self._runner is not None:
            await self._runner.cleanup()
        self._runner, self._guard.port = None, 0
        if self._learner is not None:
            await self._learner.finish()
        self._store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def application(self, prefix: str = "") -> web.Application:
        """What is served under ``/v1``, with a guard of its own; a part of another application
        has its prefix from there."""
        guard = guarded(self._guard)
        application = web.Application(middlewares=[guard], client_max_size=MAX_BODY_BYTES)
        application.router.add_post(f"{prefix}/pair", self._pair)
        application.router.add_post(f"{prefix}/events", self._events)
        application.router.add_post(f"{prefix}/forget", self._forget)
        application.router.add_post(f"{prefix}/status", self._status)
        application.router.add_post(f"{prefix}/news", self._news)
        application.router.add_post(f"{prefix}/mark", self._mark)
        application.router.add_post(f"{prefix}/seen", self._seen)
        application.router.add_post(f"{prefix}/access", self._access)
        return application

    async def _pair(self, request: web.Request) -> web.Response:
        self._pairing.add(request.headers[hdrs.ORIGIN])
        self._report("A browser was paired.")
        return _answer({"paired": True})

    async def _events(self, request: web.Request) -> web.Response:
        message = read_message(await request.read(), EventsMessage)
        message.topic = self._store.topic_of(message)
        try:
            added = self._store.append(message)
        except TrailhoundError as error:
            self._report(str(error))
            return error_response(507, str(error))
        for event in added:
            self._tell(message, event)
        if added:
            self._arrived(message.topic)
        return _answer({"stored": len(added), "known": len(message.events) - len(added)})

    async def _forget(self, request: web.Request) -> web.Response:
        message = read_message(await request.read(), ForgetMessage)
        message.topic = self._store.topic_of(message)
        try:
            forgotten = self._store.forget(message)
        except TrailhoundError as error:
            self._report(str(error))
            return error_response(507, str(error))
        if forgotten:
            self._arrived(message.topic)
        return _answer({"forgotten": forgotten})

    async def _status(self, request: web.Request) -> web.Response:
        message = read_message(await request.read(), StatusMessage)
        message.topic = self._store.topic_of(message)
        if self._learner is None:
            return _answer({"learning": "no"})
        return _answer(self._learner.status(message.topic))

    async def _news(self, request: web.Request) -> web.Response:
        decoded(await request.read(), NewsMessage)
        return await self._done(all_news)

    async def _mark(self, request: web.Request) -> web.Response:
        message = decoded(await request.read(), MarkMessage)
        answer = await self._done(mark_find, message)
        self._arrived(message.topic)
        return answer

    async def _seen(self, request: web.Request) -> web.Response:
        message = decoded(await request.read(), SeenMessage)
        return await self._done(note_seen, message)

    async def _access(self, request: web.Request) -> web.Response:
        message = decoded(await request.read(), AccessMessage)
        answer = await self._done(keep_cookies, message)
        self._report(f"{message.host} may be read as you from now on, by crawls that name it.")
        return answer

    async def _done(self, work: Callable[..., Any], *more: object) -> web.Response:
        """In a thread: results may be large, and archives are read."""
        try:
            return _answer(await asyncio.to_thread(work, self._workspace, *more) or {})
        except TrailhoundError as error:
            self._report(str(error))
            return error_response(507, str(error))

    def _tell(self, message: EventsMessage, event: Event) -> None:
        if isinstance(event, Mark):
            verdict = {True: "Useful", False: "Not useful", None: "Not useful after all"}
            self._report(f"{message.topic}: {verdict[event.useful]}: {event.url}")
        elif isinstance(event, Submit):
            pages, targets = self._store.counts(message.topic, message.session)
            self._report(
                f"{message.topic}: submitted, {counted(pages, 'page')}, {targets} of them useful."
            )
            if self._learner is not None:
                self._learner.submitted(message.topic)
            else:
                self._note_submit(message.topic)

    def _note_submit(self, topic: str) -> None:
        """Its schedule may want a crawl after this."""
        try:
            note_submit(self._workspace.folder_for(topic), time.time())
        except TrailhoundError as error:
            self._report(str(error))


def _answer(content: Any) -> web.Response:
    return web.Response(body=msgspec.json.encode(content), content_type="application/json")
