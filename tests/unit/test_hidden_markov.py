"""The hidden-Markov strategy: what travels with a link, and which links come first."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from trailhound.errors import ModelError, UsageError
from trailhound.models.hop_hmm import (
    LexicographicKey,
    LikeliestStateKey,
    pack_belief,
    unpack_belief,
)
from trailhound.models.topic_model import TopicModel, TopicParameters, learn_topic
from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance, ScoredLink
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import Sources
from trailhound.strategies.base import Briefing
from trailhound.strategies.choosing import make_strategy
from trailhound.strategies.hidden_markov import HiddenMarkovStrategy

TOWN = {"town": 3, "council": 2, "street": 1}
CLUBS = {"club": 3, "town": 1, "choir": 2}
HIVES = {"hive": 3, "bee": 2, "club": 1}
HONEY = {"honey": 3, "bee": 1, "comb": 2}
RAIN = {"rain": 3, "wind": 2, "town": 1}

# The way to the target: town > clubs > hives > honey; rain leads nowhere.
GRAPH = PageGraph(
    pages=tuple(
        Page(f"http://h.test/{name}", terms=terms)
        for name, terms in {"t": TOWN, "c": CLUBS, "h": HIVES, "x": HONEY, "r": RAIN}.items()
    ),
    edges=((0, 1), (0, 4), (1, 2), (2, 3)),
    targets=frozenset({3}),
)
BRIEFING = Briefing(GRAPH)
NEAREST = TopicParameters(n_neighbours=1)
LINKS = (Link("http://new.test/1"), Link("http://new.test/2", anchor="other"))


def crawled(
    terms: dict[str, int], memory: bytes = b"", url: str = "http://new.test/", score: float = 0.0
) -> CrawledPage:
    page = Page(url, terms=terms, links=LINKS)
    candidate = Candidate(url, 0.0, memory)
    return CrawledPage(page, Relevance(score, score >= 0.5), candidate)


def score(
    strategy: HiddenMarkovStrategy, terms: dict[str, int], memory: bytes = b""
) -> list[ScoredLink]:
    return list(strategy.score_links(crawled(terms, memory)))


def walk(strategy: HiddenMarkovStrategy, *pages: dict[str, int]) -> ScoredLink:
    """The first link of the last page, after following a path through all of them."""
    memory = b""
    for terms in pages:
        link = score(strategy, terms, memory)[0]
        memory = link.memory
    return link


def cluster_of(model: TopicModel, terms: dict[str, int]) -> int:
    return model.classifier().cluster_of(model.locate(terms))


def trained(**parameters: bool) -> tuple[TopicModel, HiddenMarkovStrategy]:
    model = learn_topic(GRAPH, msgspec.structs.replace(NEAREST, **parameters))
    return model, as_published(model)


def as_published(model: TopicModel, order: str = "lexicographic") -> HiddenMarkovStrategy:
    """Links of a page alike, pages observed by their clusters alone."""
    return HiddenMarkovStrategy(model, order=order, observation="clusters", words=0)


def test_a_seed_starts_from_the_uniform_distribution() -> None:
    model, strategy = trained()
    memory = score(strategy, TOWN)[0].memory
    weighed = model.hmm.emission[:, cluster_of(model, TOWN)] / model.hmm.n_states
    assert memory == pack_belief(weighed / weighed.sum())


def test_the_memory_of_a_link_is_the_filtered_belief() -> None:
    model, strategy = trained()
    path = [TOWN, CLUBS, HIVES]
    belief = model.hmm.first(cluster_of(model, path[0]))
    memory = score(strategy, path[0])[0].memory
    for terms in path[1:]:
        assert memory == pack_belief(belief)
        # The memory holds 4 bytes per state, so that is what the next step starts from.
        belief = model.hmm.step(unpack_belief(memory, 4), cluster_of(model, terms))
        memory = score(strategy, terms, memory)[0].memory
    assert memory == pack_belief(belief)


def test_all_links_of_a_page_share_priority_and_memory() -> None:
    _, strategy = trained()
    first, second = score(strategy, HIVES)
    assert (first.priority, first.memory) == (second.priority, second.memory)
    assert [first.link, second.link] == list(LINKS)


def test_the_priority_is_the_key_of_the_prediction() -> None:
    model, strategy = trained()
    link = walk(strategy, TOWN, CLUBS)
    belief = model.hmm.step(
        unpack_belief(score(strategy, TOWN)[0].memory, 4), cluster_of(model, CLUBS)
    )
    assert link.priority == LexicographicKey(4)(model.hmm.predict(belief))


def test_links_on_the_way_come_before_links_off_it() -> None:
    _, strategy = trained()
    on_the_way = walk(strategy, TOWN, CLUBS, HIVES)
    off_it = walk(strategy, TOWN, RAIN)
    assert on_the_way.priority > walk(strategy, TOWN, CLUBS).priority
    assert on_the_way.priority > off_it.priority


def test_the_same_page_scores_differently_after_another_path() -> None:
    _, strategy = trained()
    expected = walk(strategy, TOWN, CLUBS, HIVES)
    surprising = walk(strategy, RAIN, RAIN, HIVES)
    assert expected.memory != surprising.memory
    assert expected.priority != surprising.priority


def test_a_page_of_unknown_words_is_no_obstacle() -> None:
    _, strategy = trained()
    belief = unpack_belief(walk(strategy, TOWN, {"unheard": 4}, {}).memory, 4)
    assert belief.sum() == pytest.approx(1)
    assert (belief > 0).all()


def test_a_page_without_links_has_nothing_to_score() -> None:
    _, strategy = trained()
    page = Page("http://new.test/", terms=TOWN)
    nothing = CrawledPage(page, Relevance(0, False), Candidate(page.url, 0))
    assert list(strategy.score_links(nothing)) == []


def test_the_memory_of_another_model_is_refused() -> None:
    _, strategy = trained()
    with pytest.raises(ModelError, match="Start the crawl anew"):
        score(strategy, TOWN, b"12345")


def test_ordering_by_the_likeliest_state() -> None:
    model = learn_topic(GRAPH, NEAREST)
    strategy = as_published(model, "likeliest")
    prediction = model.hmm.predict(model.hmm.first(cluster_of(model, HIVES)))
    link = score(strategy, HIVES)[0]
    assert link.priority == LikeliestStateKey(4)(prediction)
    assert int(link.priority) == 3 - int(np.argmax(prediction))
    lexicographic = score(as_published(model), HIVES)[0]
    assert link.memory == lexicographic.memory, "only the order differs"


def test_more_states_than_fit_into_one_number_are_ordered_by_the_likeliest() -> None:
    assert make_strategy("hidden-markov:states=9,order=likeliest", BRIEFING).name
    assert make_strategy("hidden-markov:states=9", BRIEFING).name
    with pytest.raises(UsageError, match="do not fit into one priority"):
        make_strategy("hidden-markov:states=9,order=lexicographic", BRIEFING)


def test_an_unknown_order_is_refused_with_the_choices() -> None:
    with pytest.raises(UsageError, match="hops or lexicographic or likeliest"):
        HiddenMarkovStrategy(learn_topic(GRAPH), order="random")


def told(strategy: HiddenMarkovStrategy, *anchors: str, relevance: float = 0.0) -> list[float]:
    """Priorities of links with these anchors on a page about hives."""
    links = tuple(Link(f"http://new.test/{at}", anchor=text) for at, text in enumerate(anchors))
    page = Page("http://new.test/", terms=HIVES, links=links, language="en")
    shown = CrawledPage(page, Relevance(relevance, relevance >= 0.5), Candidate(page.url, 0.0))
    return [each.priority for each in strategy.score_links(shown)]


def test_links_with_the_words_of_the_targets_come_first() -> None:
    honey, comb, town = told(HiddenMarkovStrategy(learn_topic(GRAPH)), "Honey", "comb", "Town")
    assert min(honey, comb) > town
    alike = HiddenMarkovStrategy(learn_topic(GRAPH), words=0)
    assert len(set(told(alike, "Honey", "comb", "Town"))) == 1


def test_what_travels_is_what_is_expected_behind_the_link() -> None:
    model = learn_topic(GRAPH, NEAREST)
    link = score(HiddenMarkovStrategy(model), HIVES)[0]
    expected = unpack_belief(link.memory, 4)
    assert expected.sum() == pytest.approx(1)
    assert link.priority == pytest.approx(float(expected @ [1, 0.4, 0.16, 0.064]))
    belief = model.hmm.judged(model.hmm.start, 0.0, cluster_of(model, HIVES))
    assert expected == pytest.approx(model.hmm.predict(belief), abs=1e-6), "it has no words"


def test_the_judge_decides_how_much_of_a_target_a_page_is() -> None:
    model = learn_topic(GRAPH, NEAREST)
    strategy = HiddenMarkovStrategy(model, words=0)
    (link, *_) = strategy.score_links(crawled(RAIN, score=0.75))
    assert unpack_belief(link.memory, 4)[0] == pytest.approx(0.75)
    by_clusters = HiddenMarkovStrategy(model, words=0, observation="clusters")
    (link, *_) = by_clusters.score_links(crawled(RAIN, score=0.75))
    assert link.memory == pack_belief(model.hmm.first(cluster_of(model, RAIN)))


def test_a_page_unlike_the_session_says_nothing_but_what_the_judge_says() -> None:
    model = learn_topic(GRAPH, NEAREST)
    strategy = HiddenMarkovStrategy(model, words=0)
    strange = score(strategy, {"unheard": 4})[0]
    assert unpack_belief(strange.memory, 4)[1:] == pytest.approx([1 / 3] * 3)
    assert np.ptp(unpack_belief(score(strategy, HIVES)[0].memory, 4)[1:]) > 0.1


@pytest.mark.parametrize("order", ["hops", "lexicographic", "likeliest"])
def test_the_words_of_links_count_in_every_order(order: str) -> None:
    strategy = HiddenMarkovStrategy(learn_topic(GRAPH), order=order, words=3)
    honey, town = told(strategy, "honey comb", "town street")
    assert honey > town


def test_the_published_reading_hears_neither_judge_nor_words() -> None:
    strategy = HiddenMarkovStrategy(learn_topic(GRAPH, TopicParameters(literal=True)))
    assert len({*told(strategy, "Honey", "Town"), *told(strategy, "Rain", relevance=1.0)}) == 1


def test_wrong_options_are_refused_with_the_choices() -> None:
    for wrong, message in (("words=-1", "too small"), ("observation=guess", "judge or clusters")):
        with pytest.raises(UsageError, match=message):
            make_strategy(f"hidden-markov:{wrong}", BRIEFING)


def test_the_literal_belief_is_not_normalised_and_dies_with_its_path() -> None:
    model, strategy = trained(literal=True)
    assert model.hmm.literal
    # π is 1/4, and of all states only T3 emits the cluster that town and rain share.
    assert unpack_belief(score(strategy, TOWN)[0].memory, 4).tolist() == [0, 0, 0, 0.25]
    dead = walk(strategy, TOWN, HONEY)
    assert not unpack_belief(dead.memory, 4).any(), "no page like the town linked to a target"
    assert dead.priority == 0
    _, repaired = trained()
    assert unpack_belief(walk(repaired, TOWN, HONEY).memory, 4).argmax() == 0


def test_the_literal_key_counts_the_last_state_too() -> None:
    model, strategy = trained(literal=True)
    prediction = model.hmm.predict(model.hmm.first(cluster_of(model, RAIN)))
    link = score(strategy, RAIN)[0]
    assert link.priority == LexicographicKey(4, all_states=True)(prediction)


def test_options_reach_the_model() -> None:
    spec = "hidden-markov:states=3,lsi=false,clusters=3,neighbours=1,smoothing=0.1"
    strategy = make_strategy(spec, BRIEFING)
    model = learn_topic(
        GRAPH,
        TopicParameters(n_states=3, use_lsi=False, max_clusters=3, n_neighbours=1, smoothing=0.1),
    )
    link = next(iter(strategy.score_links(crawled(CLUBS))))
    assert link == score(HiddenMarkovStrategy(model), CLUBS)[0]
    assert len(link.memory) == 3 * 4


@pytest.mark.parametrize("spec", ["lsi=false", "literal=true", "order=likeliest", "rank=1"])
def test_every_variant_crawls(spec: str) -> None:
    strategy = make_strategy(f"hidden-markov:{spec}", BRIEFING)
    links = list(strategy.score_links(crawled(CLUBS)))
    again = list(strategy.score_links(crawled(HIVES, links[0].memory)))
    assert all(np.isfinite(link.priority) for link in [*links, *again])


def test_without_lsi_a_page_is_known_by_shared_words_alone() -> None:
    _, strategy = trained(use_lsi=False)
    by_words = learn_topic(GRAPH, TopicParameters(n_neighbours=1, use_lsi=False))
    assert cluster_of(by_words, {"comb": 1}) == 0
    assert score(strategy, {"comb": 1}) == score(strategy, HONEY)


def test_observing_changes_nothing_by_itself() -> None:
    _, strategy = trained()
    before = score(strategy, CLUBS)
    for _ in range(3):
        strategy.observe(crawled(CLUBS, score=1.0))
    assert score(strategy, CLUBS) == before


def test_an_adapting_strategy_takes_strong_finds_for_targets() -> None:
    model = learn_topic(GRAPH, TopicParameters(n_neighbours=1, use_lsi=False))
    strategy = HiddenMarkovStrategy(model, observation="clusters", words=0, adapt_every=2)
    find = {"hive": 3, "comb": 1, "choir": 1}
    before = score(strategy, find)
    assert cluster_of(model, find) == cluster_of(model, HIVES) != 0
    strategy.observe(crawled(find, url="http://new.test/found", score=0.9))
    assert score(strategy, find) == before, "not before the interval is over"
    strategy.observe(crawled(RAIN, url="http://new.test/rain", score=0.1))
    assert score(strategy, find)[0].memory == pack_belief(model.hmm.first(0))
    assert score(strategy, RAIN)[0].memory != pack_belief(model.hmm.first(0)), "it was no find"


SHOP = Page("http://h.test/n", terms={"shop": 2, "honey": 1}, links=(Link("http://h.test/x"),))


class Backlinks:
    """Who links to the target: a page of the session, and one that it never showed."""

    async def linking_to(self, url: str) -> list[str]:
        return {"http://h.test/x": ["http://h.test/h", "http://h.test/n"]}.get(url, [])

    async def page(self, url: str) -> Page | None:
        return {page.url: page for page in (*GRAPH.pages, SHOP)}.get(url)


def test_all_data_learns_from_what_leads_to_the_targets() -> None:
    briefing = Briefing(GRAPH, sources=Sources.of(backlinks=Backlinks()))
    strategy = make_strategy("hidden-markov:training=all-data", briefing)
    assert isinstance(strategy, HiddenMarkovStrategy)
    shop = {"shop": 2}
    from_session = make_strategy("hidden-markov", BRIEFING)
    assert isinstance(from_session, HiddenMarkovStrategy)
    assert score(strategy, shop) != score(from_session, shop), "the session knows of no shop"


def test_all_data_without_backlinks_says_what_to_do() -> None:
    with pytest.raises(UsageError, match="Use it in the lab"):
        make_strategy("hidden-markov:training=all-data", BRIEFING)


def test_an_unknown_training_set_is_refused_with_the_choices() -> None:
    with pytest.raises(UsageError, match="session or all-data"):
        make_strategy("hidden-markov:training=everything", BRIEFING)
