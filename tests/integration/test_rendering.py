"""Crawls of single-page applications: what is found, what is rendered, what is kept of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest
from archived_exchanges import read_folder
from live_webs import USER_AGENT, back_off_shortly
from single_page_webs import SinglePageWeb, kept_libraries, spa_web

import trailhound as th
from command_line import COMMAND, Command
from loopback import served
from trailhound.topics.crawls.archived_pages import ArchivedContent


class Crawled(NamedTuple):
    """What a crawl of the web has come to."""

    events: dict[str, th.PageEvent]

    @property
    def found(self) -> set[str]:
        return set(self.events)

    @property
    def rendered(self) -> set[str]:
        return {url for url, event in self.events.items() if event.why.startswith("rendered")}


class Spa:
    def __init__(self, web: SinglePageWeb, port: int, chromium: str) -> None:
        self.web = web
        self.port = port
        self._chromium = chromium
        self._reach = {
            "user_agent": USER_AGENT,
            "resolve": f"*.spa.test=127.0.0.1:{port}",
            "allow_addresses": "*.spa.test",
            "scope": ["*.spa.test"],
            "strategy": "breadth-first",
            "host_budgets": False,
        }

    def settings(self, render: str) -> dict[str, Any]:
        fetcher = {} if render == "never" else {"fetcher": f"browser:executable={self._chromium}"}
        return {**self._reach, "render": render, **fetcher}

    def crawled(self, render: str, **more: Any) -> Crawled:
        settings = {"max_requests": 500, **self.settings(render), **more}
        seeds = settings.pop("seeds", self.web.seeds)
        with th.crawl(None, seeds, judge=lambda page: "nectar" in page.text, **settings) as crawl:
            return Crawled({result.url: result.event for result in crawl})


@pytest.fixture(scope="module")
def libraries() -> dict[str, bytes]:
    """The scripts by package; skipped where the registry cannot be reached, unless CI is set."""
    try:
        return kept_libraries(Path(sys.prefix) / "frontend-libraries")
    except OSError as error:
        reason = f"no front-end library from the npm registry: {error}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="module")
def spa(libraries: dict[str, bytes], shell_path: str) -> Iterator[Spa]:
    web = SinglePageWeb(libraries, size=2)
    with spa_web(web) as port:
        yield Spa(web, port, shell_path)


@pytest.fixture(scope="module")
def auto(spa: Spa) -> Crawled:
    return spa.crawled("auto")


def test_auto_finds_every_page(spa: Spa, auto: Crawled) -> None:
    assert auto.found == spa.web.pages()
    judged = {url: event.relevance for url, event in auto.events.items()}
    assert all(relevance is not None and relevance.relevant for relevance in judged.values())


def test_auto_renders_little_else_than_what_needs_it(spa: Spa, auto: Crawled) -> None:
    assert auto.rendered >= spa.web.made_by_script()
    assert len(auto.rendered) <= 1.2 * len(spa.web.made_by_script())


def test_always_finds_no_more(spa: Spa, auto: Crawled) -> None:
    always = spa.crawled("always")
    assert always.found <= auto.found
    assert always.rendered == always.found


def test_a_crawl_is_kept_explained_and_forgotten(
    spa: Spa, trailhound: Command, workspace_folder: Path
) -> None:
    home = "http://react.spa.test/"
    flags = [
        *("--seed", home, "--judge", "keywords:words=nectar", "--strategy", "breadth-first"),
        *("--render", "auto", "--max-requests", "8", "--user-agent", USER_AGENT),
        *("--resolve", f"*.spa.test=127.0.0.1:{spa.port}", "--allow-address", "*.spa.test"),
    ]
    report = trailhound("crawl", "bees", *flags, "--json").report
    assert report["requests"] <= 8
    told = trailhound("explain", "bees", home).out
    assert "rendered: its place for an application is empty" in " ".join(told.split())
    assert trailhound("check", "bees").code == 0

    archive = workspace_folder / "topics" / "bees" / "crawl" / "archive"
    records = {each.headers.get("WARC-Target-URI"): each for each in read_folder(archive)}
    assert b"nectar" in records[f"urn:rendered:{home}"].body
    with ArchivedContent(archive) as content:
        page = content.page(home)
        assert page is not None
        assert "nectar" in page.text
        assert page.url == home

    assert trailhound("forget", "bees", "--host", "react.spa.test").code == 0
    assert not [each for each in read_folder(archive) if b"nectar" in each.body]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the keeper is for Linux")
def test_no_browser_is_left_behind_by_a_killed_crawl(spa: Spa, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    flags = [
        *("--seed", "http://vue.spa.test/", "--judge", "keywords:words=nectar"),
        *("--render", "always", "--user-agent", USER_AGENT),
        *("--resolve", f"*.spa.test=127.0.0.1:{spa.port}", "--allow-address", "*.spa.test"),
    ]
    paths = {"TMPDIR": str(temporary), "TRAILHOUND_WORKSPACE": str(tmp_path / "workspace")}
    with subprocess.Popen(
        [*COMMAND, "crawl", "bees", *flags],
        env={**os.environ, **paths},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as crawl:
        groups: set[int] = set()
        _wait_until(lambda: "--type=renderer" in " ".join(_browser(temporary, groups).values()))
        crawl.kill()
    _wait_until(lambda: not _browser(temporary, groups))
    _wait_until(lambda: not list(temporary.glob("trailhound-browser-*")))


def _browser(folder: Path, groups: set[int]) -> dict[int, str]:
    """Command lines of living processes that name the folder, or are of their groups."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            command = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            pid = int(path.parent.name)
            if f"--user-data-dir={folder}" in command:
                groups.add(os.getpgid(pid))
            if command and os.getpgid(pid) in groups:  # those that have ended have no command
                found[pid] = command
    return found


