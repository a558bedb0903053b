"""THE composer: settings + what is known of a topic + a fetcher + stores → a crawl.

Live crawls, the lab, the demo, search turns and the library all come here, and differ only in what
they pass. Gate, host budgets, near duplicates, judge, politeness and the charging of sources are
part of every crawl; settings turn them off, the same ones everywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from trailhound.command_links import LinksToLeave
from trailhound.config.settings import CrawlSettings, Settings
from trailhound.crawling.answers import Troubles
from trailhound.crawling.budget import LedgerStore, RequestLedger
from trailhound.crawling.digestion import DuplicateFinder
from trailhound.crawling.driving import loop_time
from trailhound.crawling.engine import Crawler
from trailhound.crawling.gate import GateStore, GuardedFrontier, LinkGate
from trailhound.crawling.machine import FreeBytes, free_bytes
from trailhound.crawling.neighbours import Neighbours
from trailhound.crawling.processes import PageLimits
from trailhound.crawling.scope import Scope
from trailhound.crawling.sinks import Sink
from trailhound.crawling.traps import HostBudget, TrapGuard
from trailhound.fetching.base import Fetcher
from trailhound.fetching.polite_settings import polite_settings
from trailhound.fetching.politeness import Politeness
from trailhound.frontier.base import Frontier
from trailhound.judges.base import RelevanceJudge
from trailhound.judges.choosing import make_judge
from trailhound.media_types import DocumentKind, wanted_documents
from trailhound.models.topic_model import TopicModel
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import Sources
from trailhound.strategies.base import AnswerKey, Briefing, Strategy
from trailhound.strategies.choosing import strategy_for

if TYPE_CHECKING:  # brings HTTP along, which a replay does not need
    from aiohttp.abc import AbstractResolver


@dataclass(frozen=True)
class Knowledge:
    """What is known of a topic beforehand. The default is that of one that nobody has taught."""

    graph: PageGraph = field(default_factory=lambda: PageGraph((), (), frozenset()))
    model: TopicModel | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    """Of the judges, by name: calibrated, or chosen by a person."""
    fingerprint: str = ""
    """Another one when the topic was learned again."""

    @property
    def states(self) -> int:
        """Of the hidden-Markov model."""
        return 0 if self.model is None else self.model.hmm.n_states


class CrawlMemory(GateStore, LedgerStore, Protocol):
    """What an earlier run has left: a :class:`~trailhound.storage.results.ResultsStore`."""

    def fingerprints(self) -> Iterable[tuple[str, int]]:
        """Addresses of pages with what near duplicates are told by."""
        ...


@dataclass(frozen=True)
class Stores:
    """Where a crawl keeps what it finds; the caller opens and closes them."""

    frontier: Frontier
    sinks: Sequence[Sink] = ()
    """In the order in which they get a page."""
    memory: CrawlMemory | None = None
    has_room: Callable[[], bool] = lambda: True
    """Asked before pages are fetched; the crawl waits while there is none."""


@dataclass(frozen=True)
class Clock:
    """Two views of the same time, in seconds."""

    wall: Callable[[], float] = time.time
    """Means something to other processes; may jump."""
    steady: Callable[[], float] = time.monotonic


VIRTUAL = Clock(loop_time, loop_time)
"""Of a :class:`~trailhound.crawling.driving.VirtualTimeLoop`."""

MakeFetcher = Callable[[Politeness, Scope | None], Fetcher]
"""Makes the fetcher of one crawl."""


@dataclass(frozen=True)
class OwnParts:
    """Parts of a crawl that a program has made itself; the others are as the settings name them."""

    strategy: Strategy | None = None
    judge: RelevanceJudge | None = None
    fetcher: Fetcher | None = None
    resolver: AbstractResolver | None = None
    """For the fetcher that the settings name: where hosts are."""
    free_bytes: FreeBytes = free_bytes
    """How much room there is on a disk."""
    sinks: Sequence[Sink] = ()
    """Beside those of the settings."""
    neighbours: Neighbours | None = None
    """Crawls that this one shares its work with."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Of those that a resumed crawl must be given again, by kind."""


