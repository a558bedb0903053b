"""From sessions to the page graph: who is a node, what is an edge, which marks count."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.errors import UsageError
from trailhound.records import Link, LinkKind, Page
from trailhound.sessions.events import Event, Mark, Reached, Session, Submit, Visit
from trailhound.sessions.page_graph import PageGraph, build_page_graph, hop_levels, session_labels

SITE = "http://bees.example/"
LONG_TEXT = " ".join(f"word{number}" for number in range(30))


def page(
    name: str,
    *links: str,
    title: str = "",
    text: str = "",
    terms: dict[str, int] | None = None,
    canonical_url: str | None = None,
) -> Page:
    return Page(
        SITE + name,
        title=title,
        text=text,
        terms=terms or {},
        links=tuple(Link(SITE + link) for link in links),
        canonical_url=canonical_url,
    )


def visits(*names: str, reached: Reached = Reached.LINK) -> list[Event]:
    return [Visit(float(time), SITE + name, reached=reached) for time, name in enumerate(names)]


def graph_of(events: Sequence[Event], *pages: Page, label: str | None = None) -> PageGraph:
    content = {page.url: page for page in pages}
    return build_page_graph([Session("bees", tuple(events))], content.get, label)


def names(graph: PageGraph) -> list[str]:
    return [page.url.removeprefix(SITE) for page in graph.pages]


def named_edges(graph: PageGraph) -> set[str]:
    named = names(graph)
    return {f"{named[source]}>{named[destination]}" for source, destination in graph.edges}


def named_set(graph: PageGraph, numbers: frozenset[int] | tuple[int, ...]) -> set[str]:
    return {names(graph)[number] for number in numbers}


def test_edges_are_hyperlinks_not_clicks() -> None:
    # She clicked a>b, went back, then a>c; the pages also hold b>a, c>b and a link outside.
    graph = graph_of(
        [
            Visit(1, SITE + "a", reached=Reached.TYPED),
            Visit(2, SITE + "b", from_url=SITE + "a"),
            Visit(3, SITE + "a", reached=Reached.BACK, from_url=SITE + "b"),
            Visit(4, SITE + "c", from_url=SITE + "a"),
            Visit(5, SITE + "c", reached=Reached.RELOAD, from_url=SITE + "c"),
            Mark(6, SITE + "c"),
            Submit(7),
        ],
        page("a", "b", "c", "b"),
        page("b", "a"),
        page("c", "b", "c", "elsewhere"),
    )
    assert names(graph) == ["a", "b", "c"]
    assert graph.edges == ((0, 1), (0, 2), (1, 0), (2, 1))
    assert graph.targets == {2}
    assert graph.starts == (0,)


def test_a_click_without_a_hyperlink_gives_no_edge() -> None:
    events = [Visit(1, SITE + "a"), Visit(2, SITE + "b", reached=Reached.FORM, from_url=SITE + "a")]
    assert graph_of(events, page("a"), page("b")).edges == ()


def test_of_a_page_without_content_the_links_are_known_that_were_followed() -> None:
    events = [
        Visit(1, SITE + "a", title="Bees", reached=Reached.TYPED),
        Visit(2, SITE + "b", from_url=SITE + "a#top"),
        Visit(3, SITE + "a", reached=Reached.BACK, from_url=SITE + "b"),
        Visit(4, SITE + "c", from_url=SITE + "a", requested_url=SITE + "old"),
        Visit(5, SITE + "d", reached=Reached.FORM, from_url=SITE + "c"),
        Visit(6, SITE + "e", from_url=SITE + "d"),
        Visit(7, SITE + "f", from_url=SITE + "never-shown"),
    ]
    assert named_edges(graph_of(events)) == {"a>b", "a>c", "d>e"}
    # Where the source was kept it says what is linked.
    assert named_edges(graph_of(events, page("a", "c", text="Of bees"))) == {"a>c", "d>e"}


def test_pages_that_led_nowhere_stay() -> None:
    graph = graph_of([*visits("a", "dead-end", "b"), Mark(9, SITE + "b")], page("a", "b"))
    assert names(graph) == ["a", "dead-end", "b"]
    assert graph.targets == {2}


def test_spellings_of_one_url_are_one_page() -> None:
    events: list[Event] = [
        Visit(1, "HTTP://Bees.Example:80/a#top"),
        Visit(2, SITE + "a"),
        Mark(3, SITE + "a#x"),
    ]
    graph = graph_of(events, page("a"))
    assert names(graph) == ["a"]
    assert graph.targets == {0}


def test_what_is_not_on_the_web_is_no_page() -> None:
    events: list[Event] = [
        Visit(1, "about:blank"),
        Visit(2, "file:///tmp/a"),
        Visit(3, SITE),
        Mark(4, "x:y"),
    ]
    assert len(graph_of(events).pages) == 1


def test_redirects_lead_to_the_page_they_end_at() -> None:
    graph = graph_of(
        [
            Visit(1, SITE + "a"),
            Visit(2, SITE + "new", from_url=SITE + "a", requested_url=SITE + "old"),
            Mark(3, SITE + "old"),
        ],
        page("a", "old"),
        page("new", "a"),
    )
    assert names(graph) == ["a", "new"]
    assert named_edges(graph) == {"a>new", "new>a"}
    assert named_set(graph, graph.targets) == {"new"}


def test_a_redirect_to_several_pages_does_not_make_them_one() -> None:
    graph = graph_of(
        [
            Visit(1, SITE + "a"),
            Visit(2, SITE + "x", requested_url=SITE + "random"),
            Visit(3, SITE + "y", requested_url=SITE + "random"),
            Mark(4, SITE + "random"),
        ],
        page("a", "random"),
        page("x"),
        page("y"),
    )
    assert named_edges(graph) == {"a>x", "a>y"}
    assert named_set(graph, graph.targets) == {"y"}, "the mark is for what was on the screen"


def test_redirects_that_the_content_knows_of_count_too() -> None:
    content = {SITE + "old": page("new"), SITE + "a": page("a", "old")}
    session = Session("bees", (*visits("a", "old"), Mark(3, SITE + "old")))
    graph = build_page_graph([session], content.get)
    assert names(graph) == ["a", "new"]
    assert named_edges(graph) == {"a>new"}
    assert graph.targets == {1}


def test_a_circle_of_redirects_ends() -> None:
    events = [
        Visit(1, SITE + "x", requested_url=SITE + "y"),
        Visit(2, SITE + "y", requested_url=SITE + "x"),
        Visit(3, SITE + "a"),
    ]
    graph = graph_of(events, page("a", "x", "y"))
    assert len(graph.pages) == 2
    assert graph.edges == ((1, 0),)


def test_declared_copies_are_one_page_with_the_links_of_both() -> None:
    terms = {"bee": 3, "hive": 2}
    graph = graph_of(
        [*visits("a", "b?print=1", "b", "c"), Mark(9, SITE + "b?print=1")],
        page("a", "b?print=1"),
        page("b?print=1", "c", canonical_url=SITE + "b", terms=terms),
        page("b", "a", terms=terms | {"menu": 1}),
        page("c"),
    )
    assert names(graph) == ["a", "b", "c"]
    assert named_edges(graph) == {"a>b", "b>a", "b>c"}
    assert named_set(graph, graph.targets) == {"b"}


def test_a_declared_url_that_was_not_visited_is_an_alias() -> None:
    graph = graph_of(visits("a", "b?x=1"), page("a", "b"), page("b?x=1", canonical_url=SITE + "b"))
    assert named_edges(graph) == {"a>b?x=1"}


def test_a_copy_declared_in_a_foreign_domain_is_not_believed() -> None:
    other = Page("http://other.example/a")
    events = [*visits("a"), Visit(9, other.url)]
    assert len(graph_of(events, page("a", canonical_url=other.url), other).pages) == 2


def test_a_site_that_declares_its_home_page_everywhere_does_not_collapse() -> None:
    pages = [page(f"p{n}", canonical_url=SITE, terms={f"term{n}": 5, "menu": 1}) for n in range(4)]
    graph = graph_of(visits("p0", "p1", "p2", "p3"), *pages)
    assert names(graph) == ["p0", "p1", "p2", "p3"]
    with_home = graph_of(visits("", "p0", "p1"), page("", terms={"home": 3, "menu": 1}), *pages)
    assert len(with_home.pages) == 3


def test_identical_content_is_one_page_and_short_content_is_not() -> None:
    copies = [page("a", text=LONG_TEXT), page("b", text=LONG_TEXT)]
    assert names(graph_of(visits("a", "b"), *copies)) == ["a"]
    short = [page("a", text="Untitled"), page("b", text="Untitled")]
    assert names(graph_of(visits("a", "b"), *short)) == ["a", "b"]


def frameset(name: str, *frames: str) -> Page:
    links = tuple(Link(SITE + frame, kind=LinkKind.FRAME) for frame in frames)
    return Page(SITE + name, links=links, is_frameset=True)


def test_a_frameset_gives_way_to_its_inner_pages() -> None:
    graph = graph_of(
        [
            Visit(1, SITE + "a", reached=Reached.TYPED),
            Visit(2, SITE + "set", from_url=SITE + "a"),
            Visit(2, SITE + "menu", frame_of=SITE + "set"),
            Visit(2, SITE + "main", frame_of=SITE + "set"),
            Visit(3, SITE + "inner", frame_of=SITE + "set", from_url=SITE + "menu"),
            Mark(4, SITE + "set"),
        ],
        page("a", "set"),
        frameset("set", "menu", "main"),
        page("menu", "inner"),
        page("main"),
        page("inner", "set"),
    )
    assert names(graph) == ["a", "menu", "main", "inner"]
    assert named_edges(graph) == {"a>menu", "a>main", "menu>inner", "inner>menu", "inner>main"}
    assert named_set(graph, graph.targets) == {"inner"}, "the address bar still said 'set'"
    assert named_set(graph, graph.starts) == {"a"}


def test_inner_pages_that_the_recorder_missed_are_looked_up() -> None:
    graph = graph_of(
        [*visits("a", "set", reached=Reached.TYPED), Mark(9, SITE + "set")],
        page("a", "set"),
        frameset("set", "menu", "nested"),
        page("menu"),
        frameset("nested", "main"),
        page("main"),
    )
    assert names(graph) == ["a", "menu", "main"]
    assert named_edges(graph) == {"a>menu", "a>main"}
    assert named_set(graph, graph.targets) == {"menu", "main"}
    assert named_set(graph, graph.starts) == {"a", "menu", "main"}


def test_a_frameset_with_nothing_known_inside_stays() -> None:
    assert names(graph_of(visits("set"), frameset("set", "menu"))) == ["set"]


def test_an_inner_frame_of_an_ordinary_page_is_a_page_beside_it() -> None:
    outer = Page(SITE + "a", links=(Link(SITE + "f", kind=LinkKind.IFRAME),))
    events = [Visit(1, SITE + "a"), Visit(1, SITE + "f", frame_of=SITE + "a")]
    graph = graph_of(events, outer, page("f"))
    assert named_edges(graph) == {"a>f"}
    assert graph.starts == (0,)


def test_html_of_the_visit_comes_before_looked_up_content_and_the_last_wins() -> None:
    events = [
        Visit(1, SITE + "a", html="<title>Old</title><a href=/b>b</a>"),
        Visit(2, SITE + "a", html="<title>New</title><p>Héllo</p><a href=c>c</a>"),
        Visit(3, SITE + "a", reached=Reached.BACK),
        *[Visit(4, SITE + name) for name in "bc"],
    ]
    graph = graph_of(events, page("a", title="Corpus"), page("b", title="B"))
    assert [page.title for page in graph.pages] == ["New", "B", ""]
    assert "Héllo" in graph.pages[0].text
    assert named_edges(graph) == {"a>c"}


def test_a_page_without_any_source_keeps_its_title() -> None:
    graph = graph_of([Visit(1, SITE + "a", title="Honey & <b>wax</b>"), Visit(2, SITE + "b")])
    assert graph.pages[0].title == "Honey & <b>wax</b>"
    assert graph.pages[0].terms
    assert graph.pages[1] == Page(SITE + "b")


@pytest.mark.parametrize(
    ("verdicts", "targets", "rejected"),
    [
        ([True], {0}, set()),
        ([True, False], set(), {0}),
        ([False, True], {0}, set()),
        ([True, None], set(), set()),
        ([True, None, False], set(), {0}),
    ],
)
def test_the_last_mark_wins(
    verdicts: list[bool | None], targets: set[int], rejected: set[int]
) -> None:
    marks = [Mark(10.0 + time, SITE + "a", useful) for time, useful in enumerate(verdicts)]
    graph = graph_of([*visits("a"), *marks], page("a"))
    assert graph.targets == targets
    assert graph.rejected == rejected
    # The file's order says nothing where the times do.
    assert graph_of([*reversed(marks), *visits("a")], page("a")) == graph


def test_labels_select_a_topic_over_the_same_pages() -> None:
    events = [
        *visits("a", "b", "c"),
        Mark(10, SITE + "a", label="honey"),
        Mark(11, SITE + "a", useful=False, label="wax"),
        Mark(12, SITE + "b", label="wax"),
        Mark(13, SITE + "c", useful=False, label="wax"),
    ]
    assert session_labels([Session("t", tuple(events))]) == ("honey", "wax")
    honey, wax, both = (graph_of(events, label=label) for label in ("honey", "wax", None))
    assert [graph.targets for graph in (honey, wax, both)] == [{0}, {1}, {0, 1}]
    assert [graph.rejected for graph in (honey, wax, both)] == [set(), {0, 2}, {2}]
    assert honey.pages == wax.pages == both.pages
    assert graph_of(events, label="none").targets == frozenset()


def test_a_marked_page_without_a_visit_was_shown_all_the_same() -> None:
    graph = graph_of([*visits("a"), Mark(1, SITE + "b"), Mark(2, SITE + "c", None)], page("a", "b"))
    assert names(graph) == ["a", "b"]
    assert graph.targets == {1}
    assert graph.starts == (0,)


def test_sessions_of_several_people_make_one_graph() -> None:
    content = {page.url: page for page in (page("a", "b", "c"), page("b", "c"), page("c"))}
    ann = Session("bees", (*visits("a", "b"), Mark(5, SITE + "b")), user="ann")
    bob = Session("bees", (*visits("b", "c"), Mark(6, SITE + "c"), Mark(7, SITE + "b", False)))
    graph = build_page_graph([ann, bob], content.get)
    assert named_edges(graph) == {"a>b", "a>c", "b>c"}
    assert named_set(graph, graph.targets) == {"c"}
    assert named_set(graph, graph.rejected) == {"b"}


def test_no_events_give_an_empty_graph() -> None:
    assert build_page_graph([], lambda url: None) == PageGraph((), (), frozenset())


@given(st.permutations(range(5)), st.data())
def test_the_order_of_visits_changes_only_the_numbers(
    order: list[int], data: st.DataObject
) -> None:
    pairs = list(itertools.product(range(5), repeat=2))
    edges = data.draw(st.sets(st.sampled_from(pairs)))
    pages = [page(f"p{n}", *(f"p{d}" for s, d in sorted(edges) if s == n)) for n in range(5)]
    mark = Mark(9, SITE + "p3")
    plain = graph_of([*visits(*(f"p{n}" for n in range(5))), mark], *pages)
    shuffled = graph_of([*visits(*(f"p{n}" for n in order)), mark], *pages)
    assert named_edges(plain) == named_edges(shuffled)
    assert named_set(shuffled, shuffled.targets) == {"p3"}


def linked(n_pages: int, edges: list[tuple[int, int]], targets: set[int]) -> PageGraph:
    pages = tuple(Page(f"{SITE}{number}") for number in range(n_pages))
    return PageGraph(pages, tuple(sorted(edges)), frozenset(targets))


def test_levels_by_hand() -> None:
    # 5 > 4 > 3 > 2 > 1 > 0 with 0 a target; 6 links to 3; 0 links to 7, which leads nowhere.
    chain = [(5, 4), (4, 3), (3, 2), (2, 1), (1, 0), (6, 3), (0, 7)]
    graph = linked(8, chain, {0})
    assert hop_levels(graph, 8).tolist() == [0, 1, 2, 3, 4, 5, 4, 7]
    assert hop_levels(graph, 4).tolist() == [0, 1, 2, 3, 3, 3, 3, 3]
    assert hop_levels(linked(8, chain, {0, 4}), 4).tolist() == [0, 1, 2, 3, 0, 1, 3, 3]


def test_levels_without_targets_or_links() -> None:
    assert hop_levels(linked(3, [(0, 1)], set()), 4).tolist() == [3, 3, 3]
    assert hop_levels(linked(3, [], {1}), 2).tolist() == [1, 0, 1]
    assert hop_levels(linked(0, [], set()), 4).tolist() == []


def test_fewer_than_two_states_make_no_sense() -> None:
    with pytest.raises(UsageError, match="at least 2"):
        hop_levels(linked(1, [], {0}), 1)


@given(
    st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30),
    st.sets(st.integers(0, 9), max_size=3),
    st.integers(2, 6),
)
def test_no_link_skips_a_level(edges: set[tuple[int, int]], targets: set[int], n: int) -> None:
    levels = hop_levels(linked(10, list(edges), targets), n)
    assert set(np.flatnonzero(levels == 0)) == targets
    assert all(levels[source] <= levels[destination] + 1 for source, destination in edges)
