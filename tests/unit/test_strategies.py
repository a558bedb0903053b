"""The strategies without a model of their own, and what learning ones share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.errors import UsageError
from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance, ScoredLink
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing, learns_online
from trailhound.strategies.baselines import (
    BestFirstStrategy,
    BreadthFirstStrategy,
    OracleStrategy,
    RandomStrategy,
)
from trailhound.strategies.choosing import make_strategy
from trailhound.strategies.fish_and_shark import FishSearchStrategy, SharkSearchStrategy
from trailhound.strategies.parts import session_as_crawl

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

    def answer(self, url: str) -> int | None:
        return 3 if url == LINKS[2].url and not self.found else None

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


def test_the_oracle_queues_answers_in_sight_and_one_way_when_there_are_none() -> None:
    strategy = OracleStrategy.from_briefing(BRIEFING)
    first = crawled({"bee": 1})
    strategy.observe(first)
    assert [item.link for item in strategy.score_links(first)] == [LINKS[2]]
    assert list(strategy.score_links(first)) == []  # it waits already
    (way,) = strategy.restock()
    assert (way.url, way.parent, way.depth) == (LINKS[2].url, first.page.url, 3)  # once more
    (way,) = strategy.restock()
    assert way.url == LINKS[1].url
    assert list(strategy.restock()) == []


def test_the_oracle_begins_with_what_the_session_has_shown() -> None:
    seen = Page("http://seen.test/", links=LINKS)
    strategy = OracleStrategy(Answers(), [seen])
    (answer,) = strategy.entrances(lambda url: True)
    assert (answer.url, answer.parent, answer.depth) == (LINKS[2].url, seen.url, 0)
    assert list(strategy.score_links(crawled({"bee": 1}))) == [], "it waits already"
    shut = OracleStrategy(Answers(), [seen])
    assert list(shut.entrances(lambda url: url != LINKS[2].url)) == []


def test_the_oracle_forgets_the_ways_to_what_is_found() -> None:
    strategy = OracleStrategy.from_briefing(BRIEFING)
    first = crawled({"bee": 1})
    strategy.observe(first)
    list(strategy.score_links(first))
    found = CrawledPage(Page(LINKS[2].url), Relevance(0.0, False), Candidate(LINKS[2].url, 1.0))
    strategy.observe(found)
    assert list(strategy.score_links(found)) == []
    assert list(strategy.restock()) == []


def scored(
    strategy: FishSearchStrategy,
    *,
    relevant: bool,
    memory: bytes = b"",
    n_links: int = 5,
    score: float = 0.3,
) -> list[ScoredLink]:
    links = tuple(Link(f"http://h.test/{number}") for number in range(n_links))
    page = Page("http://h.test/p", links=links)
    crawled = CrawledPage(page, Relevance(score, relevant), Candidate(page.url, 1.0, memory))
    return list(strategy.score_links(crawled))


def potentials(links: list[ScoredLink]) -> list[float]:
    return [link.priority for link in links]


def test_potentials_by_hand() -> None:
    strategy = FishSearchStrategy(width=2)
    # A relevant page has 1.5 · 2 = 3 good children, another one 2 fair ones; the rest has 0.
    assert potentials(scored(strategy, relevant=True)) == [1, 1, 1, 0, 0]
    assert potentials(scored(strategy, relevant=False)) == [0.5, 0.5, 0, 0, 0]


def test_life_runs_out_after_so_many_dull_pages() -> None:
    strategy = FishSearchStrategy(depth=2)
    memory = b""
    for _ in range(2):
        links = scored(strategy, relevant=False, memory=memory)
        memory = links[0].memory
    assert scored(strategy, relevant=False, memory=memory) == []


def test_a_relevant_page_gives_new_life() -> None:
    strategy = FishSearchStrategy(depth=2)
    weary = scored(strategy, relevant=False)[0].memory
    weary = scored(strategy, relevant=False, memory=weary)[0].memory
    fed = scored(strategy, relevant=True, memory=weary)
    assert fed[0].memory == scored(strategy, relevant=True)[0].memory
    assert scored(strategy, relevant=False, memory=fed[0].memory)


def test_a_child_that_is_linked_twice_takes_one_place() -> None:
    page = Page("http://h.test/p", links=tuple(Link(f"http://h.test/{n}") for n in (1, 1, 2, 3)))
    crawled = CrawledPage(page, Relevance(0.1, False), Candidate(page.url, 1.0))
    found = list(FishSearchStrategy(width=2).score_links(crawled))
    assert [(each.link.url[-1], each.priority) for each in found] == [
        ("1", 0.5),
        ("2", 0.5),
        ("3", 0.0),
    ]


def test_a_child_has_the_place_of_its_first_link() -> None:
    links = tuple(Link(f"http://h.test/{n}", f"link {at}") for at, n in enumerate((1, 2, 3, 1)))
    page = Page("http://h.test/p", links=links)
    crawled = CrawledPage(page, Relevance(0.1, False), Candidate(page.url, 1.0))
    found = list(FishSearchStrategy(width=2).score_links(crawled))
    assert [(each.link.anchor, each.priority) for each in found] == [
        ("link 0", 0.5),
        ("link 1", 0.5),
        ("link 2", 0.0),
    ]


def test_another_threshold_than_the_judges() -> None:
    strategy = make_strategy("fish-search:threshold=0.25", BRIEFING)
    assert isinstance(strategy, FishSearchStrategy)
    assert potentials(scored(strategy, relevant=False, score=0.25))[0] == 1
    assert potentials(scored(strategy, relevant=True, score=0.2))[0] == 0.5
    assert not learns_online(strategy)


@pytest.mark.parametrize("options", ["width=0", "depth=-1", "depth=99999999999", "boost=0"])
def test_impossible_options_are_refused(options: str) -> None:
    with pytest.raises(UsageError, match="fish-search needs"):
        make_strategy(f"fish-search:{options}", BRIEFING)


@pytest.mark.parametrize("options", ["decay=1.1", "inherited_weight=-1", "anchor_weight=2"])
def test_shares_are_between_nothing_and_all(options: str) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        make_strategy(f"shark-search:{options}", BRIEFING)


@pytest.mark.parametrize(
    "spec",
    [
        "fish-search:boost=nan",
        "fish-search:boost=1e308",
        "fish-search:threshold=nan",
        "shark-search:decay=nan",
        "trail:gate=inf",
        "hidden-markov:smoothing=-1e300",
    ],
)
def test_numbers_with_which_nothing_can_be_reckoned_are_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="it should be a number, at most 1e15"):
        make_strategy(spec, BRIEFING)


@given(st.integers(1, 20), st.integers(0, 5), st.lists(st.booleans(), max_size=12))
def test_no_path_is_longer_than_its_life(width: int, depth: int, path: list[bool]) -> None:
    strategy = FishSearchStrategy(width=width, depth=depth)
    memory, dull = b"", 0
    for relevant in path:
        links = scored(strategy, relevant=relevant, memory=memory)
        dull = 0 if relevant else dull + 1
        # Pages in a row without food, counted from the seed or the last relevant page.
        assert bool(links) == (dull <= depth)
        if not links:
            return
        assert potentials(links) == sorted(potentials(links), reverse=True)
        memory = links[0].memory


def test_a_session_is_a_crawl_of_the_pages_that_were_read() -> None:
    pages = (
        Page("http://h.test/read", terms={"bee": 1}),
        Page("http://h.test/address-only"),
        Page("http://h.test/marked"),
        Page("http://h.test/list", links=(Link("http://h.test/read"),)),
    )
    told = list(session_as_crawl(PageGraph(pages, (), frozenset({2}))))
    assert [each.page.url.rsplit("/", 1)[1] for each in told] == ["read", "marked", "list"]
    assert [each.relevance.relevant for each in told] == [False, True, False]
