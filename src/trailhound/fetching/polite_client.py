"""GETs that wait their turn: every request of a crawl, pages and robots.txt files alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from trailhound.fetching.client import Answer, HttpClient
from trailhound.fetching.politeness import NotYetError, Politeness
from trailhound.fetching.retry_after import retry_after_seconds
from trailhound.records import Outcome
from trailhound.urls import host_key

BUSY_STATUSES = frozenset([429, 503])
_NO_CONTACT = frozenset([Outcome.TIMEOUT, Outcome.UNREACHABLE])


class PoliteClient:
    """An :class:`HttpClient` under the rules of :class:`Politeness`."""

    def __init__(
        self,
        client: HttpClient,
        politeness: Politeness,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._politeness = politeness
        self._wall_clock = wall_clock

    async def get(
        self,
        url: str,
        *,
        max_bytes: int,
        html_only: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Ask once for ``url`` when its host and address are free.

        ``POSTPONED``, with nothing asked, when that is too far off.
        """
        host = host_key(url)
        address = await self._client.locate(url)
        if isinstance(address, Answer):
            temporary = address.retry_after_seconds is not None
            return self._take_note(host, address) if temporary else address
        try:
            turn = await self._politeness.begin(host, address)
        except NotYetError as error:
            return Answer(
                failure=Outcome.POSTPONED, detail=str(error), retry_after_seconds=error.seconds
            )
        try:
            answer = await self._client.get(
                url, max_bytes=max_bytes, html_only=html_only, headers=headers
            )
            return self._take_note(host, answer)
        finally:
            self._politeness.end(host, turn)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    def _take_note(self, host: str, answer: Answer) -> Answer:
        """Back off from a host in trouble, and say for how long."""
        if answer.status in BUSY_STATUSES:
            header = _header(answer, "retry-after")
            asked = retry_after_seconds(header, self._wall_clock()) if header else None
            return replace(answer, retry_after_seconds=self._politeness.failed(host, asked))
        if answer.failure in _NO_CONTACT:
            return replace(answer, retry_after_seconds=self._politeness.failed(host))
        if answer.status is not None and answer.status < 500:
            self._politeness.succeeded(host)
        return answer


def _header(answer: Answer, name: str) -> str:
    headers = answer.exchange.headers if answer.exchange is not None else ()
    return next((value for key, value in headers if key.lower() == name), "")
