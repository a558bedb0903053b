"""Where the strategy trail begins: links that the session has shown, and its pages as gateways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from interest_pages import crawled
from msgspec.structs import replace
from trail_pages import (
    ALL,
    H,
    P,
    anywhere,
    hub,
    page,
    score,
    session,
    taught,
    told,
    with_more_staff,
    with_pages_of_their_own,
)

from trailhound.records import Candidate, CrawledPage, Link, Outcome, Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing, FoundLink
from trailhound.strategies.trail import columns, entrances
from trailhound.strategies.trail.gateways import NOTHING, Gateways, finds_per_request
from trailhound.strategies.trail.host_shares import is_held_back
from trailhound.strategies.trail.strategy import TrailStrategy


def test_pages_of_the_session_are_worth_what_they_open() -> None:
    strategy = taught()
    found = score(strategy, crawled(f"{H}start", links=(f"{H}staff", f"{H}people/ann")))
    assert "staff" in found, "it may open pages that were not fetched yet"
    shut = TrailStrategy.from_briefing(Briefing(session()), gate=0.0)
    assert score(shut, crawled(f"{H}start", links=(f"{H}staff", f"{H}people/ann"))) == {}


def test_the_session_gives_ways_in_those_that_promise_most_first() -> None:
    strategy = TrailStrategy.from_briefing(Briefing(with_more_staff()))
    ways = list(strategy.entrances(anywhere))
    assert ways[0].url == f"{H}staff", "it names a person who was not visited"
    assert [way.priority for way in ways] == sorted((way.priority for way in ways), reverse=True)
    assert {(way.parent, way.depth) for way in ways} == {(None, 0)}


def test_a_way_in_that_was_taken_is_none_any_more_and_the_others_are_ranked_anew() -> None:
    strategy = TrailStrategy.from_briefing(Briefing(with_more_staff()))
    before = {way.url: way.priority for way in strategy.entrances(anywhere)}
    assert list(before) == [f"{H}staff", f"{H}news"], "the others bring nothing beyond these"
    shown = hub("staff", ("people/ann", "Ann"), ("people/bob", "Bob"), ("people/cyd", "Cyd"))
    due = [strategy.is_rank_due]
    assert "people/cyd" in score(strategy, shown)
    due.append(strategy.is_rank_due)
    after = strategy.rescore(ALL) or {}
    assert [*due, strategy.is_rank_due] == [False, True, False]
    assert shown.page.url not in after
    assert after[f"{H}news"] == pytest.approx(before[f"{H}news"]), "it opens as much as ever"


@pytest.mark.parametrize("options", [{"enter": False}, {"gate": 0.0}])
def test_a_crawl_need_not_enter_by_the_session(options: dict[str, Any]) -> None:
    strategy = TrailStrategy.from_briefing(Briefing(with_more_staff()), **options)
    assert list(strategy.entrances(anywhere)) == []
    score(strategy, hub("elsewhere"))
    answered = replace(hub("").page, url=f"{P}zoe")
    strategy.observe(CrawledPage(answered, Relevance(0.1, False), Candidate(answered.url, 0.0)))
    assert not strategy.is_entry_due, "nor when the hosts of the session have answered"


def test_ways_in_that_are_elsewhere_or_asked_of_a_search_engine_are_left_out() -> None:
    answers = page("?q=staff", "answers", ("people/dan", "Dan, professor"))
    strategy = TrailStrategy.from_briefing(Briefing(with_more_staff(answers)))
    assert H + "?q=staff" not in {way.url for way in strategy.entrances(anywhere)}
    assert len(list(strategy.entrances(anywhere))) == 2
    strategy.join(lambda url: url == f"{H}news")
    assert [way.url for way in strategy.entrances(anywhere)] == [f"{H}news"]


def test_what_may_not_be_opened_takes_nothing_from_other_ways_in() -> None:
    answers = page("?q=staff", "answers", ("people/cyd", "cyd Smith"), ("people/ann", "ann Smith"))
    answers = with_pages_of_their_own(answers)
    strategy = TrailStrategy.from_briefing(Briefing(with_more_staff(answers)))
    assert [way.url for way in strategy.entrances(anywhere)] == [f"{H}staff", f"{H}news"]
    portal = replace(answers, url="http://portal.test/")
    strategy = TrailStrategy.from_briefing(Briefing(with_more_staff(portal)))
    ways = strategy.entrances(lambda url: url.startswith((H, P)))
    assert [way.url for way in ways] == [f"{H}staff", f"{H}news"]


def test_gateways_that_were_opened_stay_so_when_a_crawl_is_resumed() -> None:
    strategy = TrailStrategy.from_briefing(Briefing(with_more_staff()))
    score(strategy, hub("staff", ("people/ann", "Ann"), ("people/cyd", "Cyd")))
    resumed = TrailStrategy.from_briefing(Briefing(with_more_staff()))
    resumed.restore(strategy.snapshot())
    assert f"{H}staff" not in {way.url for way in resumed.entrances(anywhere)}
    assert (resumed.rescore(ALL) or {})[f"{H}news"] == pytest.approx(
        (strategy.rescore(ALL) or {})[f"{H}news"]
    )


def test_a_gateway_whose_links_wait_is_worth_little_also_after_a_resume() -> None:
    people = [("people/ann", "ann Smith"), ("people/cyd", "cyd Smith")]
    graph = with_more_staff(page("list", "list", *people))
    strategy = TrailStrategy.from_briefing(Briefing(graph))
    (before,) = strategy._gateways.worth(np.array([strategy._table.node(f"{H}list")]), 0)
    shown = hub("staff", *people)
    score(strategy, replace(shown, page=with_pages_of_their_own(shown.page)))
    resumed = TrailStrategy.from_briefing(Briefing(graph))
    resumed.restore(strategy.snapshot())
    for each in (strategy, resumed):
        ways = {way.url: way.priority for way in each.entrances(anywhere)}
        assert ways.get(f"{H}list", NOTHING) < before - 2


def test_ways_in_are_worth_nothing_by_what_is_out_of_scope() -> None:
    strategy = TrailStrategy.from_briefing(Briefing(with_more_staff()))
    ways = strategy.entrances(lambda url: "cyd" not in url)
    assert [way.url for way in ways] == [f"{H}news"], "the list of staff opens nothing else"


def test_gateways_are_worth_the_finds_a_request_that_they_open() -> None:
    # 0 opens 3, 4 and 5; 1 opens 0 alone; 2 opens 3 alone.
    chances = np.array([0.0, 0.0, 0.0, 0.9, 0.6, 0.3])
    children, owners = np.array([3, 4, 5, 0, 3]), np.array([0, 0, 0, 1, 2])
    found = finds_per_request(chances, children, owners, np.array([0, 1, 2]))
    assert found == pytest.approx([1.5 / 3, 1.5 / 4, 0.9 / 2])


def test_what_gateways_are_worth_follows_from_those_that_were_opened() -> None:
    more = [page(f"list/{n}", "list", *((f"new/{m}", "x") for m in range(n, 9))) for n in range(6)]
    strategy = TrailStrategy.from_briefing(Briefing(with_more_staff(*more)))
    table, pages = strategy._table, [strategy._table.node(each.url) for each in more]
    gateways = Gateways(table, strategy._model.score, 1.0)
    assert len(set(gateways.worth(np.array(pages), 0).tolist())) > 1
    table.nodes["done"][pages[2]] = True
    table.await_children(pages[2])
    gateways.note_opened()
    anew = Gateways(table, strategy._model.score, 1.0)
    assert gateways.worth(np.array(pages), 1) == pytest.approx(anew.worth(np.array(pages), 1))
    assert gateways.worth(np.array(pages[2:]), 1).tolist() == [NOTHING] * 4


def test_a_page_of_the_session_that_has_changed_shows_its_new_links() -> None:
    fetched = page("staff", "staff", ("people/ann", "Ann Smith"), ("people/new", "New, professor"))
    shown = CrawledPage(fetched, Relevance(0.0, False), Candidate(fetched.url, 0.0))
    assert "people/new" in score(taught(), shown)


def test_what_the_crawl_may_not_fetch_is_neither_ranked_nor_worth_a_way() -> None:
    strategy = TrailStrategy.from_briefing(Briefing(with_more_staff()))
    before = {way.url: way.priority for way in strategy.entrances(anywhere)}
    list(strategy.entrances(lambda url: "jam" not in url and "cyd" not in url))
    first = score(strategy, hub("list", ("jam/1", "jam"), ("tax/1", "tax")))
    assert set(first) == {"tax/1"}
    strategy._is_read_again = True
    anew = strategy.rescore(ALL) or {}
    assert f"{H}jam/1" not in anew
    assert anew[f"{H}staff"] < before[f"{H}staff"], "it would have opened Cyd's page"


def session_with_a_mailbox() -> PageGraph:
    """Links of a site with marked pages, and of one without: somebody's mail."""
    graph = session()
    staff = page("staff", "staff", ("people/ann", "Ann"), ("people/cyd", "Cyd, professor"))
    people = ("people/cyd", "Cyd"), ("people/ann", "Ann")
    news = page("news", "news", ("news/1", "football"), *people)
    mail = Page("http://mail.test/", links=(Link("http://mail.test/delete?all", anchor="delete"),))
    return PageGraph((graph.pages[0], staff, *graph.pages[2:4], news, mail), (), graph.targets)


