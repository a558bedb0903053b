from __future__ import annotations

from asyncio import run
from collections.abc import Sequence

import numpy as np
import pytest

from trailhound.errors import SourceError
from trailhound.records import Link, Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.context_graph.layers import (
    back_crawl,
    context_page_graph,
    merged_layers,
    separate_back_crawls,
    session_layers,
)
from trailhound.strategies.context_graph.training import (
    ContextParameters,
    ReadPages,
    Rebuilding,
)


class LittleWeb:
    """Names of pages and whom they link to."""

    def __init__(self, links: dict[str, str]) -> None:
        self._pages = {
            name: Page(name, links=tuple(Link(to) for to in targets))
            for name, targets in links.items()
        }

    async def linking_to(self, url: str) -> Sequence[str]:
        sources = self._pages.values()
        return [page.url for page in sources if any(link.url == url for link in page.links)]

    async def page(self, url: str) -> Page | None:
        return self._pages[url] if url != "lost" else None


WEB = LittleWeb({"t": "a", "a": "t", "b": "at", "c": "b", "d": "c", "x": "d", "lost": "t"})


def graph_of(layers: int, layer_size: int = 300) -> tuple[list[str], set[str]]:
    rng = np.random.default_rng(1)
    target = run(WEB.page("t"))
    assert target is not None
    graph = run(context_page_graph([target], WEB, rng, layers, layer_size))
    names = [page.url for page in graph.pages]
    return names, {names[i] + names[j] for i, j in graph.edges}


def test_layers_are_followed_against_the_links_and_all_links_between_pages_count() -> None:
    names, edges = graph_of(layers=2)
    assert names == ["t", "a", "b", "c"]
    assert edges == {"ta", "at", "bt", "ba", "cb"}


def test_pages_that_cannot_be_had_are_left_out() -> None:
    assert "lost" not in graph_of(layers=1)[0]


def test_a_layer_that_is_too_large_is_sampled() -> None:
    assert len(graph_of(layers=1, layer_size=1)[0]) <= 2


def names(layers: list[list[Page]]) -> list[str]:
    return ["".join(page.url for page in layer) for layer in layers]


def page_of(web: LittleWeb, name: str) -> Page:
    page = run(web.page(name))
    assert page is not None
    return page


# p links to both targets; q to p and to one target; r to p and q; and u to r.
MERGING = LittleWeb({"s": "", "t": "", "p": "st", "q": "pt", "r": "pq", "u": "r"})
TWO = [page_of(MERGING, "s"), page_of(MERGING, "t")]


def test_a_page_of_several_layers_is_in_the_smallest() -> None:
    rng = np.random.default_rng(1)
    # q is in front of p, too, but links to t itself.
    assert names(run(back_crawl(TWO, MERGING, rng, 3, 300))) == ["st", "pq", "r", "u"]


def test_to_the_letter_every_target_has_a_graph_and_pages_repeat() -> None:
    rng = np.random.default_rng(1)
    # Of s: p | q r | r (by q; p's child q is at layer 2) …; r is in front of p at layer 2 already.
    # Of t: p q | r r (by p and by q) | u u.
    layers = names(run(separate_back_crawls(TWO, MERGING, rng, 3, 300)))
    assert layers[:2] == ["st", "ppq"]
    assert layers[2] == "qr" + "rr"
    assert layers[3] == "u" + "uu"


def test_rebuilding_counts_pages_once_and_to_the_letter_as_often_as_they_occur() -> None:
    sizes = {}
    for literal in (False, True):
        parameters = ContextParameters(n_layers=2, literal=literal)
        layers = [[Page("first", terms={"x": 1})], [], []]
        rebuilding = Rebuilding(1, layers, MERGING, parameters, np.random.default_rng(1))
        rebuilding.see(page_of(MERGING, name) for name in "stpqr")
        for target in TWO:
            rebuilding.add(target)
            assert run(rebuilding.rebuilt()) is not None
        sizes[literal] = [len(layer) for layer in rebuilding._documents]
    # Of s: p | q r. Of t: p q | r r. Once each: s t | p | q r, as q has its layer by then.
    assert sizes[False] == [3, 1, 2]
    assert sizes[True] == [3, 3, 4]


def test_only_so_many_pages_are_remembered_for_rebuilding() -> None:
    read = ReadPages(MERGING, limit=2)
    for name in "pqr":
        read.add(page_of(MERGING, name))
    assert run(read.linking_to("t")) == ["q"]
    assert run(read.linking_to("p")) == ["q", "r"]
    assert run(read.page("p")) is None


