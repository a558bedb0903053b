"""Servers that misbehave, on loopback, in raw sockets: a well-behaved library cannot.

Each case is a host ``<name>.hostile.test``. ``CASES`` says what a fetch of its front page must end
as; the names are those of the table in ``docs/security.md``.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import threading
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache

import brotli
import zstandard

Behaviour = Callable[[str, asyncio.StreamWriter], Awaitable[None]]

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
PAGE = b"<!doctype html><title>A page</title><p>Words."


@dataclass(frozen=True)
class Case:
    """A server, and what must come of asking it."""

    name: str
    page: Behaviour
    outcome: str
    words: str = ""
    """A part of the result's detail."""
    robots: Behaviour | None = None
    scheme: str = "http"
    slow: bool = False
    """Ends by a time-out somewhere on the way, so that the test wants a short one."""

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.name}.hostile.test/"


@dataclass
class HostileWeb:
    """All cases behind one port, served from a thread; unknown hosts get a page."""

    cases: dict[str, Case]
    port: int = 0
    asked: list[str] = field(default_factory=list)
    """Host and path of every request."""

    def __enter__(self) -> HostileWeb:
        # Made before the clock of any time-out runs.
        gzip_bomb(), deflate_bomb(), brotli_bomb()
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self, started: threading.Event) -> None:
        self._loop.set_exception_handler(lambda loop, context: None)
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._answer, "127.0.0.1", 0, limit=2**20)
        )
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.05))
        self._loop.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                path = request.split(" ", 2)[1]
                host = request.lower().split("host: ", 1)[1].split("\r\n", 1)[0]
                self.asked.append(f"{host}{path}")
                await self._behave(host.partition(".")[0], path, writer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def _behave(self, name: str, path: str, writer: asyncio.StreamWriter) -> None:
        case = self.cases.get(name)
        if path == "/robots.txt":
            robots = case.robots if case is not None else None
            await (robots or says(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))(
                path, writer
            )
        elif case is None:
            await page()(path, writer)
        else:
            await case.page(path, writer)


def says(*parts: bytes, close: bool = False) -> Behaviour:
    """Exactly these bytes."""

    async def behave(path: str, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
        if close:
            raise ConnectionAbortedError

    return behave


def page(body: bytes = PAGE, headers: bytes = b"") -> Behaviour:
    """A proper answer."""
    return says(HEAD + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body)


def packed(coding: bytes, body: Callable[[], bytes]) -> Behaviour:
    """A proper answer with a coded body, made when it is needed."""

    async def behave(path: str, writer: asyncio.StreamWriter) -> None:
        await page(body(), b"Content-Encoding: " + coding + b"\r\n")(path, writer)

    return behave


def hangs(start: bytes = b"") -> Behaviour:
    """``start``, and then nothing ever again."""

    async def behave(path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await asyncio.sleep(60)

    return behave


def drips(start: bytes, drop: bytes = b"x") -> Behaviour:
    """``start``, and then a drop twenty times a second."""

    async def behave(path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(drop)
            await writer.drain()
            await asyncio.sleep(0.05)

    return behave


def pours(start: bytes, piece: bytes) -> Behaviour:
    """``start``, and then ``piece`` after ``piece`` as fast as it is taken."""

    async def behave(path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.002)  # the other cases want to be served too

    return behave


def resets(start: bytes = b"") -> Behaviour:
    """``start``, and then a TCP reset instead of an end."""

    async def behave(path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await writer.drain()
        await asyncio.sleep(0.05)
        sock: socket.socket = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        raise ConnectionAbortedError

    return behave


def redirects(location: Callable[[str], str], extra: bytes = b"") -> Behaviour:
    """Elsewhere, by the path that was asked for."""

    async def behave(path: str, writer: asyncio.StreamWriter) -> None:
        target = location(path).encode("latin-1")
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: " + target + b"\r\n")
        writer.write(extra or b"Content-Length: 0\r\n\r\n")

    return behave


def redirects_once(then: Behaviour, start: bytes) -> Behaviour:
    """A first redirect whose body never ends."""

    async def behave(path: str, writer: asyncio.StreamWriter) -> None:
        if path != "/":
            await page()(path, writer)
            return
        writer.write(start)
        await then(path, writer)

    return behave


def _repeated(packer: zlib._Compress) -> bytes:
    """A gigabyte: after a full flush a block does not look back, so it can be said again."""
    start = packer.compress(PAGE) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b"x" * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH)
    return start + block * 1_000


@cache
def gzip_bomb() -> bytes:
    return _repeated(zlib.compressobj(9, wbits=31))


@cache
def deflate_bomb() -> bytes:
    return _repeated(zlib.compressobj(9))


@cache
def brotli_bomb() -> bytes:
    """100 MB in less than a kilobyte."""
    packer = brotli.Compressor(quality=2)
    pieces = [packer.process(PAGE)]
    pieces += [packer.process(b"x" * 4_000_000) for _ in range(25)]
    return b"".join([*pieces, packer.finish()])


def zstd_bomb(megabytes: int = 4096) -> bytes:
    """Run-length blocks by hand: each four bytes become 128 KB."""
    size = 128 * 1024
    raw = struct.pack("<I", len(PAGE) << 3)[:3] + PAGE
    run = struct.pack("<I", (size << 3) | (1 << 1))[:3] + b"x"
    last = struct.pack("<I", (1 << 3) | 1)[:3] + b"x"
    return b"\x28\xb5\x2f\xfd\x00\x50" + raw + run * (megabytes * 8) + last


def wide_zstd() -> bytes:
    """A page that wants a window of 128 MB."""
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return bytes(packer.compress(PAGE) + packer.flush())


def greedy_robots() -> bytes:
    """Many robots in one group with many rules: a parser may keep their product."""
    agents = b"".join(b"User-agent: %x\n" % number for number in range(15_000))
    rules = b"".join(b"Disallow: /%x\n" % number for number in range(15_000))
    return agents + rules


def text(body: Callable[[], bytes], headers: bytes = b"") -> Behaviour:
    """A robots.txt, made when it is needed."""

    async def behave(path: str, writer: asyncio.StreamWriter) -> None:
        content = body()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + headers
        writer.write(head + b"Content-Length: %d\r\n\r\n" % len(content) + content)

    return behave


def status(code: int, headers: bytes = b"") -> Behaviour:
    return says(b"HTTP/1.1 %d Oh\r\n%sContent-Length: 0\r\n\r\n" % (code, headers))


_CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
_ENDLESS = HEAD + b"\r\n" + PAGE
_GIGABYTE = HEAD + b"Content-Length: 1000000000\r\n\r\n"
_PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8
_BLOCK = b"x" * 65_536

_SLOW = [
    Case("hang-silent", hangs(), "timeout", "no answer", slow=True),
    Case("hang-in-headers", hangs(HEAD), "timeout", "no answer", slow=True),
    Case("hang-in-body", hangs(_GIGABYTE + PAGE), "timeout", "body", slow=True),
    Case("drip-status", drips(b"HTTP/1.1 200 O", b"O"), "timeout", "no answer", slow=True),
    Case("drip-headers", drips(HEAD + b"X: ", b"x"), "timeout", "no answer", slow=True),
    Case("drip-body", drips(_GIGABYTE + PAGE), "timeout", "total", slow=True),
    Case("drip-chunks", drips(_CHUNKED, b"1\r\nx\r\n"), "timeout", "total", slow=True),
    Case(
        "continue-forever", pours(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50), "timeout", slow=True
    ),
]
_BROKEN = [
    Case("close-at-once", says(close=True), "unreachable"),
    Case("reset-at-once", resets(), "unreachable"),
    Case("reset-in-headers", resets(HEAD), "unreachable"),
    Case("reset-in-body", resets(_GIGABYTE + PAGE), "server-error", "broke off"),
    Case(
        "length-too-long",
        says(HEAD + b"Content-Length: 999\r\n\r\n" + PAGE, close=True),
        "server-error",
        "broke off",
    ),
    Case("length-too-short", says(HEAD + b"Content-Length: 9\r\n\r\n" + PAGE), "server-error"),
    Case("length-negative", says(HEAD + b"Content-Length: -9\r\n\r\n" + PAGE), "server-error"),
    Case("length-no-number", says(HEAD + b"Content-Length: x\r\n\r\n" + PAGE), "server-error"),
    Case(
        "length-huge",
        says(HEAD + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n" + PAGE),
        "server-error",
    ),
    Case(
        "length-twice",
        says(HEAD + b"Content-Length: 9\r\nContent-Length: 10\r\n\r\n" + PAGE),
        "server-error",
    ),
    Case("chunk-no-number", says(_CHUNKED + b"zz\r\nxx\r\n"), "server-error"),
    Case("chunk-too-long", says(_CHUNKED + b"ff\r\nxx\r\n0\r\n\r\n", close=True), "server-error"),
    Case("chunk-huge", says(_CHUNKED + b"f" * 40 + b"\r\nxx"), "server-error"),
    Case("chunk-never-last", says(_CHUNKED + b"2\r\nxx\r\n", close=True), "server-error"),
    Case("no-http", says(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "server-error", "not valid HTTP"),
    Case("header-with-nul", says(HEAD + b"X: a\0b\r\n\r\n"), "server-error", "not valid HTTP"),
    Case("switch-protocol", says(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"), "server-error"),
    Case("status-999", status(999), "server-error", "HTTP 999"),
    Case("no-tls", page(), "timeout", scheme="https", slow=True),
]
_ENDLESS_THINGS = [
    Case("endless-status", pours(b"HTTP/1.1 200 ", _BLOCK), "server-error", "not valid HTTP"),
    Case("endless-header", pours(HEAD + b"X: ", _BLOCK), "server-error", "not valid HTTP"),
    Case("endless-headers", pours(HEAD, b"X: y\r\n" * 1000), "server-error", "not valid HTTP"),
    Case("endless-chunk-extension", pours(_CHUNKED + b"1;", _BLOCK), "timeout", slow=True),
    Case(
        "endless-trailers",
        pours(_CHUNKED + b"2d\r\n" + PAGE + b"\r\n0\r\n", b"X: y\r\n" * 1000),
        "server-error",
    ),
    Case("endless-redirects", redirects(lambda path: f"{path}x"), "too-many-redirects", "10"),
    Case("redirect-circle", redirects(lambda path: "/"), "too-many-redirects", "circle"),
    Case(
        "redirect-growing",
        redirects(lambda path: f"/{len(path)}" + "x" * 20_000 + path[:9000]),
        "too-many-redirects",
    ),
    Case(
        "redirect-body-endless",
        redirects_once(pours(b"", _BLOCK), b"HTTP/1.1 302 Found\r\nLocation: /there\r\n\r\n"),
        "fetched",
    ),
    Case(
        "redirect-body-hangs",
        redirects_once(
            hangs(), b"HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 9\r\n\r\n"
        ),
        "fetched",
        slow=True,
    ),
    Case("error-body-endless", pours(b"HTTP/1.1 404 No\r\n\r\n", _BLOCK), "not-found"),
    Case("body-gigabyte", pours(_GIGABYTE + PAGE, _BLOCK), "too-large", "larger than"),
    Case("body-endless", pours(_ENDLESS, _BLOCK), "too-large", "larger than"),
    Case(
        "body-endless-chunks",
        pours(_CHUNKED + b"2d\r\n" + PAGE + b"\r\n", b"10000\r\n" + _BLOCK + b"\r\n"),
        "too-large",
        "larger than",
    ),
    Case("body-gigabyte-of-zeros", pours(_GIGABYTE, bytes(65_536)), "not-html", "binary"),
]
_CODINGS = [
    Case("bomb-gzip", packed(b"gzip", gzip_bomb), "too-large", "larger than"),
    Case("bomb-deflate", packed(b"deflate", deflate_bomb), "too-large", "larger than"),
    Case("bomb-brotli", packed(b"br", brotli_bomb), "too-large", "larger than"),
    Case("bomb-zstd", packed(b"zstd", zstd_bomb), "too-large", "larger than"),
    Case("bomb-zstd-window", packed(b"zstd", wide_zstd), "server-error", "too much memory"),
    Case(
        "bomb-gzip-members",
        packed(b"gzip", lambda: gzip.compress(PAGE) + gzip.compress(b"") * 30_000),
        "server-error",
        "members",
    ),
    Case(
        "bomb-nested",
        packed(b"gzip, gzip", lambda: gzip.compress(gzip_bomb())),
        "server-error",
        "not known",
    ),
    Case("coding-unknown", page(PAGE, b"Content-Encoding: klingon\r\n"), "server-error", "klingon"),
    Case("coding-gzip-lie", page(PAGE, b"Content-Encoding: gzip\r\n"), "server-error", "encoded"),
    Case("coding-brotli-lie", page(PAGE, b"Content-Encoding: br\r\n"), "server-error", "encoded"),
    Case("coding-zstd-lie", page(PAGE, b"Content-Encoding: zstd\r\n"), "server-error", "encoded"),
    Case(
        "coding-deflate-lie",
        page(PAGE, b"Content-Encoding: deflate\r\n"),
        "server-error",
        "encoded",
    ),
    Case("coding-cut", packed(b"gzip", lambda: gzip.compress(PAGE)[:-9]), "server-error", "breaks"),
    Case(
        "charset-unknown",
        says(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\xff\xfe"
            b"\r\nContent-Length: 4\r\n\r\n<p>\xe4"
        ),
        "fetched",
    ),
    Case("type-lie-png", page(_PNG), "not-html", "PNG"),
    Case("type-not-html", says(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n"), "not-html"),
]
_ROBOTS = [
    Case(
        "robots-endless",
        page(),
        "fetched",
        robots=pours(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n", b"Disallow: /no\n" * 100),
    ),
    Case("robots-greedy", page(), "fetched", robots=text(greedy_robots)),
    Case(
        "robots-bomb",
        page(),
        "fetched",
        robots=text(gzip_bomb, b"Content-Encoding: gzip\r\n"),
    ),
    Case("robots-binary", page(), "fetched", robots=text(lambda: bytes(range(256)) * 100)),
    Case("robots-hang", page(), "timeout", "robots.txt", robots=hangs(), slow=True),
    Case(
        "robots-drip",
        page(),
        "robots",
        "could not be read",
        robots=drips(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n", b"#"),
        slow=True,
    ),
    Case("robots-reset", page(), "unreachable", "robots.txt", robots=resets()),
    Case("robots-500", page(), "robots", "HTTP 500", robots=status(500)),
    Case("robots-503", page(), "robots", "HTTP 503", robots=status(503)),
    Case("robots-429", page(), "robots", "HTTP 429", robots=status(429)),
    Case(
        "robots-coding-lie",
        page(),
        "robots",
        "could not be read",
        robots=page(PAGE, b"Content-Encoding: gzip\r\n"),
    ),
    Case("robots-circle", page(), "fetched", robots=redirects(lambda path: path)),
    Case(
        "robots-inside",
        page(),
        "address-refused",
        "10.0.0.1",
        robots=redirects(lambda path: "http://10.0.0.1/robots.txt"),
    ),
]
_BUSY = [
    Case("busy-forever", status(503, b"Retry-After: 99999999999999\r\n"), "busy", "503"),
    Case("busy-nonsense", status(429, b"Retry-After: soon, my friend\r\n"), "busy", "429"),
]

# Every way to write an address that is not public. PORT is where this very server listens, so that
# one that gets through is seen.
INSIDE = [
    # loopback, as written by hand and by people who wish to hide it
    "http://127.0.0.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.0x0.0x0.0x1:PORT/",
    "http://0X7F.1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://0177.1:PORT/",
    "http://017700000001:PORT/",
    "http://00000177.0.0.0x1:PORT/",
    "http://127.255.255.254:PORT/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://\uff11\uff12\uff17.0.0.1:PORT/",
    "http://127\u30020\u30020\u30021:PORT/",
    "http://\u2460\u2461\u2466.0.0.1:PORT/",
    "http://example.org@127.0.0.1:PORT/",
    "http://example.org:80@127.1:PORT/",
    "//127.0.0.1:PORT/",
    "http:\\\\127.0.0.1:PORT/",
    "hTTp:///127.0.0.1:PORT/",
    "http://localhost:PORT/",
    "http://LOCALHOST.:PORT/",
    "http://inside.evil.test/",
    # IPv6, and IPv4 inside of it
    "http://[::1]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[::]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[0000:0000:0000:0000:0000:FFFF:7F00:0001]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::1]/",
    "http://[64:ff9b:1:7f00:0:100::]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
    "http://[2606:4700::5efe:10.0.0.1]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[ff02::1]/",
    "http://[100::1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[2001:2::1]/",
    "http://[5f00::1]/",
    # the other networks of IPv4
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://0/",
    "http://0.0.0.0:PORT/",
    "http://0x0:PORT/",
    "http://10.0.0.1/",
    "http://10.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://3232235777/",
    "http://100.64.0.1/",
    "http://198.18.0.1/",
    "http://192.0.2.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://192.88.99.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "https://127.0.0.1:PORT/",
]


def redirect_inside(port: Callable[[], int]) -> Behaviour:
    """``/7`` leads to the seventh way of writing an inside address."""

    async def behave(path: str, writer: asyncio.StreamWriter) -> None:
        target = INSIDE[int(path[1:])].replace("PORT", str(port()))
        writer.write(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n")
        writer.write(b"Location: " + target.encode() + b"\r\n\r\n")

    return behave


CASES = [*_SLOW, *_BROKEN, *_ENDLESS_THINGS, *_CODINGS, *_ROBOTS, *_BUSY]
