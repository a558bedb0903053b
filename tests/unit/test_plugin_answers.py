"""Answers of plug-ins that no store can keep, and attempts to end the program."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from test_engine import WEB, TinyWeb, TitleJudge, u

from trailhound.crawling.choosing import open_frontier
from trailhound.crawling.engine import Crawler
from trailhound.errors import ConfigError, FrontierError
from trailhound.fetching.base import Fetcher, MayGoOn, always
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.records import (
    Candidate,
    CrawledPage,
    FetchResult,
    Link,
    Outcome,
    PageEvent,
    Relevance,
    ScoredLink,
)
from trailhound.strategies.base import Briefing, Strategy
from trailhound.strategies.baselines import BreadthFirstStrategy
from trailhound.strategies.choosing import strategy_for
from trailhound.testing import BrokenPromiseError, check_strategy
from trailhound.testing.promises import page_graph


class Strange(BreadthFirstStrategy):
    """Answers as it is told to, where it is told to."""

    name: ClassVar[str] = "strange"

    def __init__(self, **answers: Any) -> None:
        self._answers = answers

    def verdict(self, crawled: CrawledPage) -> Any:
        return self._answers.get("verdict")

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        yield from super().score_links(crawled)
        if crawled.page.url == u("a"):
            yield from self._answers.get("scored", ())

    def entrances(self, in_scope: Callable[[str], bool]) -> Any:
        return self._answers.get("entrances", ())

    def restock(self) -> Any:
        return self._answers.get("restock", ())


def crawled_with(
    folder: Path, strategy: Strategy, fetcher: Fetcher | None = None, seeds: Sequence[str] = ("a",)
) -> dict[str, PageEvent]:
    """The events of a crawl that keeps its queue on disk, by name of the page."""
    crawler = Crawler(
        strategy=strategy,
        frontier=SqliteFrontier.open(folder / "frontier.sqlite"),
        fetcher=fetcher or TinyWeb(WEB),
        judge=TitleJudge(),
        in_scope=lambda url: url.startswith("http://h.test/"),
    )
    events = list(crawler.run([u(name) for name in seeds]))
    return {event.url.rsplit("/", 1)[1]: event for event in events}


NO_VERDICTS = [True, "yes", 0.5, Relevance(float("nan"), True), Relevance(2.0, True), False]


@pytest.mark.parametrize("verdict", NO_VERDICTS, ids=repr)
def test_a_verdict_that_is_none_costs_the_page(tmp_path: Path, verdict: Any) -> None:
    events = crawled_with(tmp_path, Strange(verdict=verdict))
    assert events["a"].outcome is Outcome.BROKEN
    assert "a strategy gives a Relevance with a score from 0 to 1" in events["a"].why
    with pytest.raises(BrokenPromiseError, match="verdict gives a Relevance or None"):
        check_strategy(lambda _: Strange(verdict=verdict))


def test_a_verdict_of_other_numbers_is_kept_as_our_own(tmp_path: Path) -> None:
    verdict: Any = Relevance(np.float32(0.5), np.bool_(True))  # type: ignore[arg-type]
    event = crawled_with(tmp_path, Strange(verdict=verdict))["a"]
    assert event.relevance == Relevance(0.5, True)
    assert type(event.relevance.score) is float
    assert type(event.relevance.relevant) is bool


@pytest.mark.parametrize(("score", "kept"), [(1.00005, 1.0), (-0.00005, 0.0)])
def test_a_verdict_that_misses_its_bounds_by_rounding_is_kept_within(
    tmp_path: Path, score: float, kept: float
) -> None:
    event = crawled_with(tmp_path, Strange(verdict=Relevance(score, True)))["a"]
    assert event.relevance == Relevance(kept, True)


LINK = Link(u("t"))
MEMORIES = ["a text", None, 7, np.arange(3), bytearray(b"x")]


def strange_link(memory: Any) -> ScoredLink:
    return ScoredLink(LINK, 0.5, memory)


def strange_candidate(memory: Any) -> Candidate:
    return Candidate(LINK.url, 0.5, memory)


def _given(strategy: Strategy, _: Briefing) -> Strategy:
    return strategy


@pytest.mark.parametrize("memory", MEMORIES, ids=repr)
def test_a_memory_that_is_no_bytes_costs_the_page_or_the_occasion(
    tmp_path: Path, memory: Any
) -> None:
    scoring = Strange(scored=[strange_link(memory)])
    assert crawled_with(tmp_path, scoring)["a"].outcome is Outcome.BROKEN
    for occasion in ("entrances", "restock"):
        strategy = Strange(**{occasion: [strange_candidate(memory)]})
        folder = tmp_path / occasion
        folder.mkdir()
        assert set(crawled_with(folder, strategy, seeds=["d"])) == {"d"}
        with pytest.raises(BrokenPromiseError, match=f"{occasion} gives what a queue can keep"):
            check_strategy(partial(_given, strategy))


def test_a_memory_of_another_kind_of_bytes_is_kept(tmp_path: Path) -> None:
    events = crawled_with(tmp_path, Strange(scored=[strange_link(np.bytes_(b"kept"))]))
    assert {event.outcome for event in events.values()} <= {Outcome.FETCHED, Outcome.NOT_FOUND}


HALF_A_CHARACTER = u("\ud800")


def test_an_address_that_cannot_be_written_costs_the_page_or_the_occasion(tmp_path: Path) -> None:
    link = ScoredLink(Link(HALF_A_CHARACTER), 0.5)
    assert crawled_with(tmp_path, Strange(scored=[link]))["a"].outcome is Outcome.BROKEN
    (tmp_path / "entering").mkdir()
    entering = Strange(entrances=[Candidate(HALF_A_CHARACTER, 0.5)])
    assert set(crawled_with(tmp_path / "entering", entering, seeds=["d"])) == {"d"}


@pytest.mark.parametrize("depth", [-1, 2**63 - 1, 10**400])
def test_a_depth_that_no_queue_can_keep_costs_the_occasion(tmp_path: Path, depth: int) -> None:
    for occasion in ("entrances", "restock"):
        folder = tmp_path / occasion
        folder.mkdir()
        strategy = Strange(**{occasion: [Candidate(LINK.url, 0.5, depth=depth)]})
        assert set(crawled_with(folder, strategy, seeds=["d"])) == {"d"}


class Splitting(Strange):
    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        return [ScoredLink(Link(HALF_A_CHARACTER), 0.5)]


def test_a_check_finds_an_address_that_cannot_be_written() -> None:
    with pytest.raises(BrokenPromiseError, match="score_links gives what a queue can keep"):
        check_strategy(lambda _: Splitting())


class Leaving(Strange):
    """Ends the program wherever it can."""

    def observe(self, crawled: CrawledPage) -> None:
        if crawled.page.url == u("b"):
            sys.exit(7)

    def entrances(self, in_scope: Callable[[str], bool]) -> Iterable[Candidate]:
        sys.exit(7)

    def restock(self) -> Iterable[Candidate]:
        sys.exit(7)


class LeavingWeb(TinyWeb):
    async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
        if url == u("c"):
            sys.exit(7)
        return await super().fetch(url, may_go_on=may_go_on)


def test_a_plug_in_that_ends_the_program_costs_its_page(tmp_path: Path) -> None:
    events = crawled_with(tmp_path, Leaving(), LeavingWeb(WEB))
    assert events["b"].why == "the strategy strange failed: SystemExit: 7"
    assert events["c"].why == "the fetcher failed: SystemExit: 7"
    assert {events["b"].outcome, events["c"].outcome} == {Outcome.BROKEN}


async def cancelled_by_itself() -> None:
    """As a plug-in ends a task of its own."""
    task = asyncio.get_running_loop().create_future()
    task.cancel()
    await task


class Impatient(Strange):
    """Waits for what it has cancelled, and says that it was."""

    def observe(self, crawled: CrawledPage) -> None:
        if crawled.page.url == u("b"):
            raise asyncio.CancelledError

    async def ask(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        if crawled.page.url == u("c"):
            await cancelled_by_itself()
        return ()

    def entrances(self, in_scope: Callable[[str], bool]) -> Iterable[Candidate]:
        raise asyncio.CancelledError


def test_a_plug_in_whose_own_task_was_cancelled_costs_its_page(tmp_path: Path) -> None:
    events = crawled_with(tmp_path, Impatient())
    assert {name for name in events if events[name].outcome is Outcome.BROKEN} == {"b", "c"}
    assert "CancelledError" in events["b"].why
    with pytest.raises(BrokenPromiseError, match="entrances may be asked at any time"):
        check_strategy(lambda _: Impatient())


class NeverMade(Strange):
    @classmethod
    async def from_briefing(cls, briefing: Briefing) -> Strategy:  # type: ignore[override]
        await cancelled_by_itself()
        return cls()


def test_a_strategy_that_was_cancelled_as_it_was_made_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(BrokenPromiseError, match="from_briefing makes a strategy"):
        check_strategy(NeverMade.from_briefing)
    path = tmp_path / "never.py"
    path.write_text(f"from {__name__} import NeverMade\nclass Mine(NeverMade):\n    pass\n")
    with pytest.raises(ConfigError, match=r"never.py' cannot be made: CancelledError"):
        asyncio.run(strategy_for(str(path), Briefing(page_graph())))


class Ranked(Strange):
    """May be asked to rank anew, and for ways in."""

    def rescore(self, candidates: Mapping[str, bytes]) -> None:
        """Nothing has moved."""


NO_PACES = [
    ("rescore_every", 0),
    ("rescore_every", "x"),
    ("rescore_every", None),
    ("rescore_best", "x"),
    ("rescore_best", -1),
    ("much_better", "x"),
    ("much_better", float("nan")),
    pytest.param("much_better", property(lambda _: 1 / 0), id="much_better-raises"),
]


@pytest.mark.parametrize(("name", "value"), NO_PACES, ids=repr)
def test_a_pace_that_is_no_number_is_refused_before_the_crawl(
    tmp_path: Path, name: str, value: object
) -> None:
    strategy = type("Paced", (Ranked,), {name: value})()
    with pytest.raises(ConfigError, match=f"The strategy strange has {name} = "):
        crawled_with(tmp_path, strategy)
    with pytest.raises(BrokenPromiseError, match="of its pace are numbers"):
        check_strategy(partial(_given, strategy))


@pytest.mark.parametrize("name", ["is_entry_due", "is_rank_due"])
def test_what_cannot_say_whether_it_is_due_is_not(tmp_path: Path, name: str) -> None:
    strategy = type("Due", (Ranked,), {name: property(lambda _: 1 / 0)})()
    assert crawled_with(tmp_path, strategy)["a"].outcome is Outcome.FETCHED
    with pytest.raises(BrokenPromiseError, match=f"{name} may be read at any time"):
        check_strategy(partial(_given, strategy))


def test_a_frontier_that_ends_the_program_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import sys\nfrom trailhound.frontier.memory import MemoryFrontier\n"
        "class Mine(MemoryFrontier):\n"
        "    @classmethod\n    def open(cls, path):\n        return cls()\n"
        "    def outcome_of(self, url):\n        sys.exit(7)\n"
    )
    frontier = open_frontier(str(path), None)
    with pytest.raises(FrontierError, match=r"mine.py' failed in outcome_of: SystemExit: 7"):
        frontier.outcome_of(u("a"))