def test_the_size_of_a_layer_is_of_the_merged_graph_or_of_each() -> None:
    rng = np.random.default_rng(1)
    assert len(run(back_crawl(TWO, MERGING, rng, 1, 1))[1]) == 1
    assert len(run(separate_back_crawls(TWO, MERGING, rng, 1, 1))[1]) == 2


@pytest.mark.parametrize("ration", [1, 8, 24, 60])
def test_learning_costs_no_more_than_its_ration(ration: int) -> None:
    # Ten targets, and ten pages in front of each page, four layers deep.
    web = FailingWeb({f"{n:02}": "" for n in range(10)}, fails_for="")
    asked: list[str] = []

    class Endless(FailingWeb):
        async def linking_to(self, url: str) -> Sequence[str]:
            asked.append(url)
            return [f"{url}{n}" for n in range(10)]

        async def page(self, url: str) -> Page:
            asked.append(url)
            return Page(url)

    parameters = ContextParameters(ration=ration)
    targets = [page_of(web, f"{n:02}") for n in range(10)]
    rng = np.random.default_rng(1)
    layers = run(back_crawl(targets, Endless({}, ""), rng, 4, parameters.rationed_size))
    assert len(layers[0]) == 10, "targets cost nothing: they are known"
    assert len(asked) <= max(ration, 8)
    assert all(layers)


def test_a_ration_of_0_and_the_letter_know_no_limit() -> None:
    assert ContextParameters(ration=0).rationed_size == 300
    assert ContextParameters(ration=24, literal=True).rationed_size == 300
    assert ContextParameters(ration=24, layer_size=2).rationed_size == 2
    assert ContextParameters(ration=24, n_layers=4).rationed_size == 3


def test_two_graphs_are_merged_with_each_page_in_its_smallest_layer() -> None:
    one = [[page_of(MERGING, "s")], [page_of(MERGING, "p")], [page_of(MERGING, "q")]]
    other = [[page_of(MERGING, "t")], [page_of(MERGING, "q")], [page_of(MERGING, "p")]]
    assert names(merged_layers(one, other)) == ["st", "pq", ""]


def test_a_page_that_was_not_drawn_is_not_taken_for_a_farther_one() -> None:
    for seed in range(5):
        layers = run(back_crawl(TWO, MERGING, np.random.default_rng(seed), 2, 1))
        assert not {page.url for page in layers[2]} & set("pq")


class FailingWeb(LittleWeb):
    def __init__(self, links: dict[str, str], fails_for: str) -> None:
        super().__init__(links)
        self._fails_for = fails_for
        self.asked: list[str] = []

    async def linking_to(self, url: str) -> Sequence[str]:
        self.asked.append(url)
        if url in self._fails_for:
            raise SourceError("it is down")
        return await super().linking_to(url)


def test_a_source_that_fails_now_and_then_is_borne_with() -> None:
    web = FailingWeb({"s": "", "t": "", "p": "s", "q": "p"}, fails_for="t")
    rng = np.random.default_rng(1)
    assert names(run(back_crawl(TWO, web, rng, 2, 300))) == ["st", "p", "q"]


def test_a_source_that_answers_nothing_is_an_error() -> None:
    web = FailingWeb({"s": "", "t": "", "p": "st"}, fails_for="st")
    rng = np.random.default_rng(1)
    with pytest.raises(SourceError, match="down"):
        run(back_crawl(TWO, web, rng, 2, 300))
    with pytest.raises(SourceError, match="down"):
        run(separate_back_crawls(TWO, web, rng, 2, 300))


def test_no_question_is_asked_twice() -> None:
    web = FailingWeb({"s": "", "t": "", "p": "st", "q": "pt", "r": "pq", "u": "r"}, fails_for="")
    run(separate_back_crawls(TWO, web, np.random.default_rng(1), 3, 300))
    assert sorted(web.asked) == sorted(set(web.asked))


def test_the_layers_of_a_session_are_its_levels() -> None:
    graph = PageGraph(
        pages=tuple(Page(name) for name in "tabcx"),
        edges=((1, 0), (2, 1), (3, 2), (0, 4)),
        targets=frozenset({0}),
    )
    assert names(session_layers(graph, 2)) == ["t", "a", "b"]
    assert names(session_layers(graph, 4)) == ["t", "a", "b", "c", ""]
