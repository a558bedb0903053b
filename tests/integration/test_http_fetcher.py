"""The HTTP fetcher against a real server on loopback, under host names of its own."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import Awaitable, Callable
from typing import TypedDict, Unpack

import pytest
from aiohttp import web

from trailhound.errors import ConfigError
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.keyring import HostKeys, Keyring
from trailhound.fetching.resolver import MappedResolver
from trailhound.media_types import HTML_ONLY, DocumentKind, Kinds
from trailhound.records import FetchResult, Outcome

AGENT = "bees-bot/1.0 (+https://example.org/bot)"
HTML = "<!doctype html><title>Bees</title><p>Bees."
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Options(TypedDict, total=False):
    timeout_seconds: float
    max_redirects: int
    max_bytes: int
    obey_robots: bool
    in_scope: Callable[[str], bool]
    keyring: Keyring
    documents: Kinds


class Site:
    """A handler for all hosts, with what was asked of it."""

    def __init__(self, handler: Handler, robots: Handler | None = None) -> None:
        self._handler = handler
        self._robots = robots
        self.asked: list[str] = []
        self.agents: set[str] = set()
        self.connections: set[int] = set()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(f"{request.host}{request.raw_path}")
        self.agents.add(request.headers["User-Agent"])
        self.connections.add(id(request.transport))
        if request.path == "/robots.txt":
            return await self._robots(request) if self._robots else web.Response(status=404)
        return await self._handler(request)

    async def start(self) -> tuple[web.AppRunner, int]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner, int(runner.addresses[0][1])


def fetch_all(
    site: Site, urls: list[str], **options: Unpack[Options]
) -> tuple[list[FetchResult], HttpFetcher]:
    async def run() -> tuple[list[FetchResult], HttpFetcher]:
        runner, port = await site.start()
        resolver = MappedResolver({"*.test": f"127.0.0.1:{port}"}, use_dns=False)
        fetcher = HttpFetcher(
            AGENT,
            resolver=resolver,
            allow_addresses=["127.0.0.0/8"],
            allow_impolite=True,
            **options,
        )
        try:
            return [await fetcher.fetch(url) for url in urls], fetcher
        finally:
            await fetcher.close()
            await runner.cleanup()

    return asyncio.run(run())


def fetch(site: Site, url: str = "http://a.test/", **options: Unpack[Options]) -> FetchResult:
    return fetch_all(site, [url], **options)[0][0]


def page(text: str = HTML) -> Handler:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=text, content_type="text/html")

    return answer


def answers(status: int = 200, body: bytes = b"", headers: dict[str, str] | None = None) -> Handler:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status, body=body, headers=headers)

    return answer


def redirects(targets: dict[str, str], status: int = 302) -> Handler:
    """Redirects from path to location; other paths are pages."""

    async def answer(request: web.Request) -> web.Response:
        target = targets.get(request.path)
        if target is None:
            return web.Response(text=HTML, content_type="text/html")
        return web.Response(status=status, headers={"Location": target} if target else {})

    return answer


def fetch_raw(reply: bytes) -> FetchResult:
    """What the fetcher makes of a server that says exactly ``reply`` and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()
        writer.close()

    async def run() -> FetchResult:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        fetcher = HttpFetcher(
            AGENT,
            obey_robots=False,
            allow_impolite=True,
            allow_addresses=["127.0.0.0/8", "::1"],
            timeout_seconds=5,
        )
        async with server:
            result = await fetcher.fetch(f"http://127.0.0.1:{port}/")
            await fetcher.close()
        return result

    return asyncio.run(run())


