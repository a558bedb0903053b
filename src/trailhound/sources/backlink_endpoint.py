"""Backlinks from an HTTP endpoint: a URL with ``{url}`` in it that answers with JSON.

The answer is a list of URLs, or an object whose ``backlinks`` is one. Whatever else comes is
dropped, and an endpoint that fails again and again is left alone for longer and longer.
"""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Timer
from urllib.parse import quote, urlsplit

from trailhound.errors import SourceError, UsageError
from trailhound.sources.circuit_breaker import CircuitBreaker
from trailhound.urls import canonicalize

TIMEOUT_SECONDS = 5.0
MAX_ANSWER_BYTES = 1_000_000
MAX_ANSWERS = 1000
MAX_URL_CHARS = 8_000
"""As in pages: longer links are not followed there either."""

PLACE = "{url}"


class HttpBacklinks:
    """Asks one endpoint. It was named by the user, so it may be anywhere, this machine included."""

    def __init__(
        self,
        template: str,
        *,
        user_agent: str = "trailhound",
        timeout_seconds: float = TIMEOUT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        try:
            address = urlsplit(template)
        except ValueError as error:  # a bracket without its other half
            raise UsageError(f"'{template}' is no address of an HTTP endpoint: {error}.") from error
        if address.scheme not in ("http", "https") or not address.hostname:
            raise UsageError(f"'{template}' is no address of an HTTP endpoint.")
        if PLACE not in f"{address.path}?{address.query}":
            raise UsageError(
                f"The endpoint '{template}' does not say where the page's URL goes. Put {PLACE} "
                "into it: http://localhost:8080/backlinks?of={url}"
            )
        self._template = template
        self._user_agent = user_agent
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self._breaker = CircuitBreaker(f"The backlink endpoint {template}", clock=clock)
        self.junk = 0
        """Answers that were no web addresses."""

    def linking_to(self, url: str) -> Sequence[str]:
        """Canonical URLs in the order of the answer, each once; SourceError when there is none."""
        self._breaker.check()
        try:
            found = _listed(self._ask(self._template.replace(PLACE, quote(url, safe=""))))
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            reason = str(error) or type(error).__name__
            self._breaker.failed(reason)
            raise SourceError(
                f"The backlink endpoint {self._template} cannot be used: {reason}. Check that it "
                "runs and answers with a JSON list of URLs."
            ) from error
        self._breaker.succeeded()
        urls = [_address(each) for each in found]
        self.junk += urls.count(None)
        return list(dict.fromkeys(each for each in urls if each is not None and each != url))

    def _ask(self, address: str) -> bytes:
        parts = urlsplit(address)
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        connection = kind(parts.hostname or "", parts.port, timeout=self._timeout_seconds)
        deadline = self._clock() + self._timeout_seconds
        # The time-out is for each wait: headers that come byte by byte never reach it.
        alarm = Timer(self._timeout_seconds, lambda: None)
        try:
            connection.connect()
            alarm = Timer(self._timeout_seconds, _hang_up, [connection.sock])
            alarm.daemon = True
            alarm.start()
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            headers = {"User-Agent": self._user_agent, "Accept": "application/json"}
            connection.request("GET", path, headers=headers)
            answer = self._response(connection, deadline)
            if answer.status != 200:
                raise ValueError(f"it answered {answer.status} {answer.reason}".strip())
            return self._body(answer, deadline)
        finally:
            alarm.cancel()
            connection.close()

    def _response(
        self, connection: http.client.HTTPConnection, deadline: float
    ) -> http.client.HTTPResponse:
        try:
            answer = connection.getresponse()
        except (OSError, http.client.HTTPException):
            self._check_time(deadline)  # hung up on by the alarm: that is the reason
            raise
        self._check_time(deadline)
        return answer

    def _body(self, answer: http.client.HTTPResponse, deadline: float) -> bytes:
        """Piece by piece: a drip that never ends must not hold the crawl."""
        body = b""
        while piece := answer.read1(65536):
            body += piece
            if len(body) > MAX_ANSWER_BYTES:
                raise ValueError(f"its answer is larger than {MAX_ANSWER_BYTES:,} bytes")
            self._check_time(deadline)
        self._check_time(deadline)  # it may have been cut off
        return body

    def _check_time(self, deadline: float) -> None:
        if self._clock() > deadline:
            raise ValueError(f"its answer takes longer than {self._timeout_seconds:g} s")


def _hang_up(connected: socket.socket) -> None:
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


def _address(answer: object) -> str | None:
    if not isinstance(answer, str) or len(answer) > MAX_URL_CHARS:
        return None
    return canonicalize(answer)


def _listed(body: bytes) -> list[object]:
    try:
        answer = json.loads(body)
    except ValueError as error:
        begins = body[:40].decode("utf-8", "replace")
        raise ValueError(f"its answer is no JSON; it begins with {begins!r}") from error
    if isinstance(answer, dict):
        answer = answer.get("backlinks")
    if not isinstance(answer, list):
        raise ValueError('its answer is neither a list nor {"backlinks": [...]}')
    return answer[:MAX_ANSWERS]
