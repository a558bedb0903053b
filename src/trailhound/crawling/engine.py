"""The crawl loop: lease → fetch → analyse → digest → keep → finish.

The same loop runs on the live web and in the lab; only the fetcher differs. *Analysis* looks at a
page alone (extract, judge, score links where no order matters) and may run on worker processes;
*digestion* takes pages into the crawl one after the other, in the order in which their fetches
completed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from functools import partial

from threadpoolctl import threadpool_limits

from trailhound.crawling.allowance import Allowance
from trailhound.crawling.analysis import Analysis, Analyst, AnalystRecipe, PageJob
from trailhound.crawling.attempts import Attempts
from trailhound.crawling.digestion import Digestion, KnownTexts
from trailhound.crawling.driving import drive
from trailhound.crawling.in_flight import InFlight
from trailhound.crawling.keeping import Keeper
from trailhound.crawling.meanwhile import meanwhile, sleep_until
from trailhound.crawling.stopping import Budget, StopReason
from trailhound.crawling.story import Story
from trailhound.crawling.worker_pool import WorkerPool
from trailhound.errors import UsageError
from trailhound.fetching.base import Fetcher, PoliteFetcher
from trailhound.frontier.base import Frontier
from trailhound.judges.base import RelevanceJudge
from trailhound.records import Candidate, FetchResult, Outcome, Page, PageEvent
from trailhound.strategies.base import (
    Rescoring,
    Restocking,
    Strategy,
    learns_online,
    reads_surroundings,
)
from trailhound.urls import canonicalize, host_key

SEED_PRIORITY = 1e18
"""Above every priority a strategy gives: seeds are fetched first."""

RESCORE_EVERY = 50
"""Fetches between two offers to a learning strategy to re-rank what waits."""

RESTOCK_ATTEMPTS = 50
"""Times that a strategy is asked for more when all it named was known or out of scope."""


class Crawler:
    """Runs one crawl.

    * ``in_scope`` says which URLs may be visited at all; links beyond it are counted, not queued.
    * ``keepers`` get every page.
    * ``known_texts`` finds near duplicates by fingerprint; ``find_duplicate`` by any other means.
    * ``concurrency`` is how many candidates may be leased and not yet dealt with. Pages are dealt
      with in the order in which their fetches complete.
    * ``workers`` above one analyse pages in as many processes. It changes nothing but the speed:
      a strategy that learns while crawling is still asked in this process, page by page. Workers
      get copies of judge and strategy, or make them by ``recipe``. They are of use only with a
      ``concurrency`` that keeps them busy.
    * ``strategy_waits`` is for a strategy that may have to wait for an answer from elsewhere while
      it looks at a page: it does so in a thread, and fetches go on.
    * ``surroundings`` gives keepers and judges links with the words, heading and tag path around
      them even if the strategy does not read these.
    * ``clock`` must be the wall clock when the frontier outlives the process.
    * When every host that has something left wants to be left alone for longer than
      ``patience_seconds``, the crawl ends rather than wait; ``None`` waits for ever.
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
        known_texts: KnownTexts | None = None,
        obey_nofollow: bool = False,
        concurrency: int = 1,
        workers: int = 1,
        recipe: AnalystRecipe | None = None,
        strategy_waits: bool = False,
        surroundings: bool = False,
        patience_seconds: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._rescoring = strategy if isinstance(strategy, Rescoring) else None
        self._restocking = strategy if isinstance(strategy, Restocking) else None
        self._in_scope = in_scope
        self._frontier = frontier
        self._fetcher = fetcher
        self._polite = fetcher if isinstance(fetcher, PoliteFetcher) else None
        self._keepers = keepers
        self._concurrency = concurrency
        self._workers = workers
        self._strategy_waits = strategy_waits
        self._patience_seconds = patience_seconds
        self._clock = clock
        analyst = partial(
            Analyst,
            judge,
            with_fingerprints=known_texts is not None,
            surroundings=surroundings or reads_surroundings(strategy),
        )
        self._analyst = analyst()
        scoring = analyst if learns_online(strategy) else partial(analyst, strategy)
        self._recipe = recipe or scoring
        self._digestion = Digestion(
            strategy,
            frontier,
            in_scope=in_scope,
            find_duplicate=find_duplicate,
            known_texts=known_texts,
            obey_nofollow=obey_nofollow,
            in_thread=strategy_waits,
        )
        self._stop_wish: StopReason | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()
        self._attempts = Attempts()
        self.requests = 0
        """GETs issued so far; a resumed crawl goes on from what it is set to."""
        self.pages = 0
        """Candidates dealt with so far; likewise."""
        self.stop_reason: StopReason | None = None

    @property
    def put_off(self) -> dict[str, str]:
        """Why hosts are to be asked again later; those that have answered since are gone."""
        return self._attempts.put_off

    def run(
        self,
        seeds: Iterable[str],
        *,
        max_pages: int | None = None,
        max_seconds: float | None = None,
    ) -> Generator[PageEvent]:
        """Crawl from ``seeds`` in an event loop of its own."""
        events = self.crawl(map(_canonical_seed, seeds), Budget(max_pages, max_seconds))
        return drive(events, self._fetcher.close)

    async def crawl(self, seeds: Iterable[str], budget: Budget) -> AsyncGenerator[PageEvent]:
        """Crawl from ``seeds`` (canonical URLs); one event per candidate, until something ends."""
        started = self._clock()
        self.stop_reason = None
        self._loop, self._woken = asyncio.get_running_loop(), asyncio.Event()
        pool = WorkerPool(self._recipe, self._workers) if self._workers > 1 else None
        allowance = Allowance(budget.max_pages, lambda: self.requests)
        in_flight = InFlight(self._fetcher, self._woken, pool, self._digestion.is_known, allowance)
        self._frontier.add(Candidate(url, SEED_PRIORITY) for url in seeds)
        # As in the workers: sums in another order would let priorities depend on the machine.
        one_thread = threadpool_limits(limits=1)
        try:
            await in_flight.open()
            while True:
                spent = self._spent(budget, started)
                if spent is None:
                    self._start_fetches(in_flight, allowance.left())
                if not in_flight:
                    self.stop_reason = spent or await self._wait_for_a_host(budget, started)
                    if self.stop_reason:
                        return
                    continue
                await self._wait_for_news(in_flight)
                self._land(in_flight)
                for story, analysis in in_flight.ready():
                    # At once: what a fetch has cost is no longer set aside for it.
                    self.requests += story.result.requests
                    dealing = self._process(story, analysis)
                    if self._strategy_waits:
                        go_on = partial(self._go_on, story, in_flight, allowance, budget, started)
                        dealing = meanwhile(dealing, self._woken, go_on)
                    event = await dealing
                    if event is not None:
                        yield event
        finally:
            if self.stop_reason is None:
                self.stop_reason = self._stop_wish or StopReason.INTERRUPTED
            self._stop_wish = None
            one_thread.restore_original_limits()
            await in_flight.close()

    def stop(self, reason: StopReason = StopReason.INTERRUPTED) -> None:
        """Start no further fetch, and end when those in flight have been dealt with.

        May be called from anywhere, also from a signal handler or another thread.
        """
        self._stop_wish = reason
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._woken.set)

    def _spent(self, budget: Budget, started: float) -> StopReason | None:
        return self._stop_wish or budget.spent(self.requests, self._clock() - started)

    def _go_on(
        self,
        story: Story,
        in_flight: InFlight,
        allowance: Allowance,
        budget: Budget,
        started: float,
    ) -> float | None:
        """Let fetches end and begin while a page is dealt with; seconds until the next can."""
        if story.was_redirected:
            return None  # its end is marked before its links are known: no lease between
        self._land(in_flight)
        if self._spent(budget, started) is None:
            self._start_fetches(in_flight, allowance.left())
        return self._host_ready_in(in_flight)

    def _land(self, in_flight: InFlight) -> None:
        for result in in_flight.land():
            self._delay_hosts(result)

    def _start_fetches(self, in_flight: InFlight, requests_left: int | None) -> None:
        room = self._concurrency - len(in_flight)
        if requests_left is not None:
            room = min(room, requests_left)
        if room <= 0:
            return
        now = self._clock()
        for candidate in self._frontier.lease(room, now):
            if self._polite is not None:
                # Before the request: a process killed in mid-flight still respects the delay.
                delay = self._polite.delay_after(candidate.url)
                self._frontier.delay_host(host_key(candidate.url), now + delay)
            in_flight.fetch(candidate)

    async def _wait_for_a_host(self, budget: Budget, started: float) -> StopReason | None:
        """Sleep until some host may be asked again; a reason to stop when none ever will be."""
        now = self._clock()
        seconds = self._frontier.ready_in(now)
        if seconds is None:
            return None if self._restocked() else StopReason.FRONTIER_EMPTY
        if self._patience_seconds is not None and seconds > self._patience_seconds:
            return StopReason.HOSTS_ASLEEP
        if budget.max_seconds is not None:
            seconds = min(seconds, max(0.0, started + budget.max_seconds - now))
        await sleep_until(self._woken, seconds)
        return None

    def _restocked(self) -> bool:
        """Ask a strategy that knows more where to go on; whether there is something new."""
        if self._restocking is None:
            return False
        allowed = self._in_scope or (lambda _url: True)
        for _ in range(RESTOCK_ATTEMPTS):
            found = list(self._restocking.restock())
            if self._frontier.add(each for each in found if allowed(each.url)):
                return True
            if not found:
                break
        return False

    async def _wait_for_news(self, in_flight: InFlight) -> None:
        if not in_flight.has_news:
            await sleep_until(self._woken, self._host_ready_in(in_flight))

    def _host_ready_in(self, in_flight: InFlight) -> float | None:
        """A host may become ready while the fetches in flight hang: wake up for it."""
        if len(in_flight) >= self._concurrency:
            return None
        return self._frontier.ready_in(self._clock()) or None

    async def _process(self, story: Story, analysis: Analysis | None) -> PageEvent | None:
        """Deal with what came back; ``None`` when the URL waits for another attempt."""
        candidate, result = story.candidate, story.result
        if self._attempts.comes_again(candidate, result):
            self._frontier.requeue([candidate])
            return None
        self.pages += 1
        if story.outcome is Outcome.FETCHED and self._digestion.claim(story):
            analysis = analysis or self._analyst.analyse(PageJob.of(candidate, result))
            await self._digestion.digest(story, analysis)
        elif story.outcome is Outcome.POSTPONED:
            self._digestion.queue_redirect(story)
        event = story.tell(self.pages, self.requests, self._clock())
        for keeper in self._keepers:
            keeper.keep(event, candidate, result, story.page)
        self._frontier.finish(candidate.url, event.outcome)
        if self._rescoring is not None and self.pages % RESCORE_EVERY == 0:
            self._frontier.rescore(self._rescoring.rescore)
        return event

    def _delay_hosts(self, result: FetchResult) -> None:
        now = self._clock()
        for host, seconds in result.host_delays:
            self._frontier.delay_host(host, now + max(seconds, result.retry_after_seconds or 0.0))


def _canonical_seed(url: str) -> str:
    canonical = canonicalize(url)
    if canonical is None:
        raise UsageError(f"The seed '{url}' is no web address. Write it as https://example.org/.")
    return canonical