def test_a_page_comes_back_with_its_bytes_and_header() -> None:
    site = Site(page("<p>Größe"))
    result = fetch(site, "http://a.test/x%7C?q=%C3%A9")
    assert result.url == result.final_url == "http://a.test/x%7C?q=%C3%A9"
    assert (result.outcome, result.requests, result.status) == (Outcome.FETCHED, 1, 200)
    assert result.content_type == result.header("content-type") == "text/html; charset=utf-8"
    assert (result.body, result.detail) == ("<p>Größe".encode(), "")
    assert result.retry_after_seconds is None
    assert site.asked == ["a.test/robots.txt", "a.test/x%7C?q=%C3%A9"]
    assert site.agents == {AGENT}


def test_connections_are_kept_alive() -> None:
    site = Site(page())
    results, _ = fetch_all(site, [f"http://a.test/{n}" for n in range(5)])
    assert [result.outcome for result in results] == [Outcome.FETCHED] * 5
    assert len(site.connections) == 1


def test_hosts_share_a_server_under_their_own_names() -> None:
    site = Site(page())
    fetch_all(site, ["http://a.test/1", "http://b.c.test/2"], obey_robots=False)
    assert site.asked == ["a.test/1", "b.c.test/2"]


def test_relative_redirects_are_followed_and_counted() -> None:
    site = Site(redirects({"/a/b": "../c?x=1#part", "/c": "HTTP://B.test:80/d"}))
    result = fetch(site, "http://a.test/a/b")
    assert result.outcome is Outcome.FETCHED
    assert result.url == "http://a.test/a/b"
    assert result.final_url == "http://b.test/d"
    assert result.requests == 3
    assert result.body == HTML.encode()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_all_kinds_of_redirect_are_followed(status: int) -> None:
    assert fetch(Site(redirects({"/": "/x"}, status))).final_url == "http://a.test/x"


def test_a_redirect_loop_ends() -> None:
    result = fetch(Site(redirects({"/": "/x", "/x": "/"})))
    assert result.outcome is Outcome.TOO_MANY_REDIRECTS
    assert result.requests == 2
    assert "circle" in result.detail


def test_a_redirect_back_with_a_new_cookie_is_no_circle() -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.cookies.get("fresh") == request.path[1:]:
            return web.Response(text=HTML, content_type="text/html")
        target = {"/two": "/check", "/check": "/two"}.get(request.path, request.path)
        response = web.Response(status=302, headers={"Location": target})
        if request.path in ("/one", "/check"):
            response.set_cookie("fresh", target[1:])
        return response

    urls = [f"http://a.test/{path}" for path in ("one", "two", "round")]
    known, _ = fetch_all(Site(answer), urls, keyring=Keyring({"a.test": HostKeys()}))
    assert [each.outcome for each in known] == ["fetched", "fetched", "too-many-redirects"]
    assert [each.requests for each in known] == [2, 3, 1]
    unknown, _ = fetch_all(Site(answer), urls)
    assert [each.outcome for each in unknown] == ["too-many-redirects"] * 3


@pytest.mark.parametrize(("cap", "outcome"), [(3, Outcome.FETCHED), (2, "too-many-redirects")])
def test_redirects_are_capped(cap: int, outcome: str) -> None:
    site = Site(redirects({"/": "/1", "/1": "/2", "/2": "/3"}))
    result = fetch(site, max_redirects=cap)
    assert result.outcome == outcome
    assert result.requests == cap + 1


def test_a_redirect_out_of_scope_is_not_followed() -> None:
    site = Site(redirects({"/": "http://b.test/x"}))
    result = fetch(site, in_scope=lambda url: "://a.test/" in url)
    assert result.outcome is Outcome.OUT_OF_SCOPE
    assert result.requests == 1
    assert "http://b.test/x" in result.detail
    assert not any(asked.startswith("b.test") for asked in site.asked)


def test_addresses_without_end_are_not_asked_for() -> None:
    site = Site(redirects({"/": "/" + "0" * 5_000}))
    (result, direct), _ = fetch_all(site, ["http://a.test/", "http://a.test/" + "0" * 5_000])
    assert (result.outcome, direct.outcome) == (Outcome.OUT_OF_SCOPE, Outcome.OUT_OF_SCOPE)
    assert result.detail == "redirects to an address of 5014 characters"
    assert direct.detail == "the address has 5014 characters, more than 4000"
    assert site.asked == ["a.test/robots.txt", "a.test/"]


