"""Learning a topic end to end on small graphs: what comes out, and what must not matter."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trailhound.errors import ModelError, SessionError, UsageError
from trailhound.models.topic_model import NearestClusters, TopicModel, TopicParameters, learn_topic
from trailhound.records import Page
from trailhound.sessions.events import Event, Mark, Session, Visit
from trailhound.sessions.page_graph import PageGraph, build_page_graph

THEMES = {
    "bees": ["bee", "hive", "honey", "swarm", "queen"],
    "cars": ["car", "road", "engin", "wheel", "brake"],
    "town": ["town", "council", "street", "librari", "mayor"],
    "food": ["bread", "oven", "flour", "salt", "yeast"],
    "music": ["choir", "song", "organ", "concert", "note"],
}


def page(name: str, *themes: str, language: str = "en") -> Page:
    """A page whose terms are those of its themes; the name makes the counts its own."""
    words = [word for theme in themes for word in THEMES[theme]]
    terms = {
        word: 1 + (position * len(name) + ord(name[-1])) % 3 for position, word in enumerate(words)
    }
    return Page(f"http://h.test/{name}", terms=terms, language=language)


def graph_of(
    pages: list[Page], edges: list[tuple[int, int]] | None = None, targets: tuple[int, ...] = (0,)
) -> PageGraph:
    return PageGraph(tuple(pages), tuple(sorted(edges or [])), frozenset(targets))


def mixed_graph() -> PageGraph:
    """Thirteen pages: two targets about bees, five themes, a path to the targets."""
    pages = [page("b1", "bees"), page("b22", "bees")]
    for theme in ("town", "cars", "food", "music"):
        pages += [page(f"{theme}1", theme), page(f"{theme}22", theme)]
    pages += [page("x1", "town", "bees"), page("x22", "cars", "town"), page("x333", "food", "bees")]
    edges = [(2, 4), (2, 10), (10, 0), (10, 1), (3, 2), (4, 5), (6, 12), (12, 1), (0, 1), (8, 9)]
    return graph_of(pages, edges, (0, 1))


def check_sound(model: TopicModel) -> None:
    """What holds for every model, however little it was learned from."""
    n_pages = len(model.graph.pages)
    targets = sorted(model.graph.targets)
    assert model.clusters.shape == model.levels.shape == (n_pages,)
    assert np.flatnonzero(model.clusters == 0).tolist() == targets
    assert np.flatnonzero(model.levels == 0).tolist() == targets
    assert set(model.clusters.tolist()) | {0} == set(range(model.n_clusters + 1))
    assert model.space.coordinates.shape == (n_pages, model.space.rank)
    np.testing.assert_allclose(model.hmm.transition.sum(axis=1), 1)
    np.testing.assert_allclose(model.hmm.emission.sum(axis=1), 1)
    for terms in [*(each.terms for each in model.graph.pages), {}, {"unheard": 3}]:
        cluster = model.classifier().cluster_of(model.locate(terms))
        belief = model.hmm.first(cluster)
        assert belief.sum() == pytest.approx(1)
        assert (belief > 0).all()


def test_targets_are_cluster_0_and_the_others_start_at_1() -> None:
    model = learn_topic(mixed_graph())
    check_sound(model)
    assert 3 <= model.n_clusters <= 8
    assert model.levels.tolist() == [0, 0, 2, 3, 3, 3, 2, 3, 3, 3, 1, 3, 1]


def test_a_training_page_is_recognised() -> None:
    model = learn_topic(mixed_graph(), TopicParameters(n_neighbours=1, variance_share=1.0))
    found = [model.classifier().cluster_of(model.locate(each.terms)) for each in model.graph.pages]
    assert found == model.clusters.tolist()


def test_transitions_and_emissions_are_counted_on_the_graph() -> None:
    # A chain of four: 3 > 2 > 1 > 0, one page in each state. With κ = 0.5 and four states, a row
    # with one link has 1.5 / 3 there and 0.5 / 3 elsewhere; T0 has no link, so it is uniform.
    pages = [page("b1", "bees"), page("t1", "town"), page("c1", "cars"), page("f1", "food")]
    model = learn_topic(graph_of(pages, [(3, 2), (2, 1), (1, 0)]))
    sixth = 1 / 6
    np.testing.assert_allclose(
        model.hmm.transition,
        [
            [0.25, 0.25, 0.25, 0.25],
            [0.5, sixth, sixth, sixth],
            [sixth, 0.5, sixth, sixth],
            [sixth, sixth, 0.5, sixth],
        ],
    )
    # Three pages that differ are three clusters: each state has seen its own once.
    assert sorted(model.clusters.tolist()) == [0, 1, 2, 3]
    by_state = model.hmm.emission[range(4), model.clusters]
    np.testing.assert_allclose(by_state, 0.5)


def test_one_page_that_is_the_target_is_enough() -> None:
    model = learn_topic(graph_of([page("b1", "bees")]))
    check_sound(model)
    assert model.n_clusters == 0
    np.testing.assert_allclose(model.hmm.transition, 0.25)
    np.testing.assert_allclose(model.hmm.emission, 1)


def test_a_session_of_targets_only_has_no_other_cluster() -> None:
    model = learn_topic(graph_of([page("b1", "bees"), page("c1", "cars")], [(0, 1)], (0, 1)))
    check_sound(model)
    assert model.n_clusters == 0
    assert model.hmm.transition[0, 0] == pytest.approx(1.5 / 3)


def test_pages_without_links_are_all_far_away() -> None:
    model = learn_topic(graph_of([page("b1", "bees"), page("c1", "cars"), page("t1", "town")]))
    check_sound(model)
    assert model.levels.tolist() == [0, 3, 3]
    np.testing.assert_allclose(model.hmm.transition, 0.25, err_msg="no link, no opinion")


def test_identical_pages_are_one_cluster() -> None:
    copies = [
        msgspec.structs.replace(page("c1", "cars"), url=f"http://h.test/{n}") for n in range(6)
    ]
    model = learn_topic(graph_of([page("b1", "bees"), *copies], [(1, 0)]))
    check_sound(model)
    assert model.n_clusters == 1


def test_a_target_may_be_identical_to_other_pages() -> None:
    copies = [
        msgspec.structs.replace(page("c1", "cars"), url=f"http://h.test/{n}") for n in range(4)
    ]
    check_sound(learn_topic(graph_of(copies)))


def test_mixed_languages_stay_apart() -> None:
    pages = [page("b1", "bees"), page("b22", "bees")]
    pages += [
        Page(f"http://h.test/de{n}", terms={"bien": 2, "honig": 1 + n, "imk": 1}, language="de")
        for n in range(3)
    ]
    pages += [
        Page(f"http://h.test/ja{n}", terms={"養蜂": 2, "蜂蜜": 1 + n}, language="ja")
        for n in range(3)
    ]
    model = learn_topic(graph_of(pages, [(2, 0)], (0, 1)))
    check_sound(model)
    assert not set(model.clusters[2:5].tolist()) & set(model.clusters[5:].tolist())


def test_pages_without_words_get_a_place_as_well() -> None:
    silent = [Page("http://h.test/img1"), Page("http://h.test/img2")]
    model = learn_topic(graph_of([page("b1", "bees"), *silent, page("c1", "cars")], [(1, 0)]))
    check_sound(model)


def test_broken_html_is_learned_from_as_far_as_it_reads() -> None:
    events: list[Event] = [
        Visit(0, "http://h.test/", html="<title>Town</title <p>the town <b>council <a href=/bees>"),
        Visit(1, "http://h.test/bees", html="<<table><td>honey from bees, bees, hives</b></html"),
        Visit(2, "http://h.test/nul", html="\x00\x00<a href='/bees'>\ud83d"),
        Mark(3, "http://h.test/bees"),
    ]
    graph = build_page_graph([Session("bees", tuple(events))], lambda _: None)
    model = learn_topic(graph)
    check_sound(model)
    assert model.levels.tolist() == [1, 0, 1]


def test_a_session_without_pages_says_what_to_do() -> None:
    with pytest.raises(SessionError, match="Record a session"):
        learn_topic(graph_of([], targets=()))


def test_a_session_without_targets_says_what_to_do() -> None:
    with pytest.raises(SessionError, match=r"Of 1 visited page none.*Mark at least one page"):
        learn_topic(graph_of([page("c1", "cars")], targets=()))


def test_a_session_without_words_says_what_to_do() -> None:
    with pytest.raises(ModelError, match="browse pages that hold text"):
        learn_topic(graph_of([Page("http://h.test/1"), Page("http://h.test/2")], [(1, 0)]))


def test_without_lsi_cosines_are_those_of_the_words() -> None:
    graph = mixed_graph()
    model = learn_topic(graph, TopicParameters(use_lsi=False))
    check_sound(model)
    dense = model.weights.matrix([each.terms for each in graph.pages]).toarray()
    cosines = model.space.coordinates @ model.space.coordinates.T
    np.testing.assert_allclose(cosines, dense @ dense.T, atol=1e-6)
    assert model.space.variance_share == pytest.approx(1)
    assert learn_topic(graph).space.rank < model.space.rank


def test_the_literal_model_keeps_the_papers_numbers() -> None:
    model = learn_topic(mixed_graph(), TopicParameters(literal=True))
    assert model.hmm.literal
    # By columns: each state that is linked to at all distributes its incoming links.
    sums = model.hmm.transition.sum(axis=0)
    np.testing.assert_allclose(sums[sums > 0], 1)
    assert (model.hmm.transition == 0).any(), "nothing is smoothed"
    assert not np.allclose(model.hmm.transition.sum(axis=1), 1)


def test_learning_again_gives_the_same_model() -> None:
    one, other = learn_topic(mixed_graph()), learn_topic(mixed_graph())
    assert one.clusters.tolist() == other.clusters.tolist()
    assert one.space.coordinates.tobytes() == other.space.coordinates.tobytes()
    assert one.space.term_vectors.tobytes() == other.space.term_vectors.tobytes()
    assert one.hmm.transition.tobytes() == other.hmm.transition.tobytes()
    assert one.hmm.emission.tobytes() == other.hmm.emission.tobytes()


def reordered(graph: PageGraph, order: list[int]) -> PageGraph:
    place = {number: position for position, number in enumerate(order)}
    return PageGraph(
        tuple(graph.pages[number] for number in order),
        tuple(sorted((place[source], place[end]) for source, end in graph.edges)),
        frozenset(place[number] for number in graph.targets),
    )


def many_pages() -> PageGraph:
    """Forty pages of random words: clusters that a careless k-means finds differently each time."""
    rng = np.random.default_rng(5)
    pages = [
        Page(
            f"http://h.test/{n}", terms={f"w{w}": int(c) for w, c in zip(*_draw(rng), strict=True)}
        )
        for n in range(40)
    ]
    edges = {(int(s), int(e)) for s, e in rng.integers(0, 40, size=(100, 2)) if s != e}
    return graph_of(pages, sorted(edges), (0, 1))


def _draw(rng: np.random.Generator) -> tuple[list[int], list[int]]:
    size = int(rng.integers(3, 20))
    return rng.choice(60, size, replace=False).tolist(), rng.integers(1, 4, size).tolist()


NEW_PAGES = [{"w1": 2, "w7": 1}, {"w30": 1}, {f"w{n}": 1 for n in range(20)}, {}]


@settings(max_examples=10)
@given(st.permutations(range(40)), st.booleans())
def test_scores_do_not_depend_on_the_order_of_pages(order: list[int], use_lsi: bool) -> None:
    parameters = TopicParameters(use_lsi=use_lsi)
    graph = many_pages()
    model, other = learn_topic(graph, parameters), learn_topic(reordered(graph, order), parameters)
    assert other.clusters.tolist() == model.clusters[order].tolist()
    assert other.levels.tolist() == model.levels[order].tolist()
    assert other.space.coordinates.tobytes() == model.space.coordinates[order].tobytes()
    assert other.hmm.transition.tobytes() == model.hmm.transition.tobytes()
    assert other.hmm.emission.tobytes() == model.hmm.emission.tobytes()
    for terms in NEW_PAGES:
        places = model.locate(terms), other.locate(terms)
        assert places[0].tobytes() == places[1].tobytes()
        assert model.classifier().cluster_of(places[0]) == other.classifier().cluster_of(places[1])


def directions(*degrees: float) -> NDArray[np.float32]:
    """Unit vectors in the plane, so that a cosine can be read off the angles."""
    angles = np.radians(np.array(degrees))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def direction(degrees: float) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = directions(degrees)[0]
    return unit


def labels(*clusters: int) -> NDArray[np.int64]:
    return np.array(clusters, np.int64)


def test_one_neighbour_decides_alone() -> None:
    nearest = NearestClusters(directions(0, 40, 80), labels(0, 1, 2), n_neighbours=1)
    assert [nearest.cluster_of(direction(angle)) for angle in (10, 30, 70)] == [0, 1, 2]


def test_votes_weigh_cosines_and_divide_by_the_root_of_the_size() -> None:
    # At 0°: cluster 1 (four pages) has cos 20° + cos 20° = 1.879, halved to 0.940; cluster 2 (one
    # page) has cos 30° = 0.866.
    points = directions(20, -20, 90, 90, 30)
    clusters = labels(1, 1, 1, 1, 2)
    assert 2 * math.cos(math.radians(20)) / 2 > math.cos(math.radians(30))
    assert NearestClusters(points, clusters, 3).cluster_of(direction(0)) == 1
    # With the second page at 40° the votes are (0.940 + 0.766) / 2 = 0.853 and 0.866.
    further = directions(20, -40, 90, 90, 30)
    assert NearestClusters(further, clusters, 3).cluster_of(direction(0)) == 2
    # Without regard to size cluster 1 wins, and by shares of a cluster it loses in both cases.
    assert NearestClusters(further, clusters, 3, size_power=0).cluster_of(direction(0)) == 1
    assert NearestClusters(points, clusters, 3, size_power=1).cluster_of(direction(0)) == 2


def test_only_the_nearest_vote() -> None:
    points, clusters = directions(0, 30, 35, 40), labels(1, 2, 2, 2)
    vote = [
        NearestClusters(points, clusters, n, size_power=0).cluster_of(direction(0))
        for n in (1, 2, 3, 4)
    ]
    assert vote == [1, 1, 2, 2]


def test_a_session_with_one_target_can_yield_the_target_cluster() -> None:
    # One target at 0°, sixteen other pages close together at 30°, and a new page at the target.
    points = directions(0, *[30] * 16)
    clusters = labels(0, *[1] * 16)
    assert NearestClusters(points, clusters, 5, size_power=0).cluster_of(direction(0)) == 1, (
        "a plain majority of five outvotes the only target: the reason for the weights"
    )
    assert NearestClusters(points, clusters, 5).cluster_of(direction(0)) == 0
    assert NearestClusters(points, clusters, 5).cluster_of(direction(30)) == 1


def test_to_the_letter_every_neighbour_has_one_vote() -> None:
    # At 0°: cos 0° = 1 for cluster 1; cos 80° twice, 0.347 in all, for cluster 2: two votes to one.
    points, clusters = directions(0, 80, -80, 170), labels(1, 2, 2, 1)
    assert NearestClusters(points, clusters, 3, size_power=0).cluster_of(direction(0)) == 1
    plain = NearestClusters(points, clusters, 3, majority=True)
    assert plain.cluster_of(direction(0)) == 2
    # Two more pages join cluster 0: of the three nearest, two.
    assert plain.with_targets(directions(5, -5)).cluster_of(direction(0)) == 0
    # The only target loses against the four others of five, as the papers have it.
    alone = NearestClusters(directions(0, *[30] * 16), labels(0, *[1] * 16), 5, majority=True)
    assert alone.cluster_of(direction(0)) == 1


def test_a_page_without_known_words_is_an_ordinary_page_of_the_largest_cluster() -> None:
    nearest = NearestClusters(directions(0, 0, 0, 60, 60, 90), labels(0, 0, 0, 2, 2, 1), 3)
    assert nearest.cluster_of(np.zeros(2, np.float32)) == 2


def test_a_page_unlike_all_others_is_an_ordinary_page_too() -> None:
    nearest = NearestClusters(directions(0, 10, 20), labels(0, 1, 1), 3)
    assert nearest.cluster_of(direction(190)) == 1


def test_where_all_pages_are_targets_every_page_looks_like_one() -> None:
    nearest = NearestClusters(directions(0, 90), labels(0, 0), 5)
    assert nearest.cluster_of(direction(45)) == 0
    assert nearest.cluster_of(np.zeros(2, np.float32)) == 0


def test_more_neighbours_than_pages_means_all_of_them() -> None:
    nearest = NearestClusters(directions(0), labels(1), n_neighbours=50)
    assert nearest.cluster_of(direction(60)) == 1


def test_a_tie_goes_to_the_smaller_number() -> None:
    twins = NearestClusters(directions(15, 15), labels(2, 1), 2)
    assert twins.cluster_of(direction(0)) == 1


def test_pages_that_join_the_targets_vote_for_cluster_0() -> None:
    before = NearestClusters(directions(0, 60, 90), labels(0, 1, 1), 1)
    after = before.with_targets(directions(65))
    assert before.cluster_of(direction(66)) == 1
    assert after.cluster_of(direction(66)) == 0
    assert after.cluster_of(direction(88)) == 1


@pytest.mark.parametrize("n_neighbours", [0, -1])
def test_somebody_has_to_vote(n_neighbours: int) -> None:
    with pytest.raises(UsageError, match="At least 1 training page"):
        NearestClusters(directions(0), labels(0), n_neighbours)


angles = st.integers(0, 359)


@given(
    st.lists(st.tuples(angles, st.integers(0, 4)), min_size=1, max_size=20),
    angles,
    st.integers(1, 7),
)
def test_any_page_gets_a_cluster_that_exists(
    trained: list[tuple[int, int]], angle: int, n_neighbours: int
) -> None:
    points = directions(*(at for at, _ in trained))
    clusters = labels(*(cluster for _, cluster in trained))
    found = NearestClusters(points, clusters, n_neighbours).cluster_of(direction(angle))
    assert found in set(clusters.tolist())
