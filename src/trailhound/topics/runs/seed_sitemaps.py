"""What the sites of the seeds list, in sitemaps and feeds, and how it comes into the queue.

Lists are read before the first page, as politely as pages are, and count as requests.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import count
from typing import NamedTuple

import msgspec

from trailhound.counting import counted
from trailhound.crawling.engine import Crawler
from trailhound.fetching.base import NO_REQUEST_LEFT, is_excluded
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.sitemaps import ListedUrl, SourceKind, UrlSource, parse_url_source
from trailhound.frontier.base import ASKED_FOR
from trailhound.records import Candidate, FetchResult, Outcome
from trailhound.storage.results import SITEMAPS_READ, ResultsStore
from trailhound.topics.crawls.notices import Notify, Progress
from trailhound.urls import canonicalize, host_key

MAX_DOCUMENTS = 30
"""Sitemaps and feeds that are fetched for one site."""
MAX_URLS = 500
"""Pages taken from one site, the most recently changed first: a sitemap may list millions."""
MAX_WAIT_SECONDS = 300.0
"""That one site's delay may hold up the crawl; documents it leaves no time for stay unread."""
MAX_FOLLOWED = 5
"""Redirects of one document for which a request was waited for."""
_LOOK_EVERY_SECONDS = 0.2
"""While a host is waited for, whether the crawl is to end."""
LISTED_PRIORITY = 1.5 * ASKED_FOR
"""Below the seeds, above everything that a strategy gives, or ranks anew."""

MayAsk = Callable[[int], bool]
"""Whether another request may follow so many."""
Sleep = Callable[[float], Awaitable[None]]
Room = Callable[[int], Awaitable[None]]
"""Waits until another request may follow so many, where others say when."""


async def room_now(_made: int) -> None:
    """Nobody else has a say in it."""


