"""The demo web on loopback, a topic learned from it, and crawls of it: for tests of live crawls."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from trailhound.config.layers import configure
from trailhound.crawling import build
from trailhound.demo import DemoWeb
from trailhound.demo.web import with_sources
from trailhound.fetching.polite_settings import polite_settings
from trailhound.topics.learning import LearningRequest, learn_into
from trailhound.topics.runs.crawl import TopicCrawl
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.workspace import TopicFolder, Workspace

USER_AGENT = "test-bot (+http://www.demo.test/about)"


def options(port: int) -> list[str]:
    """How the command line reaches a demo web at ``port`` of this machine."""
    return [
        *("--user-agent", USER_AGENT),
        *("--resolve", f"*.demo.test=127.0.0.1:{port}"),
        *("--allow-address", "*.demo.test"),
    ]


def learn(web: DemoWeb, topic: str, folder: Path) -> TopicFolder:
    """A workspace in ``folder`` with one topic, learned from its recorded session."""
    workspace = Workspace(folder)
    session = with_sources(web.sessions[topic], web)
    learn_into(workspace, LearningRequest(topic, [session]))
    return workspace.topic(topic)


@dataclass
class Site:
    """Where a web is served, and which topic is crawled."""

    topic: TopicFolder
    port: int
    host: str = "*.demo.test"
    notices: list[str] = field(default_factory=list)

    def flags(self, **more: Any) -> dict[str, Any]:
        """Settings that reach the web; ``more`` by name with ``__`` for the dot."""
        return {
            "fetch.user_agent": USER_AGENT,
            "fetch.resolve": (f"{self.host}=127.0.0.1:{self.port}",),
            "fetch.allow_addresses": (self.host,),
            "fetch.documents": "none",  # those of the demo web are shams
            "crawl.strategy": "best-first",
            **{name.replace("__", "."): value for name, value in more.items()},
        }

    @contextmanager
    def begun(
        self, *, restart: bool = False, fresh: bool = False, **more: Any
    ) -> Iterator[TopicCrawl]:
        """A new crawl."""
        flags = self.flags(**more)
        request = CrawlRequest(configure(flags).settings, flags, restart=restart, fresh=fresh)
        with open_crawl(self.topic, request, self.notices.append) as crawl:
            yield crawl

    @contextmanager
    def resumed(
        self, *, refresh: bool = False, only_due: bool = False, **more: Any
    ) -> Iterator[TopicCrawl]:
        """The same crawl again."""
        flags = {name.replace("__", "."): value for name, value in more.items()}
        request = CrawlRequest(flags=flags, resume=True, refresh=refresh, only_due=only_due)
        with open_crawl(self.topic, request, self.notices.append) as crawl:
            yield crawl


def wait_until(true: Any, seconds: float = 60.0) -> None:
    """Until ``true()`` is."""
    patience = time.time() + seconds
    while not true():
        assert time.time() < patience, "it takes too long"
        time.sleep(0.01)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own in memory; skips where that is not allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("may not mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@dataclass
class Resource:
    """What a tiny site answers to one path."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A crawl that is killed breaks its connections off."""


def endless(number: int) -> Resource:
    """Every third page is about bees. The language is told: to guess it takes half a second."""
    about = "bees hives honey" if number % 3 == 0 else "nothing much"
    links = "".join(f'<a href="/{n}">{n}</a>' for n in range(number + 1, number + 4))
    words = " ".join(f"word{number * 50 + each}" for each in range(50))
    html = f"<html lang=en><title>Page {number}</title><p>{about} {words}</p>{links}"
    return Resource(html.encode())


class TinySite:
    """A server whose answers can be changed, and which remembers what it was asked."""

    def __init__(self, resources: dict[str, Resource]) -> None:
        self.resources = resources
        self.asked: list[tuple[str, int]] = []
        """Paths, and the status of each answer."""
        self._server = _QuietServer(("127.0.0.1", 0), self._handler())
        self.port = int(self._server.server_address[1])

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                found = site.resources.get(self.path, Resource(b"no", 404))
                etag = found.headers.get("ETag")
                status, body = found.status, found.body
                if etag is not None and self.headers.get("If-None-Match") == etag:
                    status, body = 304, b""
                site.asked.append((self.path, status))
                self.send_response(status)
                for name, value in {"Content-Type": "text/html", **found.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def paths(self) -> list[str]:
        """Pages asked for, without robots.txt."""
        return [path for path, _ in self.asked if path != "/robots.txt"]

    def __enter__(self) -> TinySite:
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def back_off_shortly(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Hosts that do not answer are asked again after so long, in crawls that are opened here."""
    monkeypatch.setattr(
        build,
        "polite_settings",
        lambda fetch: replace(polite_settings(fetch), backoff_seconds=seconds),
    )
