"""What the strategy trail makes of a trace: people's visits are one more list of links."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from six_users import six_user_trace, url

from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import Sources
from trailhound.strategies.base import Briefing, FoundLink
from trailhound.strategies.choosing import asks_for_trace
from trailhound.strategies.trail import readers as readers_module
from trailhound.strategies.trail.features import by_name, describe
from trailhound.strategies.trail.readers import Readers, suggestions
from trailhound.strategies.trail.strategy import TrailStrategy


def taught(*, trace: bool = True) -> TrailStrategy:
    graph = PageGraph((Page("http://s.test/", links=(Link("http://s.test/a"),)),), (), frozenset())
    briefing = Briefing(graph, sources=Sources.of(trace=six_user_trace()))
    return TrailStrategy.from_briefing(briefing, trace=trace)


def shown(name: str, relevance: float, *links: str) -> CrawledPage:
    page = Page(url(name), links=tuple(Link(url(each)) for each in links))
    return CrawledPage(page, Relevance(relevance, relevance >= 0.5), Candidate(page.url, 0.0))


def ranked(strategy: TrailStrategy, page: CrawledPage) -> dict[str, float]:
    strategy.observe(page)
    return {each.link.url[-1]: each.priority for each in strategy.score_links(page)}


def note(readers: Readers, name: str, relevance: float) -> None:
    readers.note(readers.opened_near(url(name)), relevance)


def suggested(near: Mapping[str, float], *linked: str) -> list[str]:
    page = Page("http://s.test/", links=tuple(map(Link, linked)))
    return [link.url for link in suggestions(near, page, 0.9)]


def test_counts_are_those_of_a_sheet_of_paper() -> None:
    """Beside a: b by u1 and u5, c by u1 (two steps) and u2, d by u1 (three), e by u2 (two)."""
    readers = Readers(six_user_trace())
    note(readers, "a", 1.0)
    note(readers, "f", 0.0)  # u3: d next to it, b two steps; u4: e and g next to it
    hits, seen = readers.counts([url(name) for name in "bcdeg"] + ["http://far.test/"])
    of_a = np.array([2, 1.5, 1 / 3, 1 / 2, 0, 0])
    of_f = np.array([1 / 2, 0, 1, 1, 1, 0])
    assert hits == pytest.approx(of_a / (of_a + 1))
    assert seen == pytest.approx(of_a / (of_a + 1) + of_f / (of_f + 1))


def test_what_was_opened_most_is_suggested_and_a_long_pause_parts_visits() -> None:
    near = Readers(six_user_trace()).opened_near(url("a"))
    assert suggested(near) == [url(name) for name in "bced"]
    assert suggested(near, url("b")) == [url(name) for name in "ced"]


def test_what_people_asked_a_search_is_not_suggested() -> None:
    near = {"http://search.test/search?q=bees": 3.0, url("b"): 1.0}
    assert suggested(near) == [url("b")]


def test_of_a_page_with_two_addresses_the_first_that_people_opened_counts() -> None:
    readers = Readers(six_user_trace())
    assert readers.opened_near("http://new.test/", url("a")) == readers.opened_near(url("a"))
    assert url("b") not in readers.opened_near(url("a"), url("b"))
    assert readers.opened_near("http://new.test/") == {}
    assert Readers(None).opened_near(url("a")) == {}


def test_pages_opened_near_a_wanted_one_wait_though_nothing_links_there() -> None:
    assert set(ranked(taught(), shown("a", 0.9, "z"))) == set("zbced")
    assert set(ranked(taught(), shown("a", 0.1, "z"))) == {"z"}, "it is hardly wanted"
    assert set(ranked(taught(trace=False), shown("a", 0.9, "z"))) == {"z"}


def test_links_to_what_was_opened_near_wanted_pages_come_first() -> None:
    strategy = taught()
    strategy.observe(shown("b", 0.0))
    strategy.observe(shown("a", 1.0))
    found = ranked(strategy, shown("x", 0.0, "c", "y"))  # people opened c near both
    assert found["c"] > found["y"]


def test_a_resumed_crawl_ranks_as_before() -> None:
    before, after = taught(), taught()
    pages = [shown("a", 0.2), shown("e", 0.1)]
    for page in pages:
        ranked(before, page)
    after.restore(before.snapshot())
    for page in pages:
        after.read_again(page)
    expected = ranked(before, shown("x", 0.0, "c", "d", "y"))
    assert ranked(after, shown("x", 0.0, "c", "d", "y")) == pytest.approx(expected, abs=1e-4)


def test_it_is_told_in_words() -> None:
    strategy = taught()
    page = shown("a", 1.0, "c")
    strategy.observe(page)
    (link,) = [each for each in strategy.score_links(page) if each.link.url == url("c")]
    told = strategy.reasons(FoundLink(url("c"), link.memory))
    assert any("people opened just before or after" in reason.words for reason in told)


def test_of_what_only_people_s_visits_told_no_link_is_told() -> None:
    strategy = taught()
    page = shown("a", 1.0, "z")
    strategy.observe(page)
    (link,) = [each for each in strategy.score_links(page) if each.link.url == url("b")]
    told = strategy.reasons(FoundLink(url("b"), link.memory, page.page, {page.page.url: True}))
    words = " ".join(reason.words for reason in told)
    assert "people opened it near a relevant page" in words
    assert "found on" not in words
    assert "links to it" not in words


def test_they_are_no_neighbours_of_the_pages_own_links() -> None:
    strategy = taught()
    page = shown("a", 0.9, "z")
    ranked(strategy, page)
    strategy.observe(shown("b", 0.0))
    table = strategy._table
    rows, _ = describe(table, np.array([table.node(url("z"))]))
    told = by_name(rows[0])
    assert told["success of neighbouring links"] == 0.0
    assert told["number of links on the page"] == pytest.approx(np.log1p(1) - 4)


def test_a_page_that_comes_again_is_counted_once() -> None:
    strategy = taught()
    for _ in range(2):
        strategy.observe(shown("a", 0.9))
    _, seen = strategy._table.readers.counts([url("b")])
    assert seen[0] == pytest.approx(2 / 3)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers_module, "MAX_ADDRESSES", 5)
    readers = Readers(six_user_trace())
    for name in "bcdefgha":
        note(readers, name, 1.0)
    _, seen = readers.counts(url(name) for name in "abcdefgh")
    assert np.count_nonzero(seen) <= 5
    assert (seen[1:5] > 0).all(), "b to e are beside a, of which was heard last"


def test_the_lab_has_a_trace_for_those_that_ask() -> None:
    assert asks_for_trace("collaborative")
    assert asks_for_trace("trail:trace=true")
    assert not asks_for_trace("trail")
    assert not asks_for_trace("trail:trace=false")