class SeedSitemaps:
    """Those of one crawl's ``seeds``. ``may_ask`` says whether a request may follow so many."""

    def __init__(
        self,
        seeds: Sequence[str],
        fetcher: HttpFetcher,
        crawler: Crawler,
        results: ResultsStore,
        in_scope: Callable[[str], bool] | None,
        notify: Notify,
        may_ask: MayAsk,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._seeds = seeds
        self._fetcher = fetcher
        self._crawler = crawler
        self._results = results
        self._in_scope = in_scope
        self._notify = notify
        self._may_ask = may_ask
        self._is_stopping = is_stopping

    @property
    def are_read(self) -> bool:
        """Whether those of all seeds were read to their end, in earlier runs or in this."""
        return seeds_with_lists_read(self._results).issuperset(self._seeds)

    async def queue(self, room: Room = room_now) -> None:
        """Queue what they list; no page may be fetched meanwhile.

        Where others have a say in the number of requests, ``room`` waits for them.
        """
        before, frontier = self._crawler.requests, self._crawler.frontier
        found: list[Candidate] = []
        try:
            listed = await sitemap_candidates(
                self._fetcher,
                self._seeds,
                self._in_scope,
                self._notify,
                lambda made: self._may_ask(before + made),
                room=lambda made: room(before + made),
                candidates=found,
            )
            self._crawler.requests = before + sum(result.requests for result in listed.fetched)
        finally:
            frontier.add(found)
            frontier.commit()
        if listed.is_cut or self._is_stopping():
            self._notify(
                "The crawl ends before all sitemaps and feeds of its seeds are read. It reads them "
                "when it goes on."
            )
        else:
            read = seeds_with_lists_read(self._results).union(self._seeds)
            self._results.save_state(SITEMAPS_READ, "\n".join(sorted(read)).encode())


def seeds_with_lists_read(results: ResultsStore) -> frozenset[str]:
    """The seeds of a crawl whose sitemaps and feeds were read to their end."""
    return frozenset((results.state(SITEMAPS_READ) or b"").decode().split())


class Listed(NamedTuple):
    """What came of reading sitemaps and feeds."""

    candidates: list[Candidate]
    fetched: list[FetchResult]
    """Without the bodies."""
    is_cut: bool
    """Whether there was more to read when nothing could be asked any more."""


async def sitemap_candidates(
    fetcher: HttpFetcher,
    seeds: Iterable[str],
    in_scope: Callable[[str], bool] | None,
    notify: Notify,
    may_ask: MayAsk = lambda _: True,
    sleep: Sleep = asyncio.sleep,
    room: Room = room_now,
    candidates: list[Candidate] | None = None,
) -> Listed:
    """Pages that the seeds' sites list, and what was fetched to learn it, as far as it may be.

    A host that is to be spared is waited for; ``sleep`` is for that. ``candidates`` is a list to
    put pages into: it has them also when the reading is cancelled.
    """
    candidates = [] if candidates is None else candidates
    asking = _Asking(fetcher, may_ask, notify, sleep, room)
    sites = {host_key(seed): seed for seed in seeds if not is_excluded(in_scope, seed)}
    for host, seed in sites.items():
        if not await asking.may_go_on():
            break
        listed: dict[str, ListedUrl] = {}
        try:
            await _read_lists(asking, seed, in_scope, listed)
        finally:
            chosen = _newest(listed)
            candidates += [
                Candidate(entry.url, LISTED_PRIORITY, parent=seed, depth=1) for entry in chosen
            ]
        slow = " Its delay leaves no time to read them all." if asking.is_too_slow(host) else ""
        notify(
            f"The sitemaps and feeds of {host} list {counted(len(listed), 'page')}; "
            f"queued: {len(chosen)}.{slow}{asking.told_unread()}"
        )
    return Listed(candidates, asking.results, asking.is_cut)


def _newest(listed: dict[str, ListedUrl]) -> list[ListedUrl]:
    return sorted(listed.values(), key=lambda entry: -(entry.modified_at or 0.0))[:MAX_URLS]


class _Asking:
    """Fetches documents when their hosts may be asked, and counts what that costs."""

    def __init__(
        self, fetcher: HttpFetcher, may_ask: MayAsk, notify: Notify, sleep: Sleep, room: Room
    ) -> None:
        self.fetcher = fetcher
        self.results: list[FetchResult] = []
        self._may_ask = may_ask
        self._progress = Progress(notify)
        self._sleep = sleep
        self._room = room
        self._requests = 0
        self._unread: list[str] = []
        self._waited: Counter[str] = Counter()
        """Seconds, by host."""
        self.is_cut = False
        """Whether a request was wanted that could not be made any more."""

    async def may_go_on(self) -> bool:
        await self._room(self._requests)
        may_ask = self._may_ask(self._requests)
        self.is_cut |= not may_ask
        return may_ask

    def is_too_slow(self, host: str) -> bool:
        return self._waited[host] > MAX_WAIT_SECONDS

    async def sitemaps(self, seed: str) -> tuple[str, ...]:
        """Those that the robots.txt of its site announces."""
        await self._rest(host_key(seed), self.fetcher.free_in(seed))
        return await self.fetcher.sitemaps(seed)

    async def read(self, url: str, *, is_guess: bool) -> UrlSource:
        """The document at ``url``; nobody has announced a guess, and none is missed."""
        result, followed = await self._fetch(url), 0
        while (seconds := _again_in(result)) is not None and followed < MAX_FOLLOWED:
            if not await self._rest(host_key(result.final_url), seconds):
                break
            followed += not seconds
            result = await self._fetch(result.final_url)
        fetched = result.outcome is Outcome.FETCHED
        source = UrlSource(SourceKind.UNKNOWN)
        if fetched or result.body:
            source = parse_url_source(result.body, result.final_url)
        if not fetched and (source.entries or not is_guess):
            self._unread.append(f"{url} ({result.detail or result.outcome})")
        elif not source.entries and source.notes and not is_guess:
            self._unread.append(f"{url} ({source.notes[0]})")
        return source

    def told_unread(self) -> str:
        """What could not be read, or not to its end, since this was last asked."""
        unread, self._unread = self._unread, []
        more = f", and {len(unread) - 1} more" if len(unread) > 1 else ""
        return f" Not read as a whole: {unread[0]}{more}." if unread else ""

    async def _fetch(self, url: str) -> FetchResult:
        made = count(self._requests + 1)
        result = await self.fetcher.fetch(
            url, html_only=False, may_go_on=lambda _="": self._may_ask(next(made))
        )
        # What it cost is all that is asked of it: sitemaps are large.
        self.results.append(msgspec.structs.replace(result, body=b"", exchanges=()))
        self._requests += result.requests
        return result

    async def _rest(self, host: str, seconds: float) -> bool:
        """Wait until ``host`` may be asked; whether it may be now."""
        self._waited[host] += max(1, math.ceil(seconds))
        if self.is_too_slow(host):
            return False
        while seconds > 0 and await self.may_go_on():
            self._progress.tell(
                f"Sitemaps and feeds: {host} may be asked again in {seconds:.0f} s."
            )
            await self._sleep(min(seconds, _LOOK_EVERY_SECONDS))
            seconds -= _LOOK_EVERY_SECONDS
        return await self.may_go_on()


def _again_in(result: FetchResult) -> float | None:
    """When to ask on: after a host's delay, or as soon as a redirect may be followed."""
    if result.outcome is not Outcome.POSTPONED:
        return None
    return 0.0 if result.detail.endswith(NO_REQUEST_LEFT) else result.retry_after_seconds


async def _read_lists(
    asking: _Asking,
    seed: str,
    in_scope: Callable[[str], bool] | None,
    found: dict[str, ListedUrl],
) -> None:
    announced = await asking.sitemaps(seed)
    # robots.txt may spell them as it likes; without any, the usual place is worth a try.
    starts = [canonicalize(address, seed) for address in announced or ("/sitemap.xml",)]
    # Out of scope they may be, on a host that has the site's files; not where nobody may ask.
    waiting = deque(
        dict.fromkeys(url for url in starts if url is not None and not is_excluded(in_scope, url))
    )
    seen = set(waiting)
    documents = 0
    while waiting and documents < MAX_DOCUMENTS and await asking.may_go_on():
        documents += 1
        source = await asking.read(waiting.popleft(), is_guess=not announced and documents == 1)
        for entry in source.entries:
            if in_scope is not None and not in_scope(entry.url):
                continue
            if source.kind is not SourceKind.SITEMAP_INDEX:
                found.setdefault(entry.url, entry)
            elif entry.url not in seen:
                seen.add(entry.url)
                waiting.append(entry.url)
