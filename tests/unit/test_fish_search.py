"""Fish-search on pages whose potentials can be told by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.errors import UsageError
from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance, ScoredLink
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing, learns_online
from trailhound.strategies.choosing import make_strategy
from trailhound.strategies.fish_and_shark import FishSearchStrategy

BRIEFING = Briefing(PageGraph((Page("http://h.test/"),), (), frozenset({0})))


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


def test_another_threshold_than_the_judges() -> None:
    strategy = make_strategy("fish-search:threshold=0.25", BRIEFING)
    assert isinstance(strategy, FishSearchStrategy)
    assert potentials(scored(strategy, relevant=False, score=0.25))[0] == 1
    assert potentials(scored(strategy, relevant=True, score=0.2))[0] == 0.5
    assert not learns_online(strategy)


@pytest.mark.parametrize("options", ["width=0", "depth=-1", "boost=0", "boost=nan"])
def test_impossible_options_are_refused(options: str) -> None:
    with pytest.raises(UsageError, match="fish-search needs"):
        make_strategy(f"fish-search:{options}", BRIEFING)


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
