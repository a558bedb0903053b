"""The crawl loop: lease → fetch → extract → judge → observe → score links → keep → add.

The same loop runs on the live web and in the lab; only the fetcher differs.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence

from trailhound.crawling.keeping import Keeper
from trailhound.crawling.stopping import Budget, StopReason
from trailhound.fetching.base import Fetcher, PoliteFetcher
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
from trailhound.urls import host_key

SEED_PRIORITY = 1e18
"""Above every priority a strategy gives: seeds are fetched first."""

RESCORE_EVERY = 50
"""Fetches between two offers to a learning strategy to re-rank what waits."""

MAX_ATTEMPTS = 3
"""Requests for one URL whose server asks to come back later."""

_log = logging.getLogger(__name__)


class Crawler:
    """Runs one crawl.

    ``in_scope`` says which URLs may be visited at all; links beyond it are counted, not queued.
    With ``concurrency`` above one, pages are processed in the order in which they arrive.
    ``keepers`` get every page. ``clock`` must be the wall clock when the frontier outlives the
    process.
    """

    def __init__(
        self,
        *,
        strategy: Strategy,
        frontier: Frontier,
        fetcher: Fetcher,
        judge: RelevanceJudge,
        in_scope: Callable[[str], bool] | None = None,
        keepers: Sequence[Keeper] = (),
        find_duplicate: Callable[[Page], str | None] | None = None,
        obey_nofollow: bool = False,
        concurrency: int = 1,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._strategy = strategy
        self._frontier = frontier
        self._fetcher = fetcher
        self._judge = judge
        self._in_scope = in_scope
        self._keepers = keepers
        self._find_duplicate = find_duplicate
        self._obey_nofollow = obey_nofollow
        self._concurrency = concurrency
        self._clock = clock
        self._in_flight: dict[asyncio.Task[FetchResult], Candidate] = {}
        self._attempts: Counter[str] = Counter()
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
                    self.stop_reason = spent or await self._wait_for_a_host(budget, started)
                    if self.stop_reason:
                        return
                    continue
                for candidate, result in await self._arrivals():
                    event = self._process(candidate, result)
                    if event is not None:
                        yield event
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
        now = self._clock()
        for candidate in self._frontier.lease(room, now):
            if isinstance(self._fetcher, PoliteFetcher):
                # Before the request: a process killed in mid-flight still respects the delay.
                delay = self._fetcher.delay_after(candidate.url)
                self._frontier.delay_host(host_key(candidate.url), now + delay)
            task = asyncio.ensure_future(self._fetcher.fetch(candidate.url))
            self._in_flight[task] = candidate

    async def _wait_for_a_host(self, budget: Budget, started: float) -> StopReason | None:
        """Sleep until some host may be asked again; a reason to stop when none ever will be."""
        now = self._clock()
        seconds = self._frontier.ready_in(now)
        if seconds is None:
            return StopReason.FRONTIER_EMPTY
        if budget.max_seconds is not None:
            seconds = min(seconds, max(0.0, started + budget.max_seconds - now))
        await asyncio.sleep(seconds)
        return None

    async def _arrivals(self) -> list[tuple[Candidate, FetchResult]]:
        # A host may become ready while the fetches in flight hang: wake up for it.
        wake_up = None
        if len(self._in_flight) < self._concurrency:
            wake_up = self._frontier.ready_in(self._clock())
        done, _ = await asyncio.wait(
            self._in_flight, timeout=wake_up or None, return_when=asyncio.FIRST_COMPLETED
        )
        # Results that arrive together are taken in the order in which they were leased.
        tasks = [task for task in self._in_flight if task in done]
        return [(self._in_flight.pop(task), task.result()) for task in tasks]

    async def _cancel_fetches(self) -> None:
        for task in self._in_flight:
            task.cancel()
        if self._in_flight:
            await asyncio.gather(*self._in_flight, return_exceptions=True)
        self._in_flight.clear()

    def _process(self, candidate: Candidate, result: FetchResult) -> PageEvent | None:
        """Deal with what came back; ``None`` when the URL waits for another attempt."""
        self.requests += result.requests
        if self._comes_again(candidate, result):
            self._frontier.requeue([candidate])
            self._delay_hosts(result)
            return None
        self.pages += 1
        story = _Story(candidate, result)
        if result.outcome is Outcome.FETCHED:
            self._claim_final_url(story)
        if story.outcome is Outcome.FETCHED:
            self._digest(story)
        event = story.tell(self.pages, self.requests, self._clock())
        for keeper in self._keepers:
            keeper.keep(event, candidate, result, story.page)
        self._frontier.finish(candidate.url, event.outcome)
        self._delay_hosts(result)
        if isinstance(self._strategy, Rescoring) and self.pages % RESCORE_EVERY == 0:
            self._frontier.rescore(self._strategy.rescore)
        return event

    def _comes_again(self, candidate: Candidate, result: FetchResult) -> bool:
        """Whether the server, or a host's delay, asks us to try this URL later."""
        if result.retry_after_seconds is None:
            return False
        if result.requests:  # a wait that sent nothing is no attempt
            self._attempts[candidate.url] += 1
        if self._attempts[candidate.url] < MAX_ATTEMPTS:
            return True
        del self._attempts[candidate.url]
        return False

    def _delay_hosts(self, result: FetchResult) -> None:
        now = self._clock()
        for host, seconds in result.host_delays:
            self._frontier.delay_host(host, now + max(seconds, result.retry_after_seconds or 0.0))

    def _claim_final_url(self, story: _Story) -> None:
        """A page behind a redirect is fetched under its own URL, and only once."""
        final_url = story.result.final_url
        if final_url == story.candidate.url:
            return
        if self._frontier.outcome_of(final_url) is Outcome.FETCHED:
            story.outcome = Outcome.DUPLICATE
            story.why = f"it redirects to {final_url}, which was fetched before"
        else:
            self._frontier.mark_seen(final_url, Outcome.FETCHED)

    def _digest(self, story: _Story) -> None:
        """Everything our own code does with a page. A failure costs that page, not the crawl."""
        result = story.result
        try:
            page = result.page or extract_page(result.body, result.final_url, result.content_type)
            story.page = page
            story.relevance = self._judge.judge(page)
            if self._find_duplicate is not None:
                story.duplicate_of = self._find_duplicate(page)
            crawled = CrawledPage(page, story.relevance, story.candidate)
            self._strategy.observe(crawled)
            self._queue(story, page, self._strategy.score_links(crawled))
        except Exception as error:
            _log.exception("Page %s could not be processed", result.final_url)
            story.outcome = Outcome.BROKEN
            story.why = f"{type(error).__name__}: {error}"

    def _queue(self, story: _Story, page: Page, scored: Iterable[ScoredLink]) -> None:
        story.links_found = len(page.links)
        if self._obey_nofollow and (page.nofollow or story.result.nofollow):
            story.why = "it asks not to follow its links"
            return
        in_scope = self._in_scope
        allowed = None
        if in_scope is not None:
            urls = dict.fromkeys(link.url for link in page.links)
            allowed = {url for url in urls if in_scope(url)}
            story.links_outside = sum(link.url not in allowed for link in page.links)
        depth = story.candidate.depth + 1
        story.links_added = self._frontier.add(
            Candidate(item.link.url, item.priority, item.memory, page.url, depth)
            for item in scored
            if (allowed is None or item.link.url in allowed)
            and not (self._obey_nofollow and item.link.nofollow)
        )


class _Story:
    """What is known so far about one candidate's fate."""

    def __init__(self, candidate: Candidate, result: FetchResult) -> None:
        self.candidate = candidate
        self.result = result
        self.outcome = result.outcome
        self.page: Page | None = None
        self.relevance: Relevance | None = None
        self.duplicate_of: str | None = None
        self.links_found = 0
        self.links_added = 0
        self.links_outside = 0
        self.why = result.detail

    def tell(self, number: int, requests_total: int, at: float) -> PageEvent:
        """The finished event."""
        candidate, page = self.candidate, self.page
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
            title=page.title if page else "",
            duplicate_of=self.duplicate_of,
            noindex=self.result.noindex or (page.noindex if page else False),
            at=at,
        )
