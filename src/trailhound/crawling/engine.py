"""The crawl loop: lease → fetch → analyse → digest → keep → finish.

The same loop runs on the live web and in the lab; only the fetcher and the clock differ. One task
keeps fetches going; the other takes fetched pages into the crawl one after the other, in the order
in which their fetches completed. *Analysis* looks at a page alone (extract, judge, score links
where no order matters) and may run on worker processes; *digestion* is what depends on the order.

:func:`trailhound.crawling.build.build_crawl` puts a crawler together.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from trailhound.crawling.analysis import Analysis, AnalystRecipe, PageJob
from trailhound.crawling.answers import Troubles, link_score
from trailhound.crawling.budget import Allowance, Attempts, Budget, RequestLedger, StopReason
from trailhound.crawling.digestion import Digestion, KnownTexts, Story
from trailhound.crawling.driving import drive
from trailhound.crawling.gate import LinkGate
from trailhound.crawling.in_flight import InFlight
from trailhound.crawling.machine import (
    LOOK_EVERY_SECONDS,
    calculate_in_one_thread,
    collect_seldom,
)
from trailhound.crawling.neighbours import BetweenPages, Neighbours
from trailhound.crawling.page_reading import PageReading
from trailhound.crawling.processes import PAGE_LIMITS, PageLimits
from trailhound.crawling.ranking import Ranking, pace_of
from trailhound.crawling.sinks import Sink, SinkChain
from trailhound.errors import SourceError, StorageError, UsageError, plugin_faults
from trailhound.fetching.base import Fetcher
from trailhound.fetching.polite_settings import UNHURRIED
from trailhound.fetching.politeness import Politeness
from trailhound.frontier.base import Frontier
from trailhound.judges.base import RelevanceJudge
from trailhound.records import Candidate, CrawledPage, FetchResult, Outcome, PageEvent
from trailhound.strategies.base import News, Strategy
from trailhound.urls import canonicalize, host_key

T = TypeVar("T")

SEED_PRIORITY = 1e18
"""Above every priority a strategy gives: seeds are fetched first."""

PATIENT_PAGES = 8
"""Times ``concurrency`` pages may wait behind one whose source has not answered yet."""

PAGES_APART = 4
"""Pages beyond ``concurrency`` that may be in the strong room, or wait for it."""

ENDING_SECONDS = 3.0
"""For pages that workers have, when time is up or somebody wants to end; the rest waits for a
resume."""

_AT_ONCE = (StopReason.TIME_SPENT, StopReason.INTERRUPTED)
"""Reasons to end soon."""


class Crawler:
    """Runs one crawl, once.

    * ``in_scope`` says which URLs may be visited at all; links beyond it are counted, not queued.
    * ``gate`` stands in front of the frontier; what it remembers is kept when the crawl ends.
    * ``sinks`` get every page.
    * ``known_texts`` finds near duplicates.
    * ``concurrency`` is how many candidates may be leased and not yet dealt with.
    * ``workers`` above one analyse pages in as many processes. It changes nothing but the speed:
      a strategy that learns while crawling is still asked in this process, page by page. Workers
      get copies of judge and strategy, or make them by ``recipe``. They are of use only with a
      ``concurrency`` that keeps them busy.
    * ``limits`` are those of a page in a worker. There is one more such process, the strong room,
      once a page may be harmful, and one for a judge that may take for ever. Without limits, every
      page is read and judged here: for recorded webs.
    * ``feeds`` says whether the feed that a page names is one of its links.
    * ``asked`` says how many questions sources have been asked so far; they count as requests
      then.
    * ``clock`` is the frontier's: the wall clock when that outlives the process. ``steady`` never
      jumps; the time budget is counted on it.
    * ``has_room`` is asked before fetches; while it says no, the crawl waits.
    * ``ledger`` has every request promised on disk before it is made.
    * ``neighbours`` are crawls that share its web: it does not end while they may bring more.
    * ``troubles`` hears what plug-ins fail at without ending the crawl; each has ``plugin_seconds``
      for a page, fetchers of our own excepted.
    * When every host that has something left wants to be left alone for longer than
      ``patience_seconds``, the crawl ends rather than wait; ``None`` waits for ever.
    * When a host with something much better, by the strategy's ``much_better``, may be asked within
      ``wait_for_better`` seconds, or was asked not longer ago than that, it is waited for.
    """

    def __init__(
        self,
        *,
        strategy: Strategy,
        frontier: Frontier,
        fetcher: Fetcher,
        judge: RelevanceJudge,
        politeness: Politeness | None = None,
        in_scope: Callable[[str], bool] | None = None,
        gate: LinkGate | None = None,
        sinks: Sequence[Sink] = (),
        known_texts: KnownTexts | None = None,
        obey_nofollow: bool = False,
        concurrency: int = 1,
        workers: int = 1,
        recipe: AnalystRecipe | None = None,
        limits: PageLimits | None = PAGE_LIMITS,
        feeds: bool = False,
        asked: Callable[[], int] | None = None,
        patience_seconds: float | None = None,
        wait_for_better: float = 0.0,
        ledger: RequestLedger | None = None,
        has_room: Callable[[], bool] = lambda: True,
        neighbours: Neighbours | None = None,
        troubles: Troubles | None = None,
        plugin_seconds: float | None = None,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.strategy = strategy
        self.judge = judge
        self.frontier = frontier
        self.fetcher = fetcher
        self.politeness = politeness or Politeness(UNHURRIED, frontier, wall_clock=clock)
        self.troubles = troubles or Troubles()
        self.plugin_seconds = plugin_seconds
        self.sinks = SinkChain(sinks, self.troubles, plugin_seconds)
        self.gate = gate
        self.concurrency = concurrency
        self.workers = workers
        self.known_texts = known_texts
        self.obeys_nofollow = obey_nofollow
        self.patience_seconds = patience_seconds
        self.charges_sources = asked is not None
        self._ranking = Ranking(strategy, frontier, in_scope, self.troubles)
        self._reading = PageReading(
            strategy,
            judge,
            with_fingerprints=known_texts is not None,
            workers=workers,
            recipe=recipe,
            limits=limits,
            feeds=feeds,
        )
        self._asked = asked or (lambda: 0)
        self._note_page: Callable[[int], None] = getattr(frontier, "note_page", lambda _: None)
        self.ledger = ledger or RequestLedger()
        self._has_room = has_room
        self._neighbours = neighbours
        self._between_pages = BetweenPages(frontier.commit, lambda: self._woken.set())
        self._budget = Budget()
        self._waits_for_better = wait_for_better
        self._much_better = pace_of(strategy).much_better
        self._better_ready_in: Callable[[float, float, float, Mapping[str, float]], float | None]
        self._better_ready_in = getattr(frontier, "better_in", lambda *_: None)
        self._allowance = Allowance(None, self._spent)
        self._clock = clock
        self._steady = steady
        self.put_off_heard: Callable[[Candidate, FetchResult], None] = lambda *_: None
        """Told of each URL that waits for another attempt, and what came of this one."""
        self._digestion = Digestion(
            strategy,
            frontier,
            in_scope=in_scope,
            known_texts=known_texts,
            obey_nofollow=obey_nofollow,
            left_out=gate.left_out if gate is not None and gate.leaving is not None else None,
        )
        self._paid = 0
        """Questions to sources that are counted as requests already."""
        self._attempts = Attempts()
        self._stop_wish: StopReason | None = None
        self._started = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()
        self._is_mid_page = False
        """A page has entered the frontier and its lease has not ended: nothing may be leased."""
        self.requests = 0
        """Requests so far, questions to sources included; a resumed crawl goes on from its own."""
        self.pages = 0
        """Candidates dealt with so far; likewise."""
        self.stop_reason: StopReason | None = None

    @property
    def put_off(self) -> dict[str, str]:
        """Why hosts are to be asked again later; those that have answered since are gone."""
        return self._attempts.put_off

    @property
    def in_trouble(self) -> dict[str, str]:
        """Those of them that did not answer, or not as they should."""
        return self._attempts.in_trouble

    def run(
        self,
        seeds: Iterable[str],
        *,
        max_requests: int | None = None,
        max_seconds: float | None = None,
    ) -> Generator[PageEvent]:
        """:meth:`crawl` in an event loop of its own; closes the fetcher."""
        events = self.crawl(map(_canonical_seed, seeds), Budget(max_requests, max_seconds))
        return drive(events, self.fetcher.close)

    async def crawl(self, seeds: Iterable[str], budget: Budget) -> AsyncGenerator[PageEvent]:
        """Crawl from ``seeds`` (canonical URLs); one event per candidate, until something ends."""
        self.stop_reason = None
        self._is_mid_page = False
        self._loop, self._woken = asyncio.get_running_loop(), asyncio.Event()
        self._paid = self._asked()
        self._budget = budget
        self.ledger.limit = budget.max_requests
        self._allowance = allowance = Allowance(
            budget.max_requests, self._spent, self.ledger.promise
        )
        self._digestion.may_ask = lambda: allowance.left() != 0
        in_flight = InFlight(
            self.fetcher,
            self.politeness,
            self._reading.pool(),
            self._reading.strong_room(),
            self._digestion.has,
            self._is_ending,
            allowance,
            self._woken.set,
            self.plugin_seconds,
        )
        self._started = self._steady()
        self.frontier.add(Candidate(url, SEED_PRIORITY) for url in seeds)
        restore_threads = calculate_in_one_thread()
        restore_collector = collect_seldom()
        fetching: asyncio.Task[None] | None = None
        company: asyncio.Task[None] | None = None
        try:
            self._ranking.enter()
            await in_flight.open()
            company = self._work_with_neighbours()
            fetching = asyncio.create_task(self._keep_fetching(in_flight, allowance))
            fetching.add_done_callback(lambda _: in_flight.end())
            while (landed := await in_flight.next()) is not None:
                event = await self._process(*landed, in_flight)
                if event is not None:
                    yield event
                in_flight.done()
            await fetching
            if company is not None and company.done():
                company.result()  # raises: it ends by itself only when something has failed
        finally:
            if self.stop_reason is None:
                self.stop_reason = self._stop_wish or StopReason.INTERRUPTED
            self._stop_wish = None
            for task in filter(None, (fetching, company)):
                task.cancel()
                await asyncio.wait([task])
            await in_flight.close()
            self._between_pages.cancel()
            self.requests += allowance.under_way()  # they were made, and nothing came of them
            restore_threads()
            restore_collector()
            if self.gate is not None:
                with suppress(StorageError):  # when the disk is full, something else says so
                    self.gate.close()

    def stop(self, reason: StopReason = StopReason.INTERRUPTED) -> None:
        """Start no further fetch, and end when those in flight have been dealt with.

        May be called from anywhere, also from a signal handler or another thread.
        """
        self._stop_wish = reason
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._woken.set)

    def heed(self, news: Sequence[News]) -> None:
        """Let a strategy that shares learn from pages of others. To be called between two pages."""
        self._ranking.heed(news)

    def allow(self, max_requests: int | None) -> int | None:
        """Set another limit while the crawl runs, in its event loop; the limit from now on.

        That is never below what has been made or is under way.
        """
        if max_requests is not None:
            max_requests = max(max_requests, self._allowance.used())
        self._budget = replace(self._budget, max_requests=max_requests)
        self._allowance.max_requests = self.ledger.limit = max_requests
        self._woken.set()
        return max_requests

    @property
    def limit(self) -> int | None:
        """Requests that it may make in all."""
        return self._budget.max_requests

    async def between_pages(self, work: Callable[[], T]) -> T:
        """What comes of ``work``, done when no page is half way through the frontier.

        Whatever it changed there is on disk afterwards. For the crawl's event loop, while it runs.
        """
        if self.stop_reason is not None:
            raise UsageError("The crawl has ended, and takes nothing in any more. Resume it.")
        return await self._between_pages.wait_for(work)

    def _work_with_neighbours(self) -> asyncio.Task[None] | None:
        if self._neighbours is None:
            return None
        company = asyncio.create_task(self._neighbours.work(self))
        company.add_done_callback(lambda _: self.stop())
        return company

    def _spent(self) -> int:
        """Requests so far, with questions that a page has asked and not paid for yet."""
        return self.requests + self._asked() - self._paid

    def before_asking(self) -> None:
        """A source is about to be asked, and counts it; SourceError when no request is left."""
        if not self._allowance.ask():
            raise SourceError(
                "No request is left in the crawl's budget to ask a source. Allow more with "
                "--max-requests."
            )

    # One task: lease and fetch

    async def _keep_fetching(self, in_flight: InFlight, allowance: Allowance) -> None:
        """Keep as many fetches going as may be, until something ends the crawl."""
        deadline: float | None = None
        while True:
            budget, seconds = self._budget, self._steady() - self._started
            spent = self._stop_wish or budget.spent(self.requests, seconds)
            has_room = self._has_room()
            if spent in _AT_ONCE and self._reading.limits is not None:
                deadline = deadline or seconds + min(ENDING_SECONDS, self._reading.limits.seconds)
                if seconds >= deadline:
                    in_flight.leave_analyses()
            if not self._is_mid_page:
                self._between_pages.work()
                self.politeness.follow_wall_clock()
                if spent is None and has_room:
                    self._start_fetches(in_flight, allowance)
            if len(in_flight):
                left = self._seconds_left(deadline or budget.max_seconds, seconds)
                await self._sleep(_soonest(left, self._host_ready_in(in_flight)))
                continue
            if not has_room and spent is None:
                await self._sleep(budget.within(LOOK_EVERY_SECONDS, seconds))
                continue
            reason = spent or await self._wait_for_a_host(budget, seconds)
            if reason and not await self._waits_for_neighbours(reason):
                self.stop_reason = reason
                return

    def _is_ending(self) -> bool:
        """Whether no request is to be begun any more, not even behind a redirect."""
        spent = self._budget.spent(self.requests, self._steady() - self._started)
        return self._stop_wish is not None or spent is StopReason.TIME_SPENT

    async def _waits_for_neighbours(self, reason: StopReason) -> bool:
        """Whether others may bring what the crawl lacks; if so, something has happened since."""
        if reason in _AT_ONCE or self._neighbours is None:
            return False
        if not self._neighbours.may_bring_more(reason):
            return False
        is_asleep = reason is StopReason.HOSTS_ASLEEP
        await self._sleep(self.frontier.ready_in(self._clock()) if is_asleep else None)
        return True

    def _seconds_left(self, end: float | None, seconds: float) -> float | None:
        """Until analyses that go on then are to be looked at; ``None`` when none has a limit."""
        is_ahead = end is not None and end > seconds and self._reading.limits is not None
        return end - seconds if end is not None and is_ahead else None

    def _start_fetches(self, in_flight: InFlight, allowance: Allowance) -> None:
        """One after the other: a host that has been leased from is not ready any more."""
        while len(in_flight) < self._room(in_flight) and allowance.left() != 0:
            if self._better_in(in_flight) is not None:
                return
            leased = self.frontier.lease(1, self._clock())
            if not leased:
                return
            in_flight.fetch(leased[0])

    def _host_ready_in(self, in_flight: InFlight) -> float | None:
        """A host may become ready while the fetches in flight hang: wake up for it."""
        if len(in_flight) >= self._room(in_flight) or self._is_mid_page:
            return None
        better = self._better_in(in_flight)
        return better if better is not None else self.frontier.ready_in(self._clock()) or None

    def _better_in(self, in_flight: InFlight | None = None) -> float | None:
        """Seconds until something much better is ready than what is; ``None``: fetch what is.

        Requests are dear then, and time is not: a crawl that is limited by its time never waits.
        """
        if self._much_better is None or not self._waits_for_better:
            return None
        seconds = self._waits_for_better
        asked = in_flight.worth_a_wait(seconds) if in_flight is not None else {}
        return self._better_ready_in(self._clock(), seconds, self._much_better, asked)

    def _room(self, in_flight: InFlight) -> int:
        """Candidates that may be in flight: more while a page waits for the answer of a source."""
        room = self.concurrency * (PATIENT_PAGES if self._digestion.awaits_answer else 1)
        return room + min(in_flight.apart, PAGES_APART)

    async def _wait_for_a_host(self, budget: Budget, spent_seconds: float) -> StopReason | None:
        """Sleep until some host may be asked again; a reason to stop when none ever will be."""
        better = self._better_in()
        seconds = better if better is not None else self.frontier.ready_in(self._clock())
        if seconds is None:
            return None if self._ranking.restock() else StopReason.FRONTIER_EMPTY
        if self.patience_seconds is not None and seconds > self.patience_seconds:
            return StopReason.HOSTS_ASLEEP
        await self._sleep(budget.within(seconds, spent_seconds))
        return None

    async def _sleep(self, seconds: float | None) -> None:
        """Until something happens, or for so long."""
        self._woken.clear()
        alarm = None
        if seconds is not None:
            alarm = asyncio.get_running_loop().call_later(seconds, self._woken.set)
        await self._woken.wait()
        if alarm is not None:
            alarm.cancel()

    # The other task: analyse, digest, keep, finish

    async def _process(
        self, story: Story, analysis: Analysis | None, in_flight: InFlight
    ) -> PageEvent | None:
        """Deal with what came back; ``None`` when the URL waits, or is set apart."""
        candidate, result = story.candidate, story.result
        if not story.is_set_apart:
            self.requests += result.requests
            if self._is_put_off(story):
                return None
        is_new = self._digestion.is_new(story)
        if is_new:
            job, host = PageJob.of(candidate, result), host_key(result.final_url)
            analysis = self._reading.complete(analysis, job, host)
            if analysis is None:
                in_flight.set_apart(story)
                return None
        self.pages += 1
        if is_new and analysis is not None:
            await self._digestion.digest(story, analysis)
        queries = self._asked() - self._paid
        self._paid += queries
        self.requests += queries
        self._is_mid_page = True
        self._digestion.take_in(story)
        finished = story.finished(self.pages, self.requests, queries, self._clock())
        self.ledger.renew(self._allowance.used())
        await self.sinks.keep(finished)
        self._note_page(self.pages)
        self.frontier.finish(candidate.url, self._digestion.lasting_outcome(story))
        self._is_mid_page = False
        self._ranking.regret(candidate, story.outcome)
        self._ranking.rank_anew(self.pages)
        return finished.event

    def _is_put_off(self, story: Story) -> bool:
        """Whether the URL waits for another attempt; counted once for each fetch."""
        candidate, result = story.candidate, story.result
        is_unfollowed = story.was_redirected and result.outcome is Outcome.POSTPONED
        if (story.ends_elsewhere or is_unfollowed) and result.retry_after_seconds is not None:
            story.outcome = Outcome.POSTPONED  # what is behind the redirect waits for its own turn
            return False
        if not self._attempts.comes_again(candidate, result) or self._digestion.is_known(story):
            return False
        self.frontier.requeue([candidate])
        self.put_off_heard(candidate, result)
        return True

    def take_in_again(self, story: Story, number: int) -> None:
        """A page that the other stores have, and that the frontier lost: its links wait again.

        The story has its page, if there was one; the strategy is asked about its links only.
        """
        if story.page is not None and story.relevance is not None:
            crawled = CrawledPage(story.page, story.relevance, story.candidate)
            try:
                story.scores = list(map(link_score, self.strategy.score_links(crawled)))
            except plugin_faults() as error:
                self.troubles.note("The strategy, shown a page again,", error)
        self._digestion.take_in(story)
        self._note_page(number)
        self.frontier.finish(story.candidate.url, self._digestion.lasting_outcome(story))


def _soonest(*seconds: float | None) -> float | None:
    return min((each for each in seconds if each is not None), default=None)


def _canonical_seed(url: str) -> str:
    canonical = canonicalize(url)
    if canonical is None:
        raise UsageError(f"The seed '{url}' is no web address. Write it as https://example.org/.")
    return canonical
