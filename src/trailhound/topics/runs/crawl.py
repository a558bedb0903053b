"""One run of a topic's crawl: the parts put together, run, and left in order."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, aclosing, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Self

from trailhound.config.settings import FetchSettings
from trailhound.counting import counted
from trailhound.crawling.answers import Troubles
from trailhound.crawling.budget import StopReason
from trailhound.crawling.build import Guides, Knowledge, OwnParts, build_crawl, make_guides
from trailhound.crawling.choosing import make_fetcher
from trailhound.crawling.driving import Driver
from trailhound.crawling.machine import DiskWatch
from trailhound.crawling.progress import CrawlProgress
from trailhound.crawling.scope import Scope, make_scope, scope_of
from trailhound.errors import StorageError, TrailhoundError, UsageError
from trailhound.fetching.base import Fetcher, Validators
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.politeness import Politeness
from trailhound.fetching.robots import product_token
from trailhound.frontier.base import FrontierStats
from trailhound.judges.base import RelevanceJudge
from trailhound.records import Candidate, FetchResult, PageEvent
from trailhound.sources import Sources
from trailhound.storage.event_log import PUT_OFF
from trailhound.storage.results import ResultsProgress, ResultsStore
from trailhound.storage.visit_reading import found_at
from trailhound.strategies.base import Strategy
from trailhound.topics.crawls.folder import CrawlFolder, CrawlRecord
from trailhound.topics.crawls.marking import heed_marks
from trailhound.topics.crawls.notices import CrawlNotices, Failure, Notify, SeedWatch, why_put_off
from trailhound.topics.runs.beacon import CrawlBeacon
from trailhound.topics.runs.judging import OWN_JUDGE, judged_by, threshold_in
from trailhound.topics.runs.mending import Mending
from trailhound.topics.runs.plan import (
    CrawlPlan,
)
from trailhound.topics.runs.refreshing import LookedAgain, Refresh, left_by_a_refresh, note_refresh
from trailhound.topics.runs.seed_sitemaps import SeedSitemaps, seeds_with_lists_read
from trailhound.topics.runs.sources import (
    LiveBacklinks,
    asked_on_the_way,
    open_sources,
    tell_unused,
)
from trailhound.topics.runs.starts import (
    queue_closed,
    queue_failed_seeds,
    queue_refresh,
    search_seeds,
    topic_words,
)
from trailhound.topics.runs.stores import CrawlEnd, CrawlStores
from trailhound.topics.runs.strategy_memory import StrategyMemory, crawl_to_learn_from, pages_since

if TYPE_CHECKING:
    from prometheus_client.registry import Collector


_CLOCK_AHEAD_SECONDS = 60.0
"""Of a page that lies so far in the future, the clock was put back since."""


class EarlierRuns(NamedTuple):
    """What a crawl had come to before this run."""

    requests: int
    pages: int
    finds: int


class TopicCrawl:
    """A crawl that is ready to run, once. Close it, or use it in a ``with`` statement."""

    def __init__(
        self,
        folder: CrawlFolder,
        plan: CrawlPlan,
        known: Knowledge,
        own: OwnParts,
        stack: ExitStack,
        notify: Notify,
        beacon: CrawlBeacon,
    ) -> None:
        self.folder = folder
        self.settings = plan.settings
        self._notices = CrawlNotices(notify)
        self._stack = stack
        self._beacon = beacon
        self.refresh = Refresh()
        """Finds of earlier runs that are asked for news."""
        self.is_stopping = False
        """Whether somebody has called :meth:`stop`."""
        self._driver = Driver()
        stack.callback(self._driver.close)
        sources = open_sources(folder, plan.settings, notify)
        stack.callback(sources.close)
        # Only fetchers that ask nobody come without a user agent as far as here.
        if own.fetcher is None and plan.settings.fetch.user_agent.strip():
            HttpFetcher.from_settings(plan.settings.fetch)  # raises before anybody is asked
        self._plan = plan = self._with_seeds(plan, known, sources)
        self._in_scope = scope_of(plan.settings, plan.all_seeds)
        self._record = self._new_record(known)
        guides = self._driver.run(make_guides(plan.settings, known, sources, own=own))
        tell_unused(sources, plan.settings, notify, plan.asked_elsewhere)
        self._asked = asked_on_the_way(sources)
        troubles = Troubles(self._notices.tell_trouble)
        remembered = folder.strategy if folder.is_kept else None
        self._memory = StrategyMemory(guides.strategy, remembered, troubles)
        if plan.record is not None:
            self._memory.restore(notify)
        elif not plan.fresh and folder.is_kept:
            self._inherit(known, own)
        self._aside = folder.set_aside() if plan.record is None else None
        if plan.record is None:
            stack.callback(folder.put_back, self._aside)
        read = {page.url for page in known.graph.pages}
        self._stores = CrawlStores(folder, plan.settings, read, stack, own.sinks)
        stack.callback(lambda: self._driver.run(self._stores.unplug(troubles)))
        self._let_hosts_rest(sources)
        self._inherit_finds()
        self._mending = self._new_mending(guides, own)
        if plan.record is not None:
            self._mending.before_the_crawl()
        self._note_verdicts(guides.judge, known, own)
        if plan.record is not None:
            self._memory.catch_up(partial(pages_since, folder))
        min_free = plan.settings.crawl.min_free if folder.is_kept else 0
        self.disk = DiskWatch(
            folder.path, min_free, self._notices.tell_trouble, free=own.free_bytes
        )
        self._crawler = build_crawl(
            plan.settings,
            guides,
            partial(_fetcher, plan.settings.fetch, own),
            replace(self._stores.for_crawl(self._memory), has_room=self.disk.has_room),
            in_scope=self._in_scope,
            troubles=troubles,
            neighbours=own.neighbours,
        )
        if plan.record is not None:
            self._mending.before_the_fetching(self._crawler)
        theirs = own.neighbours.own if own.neighbours is not None else lambda _: False
        self._own_seeds = [url for url in plan.all_seeds if not theirs(url)]
        self._seeds = SeedWatch(self._own_seeds, self._notices.tell_trouble)
        self._crawler.put_off_heard = self._note_put_off
        self._works_alone = own.neighbours is None
        self.sitemaps = self._new_sitemaps()
        """Read before the first page; a crawl with neighbours leaves that to them."""
        if plan.record is not None:
            self._ask_again(plan.newly_as_me)
        self._go_on_from(self._stores.results.progress(), sources.asked(), self._refreshed())
        self._end = CrawlEnd(
            self._crawler, self.progress, self._stores, self._memory, self._notices
        )

    def _let_hosts_rest(self, sources: Sources) -> None:
        """Those whose pages were read to learn from, as long as they have asked for it."""
        frontier, now = self._stores.frontier, time.time()
        rests = sources.backlinks.resting() if isinstance(sources.backlinks, LiveBacklinks) else {}
        for host, until in rests.items():
            if until > max(now, frontier.ready_at(host) or 0.0):
                frontier.delay_host(host, until)

    def _with_seeds(self, plan: CrawlPlan, known: Knowledge, sources: Sources) -> CrawlPlan:
        """A new crawl that is to start from a search asks it now, once; one without says where."""
        crawl = plan.settings.crawl
        if plan.told_of_seeds:
            self._notices.tell(plan.told_of_seeds)
        if not crawl.seeds_from or plan.record is not None or sources.search is None:
            return plan
        words = topic_words(crawl.strategy, known.model, self.folder.topic.name)
        in_scope = make_scope(crawl.scope, crawl.exclude, ())
        found = self._driver.run(search_seeds(sources.search, words, in_scope))
        self._notices.tell(
            f"The search for '{words}' names {counted(len(found), 'page')} to start from."
        )
        return replace(plan, seeds=tuple(dict.fromkeys((*plan.seeds, *found))))

    def _inherit(self, known: Knowledge, own: OwnParts) -> None:
        """A new crawl begins with what the last one by this strategy has learned."""
        earlier = crawl_to_learn_from(self.folder, self.settings, known.fingerprint)
        if earlier is not None and own.strategy is None:
            path, is_same = earlier
            in_full = is_same and own.judge is None
            self._memory.inherit(path, in_full=in_full, notify=self.notify)

    def _note_verdicts(self, judge: RelevanceJudge, known: Knowledge, own: OwnParts) -> None:
        """Who judges from here on, and what people have marked."""
        by = judged_by(judge, self.settings, known) if own.judge is None else None
        name = OWN_JUDGE if by is None else by.judge
        self._stores.results.note_judge(name, threshold_in(judge))
        if self.folder.is_kept:
            heed_marks(self.folder)

    def _inherit_finds(self) -> None:
        """What the crawl before this one has found is not new when it is found again."""
        earlier = self._aside / self.folder.results.name if self._aside is not None else None
        if earlier is not None and earlier.is_file():
            with suppress(StorageError):  # a damaged crawl never keeps a new one from beginning
                self._stores.results.inherit_finds(found_at(earlier))

    def _new_mending(self, guides: Guides, own: OwnParts) -> Mending:
        before = self._plan.record.settings if self._plan.record is not None else self.settings
        over_http = own.fetcher is None and before.fetch.is_over_http
        return Mending(
            self.folder,
            self._stores,
            guides.judge,
            near_duplicates=self.settings.crawl.near_duplicates,
            was_archived=before.output.archive and over_http,
            thorough=self._plan.mends_all,
            product=product_token(before.fetch.user_agent),
        )

    def _refreshed(self) -> int:
        """Pages that are to be asked for news, if that is wanted."""
        if self._plan.record is None:
            return 0
        results, frontier = self.folder.results, self._stores.frontier
        left = left_by_a_refresh(self._stores.results, frontier)
        if not self._plan.refresh:
            if left and (http := self._over_http()) is not None:
                self._look_again(http, left)
                self._notices.tell(f"{counted(len(left), 'find')} still to be asked for news.")
            return 0
        fetcher = self._http_fetcher("--refresh")
        made = self._stores.results.promised[0]
        limit = self._plan.budget(made, 1).max_requests  # raises before any page waits
        due_by = time.time() if self._plan.only_due else None
        most: int | None = None
        if self._plan.only_due and self._plan.limit_was_said and limit is not None:
            most = max(1, (limit - made) // 2)  # the other half is for what is new
        note_refresh(self._stores.results)
        versions = left | queue_refresh(results, frontier, due_by, most)
        self._look_again(fetcher, versions)
        self._notices.tell(f"{counted(len(versions), 'relevant page')} will be asked for news.")
        return len(versions)

    def _look_again(self, fetcher: HttpFetcher, versions: dict[str, Validators]) -> None:
        fetcher.versions = versions
        self.refresh = Refresh(versions, time.time())
        if self._crawler.gate is not None:
            self._crawler.gate.looked_at_again = self.refresh.addresses

    def looked_again(self) -> LookedAgain | None:
        """What another look at finds has brought so far; ``None`` when none was wanted."""
        return self.refresh.told_by(self.folder.results)

    def _tell_what_is_new(self) -> None:
        told = self.looked_again()
        if told is not None:
            self._notices.tell_trouble(str(told))  # a disk may be full by now

    def _ask_again(self, newly_as_me: frozenset[str]) -> None:
        """Seeds that failed; pages that asked to log in, where there is something to show now."""
        frontier = self._stores.frontier
        if failed := queue_failed_seeds(frontier, self._own_seeds):
            seeds = counted(failed, "seed")
            self._notices.tell(f"{seeds} that could not be fetched will be asked for again.")
        closed = queue_closed(self.folder.results, frontier, newly_as_me) if newly_as_me else 0
        if closed:
            pages = counted(closed, "page")
            self._notices.tell(f"{pages} that asked to log in will be asked for again.")

    def _new_sitemaps(self) -> SeedSitemaps | None:
        """Those of seeds for which they were not read to their end yet, if they are wanted."""
        if not self.settings.crawl.sitemaps:
            return None
        read = seeds_with_lists_read(self._stores.results)
        seeds = [url for url in self._own_seeds if url not in read]
        if not seeds:
            return None
        return SeedSitemaps(
            seeds,
            self._http_fetcher("--sitemaps"),
            self._crawler,
            self._stores.results,
            self._in_scope,
            self.notify,
            self._may_ask,
            lambda: self.is_stopping,
        )

    def _over_http(self) -> HttpFetcher | None:
        fetcher = self._crawler.fetcher
        http = getattr(fetcher, "http", fetcher)  # what renders pages has one inside
        return http if isinstance(http, HttpFetcher) else None

    def _http_fetcher(self, option: str) -> HttpFetcher:
        http = self._over_http()
        if http is None:
            raise UsageError(
                f"{option} is for crawls over HTTP, and this one has the fetcher "
                f"'{self.settings.fetch.fetcher}'. Leave it out, or take --fetcher http."
            )
        return http

    def _go_on_from(self, earlier: ResultsProgress, asked: int, to_refresh: int) -> None:
        """Counters go on; what the strategy asked to learn, just now, is charged as well.

        So do the hosts' times, by the clock of now, should that have been put back.
        """
        ahead = earlier.last_at - time.time()
        if ahead > _CLOCK_AHEAD_SECONDS:
            self._stores.frontier.put_clock(-ahead)
        spent = earlier.requests + (asked if self.settings.crawl.charge_sources else 0)
        self.budget = self._plan.budget(spent, to_refresh)
        self._crawler.pages, self._crawler.requests = earlier.pages, spent
        self.before = EarlierRuns(earlier.requests, earlier.pages, self._stores.results.finds())
        self.progress = CrawlProgress(
            self.budget, time.time(), requests_before=spent, barren=earlier.barren
        )
        self._began = time.monotonic()

    def begin(self) -> None:
        """Write down what is crawled, with its seeds; :meth:`run` does so at the latest.

        Only now a new crawl takes the place of the earlier one: what cannot be opened, or is closed
        before, leaves that as it was.
        """
        self.folder.write(self._record)
        self._memory.begin()

    def run(self) -> Generator[PageEvent]:
        """Crawl until the budget is spent, nothing is left, or :meth:`stop` is called."""
        self.begin()
        with self._notices.logged(self._stores.log), ExitStack() as at_the_end:
            self._notices.log("start", settings=self.settings, seeds=self._plan.all_seeds)
            self._tell_what_was_moved()
            at_the_end.callback(self._beacon.end)
            at_the_end.callback(self._end.write, self.folder, self._record)
            at_the_end.callback(self._tell_what_is_new)
            at_the_end.push(self._unplug)
            self._beacon.begin(self)
            yield from self._driver.iterate(self._events())

    def _unplug(self, kind: type[BaseException] | None, *_: object) -> None:
        """Let plug-ins close; whoever has asked to end and asks again waits for none."""
        in_a_hurry = self.is_stopping and kind is KeyboardInterrupt
        self._driver.run(self._end.unplug(in_a_hurry=in_a_hurry))

    def _tell_what_was_moved(self) -> None:
        if self._aside is not None:
            self.notify(f"The earlier crawl is now in {self._aside}.")
        archive = self._stores.archive
        for repair in archive.repairs if archive is not None else ():
            self.notify(f"The last run was cut short; its archive is mended. {repair}")
        if self.mended:
            self.notify(self.mended)

    def stop(self) -> None:
        """Start no further fetch and end soon; may be called from a signal handler."""
        self.is_stopping = True
        if self._asked is not None:
            self._asked.leave()
        self._crawler.stop()

    def allow(self, max_requests: int | None) -> None:
        """Set another limit of requests; a run that has begun is told by its ``Crawler``, too."""
        self.budget = replace(self.budget, max_requests=max_requests)

    @property
    def mended(self) -> str:
        """What its stores lacked and was taken from others; empty when they agreed."""
        return self._mending.told

    @property
    def stop_reason(self) -> StopReason | None:
        """Why it ended; ``None`` while it runs."""
        return self._crawler.stop_reason

    @property
    def strategy(self) -> Strategy:
        """Which chooses its links."""
        return self._crawler.strategy

    @property
    def put_off(self) -> dict[str, str]:
        """Hosts that are to be asked again later, each with the reason."""
        return self._crawler.put_off

    @property
    def robots_requests(self) -> int:
        """Requests for robots.txt files in all runs, which the budget does not count."""
        return self._crawler.ledger.robots

    def failures(self) -> list[Failure]:
        """What went wrong in this run, and how often."""
        return self._end.failures()

    @property
    def failed(self) -> str:
        """Why the run as a whole was in vain; empty when it was not."""
        return self._end.why_in_vain(is_new=self._plan.record is None)

    @property
    def results(self) -> ResultsStore:
        """Every page so far."""
        return self._stores.results

    def stats(self) -> FrontierStats:
        """What waits."""
        return self._stores.frontier.stats()

    def more_metrics(self) -> tuple[Collector, ...]:
        """Figures for Prometheus besides those of any crawl."""
        return ()

    def _note_put_off(self, candidate: Candidate, result: FetchResult) -> None:
        """A URL waits for another attempt."""
        why, seconds = why_put_off(result), result.retry_after_seconds or 0.0
        if why is not None:
            self._notices.log(PUT_OFF, url=candidate.url, why=why, seconds=seconds)
        self._seeds.put_off(candidate, result)

    def notify(self, message: str) -> None:
        """Tell a person, and the log."""
        self._notices.tell(message)

    def close(self) -> None:
        """Let everything go; what is on disk is complete."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # On a full disk closing may fail as well: what failed first is what the user must hear of.
        with suppress(TrailhoundError) if kind is not None else nullcontext():
            self.close()

    async def _events(self) -> AsyncGenerator[PageEvent]:
        if self.sitemaps is not None and self._works_alone:
            await self.sitemaps.queue()
        async with aclosing(self._crawler.crawl(self._own_seeds, self.budget)) as events:
            async for event in events:
                # Before anything else can run: a crawl that is to end starts no further fetch.
                self.progress.add(event)
                self.refresh.add(event)
                self._beacon.add(event)
                self._notices.tell_lost_page(event, self.progress)
                self._notices.tell_login(event)
                self._notices.tell_fetcher(self._crawler.fetcher)
                self._seeds.ended(event)
                self._give_up_or_tell()
                yield event

    def _may_ask(self, requests: int) -> bool:
        """Whether one more may follow so many requests; if so, it is counted."""
        spent = self.budget.spent(requests, time.monotonic() - self._began)
        if spent is not None or self.is_stopping:
            return False
        self._crawler.requests = requests + 1
        self._crawler.ledger.promise(requests + 1)
        return True

    def _new_record(self, known: Knowledge) -> CrawlRecord:
        before, model = self._plan.record, known.fingerprint
        if before is not None and before.model != model:
            self._notices.tell(
                "The topic was learned again since the crawl began; what waits keeps the rank that "
                "the earlier model gave it."
            )
        return self._plan.record_of(self.folder.topic.name, known.states, model, time.time())

    def _give_up_or_tell(self) -> None:
        """After each page: is there still hope?"""
        barren, limit = self.progress.barren, self.settings.crawl.give_up_after
        if limit is not None and barren >= limit:
            self._crawler.stop(StopReason.BARREN)
        else:
            self._notices.tell_barren(barren)


def _fetcher(
    settings: FetchSettings, own: OwnParts, politeness: Politeness, in_scope: Scope | None
) -> Fetcher:
    if own.fetcher is not None:
        return own.fetcher
    resolver = own.resolver if settings.is_over_http else None
    return make_fetcher(settings, politeness, in_scope, resolver)
