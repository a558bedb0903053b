"""The maximum-entropy Markov crawler: what it learns from links, and on the way."""

from __future__ import annotations

import numpy as np
import pytest

from trailhound.models.topic_model import learn_topic
from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance, ScoredLink
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing, FoundLink
from trailhound.strategies.choosing import make_strategy
from trailhound.strategies.link_evidence import (
    EMPTY,
    N_SLOTS,
    LinkEvidence,
    WordTurnouts,
    word_slots,
)
from trailhound.strategies.memm import REFIT_EVERY, HopMEMM, MemmStrategy
from trailhound.strategies.trail.link_words import read_links
from trailhound.strategies.trail.phrases import Phrases

H = "http://h.test/"


def page(name: str, words: str, *links: tuple[str, str]) -> Page:
    terms = dict.fromkeys(words.split(), 2)
    linked = tuple(Link(H + target, anchor=anchor) for target, anchor in links)
    return Page(H + name, title=words, terms=terms, links=linked, language="en")


def session() -> PageGraph:
    """From a portal to lists of staff, and from there to people, who were wanted."""
    pages = (
        page("", "portal", ("staff", "staff list"), ("news", "latest news")),
        page("staff", "staff", ("ann", "Ann Smith"), ("bob", "Bob Jones"), ("news", "news")),
        page("ann", "professor publication research", ("", "home")),
        page("bob", "professor publication teaching", ("", "home")),
        page("news", "weather football", ("", "home"), ("staff", "staff list")),
    )
    edges = ((0, 1), (0, 4), (1, 2), (1, 3), (1, 4), (2, 0), (3, 0), (4, 0), (4, 1))
    return PageGraph(pages, edges, frozenset({2, 3}))


def taught() -> MemmStrategy:
    return MemmStrategy.from_briefing(Briefing(session()))


def shown(
    fetched: Page, relevance: float = 0.0, memory: bytes = b"", parent: str | None = None
) -> CrawledPage:
    candidate = Candidate(fetched.url, 0.0, memory, parent)
    return CrawledPage(fetched, Relevance(relevance, relevance >= 0.5), candidate)


def told(strategy: MemmStrategy, crawled: CrawledPage) -> dict[str, ScoredLink]:
    strategy.observe(crawled)
    return {each.link.url.removeprefix(H): each for each in strategy.score_links(crawled)}


LIST = page("list", "staff", ("x", "professor publication"), ("y", "latest news"), ("z", "Zoe"))


def crawl_weather(strategy: MemmStrategy, pages: int = REFIT_EVERY) -> dict[str, ScoredLink]:
    """Links named "Zoe …" turn out well, links named "weather …" do not; what waits at last."""
    links = [(f"{name}{at}", f"{name} {at}") for at in range(pages) for name in ("zoe", "weather")]
    waiting = told(strategy, shown(page("all", "list", *links)))
    for at in range(pages):
        name = ("zoe", "weather")[at % 2] + str(at)
        fetched = page(name, "page")
        good = float(name.startswith("zoe"))
        told(strategy, shown(fetched, good, waiting.pop(name).memory, H + "all"))
    return waiting


def test_links_like_those_that_led_to_targets_come_first() -> None:
    links = told(taught(), shown(LIST))
    assert links["x"].priority > links["z"].priority
    assert links["x"].priority > links["y"].priority


def test_every_address_is_queued_once_and_the_page_itself_never() -> None:
    twice = page("list", "staff", ("x", "one"), ("x", "two"), ("list", "here"))
    assert list(told(taught(), shown(twice))) == ["x"]
    assert told(taught(), shown(page("empty", "staff"))) == {}


def test_before_anything_is_learned_it_is_the_hmm() -> None:
    transition = np.array([[0.7, 0.3], [0.2, 0.8]])
    memm = HopMEMM.like(transition, np.array([2.0]))
    rows = np.array([[1.0, 0.0], [1.0, 1.0]])
    beliefs = np.array([[0.4, 0.6]] * 2)
    plain, told_by_words = memm.predict(beliefs, rows)
    assert plain == pytest.approx(beliefs[0] @ transition)
    odds = np.exp(2.0) * transition[:, 0] / transition[:, 1]
    assert told_by_words[0] == pytest.approx(beliefs[0] @ (odds / (1 + odds)))


def test_a_fit_finds_what_makes_the_difference() -> None:
    memm = HopMEMM.like(np.full((2, 2), 0.5), np.zeros(2))
    rng = np.random.default_rng(7)
    rows = np.column_stack([np.ones(400), rng.integers(0, 2, (400, 2))]).astype(float)
    beliefs = np.eye(2)[rng.integers(0, 2, 400)]
    # From T0 the first feature decides, from T1 the second.
    decides = np.where(beliefs[:, 0] > 0, rows[:, 1], rows[:, 2])
    ends = np.column_stack([decides, 1 - decides])
    fitted = memm.fitted(beliefs, rows, ends)
    likely = fitted.predict(beliefs, rows)[:, 0]
    assert likely[decides == 1].min() > 0.8
    assert likely[decides == 0].max() < 0.2
    again = fitted.fitted(beliefs, rows, ends)
    assert again.weights == pytest.approx(fitted.weights, abs=0.05), "it was the optimum"