def test_a_redirect_to_an_address_with_login_in_it_is_followed() -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.host == "a.test":
            moved = {"Location": f"http://www.a.test{request.raw_path}"}
            return web.Response(status=301, headers=moved)
        return web.Response(text=HTML, content_type="text/html")

    paths = ("/birds/identification?from=home", "/what-is-oauth?ref=rss")
    results, _ = fetch_all(Site(answer), [f"http://a.test{path}" for path in paths])
    assert [result.outcome for result in results] == [Outcome.FETCHED] * 2


def test_a_redirect_off_the_web_is_not_followed() -> None:
    result = fetch(Site(redirects({"/": "mailto:bees@example.org"})))
    assert result.outcome is Outcome.OUT_OF_SCOPE
    assert "mailto:" in result.detail


def test_a_redirect_without_a_target_is_the_servers_error() -> None:
    result = fetch(Site(redirects({"/": ""})))
    assert result.outcome is Outcome.SERVER_ERROR
    assert "where" in result.detail


@pytest.mark.parametrize(
    ("status", "outcome", "words"),
    [
        (404, Outcome.NOT_FOUND, "HTTP 404 Not Found"),
        (410, Outcome.NOT_FOUND, "HTTP 410 Gone"),
        (403, Outcome.CLIENT_ERROR, "HTTP 403 Forbidden"),
        (429, Outcome.BUSY, "HTTP 429 Too Many Requests"),
        (500, Outcome.SERVER_ERROR, "HTTP 500 Internal Server Error"),
        (503, Outcome.BUSY, "HTTP 503 Service Unavailable"),
        (599, Outcome.SERVER_ERROR, "HTTP 599"),
        (304, Outcome.SERVER_ERROR, "HTTP 304 Not Modified"),
    ],
)
def test_statuses_become_outcomes(status: int, outcome: Outcome, words: str) -> None:
    site = Site(answers(status, b"" if status == 304 else b"<p>", {"Content-Type": "text/html"}))
    result = fetch(site)
    assert (result.outcome, result.status, result.detail) == (outcome, status, words)
    assert result.body == b""


def test_a_slow_server_times_out() -> None:
    async def sleep(request: web.Request) -> web.Response:
        await asyncio.sleep(1)
        return web.Response()

    result = fetch(Site(sleep), timeout_seconds=0.2)
    assert result.outcome is Outcome.TIMEOUT
    assert result.detail == "no answer within 0.2 s"


@pytest.mark.parametrize("robots_too", [False, True])
def test_no_server_is_blamed_for_what_this_process_missed(robots_too: bool) -> None:
    async def suspend(request: web.Request) -> web.Response:
        time.sleep(3)
        await asyncio.sleep(1)
        return web.Response(text=HTML, content_type="text/html")

    site = Site(suspend, suspend if robots_too else None)
    missed = fetch(site, timeout_seconds=1.0)
    assert (missed.outcome, missed.requests) == (Outcome.POSTPONED, 0 if robots_too else 1)
    assert missed.detail == "this process stood still meanwhile"
    assert missed.retry_after_seconds is not None
    assert missed.retry_after_seconds < 60, "robots.txt that could not be read is asked for later"


def test_a_slow_body_times_out() -> None:
    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/html"})
        await response.prepare(request)
        await response.write(b"<p>")
        await asyncio.sleep(1)
        return response

    assert fetch(Site(drip), timeout_seconds=0.2).outcome is Outcome.TIMEOUT


def test_other_types_are_not_read() -> None:
    result = fetch(Site(answers(body=b"x" * 9, headers={"Content-Type": "image/png"})))
    assert result.outcome is Outcome.NOT_HTML
    assert result.detail == "the content type is image/png"
    assert result.body == b""


