"""Hostile pages in a browser: none reaches a private address, and none stops the crawl."""

from __future__ import annotations

import socket
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from hostile_scripts import ESCAPES, MARKUP, OF_WINDOWS, TORMENTS
from live_webs import USER_AGENT

import trailhound as th
from loopback import place, served
from trailhound.fetching.browser import chromium
from trailhound.records import Outcome

GROUP = 12
GROUPS = [list(ESCAPES)[n : n + GROUP] for n in range(0, len(ESCAPES), GROUP)]
CALM = [f"/calm/{n}" for n in range(8)]
AT_REST = 3
"""Calm pages that come to rest in the second that they have; on a busy machine some may not."""


class Canary:
    """Counts whoever connects to a private address."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._sockets: list[socket.socket] = []
        self.port = self._listen(socket.AF_INET, "127.0.0.1", 0)
        self._listen(socket.AF_INET6, "::1", self.port)
        self.udp_port = self._listen_to_packets()

    def _listen(self, family: socket.AddressFamily, address: str, port: int) -> int:
        listener = socket.socket(family)
        listener.bind((address, port))
        listener.listen()
        self._sockets.append(listener)
        threading.Thread(target=self._take, args=(listener,), daemon=True).start()
        return int(listener.getsockname()[1])

    def _listen_to_packets(self) -> int:
        packets = socket.socket(type=socket.SOCK_DGRAM)
        packets.bind(("127.0.0.1", 0))
        self._sockets.append(packets)
        threading.Thread(target=self._hear, args=(packets,), daemon=True).start()
        return int(packets.getsockname()[1])

    def _take(self, listener: socket.socket) -> None:
        try:
            while True:
                connection, _ = listener.accept()
                connection.settimeout(5)
                self.heard.append(repr(connection.recv(200)))
                connection.close()
        except OSError:
            return

    def _hear(self, packets: socket.socket) -> None:
        try:
            while True:
                self.heard.append(f"packet {packets.recv(200)!r}")
        except OSError:
            return

    def close(self) -> None:
        for each in self._sockets:
            each.close()

    def into(self, script: str) -> str:
        script = script.replace("INSIDE", f"http://127.0.0.1:{self.port}")
        script = script.replace("HOST", f"127.0.0.1:{self.port}")
        return script.replace("PORT", str(self.port)).replace("UDP", str(self.udp_port))


class Names(AbstractResolver):
    """``*.evil.test`` is our server; one name is inside, another one turns there."""

    def __init__(self, port: int, canary: Canary) -> None:
        self._port = port
        self._canary = canary
        self._asked = 0

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        if host.endswith("evil.test"):
            return [place(host, "127.0.0.1", self._port)]
        if host == "rebound.example":
            self._asked += 1
            first = place(host, "192.0.2.1", 9)
            return (
                [first, place(host, "127.0.0.1", self._canary.port)]
                if self._asked == 1
                else [place(host, "127.0.0.1", self._canary.port)]
            )
        if host == "inside.example":
            return [place(host, "127.0.0.1", self._canary.port)]
        raise OSError("no such name")

    async def close(self) -> None:
        pass


@contextmanager
def evil_web(canary: Canary) -> Iterator[tuple[int, list[str]]]:
    """Its port, and what was asked of it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.headers['Host']} {self.path}")
            path = self.path.partition("?")[0]
            self.send_response(302 if path == "/redirect" else 404 if path == "/elsewhere" else 200)
            kind = "text/plain" if path in ("/robots.txt", "/data") else "text/html"
            self.send_header("Content-Type", kind)
            if path == "/redirect":
                self.send_header("Location", f"http://127.0.0.1:{canary.port}/redirected")
            self.end_headers()
            if path != "/redirect":
                self.wfile.write(page(path, canary).encode())

        def log_message(self, *_: object) -> None:
            pass

    with served(Handler) as port:
        yield port, asked


