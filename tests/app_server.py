"""The app on this machine for as long as a test needs it, and a small client of its API.

::

    with serving_app(tmp_path) as app:
        app.post("/api/topics/bees")
        assert app.get("/api/home")["topics"][0]["topic"] == "bees"
        page.goto(app.address)   # in a browser
"""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from trailhound.collector import load_pairing
from trailhound.sessions.events import Session
from trailhound.topics.workspace import Workspace
from trailhound.web import AppServer, Listening, PortalListening, PortalServer, load_token

PATIENCE_SECONDS = 60.0
EXTENSION = "chrome-extension://" + "abcdefghijklmnop" * 2

Found = TypeVar("Found")


class RefusedError(AssertionError):
    """The app answered with something else than 200."""

    def __init__(self, status: int, told: Any) -> None:
        super().__init__(f"{status}: {told}")
        self.status = status
        self.told = told


@dataclass
class ServedApp:
    """An app that is being served, and its API as its own pages use it."""

    workspace: Workspace
    server: AppServer
    token: str

    @property
    def port(self) -> int:
        return self.server.port

    @property
    def base(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        """What a user opens in a browser: the token is in it."""
        return self.server.address()

    def get(self, path: str) -> Any:
        return self.right("GET", path)

    def post(self, path: str, body: Any = None) -> Any:
        return self.right("POST", path, {} if body is None else body)

    def put(self, path: str, body: Any) -> Any:
        return self.right("PUT", path, body)

    def delete(self, path: str) -> Any:
        return self.right("DELETE", path)

    def right(self, method: str, path: str, body: Any = None) -> Any:
        """What the app gives; RefusedError unless it answers 200."""
        status, content = self.ask(method, path, body)
        told = json.loads(content) if content else None
        if status != 200:
            raise RefusedError(status, told)
        return told

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Any request, and what came of it; ``headers`` replace those of the app's own pages."""
        sent = {"Authorization": f"Bearer {self.token}"} if headers is None else headers
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            sent = {"Content-Type": "application/json", **sent}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path, content, sent)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def upload(self, path: str, content: bytes) -> Any:
        """Send a file; RefusedError unless the app answers 200."""
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/octet-stream",
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request("POST", path, content, headers)
            answer = connection.getresponse()
            told = json.loads(answer.read())
        finally:
            connection.close()
        if answer.status != 200:
            raise RefusedError(answer.status, told)
        return told

    def browsed(self, session: Session, number: int = 1) -> None:
        """A paired browser sends all events of a session for its topic."""
        headers = {
            "Authorization": f"Bearer {self.server.app.pairing.token}",
            "Origin": EXTENSION,
        }
        name = f"20260101t120000-{number:012x}"
        message = {"session": name, "topic": session.topic, "recorder": "extension 1"}
        events = msgspec.to_builtins(session.events)
        assert self.ask("POST", "/v1/pair", {}, headers)[0] == 200
        status, told = self.ask("POST", "/v1/events", {**message, "events": events}, headers)
        assert status == 200, told

    def job_done(self, job: dict[str, Any]) -> dict[str, Any]:
        """The job once it has ended."""
        return wait_until(
            lambda: (
                found
                if (found := self.get(f"/api/jobs/{job['id']}"))["state"] != "running"
                else None
            )
        )


def wait_until(look: Callable[[], Found | None]) -> Found:
    """What ``look`` finds, as soon as that is something."""
    patience = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < patience, "it did not happen"
        time.sleep(0.05)
    return found


@contextmanager
def serving_app(folder: Path, *, learn: bool = True, **more: Any) -> Iterator[ServedApp]:
    """Serve the workspace in ``folder`` from a thread with an event loop of its own.

    ``more`` is for the :class:`AppServer`.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="app", daemon=True)
    thread.start()
    folder.mkdir(parents=True, exist_ok=True)
    workspace, token = Workspace(folder), load_token(folder)
    portal = PortalServer(workspace, PortalListening(port=0))
    server = AppServer(workspace, load_pairing(folder), token, learn=learn, portal=portal, **more)
    try:
        asyncio.run_coroutine_threadsafe(server.start(Listening(port=0)), loop).result()
        yield ServedApp(workspace, server, token.value)
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
        asyncio.run_coroutine_threadsafe(_cut_off_connections(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _cut_off_connections() -> None:
    """A busy browser has not read all of its answers, or has called while the server stopped."""
    loop = asyncio.get_running_loop()
    if others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others, timeout=1)
    for transport in list(getattr(loop, "_transports", {}).values()):
        transport.abort()
    for _ in range(2):  # until they have heard of it
        await asyncio.sleep(0)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[ServedApp]:
    """An app with an empty workspace."""
    with serving_app(tmp_path / "workspace") as served:
        yield served
