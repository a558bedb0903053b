from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.lab.corpora import LinkGraph
from trailhound.lab.corpora.link_graph import AnswerReach, links_inside
from trailhound.lab.topics.base import generator_for, shuffled
from trailhound.lab.topics.seeds import (
    MAX_SEEDS,
    MIN_SEEDS,
    SeedGround,
    choose_seed_sets,
    front_page,
    generality,
    url_depth,
)

graphs = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=4), min_size=n, max_size=n).map(
        LinkGraph.from_rows
    )
)


@given(graphs, st.data())
def test_masks_agree_with_walking_from_every_page(graph: LinkGraph, data: st.DataObject) -> None:
    page_numbers = st.integers(0, graph.n_pages - 1)
    answers = data.draw(st.lists(st.lists(page_numbers, min_size=1, max_size=3), max_size=5))
    masks = AnswerReach(graph).masks(answers)
    for page in range(graph.n_pages):
        hops = graph.hops_from([page])
        expected = [any(hops[each] >= 0 for each in answer) for answer in answers]
        assert [bool(masks[page] >> bit & 1) for bit in range(len(answers))] == expected


def test_links_inside_keep_numbers_and_drop_what_leaves() -> None:
    graph = LinkGraph.from_rows([[1, 2], [0, 3], [3], [0]])
    inside = links_inside(graph, np.array([True, True, False, True]))
    assert [inside.links_of(page).tolist() for page in range(4)] == [[1], [0, 3], [], [0]]


@pytest.mark.parametrize(
    ("url", "depth"),
    [
        ("http://a.test/", 0),
        ("http://a.test/index.html", 0),
        ("http://a.test/x/", 1),
        ("http://a.test/x/Index.htm", 1),
        ("http://a.test/x/y.html?page=2", 3),
    ],
)
def test_depth_of_urls(url: str, depth: int) -> None:
    assert url_depth(url) == depth


def test_a_linked_hub_is_more_general_than_a_deep_page() -> None:
    graph = LinkGraph.from_rows([[1, 2, 3], [0], [0], [0]])
    urls = ["http://a.test/", "http://a.test/x/y", "http://a.test/x/z", "http://a.test/w"]
    figures = generality(graph, urls)
    assert max(figures) == figures[0] == 4.0  # log2(4) + log2(4) - 0
    assert figures[3] == 1.0  # log2(2) + log2(2) - 1


def test_the_front_page_is_short_on_the_main_host_and_reaches_nearly_all() -> None:
    urls = [
        "http://www.uni.test/people/ann",  # reaches one page more, but is nobody's front page
        "http://www.uni.test/",
        "http://small.uni.test/",
        "http://alone.uni.test/",
        *(f"http://www.uni.test/{n}" for n in range(20)),
    ]
    leaves = list(range(4, 24))
    graph = LinkGraph.from_rows([[1, 2], [2, *leaves], [1], [], *([1] for _ in leaves)])
    assert front_page(graph, urls, range(24), range(24)) == 1
    assert front_page(LinkGraph.from_rows([[]] * 24), urls, range(24), range(24)) is None


def ground(masks: list[int], general: list[float] | None = None) -> SeedGround:
    return SeedGround(range(len(masks)), masks, general or [0.0] * len(masks))


def test_few_seeds_suffice_where_one_page_reaches_everything() -> None:
    sets = choose_seed_sets(ground([0b111] * 40), 4, generator_for(1, "x"))
    assert [each.findable for each in sets] == [3, 3, 3, 3]
    assert all(len(each.pages) == MIN_SEEDS for each in sets)
    assert len({page for each in sets for page in each.pages}) == 4 * MIN_SEEDS


def test_a_web_in_pieces_gets_a_seed_for_each_piece() -> None:
    masks = [1 << (page // 4) for page in range(32)]  # eight islands with four entrances each
    sets = choose_seed_sets(ground(masks), 3, generator_for(1, "x"))
    assert [each.findable for each in sets] == [8, 8, 8]
    assert all(len(each.pages) == 8 for each in sets)
    assert len({frozenset(each.pages) for each in sets}) == 3


def test_seeds_are_general_pages() -> None:
    general = [float(page) for page in range(100)]
    sets = choose_seed_sets(ground([1] * 100, general), 2, generator_for(3, "x"))
    assert min(page for each in sets for page in each.pages) >= 80


def test_a_large_gain_goes_before_generality() -> None:
    masks = [0b1] * 5 + [0b1111111111]
    (only,) = choose_seed_sets(ground(masks, [9.0] * 5 + [0.0]), 1, generator_for(1, "x"))
    assert 5 in only.pages


def test_the_only_entrance_is_used_by_every_set() -> None:
    sets = choose_seed_sets(ground([0b1111, 0, 0]), 3, generator_for(1, "x"))
    assert all(0 in each.pages and each.findable == 4 for each in sets)


def test_sets_have_a_largest_size() -> None:
    (only,) = choose_seed_sets(ground([1 << n for n in range(60)]), 1, generator_for(1, "x"))
    assert len(only.pages) == MAX_SEEDS == only.findable


def test_more_sets_keep_the_earlier_ones_and_given_seeds_come_first() -> None:
    web = ground([0b11] * 30)
    two = choose_seed_sets(web, 2, generator_for(5, "x"), given=[7])
    four = choose_seed_sets(web, 4, generator_for(5, "x"), given=[7])
    assert two[0].pages == (7,)
    assert four[:2] == two
    assert choose_seed_sets(ground([]), 3, generator_for(5, "x")) == []


def test_draws_depend_on_seed_and_names_only() -> None:
    # A fixed answer: it must not change from process to process.
    assert shuffled("abcdef", generator_for(7, "topic")) == shuffled(
        "abcdef", generator_for(7, "topic")
    )
    assert int(generator_for(7, "topic").integers(1000)) == 137
    assert int(generator_for(8, "topic").integers(1 << 40)) != int(
        generator_for(7, "topic").integers(1 << 40)
    )
