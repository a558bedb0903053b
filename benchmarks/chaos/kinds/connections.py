"""Servers that do not keep to HTTP, or not even to TCP."""

from __future__ import annotations

from benchmarks.chaos.behaviours import (
    BLOCK,
    CHUNKED,
    HEAD,
    PAGE,
    drips,
    half_closes,
    hangs,
    page,
    pours,
    resets,
    says,
)
from benchmarks.chaos.kind import Kind

ENDLESS = HEAD + b"\r\n" + PAGE
GIGABYTE = HEAD + b"Content-Length: 1000000000\r\n\r\n"
_CHUNK = b"%x\r\n%s\r\n" % (len(PAGE), PAGE)
_SIZED = b"Content-Length: %d\r\n\r\n%s" % (len(PAGE), PAGE)
_WHOLE = HEAD + _SIZED

SLOW = [
    Kind("hang-silent", hangs(), "timeout", "no answer", slow=True),
    Kind("hang-in-headers", hangs(HEAD), "timeout", "no answer", slow=True),
    Kind("hang-in-body", hangs(GIGABYTE + PAGE), "timeout", "body", slow=True),
    Kind("drip-status", drips(b"HTTP/1.1 200 O", b"O"), "timeout", "no answer", slow=True),
    Kind("drip-headers", drips(HEAD + b"X: ", b"x"), "timeout", "no answer", slow=True),
    Kind("drip-body", drips(GIGABYTE + PAGE), "timeout", "total", slow=True),
    Kind("drip-chunks", drips(CHUNKED, b"1\r\nx\r\n"), "timeout", "total", slow=True),
    Kind(
        "continue-forever", pours(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50), "timeout", slow=True
    ),
    Kind("no-tls", page(), "timeout", scheme="https", slow=True),
]
BROKEN = [
    Kind("close-at-once", says(close=True), "unreachable"),
    Kind("reset-at-once", resets(), "unreachable"),
    Kind("reset-in-headers", resets(HEAD), "unreachable"),
    Kind("reset-in-body", resets(GIGABYTE + PAGE), "server-error", "broke off"),
    Kind("half-close", half_closes(_WHOLE), slow=True),
    Kind("half-close-in-body", half_closes(GIGABYTE + PAGE), slow=True),
    Kind("door-closed", page(), door="closed"),
    Kind("door-slammed", page(), door="slam"),
    Kind("door-deaf", page(), door="deaf", slow=True),
    Kind("closes-while-idle", says(HEAD + b"Connection: keep-alive\r\n" + _SIZED, close=True)),
    Kind(
        "length-too-long",
        says(HEAD + b"Content-Length: 999\r\n\r\n" + PAGE, close=True),
        "server-error",
        "broke off",
    ),
    Kind("length-too-short", says(HEAD + b"Content-Length: 9\r\n\r\n" + PAGE), "server-error"),
    Kind("length-negative", says(HEAD + b"Content-Length: -9\r\n\r\n" + PAGE), "server-error"),
    Kind("length-no-number", says(HEAD + b"Content-Length: x\r\n\r\n" + PAGE), "server-error"),
    Kind("length-signed", says(HEAD + b"Content-Length: +%d\r\n\r\n" % len(PAGE) + PAGE)),
    Kind("length-of-zero", says(HEAD + b"Content-Length: 0\r\n\r\n" + PAGE)),
    Kind(
        "length-huge",
        says(HEAD + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n" + PAGE),
        "server-error",
    ),
    Kind(
        "length-twice",
        says(HEAD + b"Content-Length: 9\r\nContent-Length: 10\r\n\r\n" + PAGE),
        "server-error",
    ),
    Kind("length-and-chunks", says(HEAD + b"Transfer-Encoding: chunked\r\n" + _SIZED)),
    Kind("chunk-no-number", says(CHUNKED + b"zz\r\nxx\r\n"), "server-error"),
    Kind("chunk-too-long", says(CHUNKED + b"ff\r\nxx\r\n0\r\n\r\n", close=True), "server-error"),
    Kind("chunk-huge", says(CHUNKED + b"f" * 40 + b"\r\nxx"), "server-error"),
    Kind("chunk-negative", says(CHUNKED + b"-5\r\nxx\r\n0\r\n\r\n")),
    Kind("chunk-never-last", says(CHUNKED + b"2\r\nxx\r\n", close=True), "server-error"),
    Kind("chunk-extensions", says(CHUNKED + b'2;a="\\"";b\r\nxx\r\n0\r\n\r\n')),
    Kind("chunks-of-one-byte", says(CHUNKED + b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n")),
    Kind("chunks-twice", says(HEAD + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + _CHUNK)),
    Kind("transfer-unknown", says(HEAD + b"Transfer-Encoding: klingon\r\n\r\n" + PAGE, close=True)),
    Kind("trailer-huge", says(CHUNKED + _CHUNK + b"0\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\n")),
    Kind("answers-twice", says(_WHOLE + _WHOLE)),
    Kind("answers-before-asked", says(_WHOLE + HEAD)),
    Kind("no-http", says(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "server-error", "not valid HTTP"),
    Kind("http-0-9", says(PAGE, close=True)),
    Kind("http-9-9", says(b"HTTP/9.9 200 OK\r\n" + _SIZED)),
    Kind("http-2-preface", says(b"\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64", close=True)),
    Kind("tls-on-http", says(b"\x15\x03\x01\0\x02\x02\x46" * 20, close=True)),
    Kind("status-no-number", says(b"HTTP/1.1 abc OK\r\n" + _SIZED)),
    Kind("status-of-four-digits", says(b"HTTP/1.1 2000 OK\r\n" + _SIZED)),
    Kind("status-alone", says(b"HTTP/1.1 200\r\n" + _SIZED)),
    Kind("status-in-lower-case", says(b"http/1.1 200 ok\r\n" + _SIZED)),
    Kind("lines-end-in-lf", says(_WHOLE.replace(b"\r\n", b"\n"))),
    Kind("empty-lines-first", says(b"\r\n" * 1_000 + _WHOLE)),
    Kind("switch-protocol", says(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"), "server-error"),
    Kind("continue-5000", says(b"HTTP/1.1 100 Continue\r\n\r\n" * 5_000 + _WHOLE)),
    Kind("early-hints-flood", says(b"HTTP/1.1 103 Hints\r\nLink: </x>\r\n\r\n" * 500 + _WHOLE)),
]
HEADERS = [
    Kind("header-with-nul", says(HEAD + b"X: a\0b\r\n\r\n"), "server-error", "not valid HTTP"),
    Kind("header-with-cr", says(HEAD + b"X: a\rSet-Cookie: b\r\n" + _SIZED)),
    Kind("header-not-ascii", says(HEAD + b"X-\xff: \xe4\xf6\xfc\xed\xa0\x80\r\n" + _SIZED)),
    Kind("header-folded", says(HEAD + b"X: a\r\n\tb\r\n  c\r\n" + _SIZED)),
    Kind("header-without-colon", says(HEAD + b"nonsense\r\n" + _SIZED)),
    Kind("header-without-name", says(HEAD + b": nobody\r\n" + _SIZED)),
    Kind("header-blank-in-name", says(HEAD + b"Content-Length : 5\r\n" + _SIZED)),
    Kind("header-of-a-megabyte", says(HEAD + b"X: " + b"y" * 1_000_000 + b"\r\n" + _SIZED)),
    Kind("headers-10000", says(HEAD + b"X: y\r\n" * 10_000 + _SIZED)),
    Kind("header-cookies", says(HEAD + b"Set-Cookie: a=b; Path=/\r\n" * 150 + _SIZED)),
    Kind(
        "header-types-contradict",
        says(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Type: text/html\r\n" + _SIZED),
    ),
    Kind("header-no-type", says(b"HTTP/1.1 200 OK\r\n" + _SIZED)),
    Kind("header-odd-type", says(b"HTTP/1.1 200 OK\r\nContent-Type: ;;=/\r\n" + _SIZED)),
    Kind("header-odd-dates", says(HEAD + b"Last-Modified: yesterday\r\nDate: \xff\r\n" + _SIZED)),
    Kind(
        "header-odd-links", says(HEAD + b"Link: <\r\nRefresh: 0;url=/\r\nETag: \x80\r\n" + _SIZED)
    ),
]
ENDLESS_THINGS = [
    Kind("endless-status", pours(b"HTTP/1.1 200 ", BLOCK), "server-error", "not valid HTTP"),
    Kind("endless-header", pours(HEAD + b"X: ", BLOCK), "server-error", "not valid HTTP"),
    Kind("endless-headers", pours(HEAD, b"X: y\r\n" * 1000), "server-error", "not valid HTTP"),
    Kind("endless-chunk-extension", pours(CHUNKED + b"1;", BLOCK), "timeout", slow=True),
    Kind(
        "endless-trailers",
        pours(CHUNKED + _CHUNK + b"0\r\n", b"X: y\r\n" * 1000),
        "server-error",
    ),
    Kind("error-body-endless", pours(b"HTTP/1.1 404 No\r\n\r\n", BLOCK), "not-found"),
    Kind("body-gigabyte", pours(GIGABYTE + PAGE, BLOCK), "too-large", "larger than"),
    Kind("body-endless", pours(ENDLESS, BLOCK), "too-large", "larger than"),
    Kind(
        "body-endless-chunks",
        pours(CHUNKED + _CHUNK, b"10000\r\n" + BLOCK + b"\r\n"),
        "too-large",
        "larger than",
    ),
    Kind("body-gigabyte-of-zeros", pours(GIGABYTE, bytes(65_536)), "not-html", "binary"),
]
CONNECTIONS = [*SLOW, *BROKEN, *HEADERS, *ENDLESS_THINGS]
