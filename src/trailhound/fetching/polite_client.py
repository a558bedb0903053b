"""An HTTP client that waits its turn: each request is made when its host and address are free."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from functools import partial

from trailhound.fetching.base import NO_REQUEST_LEFT
from trailhound.fetching.client import NO_CONTACT, Answer, HttpClient
from trailhound.fetching.headers import retry_after_seconds
from trailhound.fetching.politeness import NotYetError, Politeness
from trailhound.records import Outcome
from trailhound.urls import host_key

BUSY_STATUSES = frozenset([429, 503])
Room = Callable[[], AbstractAsyncContextManager[int]]
"""Waits until one more part of a page may come, and tells how many bytes of it."""


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
        may_repeat: Callable[[], bool] = lambda: True,
    ) -> Answer:
        """Ask once for ``url`` when its host and address are free.

        ``POSTPONED``, with nothing asked, when that is too far off. Over a connection that the
        server had given up it is asked again, in its turn: nobody knows if it was heard. That is a
        request more, for which ``may_repeat`` is asked; without it the URL is to be asked later.
        """
        ask = partial(self._get, url, max_bytes, html_only, headers)
        answer = await ask()
        if not answer.was_kept_too_long:
            return answer
        if not may_repeat():
            return replace(answer, retry_after_seconds=0.0)
        return replace(await ask(), was_repeated=True)

    async def _get(
        self, url: str, max_bytes: int, html_only: bool, headers: Mapping[str, str] | None
    ) -> Answer:
        host = host_key(url)
        address = await self._client.locate(url)
        if isinstance(address, Answer):
            return self._not_located(host, address)
        try:
            turn = await self._politeness.begin(host, address)
        except NotYetError as error:
            return _not_yet(error)
        try:
            answer = await self._client.get(
                url, max_bytes=max_bytes, html_only=html_only, headers=headers
            )
            return self._take_note(host, answer)
        finally:
            self._politeness.end(host, turn)

    async def get_part(
        self,
        url: str,
        *,
        max_bytes: int,
        headers: Mapping[str, str] | None = None,
        room: Room | None = None,
    ) -> Answer:
        """Ask once for a part of a page, as soon as its host has room for one, and then the page.

        In this order: what queues for its host takes no ``room`` from parts of other hosts.
        ``POSTPONED``, with nothing asked, when the host wants to be left alone, or for no bytes.
        """
        host = host_key(url)
        address = await self._client.locate(url)
        if isinstance(address, Answer):
            return self._not_located(host, address)
        try:
            await self._politeness.begin_part(host)
        except NotYetError as error:
            return _not_yet(error)
        try:
            async with nullcontext(max_bytes) if room is None else room() as most:
                if most <= 0:
                    return Answer(failure=Outcome.POSTPONED, detail=NO_REQUEST_LEFT)
                most = min(most, max_bytes)
                answer = await self._client.get(url, max_bytes=most, headers=headers)
            return self._take_note(host, answer)
        finally:
            self._politeness.end_part(host)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    def _not_located(self, host: str, answer: Answer) -> Answer:
        """Without an address nothing was asked, but DNS was: the host's next URL waits."""
        if answer.failure is Outcome.UNKNOWN_HOST:
            self._politeness.failed(host)
        temporary = answer.retry_after_seconds is not None
        return self._take_note(host, answer) if temporary else answer

    def _take_note(self, host: str, answer: Answer) -> Answer:
        """Back off from a host in trouble, and say for how long."""
        if answer.status in BUSY_STATUSES:
            header = answer.header("retry-after")
            asked = retry_after_seconds(header, self._wall_clock()) if header else None
            return replace(answer, retry_after_seconds=self._politeness.failed(host, asked))
        if answer.failure in NO_CONTACT and not answer.was_kept_too_long:
            return replace(answer, retry_after_seconds=self._politeness.failed(host))
        if answer.status is not None and answer.status < 500:
            self._politeness.succeeded(host)
        return answer


def _not_yet(error: NotYetError) -> Answer:
    """Nothing was asked: the host is not free."""
    return Answer(failure=Outcome.POSTPONED, detail=str(error), retry_after_seconds=error.seconds)
