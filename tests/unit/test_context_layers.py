from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from trailhound.errors import SourceError
from trailhound.models.context_graphs.layers import (
    back_crawl,
    context_page_graph,
    separate_back_crawls,
    session_layers,
)
from trailhound.records import Link, Page
from trailhound.sessions.page_graph import PageGraph


class LittleWeb:
    """Names of pages and whom they link to."""

    def __init__(self, links: dict[str, str]) -> None:
        self._pages = {
            name: Page(name, links=tuple(Link(to) for to in targets))
            for name, targets in links.items()
        }

    def linking_to(self, url: str) -> Sequence[str]:
        sources = self._pages.values()
        return [page.url for page in sources if any(link.url == url for link in page.links)]

    def page(self, url: str) -> Page | None:
        return self._pages[url] if url != "lost" else None


WEB = LittleWeb({"t": "a", "a": "t", "b": "at", "c": "b", "d": "c", "x": "d", "lost": "t"})


def graph_of(layers: int, layer_size: int = 300) -> tuple[list[str], set[str]]:
    rng = np.random.default_rng(1)
    target = WEB.page("t")
    assert target is not None
    graph = context_page_graph([target], WEB, rng, layers, layer_size)
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
    page = web.page(name)
    assert page is not None
    return page


# p links to both targets; q to p and to one target; r to p and q; and u to r.
MERGING = LittleWeb({"s": "", "t": "", "p": "st", "q": "pt", "r": "pq", "u": "r"})
TWO = [page_of(MERGING, "s"), page_of(MERGING, "t")]


def test_a_page_of_several_layers_is_in_the_smallest() -> None:
    rng = np.random.default_rng(1)
    # q is in front of p, too, but links to t itself.
    assert names(back_crawl(TWO, MERGING, rng, 3, 300)) == ["st", "pq", "r", "u"]


def test_to_the_letter_every_target_has_a_graph_and_pages_repeat() -> None:
    rng = np.random.default_rng(1)
    # Of s: p | q r | r (by q; p's child q is at layer 2) …; r is in front of p at layer 2 already.
    # Of t: p q | r r (by p and by q) | u u.
    layers = names(separate_back_crawls(TWO, MERGING, rng, 3, 300))
    assert layers[:2] == ["st", "ppq"]
    assert layers[2] == "qr" + "rr"
    assert layers[3] == "u" + "uu"


def test_the_size_of_a_layer_is_of_the_merged_graph_or_of_each() -> None:
    rng = np.random.default_rng(1)
    assert len(back_crawl(TWO, MERGING, rng, 1, 1)[1]) == 1
    assert len(separate_back_crawls(TWO, MERGING, rng, 1, 1)[1]) == 2


def test_a_page_that_was_not_drawn_is_not_taken_for_a_farther_one() -> None:
    for seed in range(5):
        layers = back_crawl(TWO, MERGING, np.random.default_rng(seed), 2, 1)
        assert not {page.url for page in layers[2]} & set("pq")


class FailingWeb(LittleWeb):
    def __init__(self, links: dict[str, str], fails_for: str) -> None:
        super().__init__(links)
        self._fails_for = fails_for
        self.asked: list[str] = []

    def linking_to(self, url: str) -> Sequence[str]:
        self.asked.append(url)
        if url in self._fails_for:
            raise SourceError("it is down")
        return super().linking_to(url)


def test_a_source_that_fails_now_and_then_is_borne_with() -> None:
    web = FailingWeb({"s": "", "t": "", "p": "s", "q": "p"}, fails_for="t")
    rng = np.random.default_rng(1)
    assert names(back_crawl(TWO, web, rng, 2, 300)) == ["st", "p", "q"]


def test_a_source_that_answers_nothing_is_an_error() -> None:
    web = FailingWeb({"s": "", "t": "", "p": "st"}, fails_for="st")
    rng = np.random.default_rng(1)
    with pytest.raises(SourceError, match="down"):
        back_crawl(TWO, web, rng, 2, 300)
    with pytest.raises(SourceError, match="down"):
        separate_back_crawls(TWO, web, rng, 2, 300)


def test_no_question_is_asked_twice() -> None:
    web = FailingWeb({"s": "", "t": "", "p": "st", "q": "pt", "r": "pq", "u": "r"}, fails_for="")
    separate_back_crawls(TWO, web, np.random.default_rng(1), 3, 300)
    assert sorted(web.asked) == sorted(set(web.asked))


def test_the_layers_of_a_session_are_its_levels() -> None:
    graph = PageGraph(
        pages=tuple(Page(name) for name in "tabcx"),
        edges=((1, 0), (2, 1), (3, 2), (0, 4)),
        targets=frozenset({0}),
    )
    assert names(session_layers(graph, 2)) == ["t", "a", "b"]
    assert names(session_layers(graph, 4)) == ["t", "a", "b", "c", ""]
