"""The crawl loop: lease → fetch → extract → judge → observe → score links → add.

The same loop runs on the live web and in the lab; only the fetcher differs.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterable

from trailhound.crawling.stopping import Budget, StopReason
from trailhound.fetching.base import Fetcher
from trailhound.frontier.base import Frontier
from trailhound.records import (
    Candidate,
    CrawledPage,
    FetchResult,
    Outcome,
    Page,
    PageEvent,
    Relevance,
    ScoredLink,
)
from trailhound.relevance.base import RelevanceJudge
from trailhound.strategies.base import Rescoring, Strategy
from trailhound.text.extract import extract_page

SEED_PRIORITY = 1e18
"""Above every priority a strategy gives: seeds are fetched first."""

RESCORE_EVERY = 50
"""Fetches between two offers to a learning strategy to re-rank what waits."""

_log = logging.getLogger(__name__)


class Crawler:
    """Runs one crawl.

    ``in_scope`` says which URLs may be visited at all; links beyond it are counted, not queued.
    With ``concurrency`` above one, pages are processed in the order in which they arrive.
    """

    def __init__(
        self,
        *,
        strategy: Strategy,
        frontier: Frontier,
        fetcher: Fetcher,
        judge: RelevanceJudge,
        in_scope: Callable[[str], bool] | None = None,
        concurrency: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._strategy = strategy
        self._frontier = frontier
        self._fetcher = fetcher
        self._judge = judge
        self._in_scope = in_scope
        self._concurrency = concurrency
        self._clock = clock
        self._in_flight: dict[asyncio.Task[FetchResult], Candidate] = {}
        self.requests = 0
        """GETs issued so far."""
        self.pages = 0
        """Candidates dealt with so far."""
        self.stop_reason: StopReason | None = None

    def run(
        self,
        seeds: Iterable[str],
        *,
        max_pages: int | None = None,
        max_seconds: float | None = None,
    ) -> Generator[PageEvent]:
        """Crawl from ``seeds`` (canonical URLs) in an event loop of its own."""
        events = self.crawl(seeds, Budget(max_pages, max_seconds))
        loop = asyncio.new_event_loop()
        try:
            while True:
                try:
                    yield loop.run_until_complete(anext(events))
                except StopAsyncIteration:
                    return
        finally:
            loop.run_until_complete(events.aclose())
            loop.run_until_complete(self._fetcher.close())
            loop.close()

    async def crawl(self, seeds: Iterable[str], budget: Budget) -> AsyncGenerator[PageEvent]:
        """Crawl from ``seeds``; one event per candidate, until the budget or the frontier ends."""
        started = self._clock()
        self.stop_reason = None
        self._frontier.add(Candidate(url, SEED_PRIORITY) for url in seeds)
        try:
            while True:
                spent = budget.spent(self.requests, self._clock() - started)
                if spent is None:
                    self._start_fetches(budget)
                if not self._in_flight:
                    self.stop_reason = spent or await self._wait_for_a_host()
                    if self.stop_reason:
                        return
                    continue
                for candidate, result in await self._arrivals():
                    yield self._process(candidate, result)
        finally:
            if self.stop_reason is None:
                self.stop_reason = StopReason.INTERRUPTED
            await self._cancel_fetches()

    def _start_fetches(self, budget: Budget) -> None:
        room = self._concurrency - len(self._in_flight)
        if budget.max_pages is not None:
            # A fetch in flight will cost at least one request.
            room = min(room, budget.max_pages - self.requests - len(self._in_flight))
        if room <= 0:
            return
        for candidate in self._frontier.lease(room, self._clock()):
            task = asyncio.ensure_future(self._fetcher.fetch(candidate.url))
            self._in_flight[task] = candidate

    async def _wait_for_a_host(self) -> StopReason | None:
        """Sleep until some host may be asked again; a reason to stop when none ever will be."""
        seconds = self._frontier.ready_in(self._clock())
        if seconds is None:
            return StopReason.FRONTIER_EMPTY
        await asyncio.sleep(seconds)
        return None

    async def _arrivals(self) -> list[tuple[Candidate, FetchResult]]:
        done, _ = await asyncio.wait(self._in_flight, return_when=asyncio.FIRST_COMPLETED)
        # Results that arrive together are taken in the order in which they were leased.
        tasks = [task for task in self._in_flight if task in done]
        return [(self._in_flight.pop(task), task.result()) for task in tasks]

    async def _cancel_fetches(self) -> None:
        for task in self._in_flight:
            task.cancel()
        if self._in_flight:
            await asyncio.gather(*self._in_flight, return_exceptions=True)
        self._in_flight.clear()

    def _process(self, candidate: Candidate, result: FetchResult) -> PageEvent:
        self.requests += result.requests
        self.pages += 1
        event = _Story(candidate, result)
        if result.outcome is Outcome.FETCHED:
            self._claim_final_url(event)
        if event.outcome is Outcome.FETCHED:
            self._digest(event)
        self._frontier.finish(candidate.url, event.outcome)
        if isinstance(self._strategy, Rescoring) and self.pages % RESCORE_EVERY == 0:
            self._frontier.rescore(self._strategy.rescore)
        return event.tell(self.pages, self.requests)

    def _claim_final_url(self, event: _Story) -> None:
        """A page behind a redirect is fetched under its own URL, and only once."""
        final_url = event.result.final_url
        if final_url == event.candidate.url:
            return
        if self._frontier.outcome_of(final_url) is Outcome.FETCHED:
            event.outcome = Outcome.DUPLICATE
            event.why = f"it redirects to {final_url}, which was fetched before"
        else:
            self._frontier.mark_seen(final_url, Outcome.FETCHED)

    def _digest(self, event: _Story) -> None:
        """Everything our own code does with a page. A failure costs that page, not the crawl."""
        result = event.result
        try:
            page = result.page or extract_page(result.body, result.final_url, result.content_type)
            event.relevance = self._judge.judge(page)
            crawled = CrawledPage(page, event.relevance, event.candidate)
            self._strategy.observe(crawled)
            self._queue(event, page, self._strategy.score_links(crawled))
        except Exception as error:
            _log.exception("Page %s could not be processed", result.final_url)
            event.outcome = Outcome.BROKEN
            event.why = f"{type(error).__name__}: {error}"

    def _queue(self, event: _Story, page: Page, scored: Iterable[ScoredLink]) -> None:
        in_scope = self._in_scope
        event.links_found = len(page.links)
        if in_scope is not None:
            event.links_outside = sum(not in_scope(link.url) for link in page.links)
        depth = event.candidate.depth + 1
        event.links_added = self._frontier.add(
            Candidate(item.link.url, item.priority, item.memory, page.url, depth)
            for item in scored
            if in_scope is None or in_scope(item.link.url)
        )


class _Story:
    """What is known so far about one candidate's fate."""

    def __init__(self, candidate: Candidate, result: FetchResult) -> None:
        self.candidate = candidate
        self.result = result
        self.outcome = result.outcome
        self.relevance: Relevance | None = None
        self.links_found = 0
        self.links_added = 0
        self.links_outside = 0
        self.why = result.detail

    def tell(self, number: int, requests_total: int) -> PageEvent:
        """The finished event."""
        candidate = self.candidate
        return PageEvent(
            number=number,
            url=candidate.url,
            final_url=self.result.final_url,
            outcome=self.outcome,
            parent=candidate.parent,
            depth=candidate.depth,
            priority=candidate.priority,
            requests=self.result.requests,
            requests_total=requests_total,
            relevance=self.relevance,
            links_found=self.links_found,
            links_added=self.links_added,
            links_outside=self.links_outside,
            why=self.why,
        )
