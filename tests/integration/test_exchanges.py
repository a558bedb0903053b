"""What a fetch leaves for the archive: each request and answer, as they were on the wire."""

from __future__ import annotations

import asyncio
import gzip
import time
from contextlib import suppress

import msgspec
import pytest

from trailhound.fetching.http import HttpFetcher
from trailhound.records import Exchange, FetchResult, Outcome

AGENT = "bees-bot/1.0 (+https://example.org/bot)"
PAGE = b"<!doctype html><p>Bees."


def fetch_raw(*replies: bytes) -> FetchResult:
    """The result of a server that answers with these bytes, one after the other."""
    left = list(replies)

    serving: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.current_task())
        try:
            while left and await reader.readuntil(b"\r\n\r\n"):
                writer.write(left.pop(0))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def run() -> FetchResult:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        fetcher = HttpFetcher(
            AGENT, obey_robots=False, allow_impolite=True, allow_addresses=["127.0.0.1"]
        )
        async with server:
            result = await fetcher.fetch(f"http://127.0.0.1:{port}/")
            await fetcher.close()
            await asyncio.gather(*[task for task in serving if task])
        return result

    return asyncio.run(run())


def only_exchange(reply: bytes) -> Exchange:
    (exchange,) = fetch_raw(reply).exchanges
    return exchange


def test_an_exchange_holds_what_was_asked_and_answered() -> None:
    before = time.time()
    exchange = only_exchange(
        b"HTTP/1.1 200 Fine, thanks\r\ncontent-TYPE: text/html\r\nX-Two: a\r\nX-Two: \xe4\r\n"
        b"Content-Length: 23\r\n\r\n" + PAGE
    )
    assert (exchange.status, exchange.reason, exchange.http_version) == (200, "Fine, thanks", "1.1")
    assert exchange.headers == (
        ("content-TYPE", "text/html"),
        ("X-Two", "a"),
        ("X-Two", "\xe4"),
        ("Content-Length", "23"),
    )
    assert (exchange.body, exchange.address, exchange.truncated) == (PAGE, "127.0.0.1", "")
    assert before <= exchange.requested_at <= time.time()
    sent = dict(exchange.request_headers)
    assert sent["User-Agent"] == AGENT
    assert sent["Host"].startswith("127.0.0.1:")
    assert sent["Accept-Encoding"] == "gzip, deflate, br, zstd"


def test_a_coded_body_is_kept_as_it_came() -> None:
    packed = gzip.compress(PAGE)
    result = fetch_raw(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n"
        b"Content-Length: %d\r\n\r\n" % len(packed) + packed
    )
    assert result.body == PAGE
    assert result.exchanges[0].body == packed
    assert ("Content-Encoding", "gzip") in result.exchanges[0].headers


def test_chunks_are_joined_and_the_headers_say_so() -> None:
    exchange = only_exchange(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html\r\n\r\n"
        b"3\r\n<p>\r\n4\r\nBees\r\n0\r\n\r\n"
    )
    assert exchange.body == b"<p>Bees"
    assert exchange.headers == (("Content-Type", "text/html"), ("Content-Length", "7"))


def test_every_hop_is_an_exchange_of_its_own() -> None:
    result = fetch_raw(
        b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 5\r\n\r\nmoved",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone",
    )
    assert result.outcome is Outcome.NOT_FOUND
    assert [exchange.status for exchange in result.exchanges] == [302, 404]
    assert [exchange.body for exchange in result.exchanges] == [b"moved", b"gone"]
    assert result.exchanges[1].url == result.final_url
    assert result.body == b""


@pytest.mark.parametrize(
    ("reply", "truncated"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 9\r\n\r\n", "unspecified"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<p>",
            "disconnect",
        ),
        (b"HTTP/1.1 404 No\r\nContent-Length: 70000\r\n\r\n" + b"x" * 70_000, "length"),
    ],
)
def test_a_body_that_is_not_whole_says_why(reply: bytes, truncated: str) -> None:
    assert only_exchange(reply).truncated == truncated


def test_without_an_answer_there_is_no_exchange() -> None:
    assert fetch_raw(b"").exchanges == ()


def test_results_survive_a_journey_to_another_process() -> None:
    result = fetch_raw(
        b"HTTP/1.1 200 \xff\r\nContent-Type: text/html; charset=\xff\r\nX: \xfe\xff\r\n\r\n<p>"
    )
    assert result.outcome is Outcome.FETCHED
    packed = msgspec.msgpack.encode(result)
    assert msgspec.msgpack.decode(packed, type=FetchResult) == result
