"""Candidates between lease and digestion: being fetched, or fetched and being analysed.

Pages are handed out in the order in which their fetches completed, however many workers analyse
them and whichever is done first. A slow page holds up those behind it, not their analysis. Only
pages that may be harmful are overtaken: they are set apart, and analysed in a *strong room*, a
worker process of their own.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable
from functools import partial
from types import NoneType

from msgspec.structs import replace

from trailhound.crawling.analysis import Analysis, PageJob
from trailhound.crawling.answers import answered, is_ours
from trailhound.crawling.budget import Allowance
from trailhound.crawling.digestion import Story, leads_to_known
from trailhound.crawling.worker_pool import WorkerPool
from trailhound.errors import ConfigError, TrailhoundError, plugin_faults
from trailhound.fetching.base import Fetcher
from trailhound.fetching.politeness import Politeness
from trailhound.records import Candidate, FetchResult, Outcome
from trailhound.urls import host_key

_log = logging.getLogger(__name__)

_Page = tuple[Story, asyncio.Future[Analysis] | None]


_KINDS: dict[str, tuple[type, ...]] = {
    "outcome": (Outcome,),
    "final_url": (str,),
    "requests": (int,),
    "status": (int, NoneType),
    "content_type": (str,),
    "body": (bytes,),
    "detail": (str,),
    "headers": (tuple,),
    "exchanges": (tuple,),
    "retry_after_seconds": (float, int, NoneType),
}
"""What fields of a :class:`FetchResult` must be, whoever made it."""
_MAX_STATUS = 999


def check_result(result: object) -> None:
    """TypeError or ValueError for what no fetcher may give: stores and budgets rely on it."""
    if not isinstance(result, FetchResult):
        raise TypeError(f"it gave {type(result).__name__}, not FetchResult")
    for name, kinds in _KINDS.items():
        value = getattr(result, name)
        if not isinstance(value, kinds):
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"its result has {name} = {value!r}, which is not {wanted}")
    if result.requests < (result.outcome is Outcome.FETCHED):
        raise ValueError(f"its result says that a page took {result.requests} requests")
    if not 0 <= (result.retry_after_seconds or 0) < math.inf:
        seconds = result.retry_after_seconds
        raise ValueError(f"its result says to come again after {seconds} seconds")
    if not 0 <= (result.status or 0) <= _MAX_STATUS:
        raise ValueError(f"its result has status = {result.status}, which HTTP has not")


class InFlight:
    """What has been leased and is not dealt with yet.

    ``room_made`` is called whenever a fetch has ended or a page is dealt with. Without a ``pool``,
    pages are handed out as they are; so they are when one that is not ``is_vital`` cannot have
    their judge. ``is_known`` tells of an address whose page the crawl has already,
    ``is_ending`` that redirects are left for the next run.
    Each request comes out of the ``allowance``. A fetcher that is not ours has ``plugin_seconds``
    for each fetch.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        politeness: Politeness,
        pool: WorkerPool | None,
        strong_room: WorkerPool,
        is_known: Callable[[str], bool],
        is_ending: Callable[[], bool],
        allowance: Allowance,
        room_made: Callable[[], None],
        plugin_seconds: float | None = None,
    ) -> None:
        self._fetcher = fetcher
        self._politeness = politeness
        self._pool = pool
        self._strong_room = strong_room
        self._is_known = is_known
        self._is_ending = is_ending
        self._allowance = allowance
        self._room_made = room_made
        self._seconds = None if is_ours(fetcher) else plugin_seconds
        self._fetching: dict[asyncio.Task[None] | None, tuple[str, float]] = {}
        """With the host that is asked, and since when."""
        self._landed: deque[_Page] = deque()
        self._apart: deque[_Page] = deque()
        self._news = asyncio.Event()
        self._has_ended = False
        self._failure: Exception | None = None

    async def open(self) -> None:
        """Start the workers."""
        if self._pool is not None:
            try:
                await self._pool.start()
            except ConfigError as error:
                if self._pool.is_vital:
                    raise
                _log.warning("The judge is asked without a limit of time: %s", error)
                self._pool = None

    def __len__(self) -> int:
        return len(self._fetching) + len(self._landed) + len(self._apart)

    @property
    def apart(self) -> int:
        """Pages that are in the strong room, or wait for it."""
        return len(self._apart)

    def fetch(self, candidate: Candidate) -> None:
        """Start a fetch. Its host is promised a rest on disk before anything is asked of it."""
        host = host_key(candidate.url)
        self._politeness.reserve(host)
        self._allowance.begin(candidate.url)
        task = asyncio.create_task(self._fetch(candidate))
        self._fetching[task] = host, task.get_loop().time()

    def worth_a_wait(self, seconds: float) -> dict[str, float]:
        """Hosts that are asked for no longer than that, and what is left of it.

        Not those that rest longer than that afterwards: they are not waited for then, either.
        """
        now = asyncio.get_running_loop().time()
        left = {host: since + seconds - now for host, since in self._fetching.values()}
        return {
            host: wait
            for host, wait in left.items()
            if wait > 0 and self._politeness.delay_seconds(host) <= seconds
        }

    async def _fetch(self, candidate: Candidate) -> None:
        try:
            story = Story(candidate, await self._result(candidate.url))
            own_wish = None if story.ends_elsewhere else story.result.retry_after_seconds
            self._politeness.release(host_key(candidate.url), own_wish or 0.0)
            self._landed.append((story, self._submit(story)))
        except Exception as error:  # of the frontier or the workers: the crawl cannot go on
            self._failure = error
        # Not when the task has ended: whoever is woken below counts what is in flight.
        del self._fetching[asyncio.current_task()]
        self._news.set()
        self._room_made()

    async def _result(self, url: str) -> FetchResult:
        try:
            fetched = self._fetcher.fetch(url, may_go_on=partial(self._may_go_on, url))
            result = await answered(fetched, self._seconds)
            check_result(result)
        except TrailhoundError:  # the frontier keeps hosts' times, and its disk may be full
            raise
        except plugin_faults() as error:  # that costs the page
            _log.exception("The fetcher failed on %s", url)
            why = f"the fetcher failed: {type(error).__name__}: {error}"
            return FetchResult(url, Outcome.BROKEN, url, detail=why)
        was_stopped = result.outcome is Outcome.POSTPONED and result.final_url != url
        if was_stopped and self._is_known(result.final_url):
            why = leads_to_known(result.final_url)
            return replace(result, outcome=Outcome.DUPLICATE, detail=why, retry_after_seconds=None)
        return result

    def _may_go_on(self, url: str, target: str = "", /) -> bool:
        """Whether a fetch may make a request more: not for what the crawl has already."""
        if target and (self._is_ending() or self._is_known(target)):
            return False
        return self._allowance.go_on(url)

    def _submit(self, story: Story) -> asyncio.Future[Analysis] | None:
        if self._pool is None or story.outcome is not Outcome.FETCHED:
            return None
        if self._is_known(story.result.final_url):  # nobody will want its analysis
            return None
        return self._sent(self._pool, PageJob.of(story.candidate, story.result))

    def _sent(self, pool: WorkerPool, job: PageJob) -> asyncio.Future[Analysis]:
        analysis = pool.submit(job)
        analysis.add_done_callback(lambda _: self._news.set())
        return analysis

    def set_apart(self, story: Story) -> None:
        """The page that :meth:`next` gave comes again, when the strong room is done with it."""
        story.is_set_apart = True
        job = PageJob.of(story.candidate, story.result)
        apart = self._sent(self._strong_room, replace(job, is_set_apart=True))
        self._apart.append((story, apart))

    def leave_analyses(self) -> None:
        """Wait for no page any more that a worker has not done with; they stay leased."""
        for pages in (self._landed, self._apart):
            left = [page for page in pages if page[1] is not None and not page[1].done()]
            for page in left:
                pages.remove(page)
                if page[1] is not None:
                    page[1].cancel()
        self._news.set()
        self._room_made()

    async def next(self) -> tuple[Story, Analysis | None] | None:
        """The page whose turn it is, with what a worker found in it; ``None`` after the last."""
        while (ready := self._ready()) is None:
            if self._failure is not None:
                raise self._failure
            if self._has_ended:
                return None
            self._news.clear()
            await self._news.wait()
        self._given = ready
        story, analysis = ready[0]
        self._allowance.settle(story.candidate.url)
        return story, None if analysis is None else analysis.result()

    def _ready(self) -> deque[_Page] | None:
        """Where the page is in front whose turn it is."""
        for pages in (self._apart, self._landed):
            if pages and (pages[0][1] is None or pages[0][1].done()):
                return pages
        return None

    def done(self) -> None:
        """The page that :meth:`next` gave last is dealt with, or set apart."""
        self._given.popleft()
        self._room_made()

    def end(self) -> None:
        """Nothing will be fetched any more."""
        self._has_ended = True
        self._news.set()

    async def close(self) -> None:
        """Let go of everything; the frontier still has it."""
        tasks = [task for task in self._fetching if task is not None]
        for task in tasks:
            task.cancel()
        for _, analysis in (*self._landed, *self._apart):
            if analysis is not None:
                analysis.cancel()
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._pool is not None:
            await self._pool.close()
        await self._strong_room.close()
