"""An HTTP address that answers questions with JSON; one that keeps failing is left alone."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import msgspec
from aiohttp.abc import AbstractResolver

from trailhound.errors import UNREADABLE, SourceError
from trailhound.fetching.client import Answer, HttpClient
from trailhound.records import Outcome
from trailhound.urls import canonicalize, host_key, without_port

FAILURES = 3
"""In a row, before a source is left alone."""
REST_SECONDS = 60.0
"""How long it is left alone at first. Then one question is let through; when that fails, twice."""
LONGEST_REST_SECONDS = 3600.0

T = TypeVar("T")
_HEADERS = {"Accept": "application/json"}
_log = logging.getLogger(__name__)


class JsonEndpoint:
    """Asks one host, which the person who runs the crawl has named.

    It may therefore be on this machine or an inside network; what it answers is not trusted. A
    redirect is not followed. Each question has a connection of its own: they are few, and nothing
    is left open between two event loops.
    """

    def __init__(
        self,
        name: str,
        host: str,
        user_agent: str,
        *,
        timeout_seconds: float,
        max_bytes: int,
        resolver: AbstractResolver | None = None,
        clock: Callable[[], float] = time.monotonic,
        before_asking: Callable[[], None] = lambda: None,
    ) -> None:
        self._before_asking = before_asking
        self.queries = 0
        """Questions put to it so far, those in vain included."""
        self._timeout_seconds = timeout_seconds
        self._max_bytes = max_bytes
        self._breaker = CircuitBreaker(name, clock=clock)
        self._make_client = partial(
            HttpClient,
            user_agent,
            timeout_seconds=timeout_seconds,
            connect_timeout_seconds=timeout_seconds,
            read_timeout_seconds=timeout_seconds,
            allow_addresses=[without_port(host)],
            resolver=resolver,
        )
        self._make_client()  # a user agent that cannot be sent is refused now

    async def ask(self, url: str, read: Callable[[Any], T], complaint: Callable[[str], str]) -> T:
        """What ``read`` makes of the JSON behind ``url``.

        SourceError when there is none, or ``read`` raises one: ``complaint`` turns the reason into
        a message. While the endpoint is left alone it is not asked at all.
        """
        self._breaker.check()
        self._before_asking()
        self.queries += 1
        try:
            found = read(_decoded(self._body(await self._get(url))))
        except SourceError as error:
            self._breaker.failed(str(error))
            raise SourceError(complaint(str(error))) from error
        self._breaker.succeeded()
        return found

    async def _get(self, url: str) -> Answer:
        client = self._make_client()
        try:
            # Canonical where that is possible, as the client wants it.
            return await client.get(
                canonicalize(url) or url, max_bytes=self._max_bytes, headers=_HEADERS
            )
        finally:
            await client.close()

    def _body(self, answer: Answer) -> bytes:
        if answer.failure is Outcome.TOO_LARGE:
            raise SourceError(f"the answer is larger than {self._max_bytes:,} bytes")
        if answer.failure is Outcome.TIMEOUT:
            raise SourceError(f"timeout: its answer takes longer than {self._timeout_seconds:g} s")
        if answer.failure is not None:
            raise SourceError(": ".join(filter(None, (answer.failure.value, answer.detail))))
        if answer.status is not None and 300 <= answer.status < 400:
            raise SourceError(
                f"it answers with status {answer.status} and redirects to "
                f"{answer.location[:200]!r}; name that address itself"
            )
        if not answer.succeeded:
            raise SourceError(f"it answers with status {answer.status}")
        return answer.body


def host_of(url: str) -> str | None:
    """Host and port of an address on the web; ``None`` when it is none."""
    canonical = canonicalize(url)
    return None if canonical is None else host_key(canonical)


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except UNREADABLE as error:
        begins = body[:40].decode("utf-8", "replace").strip()
        raise SourceError(f"the answer is no JSON; it begins with {begins!r}") from error


class CircuitBreaker:
    """Counts failures in a row. ``clock`` gives seconds that never run backwards."""

    def __init__(
        self,
        name: str,
        *,
        failures: int = FAILURES,
        rest_seconds: float = REST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._limit = failures
        self._rest_seconds = rest_seconds
        self._clock = clock
        self._failures = 0
        self._open_until = 0.0
        self._last = ""
        self._has_told = False

    @property
    def is_open(self) -> bool:
        """Whether the source is left alone now."""
        return self._failures >= self._limit and self._clock() < self._open_until

    def check(self) -> None:
        """SourceError while the source is left alone."""
        if self.is_open:
            raise SourceError(
                f"{self._name} cannot be used: it failed {self._failures} times in a row and is "
                f"left alone for {self._rest():g} s. The last failure: {self._last}"
            )

    def failed(self, reason: str) -> None:
        """Count a failure; the log hears of the first rest."""
        self._failures += 1
        self._last = reason
        if self._failures < self._limit:
            return
        self._open_until = self._clock() + self._rest()
        if not self._has_told:
            _log.warning(
                "%s failed %d times in a row and is left alone for %g s, and twice as long each "
                "time that it fails again. The last failure: %s",
                *(self._name, self._failures, self._rest(), reason),
            )
        self._has_told = True

    def succeeded(self) -> None:
        """All is well again."""
        self._failures = 0

    def _rest(self) -> float:
        doublings = min(self._failures - self._limit, 30)
        return min(self._rest_seconds * 2.0**doublings, LONGEST_REST_SECONDS)