def page(path: str, canary: Canary) -> str:
    if path == "/robots.txt":
        return "User-agent: *\nDisallow: /forbidden/"
    _, kind, name = (*path.split("/"), "")[:3]
    if path in ("/escapes", "/torments", "/windows"):
        escapes = [f"/escape/{n}" for n in range(len(GROUPS))] + ["/markup"]
        torments = OF_WINDOWS if path == "/windows" else TORMENTS
        paths = escapes if path == "/escapes" else [*torments, *CALM]
        return "".join(f"<a href={each}>{each}</a> " for each in paths)
    if kind == "escape":
        tries = "".join(f"try {{ {ESCAPES[each]} }} catch {{}}\n" for each in GROUPS[int(name)])
        return canary.into(f"<body><script>{tries}</script>{_link('escaped', name)}")
    if kind == "markup":
        return canary.into(MARKUP + _link("escaped", "markup"))
    if kind in TORMENTS:
        script = canary.into(TORMENTS[kind])
        return f"<body><p>Text and <a href=/text>a link</a>.<script>{script}</script>"
    return f"<p>A calm page {path}.{_link('calm', 'script')}"


def _link(kind: str, name: str) -> str:
    return f"<script>document.write('<a href=/{kind}-{name}>further</a>')</script>"


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Canary]:
    """With the browser's own network left to it: its flags alone keep it in."""
    monkeypatch.setattr(chromium, "WITHOUT_NETWORK", False)
    listening = Canary()
    yield listening
    listening.close()


def crawl(
    canary: Canary, port: int, seed: str, fetcher: str, wanted: Iterable[str] = ()
) -> dict[str, th.PageEvent]:
    """Until all pages that are wanted have come, if any are named."""
    crawled: dict[str, th.PageEvent] = {}
    with th.crawl(
        None,
        seed,
        judge=lambda page: True,
        strategy="breadth-first",
        user_agent=USER_AGENT,
        fetcher=fetcher,
        render="always",
        resolver=Names(port, canary),
        allow_addresses=["*.evil.test", "evil.test"],
        exclude=["excluded.evil.test"],
        scope=["*.evil.test", "evil.test"],
        max_requests=60,  # some pages lead on for ever
        host_budgets=False,
    ) as results:
        for result in results:
            crawled[result.url] = result.event
            if wanted and crawled.keys() >= set(wanted):
                break
    return crawled


def test_nothing_escapes(rendering_path: str, canary: Canary) -> None:
    with evil_web(canary) as (port, asked):
        fetcher = f"browser:executable={rendering_path}"
        crawled = crawl(canary, port, "http://evil.test/escapes", fetcher)
    assert canary.heard == []
    assert not any("/forbidden" in each or each.startswith("excluded") for each in asked)
    for n in [*range(len(GROUPS)), "markup"]:
        assert f"http://evil.test/escaped-{n}" in crawled, f"page {n} was not rendered to its end"


def test_the_crawl_goes_on(shell_path: str, canary: Canary) -> None:
    crawl_on(canary, shell_path, "torments", TORMENTS)


def test_the_crawl_goes_on_in_a_browser_with_windows(chromium_path: str, canary: Canary) -> None:
    crawl_on(canary, chromium_path, "windows", OF_WINDOWS)


def crawl_on(canary: Canary, executable: str, list_of_all: str, torments: Collection[str]) -> None:
    with evil_web(canary) as (port, _):
        fetcher = f"browser:seconds=1,parts=3,memory=500000000,executable={executable}"
        pages = [f"http://evil.test{path}" for path in (*(f"/{name}" for name in torments), *CALM)]
        crawled = crawl(canary, port, f"http://evil.test/{list_of_all}", fetcher, pages)
    assert canary.heard == []
    for name in torments:
        assert crawled[f"http://evil.test/{name}"].outcome is Outcome.FETCHED, name
    calm = [crawled[f"http://evil.test{path}"].why for path in CALM]
    assert sum("rendered: all pages are" in why for why in calm) >= AT_REST, calm