def test_links_that_the_session_has_shown_wait_from_the_beginning() -> None:
    strategy = TrailStrategy.from_briefing(Briefing(session_with_a_mailbox()))
    shown = {way.url: way for way in strategy.entrances(anywhere) if way.parent is not None}
    assert list(shown) == [f"{H}people/cyd", f"{H}news/1"], "those that promise most first"
    assert shown[f"{H}people/cyd"].parent == f"{H}staff", "the first page that has it"
    assert {way.depth for way in shown.values()} == {0}, "the crawl begins there"
    (cyd, football) = shown.values()
    assert cyd.priority > football.priority
    named = {reason.words for reason in strategy.reasons(FoundLink(cyd.url, cyd.memory))}
    assert "its words, next to those of the pages you marked" in named


def test_links_that_do_something_and_links_not_to_be_followed_do_not_wait() -> None:
    links = (
        Link(f"{H}x?7", anchor="Log out (Ann)"),
        Link(f"{H}y?8", image_alt="Delete"),
        Link(f"{H}account/7/delete", anchor="publications"),
        Link(f"{H}people/nf", anchor="professor", nofollow=True),
        Link(f"{H}people/cyd", anchor="professor"),
        Link(f"{H}people/cyd", anchor="professor", nofollow=True),
        Link(f"{H}people/twice", anchor="professor"),
    )
    pages = (
        Page(f"{H}staff", links=links, language="en"),
        Page(f"{H}more", links=(Link(f"{H}people/dan"),), nofollow=True, language="en"),
        Page(f"{H}last", links=(Link(f"{H}people/twice", anchor="unsubscribe"),), language="en"),
    )
    graph = session()
    strategy = TrailStrategy.from_briefing(
        Briefing(PageGraph((*graph.pages[2:4], *pages), (), frozenset({0, 1})))
    )
    shown = [way.url for way in strategy.entrances(anywhere) if way.parent]
    assert shown == [f"{H}people/cyd", H]


