"""A search engine behind an HTTP address: one GET for a query, an answer in JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from urllib.parse import quote

from aiohttp.abc import AbstractResolver

from trailhound.circuit_breaker import CircuitBreaker
from trailhound.errors import SourceError, UsageError
from trailhound.fetching.client import Answer, HttpClient
from trailhound.records import Page
from trailhound.search.answers import hits_in
from trailhound.search.loop_thread import LoopThread
from trailhound.sources import SearchHit
from trailhound.urls import canonicalize, host_key

MAX_ANSWER_BYTES = 2_000_000
MAX_QUERY_CHARS = 400
TIMEOUT_SECONDS = 15.0

_NEAR = ("localhost", "127.", "[::1]")
_HEADERS = {"Accept": "application/json"}


class HttpSearch:
    """Asks ``template``, an address with ``{query}`` in it and, if it likes, ``{limit}``.

    The address was given by the person who runs the crawl, so that it may be on this machine or an
    inside network; what the answer says is not trusted. A redirect is not followed. Between two
    queries to another machine ``pause_seconds`` pass. ``read_page`` gets pages behind results.
    """

    def __init__(
        self,
        template: str,
        user_agent: str,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        max_bytes: int = MAX_ANSWER_BYTES,
        pause_seconds: float = 0.0,
        resolver: AbstractResolver | None = None,
        read_page: Callable[[str], Page | None] = lambda _url: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._template = template
        host = _checked_host(template)
        self._name = f"The search at {host}"
        self._max_bytes = max_bytes
        self._pause_seconds = 0.0 if host.startswith(_NEAR) else pause_seconds
        self._read_page = read_page
        self._clock = clock
        self._asked_at = float("-inf")
        self._breaker = CircuitBreaker(self._name, clock=clock)
        self._client = HttpClient(
            user_agent,
            timeout_seconds=timeout_seconds,
            connect_timeout_seconds=timeout_seconds,
            read_timeout_seconds=timeout_seconds,
            allow_addresses=[_without_port(host)],
            resolver=resolver,
        )
        self._thread = LoopThread(self._client.close)

    def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """What the endpoint answers; SourceError says why it does not."""
        self._breaker.check()
        url = _filled(self._template, query, limit)
        self._wait()
        answer = self._thread.run(
            self._client.get(url, max_bytes=self._max_bytes, headers=_HEADERS)
        )
        self._asked_at = self._clock()
        try:
            hits = hits_in(_body(answer, self._max_bytes), limit)
        except SourceError as error:
            self._breaker.failed(str(error))
            raise SourceError(
                f"{self._name} is of no use for '{query}': {error}. Try the address in a browser: "
                f"{url}"
            ) from error
        self._breaker.succeeded()
        return hits

    def page(self, url: str) -> Page | None:
        """The page behind a result, if it can be had."""
        return self._read_page(url)

    def close(self) -> None:
        """Let the connections go; they go by themselves with this object, too."""
        self._thread.stop()

    def _wait(self) -> None:
        pause = self._asked_at + self._pause_seconds - self._clock()
        if pause > 0:
            time.sleep(pause)


def _body(answer: Answer, max_bytes: int) -> bytes:
    if answer.failure is not None:
        reason = f"{answer.failure.value}: {answer.detail}" if answer.detail else answer.failure
        if answer.failure == "too-large":
            reason = f"the answer is larger than {max_bytes:,} bytes"
        raise SourceError(str(reason))
    if answer.status is not None and 300 <= answer.status < 400:
        raise SourceError(f"it redirects to {answer.location[:200]!r}; name that address itself")
    if not answer.succeeded:
        raise SourceError(f"it answers with status {answer.status}")
    return answer.body


def _checked_host(template: str) -> str:
    sample = canonicalize(_filled(template, "bees", 10)) if "{query}" in template else None
    if sample is None:
        raise UsageError(
            f"'{template}' is no search. Write an address with {{query}} in it, for example "
            "'http://localhost:8888/search?q={query}&format=json'."
        )
    return host_key(sample)


def _filled(template: str, query: str, limit: int) -> str:
    asked = quote(query[:MAX_QUERY_CHARS], safe="", errors="replace")
    url = template.replace("{limit}", str(limit)).replace("{query}", asked)
    return canonicalize(url) or url


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[: host.index("]") + 1]
    return host.partition(":")[0]
