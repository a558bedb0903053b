"""Requests and answers as bytes, the way they were on the wire."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trailhound.records import Exchange

# A line break within a header would begin another header, or the body.
_LINE_BREAK = re.compile(r"[\r\n\0]+")


def request_message(exchange: Exchange) -> bytes:
    """The request: its line and headers. Crawlers only ever GET."""
    rest = exchange.url.partition("://")[2]
    _, slash, tail = rest.partition("/")
    return _head(f"GET {slash or '/'}{tail} HTTP/{exchange.http_version}", exchange.request_headers)


def response_message(exchange: Exchange) -> bytes:
    """The answer: status line, headers and body."""
    status_line = f"HTTP/{exchange.http_version} {exchange.status:03d} {exchange.reason}"
    return _head(status_line, exchange.headers) + exchange.body


def header_value(headers: Iterable[tuple[str, str]], name: str) -> str:
    """The first value of a header (``name`` in lower case); empty without one."""
    return next((value for key, value in headers if key.lower() == name), "")


def _head(first_line: str, headers: Iterable[tuple[str, str]]) -> bytes:
    lines = [first_line, *(f"{name}: {value}" for name, value in headers)]
    safe = [_LINE_BREAK.sub(" ", line) for line in lines]
    # Headers are Latin-1 by contract; a URL that is not canonical may hold more.
    return ("\r\n".join(safe) + "\r\n\r\n").encode("latin-1", "replace")
