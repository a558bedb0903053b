"""One run of an experiment: a crawl over the recorded web, and its measurement afterwards."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise

import msgspec
import numpy as np
from threadpoolctl import threadpool_limits

from trailhound.config.settings import Settings
from trailhound.crawling.budget import Budget
from trailhound.crawling.build import (
    VIRTUAL,
    Guides,
    Knowledge,
    Stores,
    build_crawl,
    make_guides,
)
from trailhound.crawling.driving import Driver, VirtualTimeLoop
from trailhound.crawling.engine import Crawler
from trailhound.crawling.sinks import Sink
from trailhound.errors import TrailhoundError, UsageError, plugin_faults
from trailhound.fetching.replay import ReplayFetcher
from trailhound.frontier.memory import MemoryFrontier
from trailhound.lab import metrics
from trailhound.lab.corpora import Corpus
from trailhound.lab.ground_truth import GroundTruth, relevant_by_host
from trailhound.lab.recorded_sources import RecordedBacklinks, RecordedSearch, recorded_trace
from trailhound.lab.results import ExperimentPlan, RunResult, RunTask, run_seed
from trailhound.lab.topics import topic_source
from trailhound.lab.topics.base import LabTopic
from trailhound.records import Outcome, PageEvent
from trailhound.sources import AccessTrace, Sources
from trailhound.strategies.choosing import asks_for_trace
from trailhound.text.tfidf import TargetSimilarity, target_similarity


class RunFailure(msgspec.Struct, frozen=True):
    """A run that could not be made."""

    task: RunTask
    reason: str


@dataclass(frozen=True)
class FinishedCrawl:
    """What one crawl did and what it cost."""

    events: list[PageEvent]
    stop_reason: str
    cpu_seconds: float
    learning_cpu_seconds: float
    learning_queries: int = 0
    learning_pages: int = 0

    @property
    def learning_cost(self) -> int:
        """Requests before the first fetch: questions to sources, and pages read for them."""
        return self.learning_queries + self.learning_pages

    def within(self, budget: int) -> FinishedCrawl:
        """What begins before a budget is spent that pays for learning as well."""
        before = accumulate(costs_of(self.events), initial=self.learning_cost)
        begun = [e for e, spent in zip(self.events, before, strict=False) if spent < budget]
        return replace(self, events=begun)


def costs_of(events: Iterable[PageEvent]) -> list[int]:
    """What each event of one crawl cost: requests and questions since the one before.

    That is more than its own where pages were asked for in between that wait for another attempt.
    """
    totals = [0, *(event.requests_total for event in events)]
    return [total - before for before, total in pairwise(totals)]


class TopicRunner:
    """Runs tasks on one corpus. It remembers the topic of the last task for the next one."""

    def __init__(self, plan: ExperimentPlan) -> None:
        self._parameters = plan.parameters
        self._corpus = Corpus.open(plan.corpus)
        self._source = topic_source(self._corpus, plan.topics_file, without=plan.parameters.without)
        self._bench: TopicBench | None = None

    def attempt(self, task: RunTask) -> RunResult | RunFailure:
        """Run one task. What goes wrong in it is reported and does not end the others."""
        try:
            return self.run(task)
        except TrailhoundError as error:
            return RunFailure(task, str(error))
        except plugin_faults() as error:
            return RunFailure(task, f"{type(error).__name__}: {error}")

    def try_out(self, strategies: Iterable[str]) -> None:
        """Make each strategy once, for the first topic; raises what its options are refused for.

        Whatever else is wrong is told by its runs, with their topics.
        """
        topic = self._parameters.topics[0]
        seed = run_seed(self._parameters.seed, topic, 0)
        for strategy in strategies:
            try:
                self._bench_for(topic).crawl(RunTask(topic, 0, strategy), seed, max_requests=0)
            except plugin_faults() as error:
                if isinstance(error, UsageError):
                    raise

    def run(self, task: RunTask) -> RunResult:
        """Crawl and measure."""
        bench = self._bench_for(task.topic)
        seed = run_seed(self._parameters.seed, task.topic, task.seed_set)
        # One thread: sums in another order would let results depend on the machine's load.
        with threadpool_limits(limits=1):
            crawl = bench.crawl(task, seed, self._parameters.max_requests)
            return bench.measure(task, seed, crawl, self._parameters.max_requests)

    def _bench_for(self, topic: str) -> TopicBench:
        if self._bench is None or self._bench.topic.name != topic:
            self._bench = None
            gc.unfreeze()
            built = self._source.build(
                topic, n_seed_sets=self._parameters.seed_sets, seed=self._parameters.seed
            )
            self._bench = TopicBench(self._corpus, built, self._parameters.crawl_settings())
            # What stays for the whole topic need not be searched for garbage at every few pages.
            gc.collect()
            gc.freeze()
        return self._bench


SECONDS_PER_REQUEST = 0.5
"""How long an answer of the recorded web takes on the virtual clock."""


class Bench:
    """One topic on its recorded web: the same truth and the same limits for every crawl."""

    def __init__(self, corpus: Corpus, topic: LabTopic, settings: Settings | None = None) -> None:
        self.corpus = corpus
        self.topic = topic
        self.settings = settings or Settings()
        self.truth = GroundTruth(corpus, topic.relevant, topic.off_limits)
        # By number, because a page may be linked to under several addresses.
        self._off_limits = frozenset(corpus.page_ids(topic.off_limits))

    def assemble(
        self,
        settings: Settings,
        guides: Guides,
        frontier: MemoryFrontier,
        sinks: Sequence[Sink] = (),
    ) -> Crawler:
        """A crawl, put together as live ones are.

        Without workers, which take real time: in it the virtual clock would leap ahead of them.
        """
        return build_crawl(
            settings.changed({"crawl.workers": 1}),
            guides,
            lambda politeness, _: ReplayFetcher(
                self.corpus, politeness, seconds_per_request=SECONDS_PER_REQUEST
            ),
            Stores(frontier, sinks),
            in_scope=self._in_scope,
            clock=VIRTUAL,
        )

    def _in_scope(self, url: str) -> bool:
        """Links that leave the recorded web are no candidates, nor is what the topic closes."""
        if url not in self.corpus:
            return False
        return not self._off_limits or self.corpus.page_id(url) not in self._off_limits


class TopicBench(Bench):
    """Crawls and measurements for one topic."""

    def __init__(
        self,
        corpus: Corpus,
        topic: LabTopic,
        settings: Settings | None = None,
        trace_noise: float = 0.0,
    ) -> None:
        super().__init__(corpus, topic, settings)
        self._trace_noise = trace_noise
        self._similarities: dict[int, metrics.FloatArray] = {}

    @cached_property
    def _trace(self) -> AccessTrace | None:
        return recorded_trace(self.corpus, self.topic, self._trace_noise)

    def crawl(self, task: RunTask, seed: int, max_requests: int) -> FinishedCrawl:
        """Let the strategy learn, then crawl. Nothing is measured here but CPU time.

        The crawl may go on for ``max_requests`` whatever learning has cost: what would have come
        of it if learning were free is measured as well.
        """
        driver = Driver(VirtualTimeLoop)
        try:
            return driver.run(self._crawl(task, seed, Budget(max_requests)))
        finally:
            driver.close()

    async def _crawl(self, task: RunTask, seed: int, budget: Budget) -> FinishedCrawl:
        topic = self.topic
        backlinks = RecordedBacklinks(self.corpus, topic.closed)
        search = RecordedSearch(self.corpus, topic.off_limits)
        sources = Sources(
            backlinks=lambda: backlinks,
            # Live, somebody has named a log; what can do without is measured without.
            trace=lambda: self._trace if asks_for_trace(task.strategy) else None,
            search=lambda: search,
        )
        started = time.process_time()
        crawler = await self.crawler(task.strategy, seed, sources)
        learned = time.process_time()
        learning_queries = backlinks.queries + search.queries
        learning_pages = backlinks.pages_read + search.pages_read
        seeds = topic.seed_sets[task.seed_set]
        events = [event async for event in crawler.crawl(seeds, budget)]
        return FinishedCrawl(
            events=events,
            learning_queries=learning_queries,
            learning_pages=learning_pages,
            stop_reason=str(crawler.stop_reason or ""),
            cpu_seconds=time.process_time() - learned,
            learning_cpu_seconds=learned - started,
        )

    async def crawler(self, strategy: str, seed: int, sources: Sources) -> Crawler:
        """With a strategy that has learned."""
        settings = self.settings.changed({"crawl.strategy": strategy})
        guides = await make_guides(
            settings, Knowledge(self.topic.graph), sources, seed=seed, answers=self.truth
        )
        return self.assemble(settings, guides, MemoryFrontier())

    def measure(self, task: RunTask, seed: int, crawl: FinishedCrawl, budget: int) -> RunResult:
        """All metrics of a finished crawl, as far as the budget pays for it."""
        paid = crawl.within(budget)
        finds = self.truth.finds(paid.events)
        curve = metrics.curve_from_finds(_steps(paid, finds), budget)
        alone = replace(crawl, learning_queries=0, learning_pages=0)
        curve_alone = metrics.curve_from_finds(
            _steps(alone, self.truth.finds(alone.events)), budget
        )
        hosts = relevant_by_host(paid.events, finds)
        findable = self.topic.findable[task.seed_set]
        similarities = self._similarities_of(paid.events)
        return RunResult(
            topic=task.topic,
            strategy=task.strategy,
            seed_set=task.seed_set,
            seed=seed,
            fetches=len(curve),
            curve=curve,
            relevant_total=findable,
            nauc=metrics.nauc(curve, findable, budget),
            harvest=metrics.harvest(curve),
            recall=metrics.recall(curve, findable),
            hosts=len(hosts),
            cpu_seconds=crawl.cpu_seconds,
            auhc=metrics.auhc(curve, budget),
            first_find=metrics.requests_until(1, curve, budget),
            third_find=metrics.requests_until(3, curve, budget),
            tenth_find=metrics.requests_until(10, curve, budget),
            mean_max_similarity=metrics.mean_of_max(similarities),
            eq9_similarity=metrics.max_of_mean(similarities),
            effective_hosts=metrics.effective_hosts(list(hosts.values())),
            max_host_share=metrics.max_host_share(list(hosts.values())),
            links_outside=sum(event.links_outside for event in paid.events),
            outcomes=dict(sorted(Counter(str(event.outcome) for event in paid.events).items())),
            stop_reason=crawl.stop_reason,
            learning_cpu_seconds=crawl.learning_cpu_seconds,
            seeds=list(self.topic.seed_sets[task.seed_set]),
            relevant_all=len(self.truth),
            learning_queries=crawl.learning_queries,
            learning_pages=crawl.learning_pages,
            queries=sum(event.queries for event in paid.events),
            crawl_fetches=len(curve_alone),
            nauc_learning_free=metrics.nauc(curve_alone, findable, budget),
            found_pages=[number for number in finds if number is not None][: max(curve, default=0)],
            similarities=similarities.max(axis=1).round(3).tolist() if similarities.size else [],
        )

    def _similarities_of(self, events: list[PageEvent]) -> metrics.FloatArray:
        """Shape (fetched pages, targets): cosines in the session's lexical TF-IDF space."""
        fetched = (event.final_url for event in events if event.outcome is Outcome.FETCHED)
        rows = [self._similarity(number) for number in self.corpus.page_ids(fetched)]
        return np.array(rows).reshape(len(rows), len(self.topic.graph.targets))

    def _similarity(self, number: int) -> metrics.FloatArray:
        """One page's row. Strategies fetch many of the same pages, so rows are remembered."""
        row = self._similarities.get(number)
        if row is None:
            terms = self.corpus.page_by_id(number).terms
            row = self._to_targets.to_each(terms).astype(np.float64)
            self._similarities[number] = row
        return row

    @cached_property
    def _to_targets(self) -> TargetSimilarity:
        return target_similarity(self.topic.graph)


def _steps(crawl: FinishedCrawl, finds: Iterable[int | None]) -> Iterator[tuple[int, bool]]:
    """(requests, new find) in the order of the crawl.

    Learning comes first, and what a page made us ask comes after it.
    """
    if crawl.learning_cost:
        yield crawl.learning_cost, False
    for event, cost, found in zip(crawl.events, costs_of(crawl.events), finds, strict=True):
        yield cost - event.queries, found is not None
        if event.queries:
            yield event.queries, False