def test_a_host_that_refuses_all_that_was_shown_waits_until_all_else_was_asked() -> None:
    people = [(f"people/{n}", f"professor {n}") for n in range(50)]
    graph = with_more_staff(page("people/all", "list", *people))
    strategy = TrailStrategy.from_briefing(Briefing(graph))
    waiting = {way.url: b"" for way in strategy.entrances(anywhere)}
    other = "http://other.test/"
    found = hub("", ("a", "weather"))
    found = replace(found, page=replace(found.page, url=other, links=(Link(f"{other}a"),)))
    strategy.observe(replace(found, candidate=Candidate(other, 0.0)))
    waiting |= {link.link.url: b"" for link in strategy.score_links(found)}
    best = [url for url in waiting if url.startswith(P)]
    left = {url: each for url, each in waiting.items() if url not in best[:15]}
    for gone in best[:15]:
        strategy.regret(Candidate(gone, 0.0), Outcome.ROBOTS)
    strategy._is_read_again = True
    ranked = strategy.rescore(left) or {}
    assert max(ranked[url] for url in best[15:]) < ranked[f"{other}a"]
    answered = replace(found.page, url=best[15], links=())
    strategy.observe(CrawledPage(answered, Relevance(1.0, True), Candidate(best[15], 0.0)))
    strategy._is_read_again = True
    ranked = strategy.rescore(left) or {}
    assert max(ranked[url] for url in best[16:]) > ranked[f"{other}a"], "it has answered"


