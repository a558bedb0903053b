"""The demo web as a playground: served on loopback by the app, for crawls that disturb nobody."""

from __future__ import annotations

import threading
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from trailhound.demo import DemoWeb
from trailhound.demo.crawl import DEMO_DOMAIN, DEMO_USER_AGENT
from trailhound.demo.server import serve_in_thread
from trailhound.demo.web import with_sources
from trailhound.errors import UNREADABLE, ConfigError
from trailhound.sessions.events import Header, Session
from trailhound.storage.files import write_whole

if TYPE_CHECKING:
    from trailhound.topics.workspace import TopicFolder

FILE_NAME = "playground.json"
MAX_REQUESTS = 400
"""Of a crawl, unless the user says otherwise: it takes a minute or so."""
RECORDER = "demo"
"""Who recorded the sessions of its topics."""


class _Remembered(msgspec.Struct):
    port: int


class Playground:
    """Starts and stops the demo web's server; may be used from any thread.

    Crawls remember where the web was, so that it is served at the same port again as far as that
    is free.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._lock = threading.Lock()
        self._serving = ExitStack()
        self.port = 0
        """Where it is served; 0 while it is not."""

    @cached_property
    def web(self) -> DemoWeb:
        """Its pages; making them takes a second or two."""
        return DemoWeb.generate()

    def start(self) -> int:
        """Serve it, unless it is; the port."""
        with self._lock:
            if not self.port:
                self.port = self._served()
                write_whole(self._path, msgspec.json.encode(_Remembered(self.port)))
            return self.port

    def stop(self) -> None:
        """Serve it no more; crawls of it meet a web that does not answer."""
        with self._lock:
            self._serving.close()
            self.port = 0

    def settings(self) -> dict[str, Any]:
        """What a crawl of it needs, by ``section.name``; starts it."""
        port = self.start()
        return {
            "crawl.seeds": list(self.web.start_urls),
            "crawl.scope": [f"*.{DEMO_DOMAIN}"],
            "crawl.max_requests": MAX_REQUESTS,
            "fetch.user_agent": DEMO_USER_AGENT,
            "fetch.allow_addresses": [f"*.{DEMO_DOMAIN}"],
            "fetch.resolve": [f"*.{DEMO_DOMAIN}=127.0.0.1:{port}"],
        }

    def session(self, subject: str) -> Session:
        """How a person looked for one of the web's subjects, as a browser would record it."""
        return with_sources(self.web.sessions[subject], self.web)

    def _served(self) -> int:
        for port in dict.fromkeys((self._remembered_port(), 0)):
            with suppress(OSError):
                return self._serving.enter_context(serve_in_thread(self.web, port))
        raise ConfigError(
            "The demo web cannot be served: this machine lets nobody listen at 127.0.0.1. Does "
            "something forbid it, a firewall or a sandbox? Allow it, and try again."
        )

    def _remembered_port(self) -> int:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Remembered).port
        except (OSError, *UNREADABLE):
            return 0


def is_of_playground(topic: TopicFolder) -> bool:
    """Whether a session of the topic was recorded in the demo web."""
    return any(_recorder(topic.sessions_path / name) == RECORDER for name in topic.session_names())


def _recorder(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.readline(), type=Header).recorder
    except (OSError, *UNREADABLE):
        return ""
