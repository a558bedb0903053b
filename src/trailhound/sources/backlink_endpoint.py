"""Backlinks from an HTTP endpoint: a URL with ``{url}`` in it that answers with JSON.

The answer is a list of URLs, or an object whose ``backlinks`` is one. Whatever else comes is
dropped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from aiohttp.abc import AbstractResolver

from trailhound.errors import SourceError, UsageError
from trailhound.sources.endpoint import JsonEndpoint, host_of
from trailhound.urls import canonicalize

TIMEOUT_SECONDS = 5.0
MAX_ANSWER_BYTES = 1_000_000
MAX_ANSWERS = 1000
MAX_URL_CHARS = 8_000
"""As in pages: longer links are not followed there either."""

PLACE = "{url}"


class HttpBacklinks:
    """Asks one endpoint who links to a page; it has no pages itself."""

    def __init__(
        self,
        template: str,
        user_agent: str,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        resolver: AbstractResolver | None = None,
        clock: Callable[[], float] = time.monotonic,
        before_asking: Callable[[], None] = lambda: None,
    ) -> None:
        self._template = template
        self._endpoint = JsonEndpoint(
            f"The backlink endpoint {template}",
            _checked_host(template),
            user_agent,
            timeout_seconds=timeout_seconds,
            max_bytes=MAX_ANSWER_BYTES,
            resolver=resolver,
            clock=clock,
            before_asking=before_asking,
        )
        self.junk = 0
        """Answers that were no web addresses."""

    @property
    def queries(self) -> int:
        """Questions put to it so far."""
        return self._endpoint.queries

    async def linking_to(self, url: str) -> Sequence[str]:
        """Canonical URLs in the order of the answer, each once; SourceError when there is none."""
        asked = self._template.replace(PLACE, quote(url, safe=""))
        listed = await self._endpoint.ask(asked, _listed, self._complaint)
        urls = [_address(each) for each in listed]
        self.junk += urls.count(None)
        return list(dict.fromkeys(each for each in urls if each is not None and each != url))

    def _complaint(self, reason: str) -> str:
        return (
            f"The backlink endpoint {self._template} cannot be used: {reason}. Check that it runs "
            "and answers with a JSON list of URLs."
        )


def _checked_host(template: str) -> str:
    host = host_of(template.replace(PLACE, "x"))
    if host is None or not (address := urlsplit(template)).hostname:
        raise UsageError(f"'{template}' is no address of an HTTP endpoint.")
    if PLACE not in f"{address.path}?{address.query}":
        raise UsageError(
            f"The endpoint '{template}' does not say where the page's URL goes. Put {PLACE} into "
            "it: http://localhost:8080/backlinks?of={url}"
        )
    return host


def _address(answer: object) -> str | None:
    if not isinstance(answer, str) or len(answer) > MAX_URL_CHARS:
        return None
    return canonicalize(answer)


def _listed(answer: Any) -> list[Any]:
    if isinstance(answer, dict):
        answer = answer.get("backlinks")
    if not isinstance(answer, list):
        raise SourceError('its answer is neither a list nor {"backlinks": [...]}')
    return answer[:MAX_ANSWERS]
