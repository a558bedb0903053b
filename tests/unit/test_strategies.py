"""Each baseline on pages whose scores can be worked out by hand."""

from __future__ import annotations

import pytest

from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.strategies.baselines import BestFirstStrategy, BreadthFirstStrategy, RandomStrategy
from trailhound.strategies.fish_and_shark import SharkSearchStrategy
from trailhound.strategies.oracle import OracleStrategy

LINKS = (
    Link("http://h.test/1", anchor="honey bee"),
    Link("http://h.test/2", anchor="click here", before="everything about the honey", after="bee"),
    Link("http://h.test/3", anchor="contact"),
)
GRAPH = PageGraph(
    pages=(
        Page("http://h.test/bees", terms={"bee": 2, "honey": 2}),
        Page("http://h.test/cars", terms={"car": 2, "road": 1}),
    ),
    edges=(),
    targets=frozenset({0}),
)


class Answers:
    """The third link is the answer, and the second leads to it."""

    def __init__(self) -> None:
        self.found = False

    def pursuit(self) -> Answers:
        return Answers()

    def arrived(self, url: str) -> None:
        self.found |= url == LINKS[2].url

    def worth(self, url: str) -> float:
        return 0.0 if self.found else {LINKS[1].url: 0.5, LINKS[2].url: 0.9}.get(url, 0.0)


BRIEFING = Briefing(GRAPH, seed=3, answers=Answers())


def crawled(terms: dict[str, int], depth: int = 2, memory: bytes = b"") -> CrawledPage:
    page = Page("http://h.test/p", terms=terms, links=LINKS, language="en")
    candidate = Candidate(page.url, 0.0, memory, None, depth)
    return CrawledPage(page, Relevance(0.0, False), candidate)


def test_breadth_first_prefers_shallow_pages() -> None:
    scored = list(BreadthFirstStrategy().score_links(crawled({}, depth=2)))
    assert [item.priority for item in scored] == [-3, -3, -3]


def test_random_repeats_with_its_seed() -> None:
    def draw(seed: int) -> list[float]:
        return [item.priority for item in RandomStrategy(seed).score_links(crawled({}))]

    assert draw(1) == draw(1) != draw(2)


def test_best_first_gives_all_links_the_cosine_of_the_page() -> None:
    strategy = BestFirstStrategy.from_briefing(BRIEFING)
    # All terms have df 1 of 2, so equal weights: the cosine of (1,1) and (1,0) is 1/√2.
    scored = list(strategy.score_links(crawled({"bee": 3})))
    assert [item.priority for item in scored] == pytest.approx([2**-0.5] * 3)
    assert [item.priority for item in strategy.score_links(crawled({"road": 1}))] == [0, 0, 0]


def test_shark_search_adds_anchor_and_context_to_what_is_inherited() -> None:
    strategy = SharkSearchStrategy.from_briefing(
        BRIEFING, decay=0.5, inherited_weight=0.5, anchor_weight=0.8
    )
    scored = list(strategy.score_links(crawled({"bee": 1, "honey": 1})))
    inherited = 0.5 * 1.0
    anchor_fits = 0.8 * 1.0 + 0.2 * 1.0
    assert scored[0].priority == pytest.approx(0.5 * inherited + 0.5 * anchor_fits)
    assert scored[2].priority == pytest.approx(0.5 * inherited)
    assert scored[0].priority > scored[1].priority > scored[2].priority


def test_shark_search_remembers_relevance_through_an_irrelevant_page() -> None:
    strategy = SharkSearchStrategy.from_briefing(BRIEFING)
    memory = list(strategy.score_links(crawled({"bee": 1, "honey": 1})))[2].memory
    through_tunnel = list(strategy.score_links(crawled({"road": 1}, memory=memory)))
    without = list(strategy.score_links(crawled({"road": 1})))
    assert through_tunnel[2].priority == pytest.approx(0.5 * 0.25)
    assert without[2].priority == 0


def test_the_oracle_goes_where_finds_are_and_forgets_what_is_found() -> None:
    strategy = OracleStrategy.from_briefing(BRIEFING)
    first = crawled({"bee": 1})
    strategy.observe(first)
    scored = list(strategy.score_links(first))
    assert [(item.link, item.priority) for item in scored] == [(LINKS[2], 1.9), (LINKS[1], 1.5)]
    found = CrawledPage(Page(LINKS[2].url), Relevance(0.0, False), Candidate(LINKS[2].url, 1.9))
    strategy.observe(found)
    assert list(strategy.score_links(found)) == []


def test_the_oracle_names_what_waits_again_above_what_it_said_before() -> None:
    strategy = OracleStrategy.from_briefing(BRIEFING)
    first, empty = crawled({"bee": 1}), Page("http://h.test/empty")
    strategy.observe(first)
    before = [item.priority for item in strategy.score_links(first)]
    second = CrawledPage(empty, Relevance(0.0, False), Candidate(empty.url, 0.0))
    strategy.observe(second)
    again = list(strategy.score_links(second))
    assert [item.link for item in again] == [LINKS[2], LINKS[1]]
    assert min(item.priority for item in again) > max(before)
