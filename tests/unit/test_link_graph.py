"""The links between recorded pages."""

from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trailhound.lab.corpora import LinkGraph

# 0 → 1 → 2 → 3, 0 → 3, and 4, which nothing links to, → 0
EXAMPLE = LinkGraph.from_rows([[1, 3], [2], [3], [], [0]])


def test_rows_are_sorted_without_repeats_and_self_links() -> None:
    graph = LinkGraph.from_rows([[2, 1, 2, 0], [], [2]])
    assert graph.indptr.tolist() == [0, 2, 2, 2]
    assert graph.indices.tolist() == [1, 2]
    assert (graph.n_pages, graph.n_links) == (3, 2)
    assert graph.indptr.dtype == graph.indices.dtype == np.int32


def test_hops_follow_links_forward() -> None:
    assert EXAMPLE.hops_from([0]).tolist() == [0, 1, 2, 1, -1]
    assert EXAMPLE.hops_from([4, 2]).tolist() == [1, 2, 0, 1, 0]


def test_hops_to_a_set_follow_links_backward() -> None:
    assert EXAMPLE.hops_to([3]).tolist() == [1, 2, 1, 0, 2]
    assert EXAMPLE.hops_to({4}).tolist() == [-1, -1, -1, -1, 0]


def test_nothing_is_reached_from_nowhere() -> None:
    assert EXAMPLE.hops_from([]).tolist() == [-1] * 5


def test_the_reversed_graph_has_the_links_the_other_way_round() -> None:
    turned = EXAMPLE.reversed
    assert [turned.links_of(page).tolist() for page in range(5)] == [[4], [0], [1], [0, 2], []]


def test_a_graph_without_pages_is_a_graph() -> None:
    graph = LinkGraph.from_rows([])
    assert (graph.n_pages, graph.n_links) == (0, 0)
    assert graph.reversed.n_pages == 0


rows = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=6), min_size=n, max_size=n)
)


@given(rows)
def test_hops_agree_with_a_plain_search(links: list[list[int]]) -> None:
    hops = [-1] * len(links)
    hops[0] = 0
    queue = deque([0])
    while queue:
        page = queue.popleft()
        for target in links[page]:
            if hops[target] < 0:
                hops[target] = hops[page] + 1
                queue.append(target)
    graph = LinkGraph.from_rows(links)
    assert graph.hops_from([0]).tolist() == hops
    assert graph.reversed.hops_to([0]).tolist() == hops


@given(rows)
def test_reversing_twice_gives_the_graph_back(links: list[list[int]]) -> None:
    graph = LinkGraph.from_rows(links)
    again = graph.reversed.reversed
    assert again.indptr.tolist() == graph.indptr.tolist()
    assert again.indices.tolist() == graph.indices.tolist()
