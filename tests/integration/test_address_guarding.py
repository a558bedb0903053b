"""The address guard at work: on names that move, on sockets, on the peers of open connections.

127.0.0.2 plays the public web (it is allowed), 127.0.0.1 the inside; a server listens on both.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import aiohttp
import pytest
from aiohttp.abc import ResolveResult
from yarl import URL

from loopback import Moving
from trailhound.fetching.address_guard import AddressGuard, AddressRefusedError
from trailhound.fetching.connections import (
    Attempt,
    ThriftyConnector,
    current_attempt,
    guarded_socket,
    open_session,
)
from trailhound.fetching.http import HttpFetcher
from trailhound.records import FetchResult, Outcome

AGENT = "bees-bot/1.0 (+https://example.org/bot)"
OUTSIDE, INSIDE = "127.0.0.2", "127.0.0.1"


class TwoServers:
    """One port on both addresses; notes which address was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.port = 0

    @asynccontextmanager
    async def serving(self, keep_alive: bool = True) -> AsyncIterator[None]:
        answering: set[asyncio.Task[None] | None] = set()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            answering.add(asyncio.current_task())
            try:
                while await reader.readuntil(b"\r\n\r\n"):
                    self.asked.append(writer.get_extra_info("sockname")[0])
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n")
                    writer.write(b"Content-Length: 3\r\n\r\n<p>")
                    if not keep_alive:
                        break
            except (OSError, asyncio.IncompleteReadError):
                pass
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

        outside = await asyncio.start_server(answer, OUTSIDE, 0)
        self.port = outside.sockets[0].getsockname()[1]
        inside = await asyncio.start_server(answer, INSIDE, self.port)
        async with outside, inside:
            yield
            await asyncio.gather(*[task for task in answering if task])


def fetch(resolver: Moving, times: int = 1, keep_alive: bool = True) -> tuple[list[str], list[str]]:
    """The outcomes of asking one moving name several times, and the addresses that were asked."""
    servers = TwoServers()

    async def run() -> list[FetchResult]:
        async with servers.serving(keep_alive):
            fetcher = HttpFetcher(
                AGENT,
                resolver=resolver,
                allow_addresses=[f"{OUTSIDE}/32"],
                obey_robots=False,
                allow_impolite=True,
            )
            url = f"http://moving.test:{servers.port}/"
            results = [await fetcher.fetch(f"{url}{number}") for number in range(times)]
            await fetcher.close()
            return results

    return [result.outcome.value for result in asyncio.run(run())], servers.asked


def test_a_name_that_moves_inside_after_it_was_checked_is_not_followed() -> None:
    outcomes, asked = fetch(Moving([OUTSIDE], [INSIDE]), times=3, keep_alive=False)
    assert outcomes == ["fetched"] * 3
    assert asked == [OUTSIDE] * 3


def test_a_name_that_alternates_is_asked_for_once() -> None:
    resolver = Moving([OUTSIDE], [INSIDE], [OUTSIDE], [INSIDE])
    fetch(resolver, times=3, keep_alive=False)
    assert resolver.asked == 1


def test_a_name_that_is_inside_first_stays_refused() -> None:
    outcomes, asked = fetch(Moving([INSIDE], [OUTSIDE]), times=2)
    assert outcomes == ["address-refused"] * 2
    assert asked == []


@pytest.mark.parametrize("answer", [[OUTSIDE, INSIDE], [INSIDE, OUTSIDE], [INSIDE, OUTSIDE, "::1"]])
def test_of_mixed_answers_the_inside_ones_are_dropped(answer: list[str]) -> None:
    outcomes, asked = fetch(Moving(answer), times=2, keep_alive=False)
    assert outcomes == ["fetched"] * 2
    assert asked == [OUTSIDE] * 2


def test_an_open_connection_is_used_again() -> None:
    outcomes, asked = fetch(Moving([OUTSIDE]), times=3)
    assert outcomes == ["fetched"] * 3
    assert asked == [OUTSIDE] * 3


def guarded_session(resolver: Moving) -> aiohttp.ClientSession:
    connector = ThriftyConnector(resolver, guarded_socket)
    return open_session(AGENT, aiohttp.ClientTimeout(total=5), {}, connector)


def ask_directly(guard: AddressGuard, resolver: Moving) -> tuple[Attempt, list[str]]:
    """One request on a guarded session whose resolver does not judge: only the sockets are left."""
    servers = TwoServers()

    async def run() -> Attempt:
        async with servers.serving():
            session = guarded_session(resolver)
            attempt = Attempt(guard, "moving.test")
            current_attempt.set(attempt)
            try:
                with pytest.raises((aiohttp.ClientError, OSError)):
                    await session.get(URL(f"http://moving.test:{servers.port}/"))
            finally:
                await session.close()
            return attempt

    return asyncio.run(run()), servers.asked


@pytest.mark.parametrize("answer", [[INSIDE], [INSIDE, "127.0.0.3"]])
def test_a_socket_does_not_connect_to_a_refused_address(answer: list[str]) -> None:
    attempt, asked = ask_directly(AddressGuard([OUTSIDE]), Moving(answer))
    assert "loopback" in attempt.refusal
    assert (attempt.peer, asked) == ("", [])


def test_nothing_is_sent_to_a_refused_peer() -> None:
    class Hesitant(AddressGuard):
        """Lets the socket connect, and then sees who is at the other end."""

        def __init__(self) -> None:
            super().__init__()
            self.questions = 0

        def refusal(self, host: str, address: str) -> str | None:
            self.questions += 1
            return None if self.questions == 1 else super().refusal(host, address)

    guard = Hesitant()
    attempt, asked = ask_directly(guard, Moving([INSIDE]))
    assert guard.questions == 2
    assert "loopback" in attempt.refusal
    assert (attempt.peer, asked) == ("", [])


def test_a_connection_outside_of_any_request_is_refused() -> None:
    async def run() -> None:
        session = guarded_session(Moving([INSIDE]))
        try:
            await session.get("http://moving.test:1/")
        finally:
            await session.close()

    with pytest.raises(aiohttp.ClientConnectorError) as caught:
        asyncio.run(run())
    assert isinstance(caught.value.os_error, AddressRefusedError)


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing listens there: a request that went to the proxy would be unreachable.
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    outcomes, asked = fetch(Moving([OUTSIDE]))
    assert (outcomes, asked) == (["fetched"], [OUTSIDE])


def test_a_slow_dns_is_a_time_out() -> None:
    class Slow(Moving):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            await asyncio.sleep(60)
            return []

    async def run() -> FetchResult:
        fetcher = HttpFetcher(AGENT, resolver=Slow(), connect_timeout_seconds=0.2)
        result = await fetcher.fetch("http://slow.test/")
        await fetcher.close()
        return result

    result = asyncio.run(run())
    assert result.outcome is Outcome.TIMEOUT
    assert "DNS" in result.detail
    assert result.retry_after_seconds is not None
