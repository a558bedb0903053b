"""Proper HTTP with improper statuses."""

from __future__ import annotations

from benchmarks.chaos.behaviours import HEAD, PAGE, Behaviour, in_turn, page, says, status
from benchmarks.chaos.kind import Kind


def _busy(wish: bytes, code: int = 429) -> Behaviour:
    return status(code, b"Retry-After: " + wish + b"\r\n")


def _odd(name: str, code: int, headers: bytes = b"", body: bytes = PAGE) -> Kind:
    return Kind(name, status(code, b"Content-Type: text/html\r\n" + headers, body))


BUSY = [
    Kind("busy-forever", _busy(b"99999999999999", 503), "busy", "503"),
    Kind("busy-nonsense", _busy(b"soon, my friend"), "busy", "429"),
    Kind("busy-until-date", _busy(b"Fri, 31 Dec 9999 23:59:59 GMT")),
    Kind("busy-until-past", _busy(b"Thu, 01 Jan 1970 00:00:00 GMT")),
    Kind("busy-negative", _busy(b"-5")),
    Kind("busy-of-400-digits", _busy(b"9" * 400)),
    Kind("busy-now-and-then", in_turn(_busy(b"1", 503), page())),
    Kind("fails-now-and-then", in_turn(status(500), page(), says(close=True))),
]
STATUSES = [
    Kind("status-999", status(999), "server-error", "HTTP 999"),
    _odd("status-000", 0),
    _odd("status-401", 401, b"WWW-Authenticate: Basic realm=\xff\r\n"),
    _odd("status-407", 407, b"Proxy-Authenticate: Basic\r\n"),
    _odd("status-418", 418),
    _odd("status-451", 451),
    _odd("status-500", 500),
    _odd("status-511", 511),
    _odd("status-206-unasked", 206, b"Content-Range: bytes 5-9/99999999999999\r\n"),
    _odd("status-304-unasked", 304),
    _odd("status-226", 226, b"IM: feed\r\n"),
    Kind("status-204-with-body", says(b"HTTP/1.1 204 No\r\n" + HEAD[17:] + b"\r\n" + PAGE)),
    Kind("status-205-with-body", status(205, b"", PAGE)),
]
ANSWERS = [*BUSY, *STATUSES]