def test_what_failed_is_known_after_a_resume() -> None:
    people = [(f"people/{n}", f"professor {n}") for n in range(50)]
    graph = with_more_staff(page("people/all", "list", *people))
    strategy = TrailStrategy.from_briefing(Briefing(graph))
    best = [way.url for way in strategy.entrances(anywhere) if way.url.startswith(P)]
    for gone in best[:9]:
        strategy.regret(Candidate(gone, 0.0), Outcome.ROBOTS)
    resumed = TrailStrategy.from_briefing(Briefing(graph))
    resumed.restore(strategy.snapshot())
    again = [way for way in resumed.entrances(anywhere) if way.url.startswith(P)]
    assert not {way.url for way in again} & set(best[:9]), "that is over, in scope as it is"
    assert is_held_back(np.array([way.priority for way in again if way.parent])).all()
    twice = TrailStrategy.from_briefing(Briefing(graph))
    twice.restore(resumed.snapshot())
    assert twice._table.failed_pages() == strategy._table.failed_pages()
    assert twice._table.places["refused"].max() == 9


@pytest.mark.parametrize("outcome", [Outcome.LOGIN_WANTED, Outcome.UNREACHABLE, Outcome.BUSY])
def test_what_may_be_mended_between_two_runs_is_forgotten(outcome: Outcome) -> None:
    strategy = taught()
    for n in range(9):
        strategy.regret(Candidate(f"{H}list/{n}", 0.0), outcome)
    assert strategy._table.places["refused"].max() == 9
    resumed = taught()
    resumed.restore(strategy.snapshot())
    assert resumed._table.places["refused"].max() == 0
    assert not resumed._table.failed_pages()


def test_a_host_that_has_answered_is_not_held_back_after_a_resume_either() -> None:
    strategy = taught()
    score(strategy, hub("", ("gone/1", "professor")))
    for n in range(9):
        score(strategy, hub(f"list/{n}", (f"gone/{n}", "professor")))
        strategy.regret(Candidate(f"{H}gone/{n}", 0.0), Outcome.NOT_FOUND)
    assert set(strategy._table.failed_pages().values()) == {False}


def test_a_host_is_not_held_back_for_what_nobody_has_asked_it_for() -> None:
    """Links that the crawl's rules leave out never wait, and pictures are no refusal."""
    strategy = taught()
    found = hub("", *((f"a{n}", "professor") for n in range(9)))
    page_of = replace(found.page, url="http://other.test/", links=found.page.links)
    strategy.observe(replace(found, page=page_of, candidate=Candidate(page_of.url, 0.0)))
    waiting = {link.link.url: b"" for link in strategy.score_links(replace(found, page=page_of))}
    for n in range(9):
        strategy.regret(Candidate(f"{H}a{n}", 0.0), Outcome.NOT_HTML)
    for left in ({}, waiting):
        strategy._is_read_again = True
        ranked = strategy.rescore(left) or {}
    assert not is_held_back(np.array(list(ranked.values()))).any()
    assert not strategy._crowding.size


