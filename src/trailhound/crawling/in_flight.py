"""Candidates between lease and digestion: being fetched, or fetched and being analysed.

Pages are handed out in the order in which their fetches completed, however many workers analyse
them and whichever is done first. A slow page holds up those behind it, not their analysis.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial

from trailhound.crawling.allowance import Allowance
from trailhound.crawling.analysis import Analysis, PageJob
from trailhound.crawling.story import Story
from trailhound.crawling.worker_pool import WorkerPool
from trailhound.fetching.base import Fetcher, FrugalFetcher
from trailhound.records import Candidate, FetchResult, Outcome

_Page = tuple[Story, asyncio.Future[Analysis] | None]


class InFlight:
    """What has been leased and is not dealt with yet.

    ``woken`` is set whenever there may be something to land or to hand out. Without a ``pool``,
    pages are handed out as they are. ``is_known`` tells of a page whose analysis nobody will want.
    Each request comes out of the ``allowance``.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        woken: asyncio.Event,
        pool: WorkerPool | None,
        is_known: Callable[[Story], bool],
        allowance: Allowance,
    ) -> None:
        self._fetcher = fetcher
        self._woken = woken
        self._pool = pool
        self._is_known = is_known
        self._allowance = allowance
        self._frugal = fetcher if isinstance(fetcher, FrugalFetcher) else None
        self._fetching: dict[asyncio.Task[FetchResult], Candidate] = {}
        self._fetched: deque[asyncio.Task[FetchResult]] = deque()
        self._landed: deque[_Page] = deque()

    async def open(self) -> None:
        """Start the workers."""
        if self._pool is not None:
            await self._pool.start()

    def __len__(self) -> int:
        return len(self._fetching) + len(self._landed)

    def fetch(self, candidate: Candidate) -> None:
        """Start a fetch."""
        url = candidate.url
        self._allowance.begin(url)
        if self._frugal is not None:
            fetching = self._frugal.fetch_within(url, partial(self._allowance.go_on, url))
        else:
            fetching = self._fetcher.fetch(url)
        task = asyncio.ensure_future(fetching)
        self._fetching[task] = candidate
        task.add_done_callback(self._note_fetched)

    def _note_fetched(self, task: asyncio.Task[FetchResult]) -> None:
        self._fetched.append(task)
        self._woken.set()

    def land(self) -> Iterator[FetchResult]:
        """The fetches completed since the last call; their pages go to the workers, if any."""
        while self._fetched:
            task = self._fetched.popleft()
            story = Story(self._fetching.pop(task), task.result())
            self._landed.append((story, self._submit(story)))
            yield story.result

    def _submit(self, story: Story) -> asyncio.Future[Analysis] | None:
        if self._pool is None or story.outcome is not Outcome.FETCHED or self._is_known(story):
            return None
        analysis = self._pool.submit(PageJob.of(story.candidate, story.result))
        analysis.add_done_callback(self._note_analysed)
        return analysis

    def _note_analysed(self, _: asyncio.Future[Analysis]) -> None:
        self._woken.set()

    @property
    def has_news(self) -> bool:
        """Whether there is something to land or to hand out."""
        return bool(self._fetched) or self._is_ready()

    def _is_ready(self) -> bool:
        if not self._landed:
            return False
        analysis = self._landed[0][1]
        return analysis is None or analysis.done()

    def ready(self) -> Iterator[tuple[Story, Analysis | None]]:
        """The pages whose turn has come, with what workers found in them."""
        while self._is_ready():
            story, analysis = self._landed[0]
            self._allowance.settle(story.candidate.url)
            yield story, None if analysis is None else analysis.result()
            self._landed.popleft()  # only now it is dealt with

    async def close(self) -> None:
        """Let go of everything; the frontier still has it."""
        tasks = list(self._fetching)
        for task in tasks:
            task.cancel()
        for _, analysis in self._landed:
            if analysis is not None:
                analysis.cancel()
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._pool is not None:
            await self._pool.close()