def _wait_until(condition: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < ends_at
        time.sleep(0.02)


class FalteringApp(BaseHTTPRequestHandler):
    """An application whose script cannot be had when it is first asked for."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path == "/app.js" and self.asked.count("/app.js") == 1:
            self.send_response(503)
            self.send_header("Retry-After", "1")
            self.end_headers()
            return
        body, kind = b"<div id=root></div><script src=/app.js></script>", "text/html"
        if self.path == "/app.js":
            body, kind = b"root.innerHTML = '<a href=/further>nectar</a>'", "text/javascript"
        elif self.path == "/robots.txt":
            body, kind = b"", "text/plain"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_page_whose_parts_cannot_be_had_comes_again(
    spa: Spa, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_off_shortly(monkeypatch, 0.1)
    FalteringApp.asked.clear()
    with served(FalteringApp) as port:
        seeds = ["http://faltering.spa.test/"]
        resolve = f"*.spa.test=127.0.0.1:{port}"
        crawled = spa.crawled("auto", seeds=seeds, max_requests=7, resolve=resolve)
    assert FalteringApp.asked == ["/robots.txt", "/", "/app.js", "/", "/app.js", "/further"]
    assert crawled.found == {*seeds, "http://faltering.spa.test/further"}
    assert "1 new link" in crawled.events[seeds[0]].why


XHTML = "application/xhtml+xml"
NECTAR = f"<p>{'Bees gather nectar from many flowers. ' * 60}</p>"
ROOT = "<div id='root'></div>"


class FragilePages(BaseHTTPRequestHandler):
    """Pages of which a browser may make less than there is."""

    pages: ClassVar[dict[str, tuple[str, str]]] = {
        "/": ("text/html", "<a href=/wiped>1</a> <a href=/broken>2</a> <a href=/whole>3</a>"),
        "/wiped": (
            "text/html",
            f"{NECTAR}<div id=list></div><script>fetch('/private').then(r => r.json())"
            ".catch(() => document.body.innerHTML = 'Something went wrong')</script>",
        ),
        "/broken": (XHTML, f"<p>R&D</p>{NECTAR}{ROOT}<script src='/link.js'></script>"),
        "/whole": (XHTML, f"<script src='/link.js'/>{ROOT}{NECTAR}"),
        "/link.js": (
            "text/javascript",
            "onload = () => "
            "document.getElementById('root').innerHTML = '<a href=\"/further\">on</a>'",
        ),
        "/further": ("text/html", NECTAR),
        "/robots.txt": ("text/plain", "User-agent: *\nDisallow: /private"),
    }

    def do_GET(self) -> None:
        kind, text = self.pages[self.path]
        if kind == XHTML:
            text = f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{text}</body></html>"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_rendering_takes_nothing_away(spa: Spa) -> None:
    with served(FragilePages) as port:
        host, resolve = "http://fragile.spa.test", f"*.spa.test=127.0.0.1:{port}"
        crawled = spa.crawled("always", seeds=[f"{host}/"], resolve=resolve)
    for path in ("/wiped", "/broken", "/whole"):
        relevance = crawled.events[host + path].relevance
        assert relevance is not None
        assert relevance.relevant, path
    assert "lost most of its text" in crawled.events[f"{host}/wiped"].why
    for path in ("/broken", "/whole"):
        assert "1 new link" in crawled.events[host + path].why, path
