"""Hosts at IPv6 addresses: reached like others, and guarded like others."""

from __future__ import annotations

import asyncio
import socket

import pytest
from aiohttp import web

from loopback import Moving
from trailhound.fetching.http import HttpFetcher
from trailhound.records import FetchResult, Outcome

AGENT = "bees-bot/1.0 (+https://example.org/bot)"


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _has_ipv6(), reason="no IPv6 on this machine")


def fetch(
    host: str, addresses: list[str], allowed: list[str] | None = None
) -> tuple[FetchResult, list[str]]:
    """Ask ``host``, which DNS has at ``addresses``, at the port of a server on ``::1``."""
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(f"{request.host.rpartition(':')[0]}{request.path}")
        return web.Response(text="<p>Bees.", content_type="text/html")

    async def run() -> FetchResult:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app, shutdown_timeout=0)
        await runner.setup()
        await web.TCPSite(runner, "::1", 0).start()
        fetcher = HttpFetcher(
            AGENT, allow_addresses=allowed or (), resolver=Moving(addresses), allow_impolite=True
        )
        try:
            return await fetcher.fetch(f"http://{host}:{runner.addresses[0][1]}/")
        finally:
            await fetcher.close()
            await runner.cleanup()

    return asyncio.run(run()), asked


@pytest.mark.parametrize(
    ("host", "addresses", "allowed"),
    [
        ("[::1]", [], ["::1"]),
        ("bees.test", ["::1"], ["bees.test"]),
        ("bees.test", ["::1"], ["::/64"]),
        ("bees.test", ["10.0.0.1", "::1"], ["::1"]),  # of mixed answers, what is permitted
    ],
)
def test_pages_come_over_ipv6(host: str, addresses: list[str], allowed: list[str]) -> None:
    result, asked = fetch(host, addresses, allowed)
    assert (result.outcome, result.exchanges[-1].address) == (Outcome.FETCHED, "::1")
    assert asked == [f"{host}/robots.txt", f"{host}/"]


@pytest.mark.parametrize(
    ("host", "addresses"),
    [
        ("[::1]", []),
        ("[::ffff:127.0.0.1]", []),
        ("[fe80::1]", []),
        ("bees.test", ["::1"]),
        ("bees.test", ["::ffff:127.0.0.1"]),
        ("bees.test", ["64:ff9b::a00:1", "fd00::1"]),
    ],
)
def test_inside_addresses_are_refused(host: str, addresses: list[str]) -> None:
    result, asked = fetch(host, addresses)
    assert (result.outcome, asked) == (Outcome.ADDRESS_REFUSED, [])
