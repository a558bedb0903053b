"""Turns with a search engine on a recorded web, whose own text is the search engine.

The same planning, sessions and learning as ``trailhound turns``; only crawling is the lab's. Every
query is charged as one request, and so is every page that is read through the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from trailhound.crawling.budget import Budget
from trailhound.crawling.build import Knowledge, make_guides
from trailhound.crawling.driving import Driver, VirtualTimeLoop
from trailhound.frontier.memory import MemoryFrontier
from trailhound.judges.calibration import OwnVerdicts
from trailhound.lab import metrics
from trailhound.lab.recorded_sources import RecordedSearch
from trailhound.lab.runner import Bench, costs_of
from trailhound.models.topic_model import learn_topic
from trailhound.records import Outcome, PageEvent
from trailhound.sessions.events import Session
from trailhound.sessions.page_graph import build_page_graph
from trailhound.sessions.path_sessions import SEARCH_TURNS, PathPage, session_of_paths
from trailhound.sources import Sources
from trailhound.topics.runs.turn_planning import (
    ScoredFind,
    TurnLimits,
    TurnPlan,
    plan_turn,
    strong_finds,
)

MAX_PATH_PAGES = 200


@dataclass(frozen=True)
class TurnsPlan:
    """How to crawl in turns."""

    strategy: str = "hidden-markov"
    rounds: int = 4
    max_requests: int = 400
    """Of all turns together, queries included."""
    limits: TurnLimits = field(default_factory=TurnLimits)
    relearn: bool = True
    """Without it, the model stays as the session made it."""
    searches: bool = True
    """Without it, nothing is asked: the same crawl and learning, from the topic's seeds alone."""


@dataclass(frozen=True)
class LabTurn:
    """What one turn brought."""

    plan: TurnPlan
    requests: int
    """Of this turn, queries included."""
    found: int
    """Relevant pages by ground truth."""
    found_by_search: int
    """Those of them that the search had named itself."""
    adopted: tuple[str, ...] = ()
    """Finds that were learned from."""
    adopted_right: int = 0
    """How many of them ground truth agrees with."""


@dataclass(frozen=True)
class TurnsResult:
    """A crawl in turns."""

    curve: list[int]
    """Relevant pages found after each request."""
    turns: tuple[LabTurn, ...]


class SearchTurnsBench(Bench):
    """Crawls in turns for one topic."""

    @property
    def relevant_total(self) -> int:
        """Pages that count as found, in reach of the seeds or not: a search reaches them all."""
        return len(self.truth)

    def run(self, plan: TurnsPlan, seed_set: int, seed: int) -> TurnsResult:
        """All turns; each begins where the one before stopped."""
        driver = Driver(VirtualTimeLoop)
        run = _Run(self, plan, seed, driver)
        try:
            for number in range(1, plan.rounds + 1):
                run.turn(number, self.topic.seed_sets[seed_set] if number == 1 else ())
        finally:
            driver.close()
        return TurnsResult(run.curve(), tuple(run.turns))