def test_a_host_that_has_answered_is_known_for_it_when_its_pages_are_forgotten() -> None:
    strategy = taught()
    for n in range(9):
        score(strategy, hub(f"q/{n}", relevance=0.9))
        strategy.regret(Candidate(f"{H}dead/{n}", 0.0), Outcome.NOT_FOUND)
    for _ in range(4):
        strategy._forget()
    assert strategy._table.places["refused"].max() == 9
    assert not strategy._crowding.size


def test_most_of_what_was_shown_of_a_host_waits_until_that_has_answered() -> None:
    people = [(f"people/{n}", f"professor {n}") for n in range(50)]
    silent = tuple(Link(f"http://silent.test/{n}", anchor="professor") for n in range(50))
    shown = page("people/all", "list", *people)
    graph = with_more_staff(replace(shown, links=(*shown.links, *silent)))
    strategy = TrailStrategy.from_briefing(Briefing(graph))
    ways = [way.url for way in strategy.entrances(anywhere) if way.parent]
    first = [url for url in ways if url.startswith(P)]
    assert len(first) == len(ways) / 2 == entrances.MOST_UNTRIED
    due = [strategy.is_entry_due]
    score(strategy, hub("elsewhere"))
    due.append(strategy.is_entry_due)
    answered = replace(hub("").page, url=first[0])
    strategy.observe(CrawledPage(answered, Relevance(0.1, False), Candidate(first[0], 0.0)))
    due.append(strategy.is_entry_due)
    then = [way.url for way in strategy.entrances(anywhere)]
    assert sorted(first + then) == sorted(f"{P}{n}" for n in range(50))
    assert [*due, strategy.is_entry_due] == [False, False, True, False]
    resumed = TrailStrategy.from_briefing(Briefing(graph))
    resumed.restore(strategy.snapshot())
    again = {way.url for way in resumed.entrances(anywhere) if way.parent}
    assert again - set(ways) == set(then), "it is known that the host answers"


def test_when_nothing_else_waits_silent_hosts_are_tried_on() -> None:
    """The first links of a host may be dead, and the others alive."""
    silent = tuple(Link(f"http://silent.test/{n}", anchor="professor") for n in range(50))
    graph = with_more_staff(replace(page("people/all", "list"), links=silent))
    strategy = TrailStrategy.from_briefing(Briefing(graph))
    named = [len([way for way in strategy.entrances(anywhere) if way.parent])]
    while more := list(strategy.restock()):
        named.append(len(more))
    assert named == [20, 20, 10]
    still = TrailStrategy.from_briefing(Briefing(graph), enter=False)
    assert not list(still.entrances(anywhere))
    assert not list(still.restock())


def test_a_host_that_only_redirects_has_answered() -> None:
    old = tuple(Link(f"http://old.test/{n}", anchor="professor") for n in range(50))
    graph = with_more_staff(replace(page("people/all", "list"), links=old))
    strategy = TrailStrategy.from_briefing(Briefing(graph))
    (first, *_) = [way.url for way in strategy.entrances(anywhere) if way.parent]
    moved = replace(hub("").page, url="http://new.test/")
    strategy.observe(CrawledPage(moved, Relevance(0.1, False), Candidate(first, 0.0)))
    assert strategy.is_entry_due
    assert len(list(strategy.entrances(anywhere))) == 30


