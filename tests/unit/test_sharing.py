"""Copies of a strategy that heed each other's news rank as one that has seen all pages itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from inspect import isawaitable
from typing import Any

import pytest
from six_users import six_user_trace

from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import Sources
from trailhound.strategies import Briefing, News, Sharing, strategy_names
from trailhound.strategies.choosing import make_strategy
from trailhound.strategies.trail import strategy as trail

H = "http://h.test/"


def page(name: str, words: str, *links: str) -> Page:
    linked = tuple(Link(H + each, anchor=each.replace("/", " ")) for each in links)
    return Page(
        H + name, title=words, terms=dict.fromkeys(words.split(), 2), links=linked, language="en"
    )


SESSION = PageGraph(
    (
        page("", "portal", "jam", "tax"),
        page("jam", "strawberry jam", "jam/a", "tax"),
        page("tax", "tax return", "tax/a", "jam"),
        page("other", "sport weather", "tax/b"),
    ),
    ((0, 1), (0, 2), (1, 2)),
    frozenset({1}),
)
NAMES = [f"{kind}/{n}" for n in range(8) for kind in ("jam", "tax")]
LISTS = [page("list", "list of all", *NAMES), page("second", "another list", *NAMES[4:], "jam/x")]
WEB = [
    *LISTS,
    *(page(name, f"{name[:3]} fruit number", f"{name}/more", "jam/far") for name in NAMES),
]


def made(name: str) -> Any:
    briefing = Briefing(SESSION, seed=7, sources=Sources(trace=six_user_trace))
    strategy = make_strategy(name, briefing)

    async def wait() -> Any:
        return await strategy if isawaitable(strategy) else strategy

    return asyncio.run(wait())


def crawl(strategy: Any, pages: Sequence[Page]) -> list[News]:
    """Show pages to a strategy, each by the link that it had scored; what it tells of them."""
    known: dict[str, Candidate] = {}
    told = []
    for each in pages:
        candidate = known.get(each.url, Candidate(each.url, 0.0))
        relevant = "jam" in each.terms
        crawled = CrawledPage(each, Relevance(0.9 if relevant else 0.1, relevant), candidate)
        strategy.observe(crawled)
        for scored in strategy.score_links(crawled):
            url = scored.link.url
            known[url] = Candidate(url, scored.priority, scored.memory, each.url, 1)
        told.append(strategy.news(crawled))
    return told


def priorities(strategy: Any, shown: CrawledPage) -> dict[str, float]:
    strategy.observe(shown)
    return {each.link.url: each.priority for each in strategy.score_links(shown)}


def test_strategies_that_learn_while_crawling_share() -> None:
    sharing = {name for name in strategy_names() if isinstance(made_or_none(name), Sharing)}
    assert sharing == {"trail", "memm", "intelligent", "content-link", "collaborative"}


def made_or_none(name: str) -> object:
    return None if name == "oracle" else made(name)


@pytest.mark.parametrize("name", ["trail", "memm", "intelligent"])
def test_a_copy_that_heard_of_all_pages_ranks_as_one_that_saw_them(name: str) -> None:
    one, copy = made(name), made(name)
    copy.join(lambda _: True)
    told = crawl(one, WEB[:-2])
    copy.heed(told[1:])
    copy.heed(told[:2])
    last = CrawledPage(WEB[-1], Relevance(0.1, False), Candidate(WEB[-1].url, 0.0))
    expected = priorities(one, last)
    assert expected
    assert priorities(copy, last) == pytest.approx(expected, abs=0.02)
    unheard = priorities(made(name), last)
    assert unheard != pytest.approx(expected, abs=0.02), "there was something to learn"


def test_trail_ranks_what_it_owns_by_what_others_found() -> None:
    one, copy = made("trail"), made("trail")
    copy.join(lambda url: "tax" not in url)
    waiting = {link.url: b"" for page in WEB for link in page.links}
    told = crawl(one, WEB[:5])
    copy.heed(told[:2])
    first = copy.rescore(waiting)
    assert first
    assert not any("/tax/" in url for url in first), "others fetch those"
    copy.heed(told[2:])
    then = copy.rescore(waiting)
    assert then[H + "jam/5"] > first[H + "jam/5"], "two of its list were wanted"


def test_trail_ranks_links_that_arrive_later_than_news_of_them() -> None:
    one, copy = made("trail"), made("trail")
    copy.join(lambda _: True)
    told = crawl(one, WEB[:5])
    copy.heed(told[:2])
    assert H + "jam/5" not in (copy.rescore({}) or {}), "it is not here yet"
    copy.heed(told[2:])
    waiting = {link.url: b"" for page in WEB for link in page.links}
    assert H + "jam/5" in copy.rescore(waiting)


def test_links_that_never_arrive_do_not_keep_trail_from_ranking_those_that_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trail, "RANKED_BETWEEN", 3)
    monkeypatch.setattr(trail, "RANKED_ANEW", 3)
    one, copy = made("trail"), made("trail")
    copy.join(lambda _: True)
    copy.heed(crawl(one, WEB))
    dead = page("dead", "list", *(f"jam/dead{n}" for n in range(5)))
    alive = page("alive", "list", *(f"tax/alive{n}" for n in range(3)))
    for each in (dead, alive):
        priorities(copy, CrawledPage(each, Relevance(0.1, False), Candidate(each.url, 0.0)))
    waiting = {link.url: b"" for link in alive.links}
    told: set[str] = set()
    for _ in range(12):
        copy._is_read_again = True
        told |= (copy.rescore(waiting) or {}).keys()
    assert waiting.keys() <= told


def test_trail_without_links_learns_how_pages_turned_out() -> None:
    one, copy = made("trail"), made("trail")
    copy.join(lambda url: url.startswith("http://elsewhere.test"))
    told = crawl(one, WEB)
    copy.heed([News(each.for_all) for each in told])
    fresh = made("trail")
    shown = CrawledPage(
        page("new", "new list", "jam/new", "tax/new"), Relevance(0.1, False), Candidate(H, 0.0)
    )
    gap, before = (
        found[H + "jam/new"] - found[H + "tax/new"]
        for found in (priorities(copy, shown), priorities(fresh, shown))
    )
    assert gap > before


def test_trail_does_not_read_links_of_which_none_is_for_it() -> None:
    told = crawl(made("trail"), WEB)
    shown = CrawledPage(
        page("new", "new list", *NAMES, "jam/new"), Relevance(0.1, False), Candidate(H, 0.0)
    )
    found = []
    for news in (told, [News(each.for_all) for each in told]):
        copy = made("trail")
        copy.join(lambda url: url.startswith("http://elsewhere.test"))
        copy.heed(news)
        found.append(priorities(copy, shown))
    assert found[0] == found[1]


def test_content_link_shares_its_table_and_its_limit() -> None:
    one, copy = made("content-link"), made("content-link")
    told = crawl(one, WEB)
    copy.heed(told)
    assert copy.relevancy_limit == pytest.approx(one.relevancy_limit)
    assert copy.topic_words == one.topic_words


def test_what_was_heard_is_known_after_a_restart() -> None:
    for name in ("trail", "memm", "intelligent", "content-link", "collaborative"):
        one, copy, again = made(name), made(name), made(name)
        told = crawl(one, WEB)
        copy.heed(told)
        again.restore(copy.snapshot())
        kept = again.snapshot()
        again.heed([News(each.for_all) for each in told])
        assert again.snapshot() == kept, name
