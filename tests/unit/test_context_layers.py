from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trailhound.models.context_layers import context_page_graph
from trailhound.records import Link, Page


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
