"""A fetcher that answers from a recorded web: no socket, no parsing, and time only seems to pass.

What it returns, and what each answer costs in requests, is what the live web would have charged:
every redirect hop and every error page is a request. Each takes a turn at its host, as on the live
web, so that a crawl under virtual time meets hosts' delays in the same order.
"""

from __future__ import annotations

import asyncio
from typing import Protocol
from zlib import crc32

import msgspec

from trailhound.fetching.base import NO_REQUEST_LEFT, MayGoOn, always
from trailhound.fetching.polite_settings import UNHURRIED
from trailhound.fetching.politeness import NotYetError, Politeness
from trailhound.records import FetchResult, Outcome, Page
from trailhound.urls import host_key

MAX_REDIRECTS = 10


class RecordedResponse(msgspec.Struct, frozen=True):
    """What was recorded for one URL: a page, a redirect, or an answer without a page."""

    url: str
    """The page's own address; differs from what was asked for when that was another spelling."""
    status: int
    """HTTP status; 0 when the server could not be reached."""
    redirect_to: str | None = None
    page: Page | None = None
    content_type: str = ""


class RecordedWeb(Protocol):
    """Anything that remembers what came back for a URL."""

    def lookup(self, url: str) -> RecordedResponse | None:
        """What was recorded for a canonical URL; ``None`` when nothing was."""
        ...


class ReplayFetcher:
    """Serves a :class:`RecordedWeb` to the crawl engine as other fetchers serve the live one.

    ``seconds_per_request`` is how long an answer takes on the clock of the running event loop, on
    the average: see :func:`seconds_for`.
    """

    def __init__(
        self,
        web: RecordedWeb,
        politeness: Politeness | None = None,
        *,
        seconds_per_request: float = 0.0,
        max_redirects: int = MAX_REDIRECTS,
    ) -> None:
        self._web = web
        self._politeness = politeness or Politeness(UNHURRIED)
        self._seconds = seconds_per_request
        self._max_redirects = max_redirects

    async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
        """Answer for ``url``; a redirect for which there is no request left is not followed."""
        hops = [url]
        if (response := self._web.lookup(url)) is None:
            return FetchResult(url, Outcome.UNREACHABLE, url, detail="not in the recorded web")
        if (postponed := await self._asked(hops)) is not None:
            return postponed
        while response.redirect_to is not None:
            target = response.redirect_to
            following = self._web.lookup(target)
            if target in hops or len(hops) > self._max_redirects:
                detail = f"redirects in a circle or more than {self._max_redirects} times"
                return _stopped(hops, Outcome.TOO_MANY_REDIRECTS, response, detail)
            if following is None:
                detail = f"redirects to {target}, which was not recorded"
                return _stopped(hops, Outcome.OUT_OF_SCOPE, response, detail)
            if not may_go_on(target):
                return _unfollowed(hops, response, target)
            hops.append(target)
            if (postponed := await self._asked(hops)) is not None:
                return postponed
            response = following
        return _answer(hops, response)

    async def _asked(self, hops: list[str]) -> FetchResult | None:
        """Take a turn for the last hop, and its time; a result when that is too far off."""
        host = host_key(hops[-1])
        try:
            turn = await self._politeness.begin(host)
        except NotYetError as error:
            return FetchResult(
                hops[0],
                Outcome.POSTPONED,
                hops[-1],
                requests=len(hops) - 1,
                detail=str(error),
                retry_after_seconds=error.seconds,
            )
        try:
            if self._seconds:
                await asyncio.sleep(seconds_for(hops[-1], self._seconds))
        finally:
            self._politeness.end(host, turn)
        return None

    async def close(self) -> None:
        """Nothing to release: the recorded web belongs to whoever opened it and may serve on."""


def seconds_for(url: str, mean: float) -> float:
    """How long the answer for ``url`` takes: from half of the mean to half as much again.

    Always the same for a URL, and different for almost all, so that no two answers come at once.
    """
    return mean * (0.5 + crc32(url.encode("utf-8", "replace")) / 2**32)


def _stopped(
    hops: list[str], outcome: Outcome, response: RecordedResponse, detail: str
) -> FetchResult:
    """A chain of redirects that does not go on. The last one was paid for, its target was not."""
    return FetchResult(
        hops[0], outcome, hops[-1], requests=len(hops), status=response.status, detail=detail
    )


def _unfollowed(hops: list[str], response: RecordedResponse, target: str) -> FetchResult:
    return FetchResult(
        url=hops[0],
        outcome=Outcome.POSTPONED,
        final_url=target,
        requests=len(hops),
        status=response.status,
        detail=f"redirects to {target}; {NO_REQUEST_LEFT}",
    )


def _answer(hops: list[str], response: RecordedResponse) -> FetchResult:
    outcome = _outcome(response)
    return FetchResult(
        url=hops[0],
        outcome=outcome,
        final_url=response.url,
        requests=len(hops),
        status=response.status or None,
        content_type=response.content_type,
        page=response.page,
        detail="" if outcome is Outcome.FETCHED else _reason(response),
    )


def _outcome(response: RecordedResponse) -> Outcome:
    if response.status == 0:
        return Outcome.UNREACHABLE
    if response.status >= 400:
        return Outcome.of_status(response.status)
    return Outcome.FETCHED if response.page is not None else Outcome.NOT_HTML


def _reason(response: RecordedResponse) -> str:
    if response.status == 0:
        return "the server could not be reached when this was recorded"
    if response.status >= 400:
        return f"status {response.status}"
    return f"recorded as {response.content_type or 'something other than HTML'}"