def test_xhtml_is_html() -> None:
    site = Site(answers(body=b"<html/>", headers={"Content-Type": "application/xhtml+xml"}))
    assert fetch(site).outcome is Outcome.FETCHED


@pytest.mark.parametrize(
    ("body", "outcome"), [(b"<!doctype html><p>", "fetched"), (b"%PDF-1.4", "not-html")]
)
def test_a_missing_type_is_sniffed(body: bytes, outcome: str) -> None:
    assert fetch_raw(b"HTTP/1.1 200 OK\r\n\r\n" + body).outcome == outcome


@pytest.mark.parametrize(("size", "outcome"), [(1000, "fetched"), (1001, "too-large")])
def test_bodies_are_capped(size: int, outcome: str) -> None:
    result = fetch(Site(page("x" * size)), max_bytes=1000)
    assert result.outcome == outcome
    assert result.body == (b"x" * size if size == 1000 else b"")


@pytest.mark.parametrize(
    ("kind", "coding", "outcome"),
    [
        ("application/pdf", "", "fetched"),
        ("application/pdf", "gzip", "fetched"),
        ("text/html", "", "not-html"),
        ("text/html", "gzip", "not-html"),
    ],
)
def test_documents_may_be_larger_than_pages(kind: str, coding: str, outcome: str) -> None:
    body = b"%PDF-1.4\n" + b"a" * 1_500_000
    packed = gzip.compress(body) if coding else body
    headers = {"Content-Encoding": coding} if coding else {}

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=packed, content_type=kind, headers=headers)

    read = frozenset([DocumentKind.PDF]) if kind == "application/pdf" else HTML_ONLY
    result = fetch(Site(answer), max_bytes=1_000, documents=read)
    assert result.outcome == outcome
    assert len(result.body) == (len(body) if outcome == "fetched" else 0)
    assert packed.startswith(result.exchanges[0].body[:1_000] or b"nothing was kept")


def test_an_endless_body_is_cut_off_while_streaming() -> None:
    async def pour(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/html"})
        await response.prepare(request)
        while True:
            await response.write(b"x" * 10_000)

    result = fetch(Site(pour), max_bytes=100_000)
    assert result.outcome is Outcome.TOO_LARGE
    assert result.detail == "the body is larger than 100000 bytes"


def test_a_gzip_body_is_unpacked() -> None:
    headers = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    result = fetch(Site(answers(body=gzip.compress(HTML.encode()), headers=headers)))
    assert result.body == HTML.encode()


@pytest.mark.parametrize(
    "header",
    [
        ("Content-Type", "text/html charset=utf-8"),
        ("Content-Type", "text/html, text/html; charset=utf-8"),
        ("Content-Type", "html"),
        ("Content-Encoding", "UTF-8"),
        ("Content-Encoding", "aws-chunked"),
    ],
)
def test_sloppy_headers_do_not_cost_a_page(header: tuple[str, str]) -> None:
    async def answer(_: web.Request) -> web.Response:
        headers = {"Content-Type": "text/html", **dict([header])}
        return web.Response(body=HTML.encode(), headers=headers)

    result = fetch(Site(answer))
    assert (result.outcome, result.body) == (Outcome.FETCHED, HTML.encode())


def test_the_cap_is_on_the_unpacked_size() -> None:
    headers = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    bomb = gzip.compress(b"<p>" + bytes(20_000_000).replace(b"\0", b"x"))
    assert len(bomb) < 50_000
    result = fetch(Site(answers(body=bomb, headers=headers)), max_bytes=1_000_000)
    assert result.outcome is Outcome.TOO_LARGE


def test_a_body_that_is_not_packed_as_said_is_the_servers_error() -> None:
    headers = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    result = fetch(Site(answers(body=b"not gzip at all", headers=headers)))
    assert result.outcome is Outcome.SERVER_ERROR
    assert "not encoded" in result.detail


def test_an_unknown_charset_is_left_to_the_extractor() -> None:
    headers = {"Content-Type": "text/html; charset=klingon"}
    result = fetch(Site(answers(body=b"<p>\xe4", headers=headers)))
    assert (result.outcome, result.body) == (Outcome.FETCHED, b"<p>\xe4")
    assert result.content_type == "text/html; charset=klingon"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (b"", Outcome.UNREACHABLE),
        (b"SSH-2.0-OpenSSH\r\n\r\n", Outcome.SERVER_ERROR),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n<p>",
            "server-error",
        ),
    ],
)
def test_broken_answers_are_outcomes(reply: bytes, outcome: str) -> None:
    result = fetch_raw(reply)
    assert result.outcome == outcome
    assert result.detail