def test_what_was_shown_waits_as_the_crawl_asks_for_it() -> None:
    """Tracking parameters are taken off on the way into the queue."""
    people = Page(
        f"{H}staff?utm_source=mail",
        links=(Link(f"{H}people/dan?utm_source=h.test", anchor="professor"),),
        language="en",
    )
    graph = session()
    strategy = TrailStrategy.from_briefing(
        Briefing(PageGraph((*graph.pages, people), (), graph.targets))
    )
    shown = {way.url for way in strategy.entrances(anywhere)}
    assert f"{H}people/dan" in shown
    assert not any("utm" in url for url in shown)
    tracked = hub("list", ("people/eve?utm_source=h.test", "professor"))
    assert set(score(strategy, tracked)) == {"people/eve?utm_source=h.test"}
    (reason, *_) = strategy.reasons(
        FoundLink(f"{H}people/eve", told(strategy, tracked)[0].memory, tracked.page)
    )
    assert "opened" not in reason.words
    before = strategy._model._examples.size
    score(strategy, hub("people/eve", relevance=1.0))
    assert strategy._model._examples.size == before + 1, "it is known which links led there"
    score(strategy, hub("staff?utm_source=print"))
    assert strategy._table.opened_pages() == [f"{H}staff"], "whatever the seed was called"
    assert f"{H}staff" not in {way.url for way in strategy.entrances(anywhere)}


def test_pages_of_the_session_without_any_content_are_no_way_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(columns, "_FIRST_ROOM", 1)
    for n in range(40):
        links = tuple((f"people/{m}", f"professor {m}") for m in range(n))
        graph = with_more_staff(page("people/all", "list", *links), Page(f"{H}unread"))
        assert list(TrailStrategy.from_briefing(Briefing(graph)).entrances(anywhere))


def test_what_was_shown_is_ranked_anew_with_all_that_waits() -> None:
    strategy = TrailStrategy.from_briefing(Briefing(session_with_a_mailbox()))
    before = {way.url: way.priority for way in strategy.entrances(anywhere)}
    for n in range(25):
        score(strategy, hub(f"list/{n}", (f"news/{n + 2}", "football")))
        score(strategy, hub(f"news/{n + 2}", relevance=1.0))
    anew = strategy.rescore(ALL) or {}
    assert anew[f"{H}news/1"] > before[f"{H}news/1"] + 0.5


def test_scope_other_copies_and_what_was_fetched_hold_for_links_that_were_shown() -> None:
    briefing = Briefing(session_with_a_mailbox())
    strategy = TrailStrategy.from_briefing(briefing)
    assert f"{H}news/1" not in {way.url for way in strategy.entrances(lambda url: "1" not in url)}
    shared = TrailStrategy.from_briefing(briefing)
    shared.join(lambda url: "cyd" not in url)
    assert {way.url for way in shared.entrances(anywhere) if way.parent} == {f"{H}news/1"}
    resumed = TrailStrategy.from_briefing(briefing)
    score(strategy, hub("people/cyd", relevance=1.0))
    resumed.restore(strategy.snapshot())
    assert {way.url for way in resumed.entrances(anywhere) if way.parent} == {f"{H}news/1"}
    assert f"{H}news/1" in (resumed.rescore(ALL) or {}), "it waits with a priority of before"


def test_the_best_of_very_many_links_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entrances, "MOST_SHOWN", 1)
    strategy = TrailStrategy.from_briefing(Briefing(session_with_a_mailbox()))
    ways = list(strategy.entrances(anywhere))
    assert [way.url for way in ways if way.parent] == [f"{H}people/cyd"]
    assert f"{H}news" in {way.url for way in ways}, "the rest is behind gateways"


def test_a_page_of_the_session_whose_links_wait_may_show_new_ones_yet() -> None:
    """By now, that is: what is worth a tenth of them is asked for when nothing better is left."""
    strategy = TrailStrategy.from_briefing(Briefing(session_with_a_mailbox()))
    ways = {way.url: way.priority for way in strategy.entrances(anywhere)}
    assert ways[f"{H}people/cyd"] > ways[f"{H}news"] + 1 > NOTHING + 2