@dataclass(frozen=True)
class Guides:
    """Who decides in a crawl: which link next, and whether a page is on topic."""

    strategy: Strategy
    judge: RelevanceJudge
    sources: Sources


async def make_guides(
    settings: Settings,
    topic: Knowledge,
    sources: Sources | None = None,
    *,
    seed: int = 0,
    answers: AnswerKey | None = None,
    own: OwnParts | None = None,
) -> Guides:
    """Strategy and judge as the settings name them; a strategy may ask its sources meanwhile."""
    own = own or OwnParts()
    sources = sources or Sources()
    briefing = Briefing(
        topic.graph,
        seed=seed,
        sources=sources,
        model=topic.model,
        answers=answers,
    )
    judge = own.judge or make_judge(
        settings.judge.kind,
        briefing,
        threshold=settings.judge.threshold,
        calibrated=topic.thresholds,
    )
    strategy = own.strategy or await strategy_for(settings.crawl.strategy, briefing)
    return Guides(strategy, judge, sources)


def build_crawl(
    settings: Settings,
    guides: Guides,
    make_fetcher: MakeFetcher,
    stores: Stores,
    *,
    in_scope: Scope | None = None,
    clock: Clock | None = None,
    troubles: Troubles | None = None,
    neighbours: Neighbours | None = None,
) -> Crawler:
    """A crawl that is ready to run."""
    crawl, clock = settings.crawl, clock or Clock()
    gate = _gate(settings, stores.memory)
    queue = stores.frontier if neighbours is None else neighbours.around(stores.frontier)
    frontier = GuardedFrontier(queue, gate)
    ledger = RequestLedger(stores.memory)
    politeness = Politeness(
        polite_settings(settings.fetch),
        frontier,
        clock=clock.steady,
        wall_clock=clock.wall,
        robots_asked=ledger.promise_robots,
        address_turns=neighbours,
    )
    fetcher = make_fetcher(politeness, in_scope)
    over_http = getattr(fetcher, "http", fetcher)  # what renders pages has one inside
    if neighbours is not None and hasattr(over_http, "left_to_others"):
        over_http.left_to_others = neighbours.own
    crawler = Crawler(
        strategy=guides.strategy,
        frontier=frontier,
        fetcher=fetcher,
        judge=guides.judge,
        politeness=politeness,
        in_scope=in_scope,
        gate=gate,
        sinks=[gate, *stores.sinks],
        known_texts=_known_texts(crawl, stores.memory),
        obey_nofollow=crawl.obey_nofollow,
        concurrency=crawl.concurrency,
        workers=crawl.workers,
        limits=None if clock is VIRTUAL else PageLimits(crawl.page_seconds, crawl.page_memory),
        asked=guides.sources.asked if crawl.charge_sources else None,
        feeds=DocumentKind.FEEDS in wanted_documents(settings.fetch.documents),
        patience_seconds=crawl.max_idle,
        wait_for_better=crawl.seconds_for_better,
        ledger=ledger,
        has_room=_room(stores.has_room, neighbours),
        neighbours=neighbours,
        troubles=troubles,
        plugin_seconds=None if clock is VIRTUAL else crawl.plugin_seconds,
        clock=clock.wall,
        steady=clock.steady,
    )
    if crawl.charge_sources:
        guides.sources.before_asking = crawler.before_asking
    return crawler


def _room(has_room: Callable[[], bool], neighbours: Neighbours | None) -> Callable[[], bool]:
    if neighbours is None:
        return has_room
    return lambda: has_room() and neighbours.have_room()


def _gate(settings: Settings, memory: CrawlMemory | None) -> LinkGate:
    crawl, as_me = settings.crawl, settings.fetch.as_me
    return LinkGate(
        TrapGuard() if crawl.avoid_traps else None,
        HostBudget() if crawl.host_budgets else None,
        memory,
        LinksToLeave(as_me) if as_me else None,
    )


def _known_texts(crawl: CrawlSettings, memory: CrawlMemory | None) -> DuplicateFinder | None:
    if not crawl.near_duplicates:
        return None
    return DuplicateFinder(memory.fingerprints() if memory is not None else ())