def test_a_location_in_an_old_encoding_is_escaped_byte_by_byte() -> None:
    result = fetch_raw(b"HTTP/1.1 301 Moved\r\nLocation: http://[::1]:1/\xe4\r\n\r\n")
    assert result.final_url == "http://[::1]:1/%E4"
    assert (result.outcome, result.requests) == (Outcome.UNREACHABLE, 2)


@pytest.mark.parametrize("obey_robots", [True, False])
def test_a_refused_connection_is_unreachable(obey_robots: bool) -> None:
    # Port 1 of loopback: nothing listens there.
    result = fetch(Site(page()), "http://127.0.0.1:1/", obey_robots=obey_robots)
    assert result.outcome is Outcome.UNREACHABLE
    assert result.requests == 1
    assert "127.0.0.1" in result.detail


@pytest.mark.parametrize("host", ["unmapped.example", "a..b", "x" * 64 + ".example", "-"])
@pytest.mark.parametrize("obey_robots", [True, False])
def test_a_host_that_does_not_resolve_is_unknown(host: str, obey_robots: bool) -> None:
    result = fetch(Site(page()), f"http://{host}/", obey_robots=obey_robots)
    assert result.outcome is Outcome.UNKNOWN_HOST
    assert "DNS knows no such host" in result.detail


@pytest.mark.parametrize(
    "agent", ["", "bees-bot", "bees-bot (+https://example.org)\r\nX: y", "ä@b"]
)
def test_an_unusable_user_agent_is_refused(agent: str) -> None:
    with pytest.raises(ConfigError, match="User agent"):
        HttpFetcher(agent)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_time_out_is_refused(seconds: float) -> None:
    with pytest.raises(ConfigError, match="time-out"):
        HttpFetcher(AGENT, timeout_seconds=seconds)


def test_other_kinds_of_documents_can_be_asked_for() -> None:
    async def run() -> tuple[FetchResult, tuple[str, ...]]:
        site = Site(
            answers(body=b"<urlset/>", headers={"Content-Type": "application/xml"}),
            answers(body=b"Sitemap: http://a.test/map.xml\n"),
        )
        runner, port = await site.start()
        resolver = MappedResolver({"*.test": f"127.0.0.1:{port}"}, use_dns=False)
        fetcher = HttpFetcher(AGENT, resolver=resolver, allow_addresses=["*.test"])
        sitemaps = await fetcher.sitemaps("http://a.test/")
        result = await fetcher.fetch(sitemaps[0], html_only=False)
        await fetcher.close()
        await runner.cleanup()
        return result, sitemaps

    result, sitemaps = asyncio.run(run())
    assert sitemaps == ("http://a.test/map.xml",)
    assert (result.outcome, result.body) == (Outcome.FETCHED, b"<urlset/>")


def test_closing_unused_or_twice_does_no_harm() -> None:
    async def run() -> None:
        fetcher = HttpFetcher(AGENT)
        await fetcher.close()
        await fetcher.close()

    asyncio.run(run())