class _Run:
    """One crawl in turns, as far as it has come."""

    def __init__(self, bench: SearchTurnsBench, plan: TurnsPlan, seed: int, driver: Driver) -> None:
        self._driver = driver
        self._bench = bench
        self._plan = plan
        self._seed = seed
        self._settings = bench.settings.changed(
            {"crawl.strategy": plan.strategy, "crawl.charge_sources": False}
        )
        """Questions are charged by turns here, not by pages."""
        self._search = RecordedSearch(bench.corpus, bench.topic.off_limits)
        self._frontier = MemoryFrontier()
        self._sessions: list[Session] = [bench.topic.session]
        self._graph = bench.topic.graph
        self._shown = {page.url for page in self._graph.pages}
        self._model = learn_topic(self._graph)
        self._own_model = self._model
        self._asked: set[str] = set()
        self._adopted: list[str] = []
        self._events: list[PageEvent] = []
        self._costs: list[int] = []
        """Of each event."""
        self._charged: list[tuple[int, int]] = []
        """(events so far, questions and pages read through them charged there)."""
        self.turns: list[LabTurn] = []

    def turn(self, number: int, seeds: Sequence[str]) -> None:
        begun, spent_before = len(self._events), self._requests()
        plan = self._asked_for()
        self._charge()
        until = self._plan.max_requests * number // self._plan.rounds
        self._crawl([*seeds, *plan.seeds], until)
        adopted = self._learn(begun) if self._plan.relearn else []
        self.turns.append(self._told(plan, begun, spent_before, adopted))

    def _charge(self) -> None:
        """What was asked of the search, and read through it, since the last time."""
        asked = self._search.queries + self._search.pages_read
        paid = sum(requests for _, requests in self._charged)
        self._charged.append((len(self._events), asked - paid))

    def _asked_for(self) -> TurnPlan:
        if not self._plan.searches:
            return TurnPlan((), ())

        def is_known(url: str) -> bool:
            return url in self._shown or self._frontier.outcome_of(url) is not None

        plan = self._driver.run(
            plan_turn(self._model, self._search, is_known, self._asked, self._plan.limits)
        )
        self._asked.update(query.text for query in plan.queries)
        return plan

    @cached_property
    def _verdicts(self) -> OwnVerdicts:
        return OwnVerdicts(self._own_model)

    def _crawl(self, seeds: Sequence[str], until: int) -> None:
        if self._requests() >= until:
            return
        guides = self._driver.run(
            make_guides(
                self._settings,
                Knowledge(self._graph, self._model),
                Sources.of(search=self._search),
                seed=self._seed,
            )
        )
        crawler = self._bench.assemble(self._settings, guides, self._frontier)
        self._charge()  # the strategy may have asked as well
        if self._requests() < until:
            budget = Budget(until - self._requests())
            events = list(self._driver.iterate(crawler.crawl(seeds, budget)))
            self._events += events
            self._costs += costs_of(events)

    def _learn(self, begun: int) -> list[str]:
        """Strong finds join; the sessions of people stay as they are."""
        urls = (event.final_url for event in self._events[begun:] if event.is_find)
        pages = [self._bench.corpus.page(url) for url in urls if url not in self._shown]
        finds = [ScoredFind(self._verdicts.score(page), page.url) for page in pages if page]
        strong = strong_finds(finds, adopted=self._adopted, own_scores=self._verdicts.own_scores)
        if strong:
            paths = [path_to(self._events, url) for url in strong]
            topic = self._bench.topic.name
            self._sessions.append(session_of_paths(topic, paths, recorder=SEARCH_TURNS))
            self._adopted += strong
            self._graph = build_page_graph(self._sessions, self._bench.corpus.page)
            self._shown = {page.url for page in self._graph.pages}
            self._model = learn_topic(self._graph, self._model.parameters)
        return strong

    def _told(
        self, plan: TurnPlan, begun: int, spent_before: int, adopted: Sequence[str]
    ) -> LabTurn:
        finds = self._finds()
        named = {
            event.final_url
            for event, found in zip(self._events[begun:], finds[begun:], strict=True)
            if found and event.url in plan.seeds
        }
        return LabTurn(
            plan=plan,
            requests=self._requests() - spent_before,
            found=sum(finds[begun:]),
            found_by_search=len(named),
            adopted=tuple(adopted),
            adopted_right=sum(self._bench.truth.hops(url) == 0 for url in adopted),
        )

    def _finds(self) -> list[bool]:
        """For each event, whether it brought a relevant page for the first time."""
        return [number is not None for number in self._bench.truth.finds(self._events)]

    def _requests(self) -> int:
        return sum(self._costs) + sum(requests for _, requests in self._charged)

    def curve(self) -> list[int]:
        """Queries are requests that find nothing."""
        steps = list(zip(self._costs, self._finds(), strict=True))
        for position, queries in reversed(self._charged):
            steps[position:position] = [(1, False)] * queries
        return metrics.curve_from_finds(steps, self._plan.max_requests)


def path_to(events: Sequence[PageEvent], url: str) -> list[PathPage]:
    """The pages from a seed to ``url``, each found on the one before."""
    by_address: dict[str, PageEvent] = {}
    for event in events:
        if event.outcome is Outcome.FETCHED:
            by_address.setdefault(event.final_url, event)
    path: list[PathPage] = []
    address: str | None = url
    while address in by_address and len(path) < MAX_PATH_PAGES:
        event = by_address.pop(address)  # each page once, should links lead in a circle
        path.append(PathPage(event.final_url, event.at, event.title, event.url))
        address = event.parent
    return path[::-1]