def test_what_links_have_in_common_that_turned_out_well_is_learned_on_the_way() -> None:
    before = told(
        taught(), shown(page("all", "list", ("zoe50", "zoe 50"), ("weather51", "weather 51")))
    )
    assert before["zoe50"].priority == pytest.approx(before["weather51"].priority, abs=0.02)
    strategy = taught()
    waiting = crawl_weather(strategy)
    ranked = strategy.rescore({url: each.memory for url, each in waiting.items()})
    assert ranked is not None
    assert min(ranked[url] for url in ranked if url.startswith("zoe")) > max(
        ranked[url] for url in ranked if url.startswith("weather")
    )
    assert strategy.rescore({}) is None, "nothing has moved since"


def test_told_to_learn_nothing_on_the_way_it_stays_as_the_session_made_it() -> None:
    strategy = MemmStrategy(learn_topic(session()), learn=False)
    before = told(strategy, shown(LIST))
    crawl_weather(strategy)
    assert told(strategy, shown(LIST)) == before


def test_a_page_that_led_to_a_find_was_one_hop_away() -> None:
    strategy = taught()
    lists = told(strategy, shown(page("all", "list", ("a", "first"), ("b", "second"))))
    children = told(strategy, shown(page("a", "dull", ("f", "found")), 0.0, lists["a"].memory))
    before = strategy.snapshot()
    told(strategy, shown(page("f", "find"), 1.0, children["f"].memory, H + "a"))
    assert strategy.snapshot() != before
    example = strategy.examples[H + "a"]
    assert example.led_to == 1.0
    assert example.end_state() == pytest.approx([example.end[0], 1 - example.end[0], 0, 0])


def test_what_was_learned_survives_the_process() -> None:
    strategy, other = taught(), taught()
    waiting = crawl_weather(strategy)
    other.restore(strategy.snapshot())
    memories = {url: each.memory for url, each in waiting.items()}
    assert other.snapshot() == strategy.snapshot()
    assert told(other, shown(LIST)) == told(strategy, shown(LIST))
    assert other.rescore(memories) == strategy.rescore(memories)


def test_candidates_of_others_keep_their_priority() -> None:
    strategy = taught()
    assert strategy.rescore({"http://seed.test/": b"", "http://old.test/": b"123"}) == {}
    told(strategy, shown(page("seed", "list"), 1.0, b"no memory of mine"))


def test_a_memory_is_explained_as_hops() -> None:
    strategy = taught()
    link = told(strategy, shown(LIST))["x"]
    hops = strategy.explain(link.memory)
    assert list(hops) == ["a target", "1 hop", "2 hops", "3 hops or more"]
    assert sum(hops.values()) == pytest.approx(1)
    assert strategy.explain(b"") == {}


def test_what_moved_a_link_is_told_the_strongest_first() -> None:
    strategy = taught()
    link = told(strategy, shown(LIST))["x"]
    reasons = strategy.reasons(FoundLink(link.link.url, link.memory))
    moved = {each.words: each.moved for each in reasons}
    assert (moved["anchor and address like the targets"] or 0) > 0.5
    sizes = [abs(each.moved or 0) for each in reasons]
    assert sizes == sorted(sizes, reverse=True)
    assert strategy.reasons(FoundLink(link.link.url, b"")) == []


def test_it_is_found_by_name() -> None:
    strategy = make_strategy("memm:learn=false", Briefing(session()))
    assert isinstance(strategy, MemmStrategy)


def test_evidence_of_a_link() -> None:
    found, rows = LinkEvidence(session()).read(LIST)
    assert found.urls == [H + "x", H + "y", H + "z"]
    assert rows[:, 0].tolist() == [1, 1, 1]
    assert rows[0, 1] > rows[1, 1]
    assert rows[:, 5].tolist() == [1, 1, 1], "same host"


def test_words_are_numbered_in_slots() -> None:
    many = " ".join(f"word{at}" for at in range(99))
    phrases = Phrases()
    found = read_links(page("list", "staff", ("x", "bees hives"), ("y", many)), phrases)
    slots = word_slots(phrases, found.phrases)
    few, full = slots != EMPTY
    assert few[:2].all()
    assert not few[5:10].any(), "two words of the anchor, one of the address"
    assert full[:10].all()
    assert few[10:].any(), "the title"


def test_the_turnout_of_words_by_hand() -> None:
    turnouts = WordTurnouts()
    good, bad = np.full((1, N_SLOTS), EMPTY, np.int32), np.full((1, N_SLOTS), EMPTY, np.int32)
    good[0, :2], bad[0, 0] = (11, 12), 13
    assert turnouts.read(good).tolist() == [0]
    turnouts.learn(good, 1.0)
    turnouts.learn(bad, 0.0)
    base = 1.5 / 3
    ratio = np.log((1 + 2 * base) / (3 * base))
    assert turnouts.read(good)[0] == pytest.approx(2 * ratio / np.sqrt(2))
    assert turnouts.read(bad)[0] == pytest.approx(np.log(2 * base / (3 * base)))
    assert turnouts.read(good, np.ones(1))[0] == pytest.approx(0), "its own turnout is left out"
    assert WordTurnouts.of(turnouts.keep()).read(good) == turnouts.read(good)
