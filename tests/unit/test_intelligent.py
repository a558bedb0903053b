"""The intelligent crawler: from four ratios to priorities, learning as it goes."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest
from interest_pages import crawled
from small_webs import record_web
from tiny_lab_web import ONE_BY_ONE, write_tiny_web

from trailhound.crawling.engine import Crawler
from trailhound.errors import UsageError
from trailhound.fetching.replay import ReplayFetcher
from trailhound.frontier.memory import MemoryFrontier
from trailhound.lab.experiment import plan_experiment, run_experiment
from trailhound.records import Outcome, Page, Relevance, ScoredLink
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing, learns_online
from trailhound.strategies.choosing import make_strategy
from trailhound.strategies.intelligent.strategy import IntelligentStrategy
from trailhound.strategies.parts import RescorePace

H = "http://h.test/"
NOTHING = Briefing(PageGraph((), (), frozenset()))


def fresh() -> IntelligentStrategy:
    return IntelligentStrategy.from_briefing(NOTHING)


def teach(strategy: IntelligentStrategy, pages: int = 40) -> None:
    """Pages about wax are relevant, pages about rain are not."""
    for number in range(pages):
        topic = "wax" if number % 4 == 0 else "rain"
        page = f"{H}{topic}/{number}"
        strategy.observe(crawled(page, relevant=topic == "wax", words=topic))


def score(strategy: IntelligentStrategy, *links: str) -> list[ScoredLink]:
    page = crawled(f"{H}hub", links=links)
    strategy.observe(page)
    return list(strategy.score_links(page))


def test_it_knows_nothing_at_first() -> None:
    assert [each.priority for each in score(fresh(), f"{H}a", f"{H}b")] == [0, 0]


def test_links_like_those_that_paid_come_first() -> None:
    strategy = fresh()
    teach(strategy)
    good, bad = score(strategy, f"{H}wax/new", f"{H}rain/new")
    assert good.priority > 0 > bad.priority


def test_the_memory_explains_a_link_in_ratios() -> None:
    strategy = fresh()
    teach(strategy)
    told = strategy.explain(score(strategy, f"{H}wax/new")[0].memory)
    # "wax" was in 10 of 40 addresses, all relevant; P = 10.5 / 41 (the hub makes it 42).
    base = 10.5 / 42
    assert told["words of the address"] == pytest.approx((10 + 4 * base) / 14 / base, rel=1e-5)
    assert told["words of linking pages"] == 1
    assert strategy.explain(b"") == {}


def test_a_literal_product_beyond_all_numbers_can_be_explained() -> None:
    told = fresh().explain(struct.pack("<4f", 5000.0, -5000.0, 0.0, 1.0))
    assert math.isfinite(told["words of linking pages"])
    assert told["words of linking pages"] > 1e300
    assert told["words of the address"] == 0


def test_waiting_candidates_are_ranked_again_with_new_weights() -> None:
    strategy = fresh()
    waiting = {each.link.url: each.memory for each in score(strategy, f"{H}wax/1x", f"{H}rain/1x")}
    assert strategy.rescore(waiting) is None, "too early"
    teach(strategy, 60)
    ranked = strategy.rescore({**waiting, "http://seed.test/": b""})
    assert ranked is not None
    assert set(ranked) == set(waiting), "a seed is not ours to rank"
    assert ranked[f"{H}wax/1x"] > 0 > ranked[f"{H}rain/1x"]
    assert strategy.rescore(waiting) is None


def test_forgotten_candidates_keep_what_they_remember() -> None:
    strategy = fresh()
    for number in range(60):
        strategy.observe(crawled(f"http://other.test/{number}", relevant=number % 2 == 0))
    logs = {"a": (1.0, 0.0, 0.5, 0.0), "b": (-1.0, 0.0, -0.5, 0.0)}
    memories = {f"http://{name}.test/": struct.pack("<4f", *each) for name, each in logs.items()}
    # Standard deviations 1 and 0.5, so weights 1 and 2: (1 · 1 + 2 · 0.5) / 4 factors = 0.5.
    ranked = {"http://a.test/": 0.5, "http://b.test/": -0.5}
    assert strategy.rescore(memories) == pytest.approx(ranked)


def test_an_empty_frontier_can_be_ranked() -> None:
    strategy = fresh()
    teach(strategy, 60)
    assert strategy.rescore({}) == {}


def test_what_it_learned_survives_the_process() -> None:
    strategy, later = fresh(), fresh()
    teach(strategy)
    later.restore(strategy.snapshot())
    urls = (f"{H}wax/new", f"{H}rain/new")
    assert [s.priority for s in score(later, *urls)] == [s.priority for s in score(strategy, *urls)]
    with pytest.raises(ValueError, match="no record"):
        later.restore(b"nonsense")


def test_the_session_is_a_first_lesson_unless_told_otherwise() -> None:
    urls = [f"{H}wax/{n}" if n < 5 else f"{H}rain/{n}" for n in range(20)]
    pages = [Page(url, terms={"word": 1}) for url in urls]
    briefing = Briefing(PageGraph(tuple(pages), (), frozenset(range(5))))
    taught = IntelligentStrategy.from_briefing(briefing)
    assert score(taught, f"{H}wax/new")[0].priority > 0
    for spec in ("intelligent:session=false", "intelligent:literal=true"):
        untaught = make_strategy(spec, briefing)
        assert isinstance(untaught, IntelligentStrategy)
        assert score(untaught, f"{H}wax/new")[0].priority == 0


def test_links_to_fetched_pages_are_left_out_but_not_those_to_pages_of_the_session() -> None:
    visited = Page(f"{H}visited", terms={"word": 1})
    strategy = IntelligentStrategy.from_briefing(Briefing(PageGraph((visited,), (), frozenset())))
    strategy.observe(crawled(f"{H}fetched"))
    scored = score(strategy, f"{H}fetched", f"{H}visited", f"{H}new")
    assert [each.link.url for each in scored] == [f"{H}visited", f"{H}new"]


def test_it_learns_online() -> None:
    assert learns_online(fresh())


def test_a_refresh_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="refresh is 0"):
        make_strategy("intelligent:refresh=0", NOTHING)


def test_looking_again_gets_rarer_and_never_expensive() -> None:
    pace = RescorePace(interval=500, first=50)
    turns = []
    for page in range(1, 2001):
        pace.page_done()
        if pace.is_due(waiting=1000):
            turns.append(page)
    assert turns == [50, 100, 200, 400, 800, 1300, 1800]
    pace.page_done()
    pace.go_on_from(3000)
    for _ in range(500):
        pace.page_done()
    assert not pace.is_due(waiting=100_000), "100,000 candidates wait for 1000 pages"
    assert pace.is_due(waiting=1000)


class RaisingJudge:
    """A predicate that cannot cope with some pages."""

    def judge(self, page: Page) -> Relevance:
        if "bad" in page.url:
            raise RuntimeError("no idea what this is")
        return Relevance(1.0, True)


@pytest.mark.parametrize("spec", ["intelligent", "content-link:keywords=honey"])
def test_a_predicate_that_raises_costs_its_page_and_nothing_else(spec: str, tmp_path: Path) -> None:
    links = {H: [f"{H}bad", f"{H}good"], f"{H}bad": [f"{H}lost"], f"{H}good": [], f"{H}lost": []}
    corpus = record_web(tmp_path, links)
    crawler = Crawler(
        strategy=make_strategy(spec, NOTHING),
        frontier=MemoryFrontier(),
        fetcher=ReplayFetcher(corpus),
        judge=RaisingJudge(),
    )
    outcomes = {event.url: event.outcome for event in crawler.run([H])}
    assert outcomes == {
        H: Outcome.FETCHED,
        f"{H}bad": Outcome.BROKEN,
        f"{H}good": Outcome.FETCHED,
    }


def test_a_whole_experiment_on_a_tiny_web(tmp_path: Path) -> None:
    corpus = write_tiny_web(tmp_path / "tiny.thc")
    specs = ("intelligent", "intelligent:literal=true", "random")
    plan = plan_experiment(
        corpus, specs, max_requests=60, seed_sets=2, judge="cosine", settings=ONE_BY_ONE
    )
    results = run_experiment(plan, tmp_path / "out")
    assert len(results.runs) == 12
    nauc = {spec: results.summary[spec]["nauc"].mean for spec in specs}
    assert nauc["intelligent"] > nauc["random"]


def test_ratios_in_words_are_ratios() -> None:
    strategy = fresh()
    teach(strategy)
    told = strategy.explain(score(strategy, f"{H}rain/new")[0].memory)
    assert len(told) == 4
    assert all(math.isfinite(ratio) and ratio > 0 for ratio in told.values())
