"""A crawl with few file descriptors: no host is blamed for what this machine lacks."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from loopback import answering
from trailhound.fetching import connections
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.polite_settings import PoliteSettings
from trailhound.fetching.politeness import Politeness
from trailhound.records import FetchResult, Outcome

resource = pytest.importorskip("resource")

AGENT = "bees-bot (+https://example.org/bot)"
Use = Callable[[HttpFetcher], Awaitable[list[FetchResult]]]


def served(use: Use, politeness: Politeness | None = None) -> list[FetchResult]:
    """Fetch from a server at which every ``….test`` host has an empty page."""

    async def answer(request: web.Request) -> web.Response:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        return web.Response(text="<p>hello", content_type="text/html")

    async def run() -> list[FetchResult]:
        async with answering(answer) as resolver:
            fetcher = HttpFetcher(
                AGENT, resolver=resolver, allow_addresses=["*.test"], politeness=politeness
            )
            try:
                return list(await use(fetcher))
            finally:
                await fetcher.close()

    return asyncio.run(run())


@pytest.fixture
def few_descriptors() -> Iterator[int]:
    """A soft limit with room for both ends of the connections that may be kept alive."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = 2 * open_descriptors() + 64
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    yield limit
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def open_descriptors() -> int:
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("open descriptors are counted in /proc")
    return len(os.listdir(folder))


def test_idle_connections_stay_far_below_the_limit(few_descriptors: int) -> None:
    most = 0

    async def use(fetcher: HttpFetcher) -> list[FetchResult]:
        nonlocal most
        results = []
        for number in range(200):
            results.append(await fetcher.fetch(f"http://h{number}.test/"))
            most = max(most, open_descriptors())
        return results

    results = served(use)
    assert {result.outcome for result in results} == {Outcome.FETCHED}
    assert most < few_descriptors


def test_more_fetches_than_descriptors_wait_for_each_other(
    monkeypatch: pytest.MonkeyPatch, few_descriptors: int
) -> None:
    for module in ("client", "connections"):
        monkeypatch.setattr(f"trailhound.fetching.{module}.max_connections", lambda: 8)

    async def use(fetcher: HttpFetcher) -> list[FetchResult]:
        urls = (f"http://h{number}.test/" for number in range(few_descriptors))
        fetches = (fetcher.fetch(url) for url in urls)
        return await asyncio.gather(*fetches)

    assert {result.outcome for result in served(use)} == {Outcome.FETCHED}


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS])
def test_no_socket_is_our_own_trouble(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    politeness = Politeness(PoliteSettings())

    def no_socket(**_: int) -> socket.socket:
        raise OSError(code, os.strerror(code))

    async def use(fetcher: HttpFetcher) -> list[FetchResult]:
        first = await fetcher.fetch("http://a.test/")
        with monkeypatch.context() as patched:
            patched.setattr(
                "trailhound.fetching.connections.socket", SimpleNamespace(socket=no_socket)
            )
            kept_alive = await fetcher.fetch("http://a.test/2")
            refused = await fetcher.fetch("http://b.test/")
        return [first, kept_alive, refused, await fetcher.fetch("http://b.test/")]

    results = served(use, politeness)
    assert [result.outcome for result in results] == [
        Outcome.FETCHED,
        Outcome.FETCHED,
        Outcome.POSTPONED,
        Outcome.FETCHED,
    ]
    put_off = results[2]
    assert put_off.requests == 0
    assert put_off.retry_after_seconds == 5.0
    assert "this machine can open no more connections" in put_off.detail
    assert politeness.free_in("b.test") == 0.0, "the host has not failed"


def test_dns_without_a_socket_is_our_own_trouble() -> None:
    class Exhausted(AbstractResolver):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

        async def close(self) -> None:
            pass

    async def run() -> FetchResult:
        fetcher = HttpFetcher(AGENT, resolver=Exhausted())
        try:
            return await fetcher.fetch("http://a.example/")
        finally:
            await fetcher.close()

    result = asyncio.run(run())
    assert (result.outcome, result.retry_after_seconds) == (Outcome.POSTPONED, 5.0)


def test_the_limit_follows_that_of_the_process(few_descriptors: int) -> None:
    assert connections.max_connections() == few_descriptors // 4
