"""What words mean by the company they keep in a session, and what a crawl makes of that."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from msgspec.structs import replace
from trail_pages import H, hub, score

from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.strategies.trail import meaning
from trailhound.strategies.trail.features import NAMES
from trailhound.strategies.trail.link_words import read_links
from trailhound.strategies.trail.meaning import N_DIRECTIONS, STRENGTHS, Meaning, as_features
from trailhound.strategies.trail.phrases import Phrases, checksums
from trailhound.strategies.trail.strategy import TrailStrategy

CATS = ("lion", "tiger", "leopard", "jaguar", "savanna", "mane", "paw", "prey", "roar", "pride")
KINGS = ("crown", "throne", "reign", "heir", "dynasty", "palace", "abdicate", "regent", "realm")
TAXES = ("levy", "duty", "tariff", "revenue", "excise", "return", "deduction", "audit", "refund")
SUBJECTS = {"cats": CATS, "kings": KINGS, "taxes": TAXES}
COMMON = [f"common{n}" for n in range(40)]


def article(name: str, chance: Random, subject: str, *links: tuple[str, str]) -> Page:
    """A long page about one of the subjects, in whole sentences of it."""
    words = [
        chance.choice(SUBJECTS[subject] if chance.random() < 0.4 else COMMON) for _ in range(1800)
    ]
    linked = tuple(Link(H + target, anchor=anchor) for target, anchor in links)
    return Page(H + name, title=name, text=" ".join(words), links=linked, language="en")


def browsed(chance: Random) -> PageGraph:
    """Two pages of each subject; those about cats were wanted, and no link says *leopard*."""
    targets = [(f"{subject}/{n}", subject) for subject in SUBJECTS for n in (1, 2)]
    named = {"cats": ("lion", "tiger"), "kings": ("crown", "throne"), "taxes": ("levy", "duty")}
    start = [(f"{subject}/{n}", named[subject][n - 1]) for subject in SUBJECTS for n in (1, 2)]
    pages = [article("", chance, "taxes", *start)]
    pages += [article(target, chance, target.partition("/")[0]) for target, _ in targets]
    return PageGraph(tuple(pages), (), frozenset({1, 2}))


def cosine(known: Meaning, one: str, other: str) -> float:
    vectors = [known._vectors[known._places[checksums([word])[0]]] for word in (one, other)]
    return float(vectors[0] @ vectors[1] / np.prod([np.linalg.norm(each) for each in vectors]))


def test_words_that_keep_the_same_company_point_the_same_way() -> None:
    known = Meaning(browsed(Random(1)).pages)
    assert cosine(known, "leopard", "tiger") > 0.5 > cosine(known, "leopard", "throne") + 0.2
    assert known.basis == Meaning(browsed(Random(1)).pages).basis
    assert known.basis != Meaning(browsed(Random(2)).pages).basis


def test_a_link_that_names_what_is_like_the_finds_comes_first() -> None:
    """No link of the session says leopard, nor regent; its pages tell that one goes with lions."""
    strategy = TrailStrategy.from_briefing(Briefing(browsed(Random(1))))
    for n in range(12):
        for subject, relevant in (("cats", 1.0), ("kings", 0.0)):
            word = SUBJECTS[subject][n % 2]
            score(strategy, hub(f"list/{subject}/{n}", (f"{word}{n}", word)))
            score(strategy, hub(f"{word}{n}", relevance=relevant))
    found = score(strategy, hub("new", ("x1", "leopard"), ("x2", "regent"), ("x3", "unheard-of")))
    assert found["x1"] > found["x3"] + 0.3
    assert found["x1"] > found["x2"] + 0.3
    told = {lesson.name: lesson for lesson in strategy.lessons([hub("a", ("b", "leopard")).page])}
    assert told["leopard"].field == "meaning"
    assert told["leopard"].weight > 0.1


def test_sums_over_words_become_features_of_a_certain_length() -> None:
    phrases, known = Phrases(), Meaning(browsed(Random(1)).pages)
    link = Link(f"{H}lion", anchor="tiger", before="the crown of", after="the palace")
    unknown = Link(f"{H}q", anchor="unheard-of")
    page = Page(f"{H}list", links=(link, unknown), language="en")
    said = known.of_links(phrases, read_links(page, phrases).phrases)
    rows = as_features(said).reshape(2, 2, N_DIRECTIONS)
    assert np.linalg.norm(rows[0], axis=1) == pytest.approx(STRENGTHS)
    assert not rows[1].any()
    words = [known._vectors[known._places[checksums([word])[0]]] for word in ("lion", "tiger")]
    assert said[0, :N_DIRECTIONS] == pytest.approx(sum(words))


@pytest.mark.parametrize("text", ["", "a few words only"])
def test_a_session_without_text_says_nothing_of_meaning(text: str) -> None:
    known = Meaning([Page(f"{H}{n}", text=text, language="en") for n in range(3)])
    assert known.basis == 0
    phrases = Phrases()
    page = Page(f"{H}list", links=(Link(f"{H}a", anchor="words"),), language="en")
    assert not known.of_links(phrases, read_links(page, phrases).phrases).any()
    assert known.of_links(phrases, np.zeros((0, 6), np.int64)).shape == (0, 2 * N_DIRECTIONS)


def test_long_sessions_are_read_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Meaning(browsed(Random(1)).pages)
    monkeypatch.setattr(meaning, "MAX_WINDOWS", 100)
    part = Meaning(browsed(Random(1)).pages)
    assert whole.basis != part.basis != 0
    assert cosine(part, "leopard", "tiger") > cosine(part, "leopard", "throne")
    counts, _ = meaning._counted(list(browsed(Random(1)).pages))
    assert counts.shape[0] == 100, "as many as may be"


def test_lessons_of_meaning_are_words_of_anchors() -> None:
    """Of ten thousand words some share a number with a word of another field."""
    chance = Random(3)
    words = [f"word{n}" for n in range(12_000)]
    pages = [
        replace(article(f"long/{n}", chance, "cats"), text=" ".join(words[n::2] + words[n::2]))
        for n in (0, 1)
    ]
    graph = browsed(chance)
    strategy = TrailStrategy.from_briefing(
        Briefing(PageGraph((*graph.pages, *pages), (), graph.targets))
    )
    link = Link(f"{H}x", anchor="lion tiger", before=" ".join(f"near{n}" for n in range(25)))
    others = [
        Link(f"{H}x{n}", heading=f"head{n} top{n}", before=f"round{n} by{n}", tag_path=f"ul{n}")
        for n in range(2_000)
    ]
    lessons = strategy.lessons([Page(f"{H}list", links=(*others, link), language="en")])
    told = [lesson.name for lesson in lessons if lesson.field == "meaning"]
    assert set(told) == {"lion", "tiger"}


def test_what_links_mean_is_the_same_when_pages_are_read_again_after_a_restart() -> None:
    briefing = Briefing(browsed(Random(1)))
    strategy = TrailStrategy.from_briefing(briefing)
    link = Link(f"{H}much-named", anchor="lion")
    pages = [
        replace(
            hub(f"list/{n}").page, links=(replace(link, before=f"{CATS[n % 10]} {KINGS[n % 9]}"),)
        )
        for n in range(14)
    ]
    crawled = [CrawledPage(page, Relevance(0.1, False), Candidate(page.url, 0.0)) for page in pages]
    for each in crawled:
        score(strategy, each)
    resumed = TrailStrategy.from_briefing(briefing)
    resumed.restore(strategy.snapshot())
    for each in crawled:
        resumed.read_again(each)
    (meant, again) = (
        known._table.nodes["meaning"][known._table.node(link.url)] for known in (strategy, resumed)
    )
    assert again == pytest.approx(meant)
    assert meant[:N_DIRECTIONS].any()
    assert meant[N_DIRECTIONS:].any()


def taught_about_cats(chance: int) -> TrailStrategy:
    strategy = TrailStrategy.from_briefing(Briefing(browsed(Random(chance))))
    for n in range(24):
        score(strategy, hub(f"list/{n}", (f"page{n}", SUBJECTS["cats"][n % 3])))
        score(strategy, hub(f"page{n}", relevance=1.0))
    return strategy


def test_what_was_learned_of_meaning_goes_on_after_a_restart_and_not_in_another_session() -> None:
    first, last = slice(0, len(NAMES)), slice(len(NAMES), None)
    earlier = taught_about_cats(1)
    kept, weights = earlier.snapshot(), earlier._model.wanted.weights
    assert np.abs(weights[last]).max() > 0.01
    same, other = (TrailStrategy.from_briefing(Briefing(browsed(Random(n)))) for n in (1, 2))
    for strategy in (same, other):
        strategy.restore(kept)
        assert strategy._model.wanted.weights[first].tolist() == weights[first].tolist()
    assert same._model.wanted.weights[last].tolist() == weights[last].tolist()
    assert not other._model.wanted.weights[last].any(), "these are other directions"
    examples = other._model._examples
    assert not examples["row"][other._model._from_session : examples.size, last].any()
    examples = same._model._examples
    assert examples["row"][same._model._from_session : examples.size, last].any()
    for strategy in (same, other):
        assert "new" in score(strategy, hub("list/new", ("new", "leopard")))


@pytest.mark.parametrize("in_full", [True, False])
def test_a_crawl_of_the_same_session_inherits_what_was_learned_of_meaning(in_full: bool) -> None:
    kept = taught_about_cats(1).snapshot()
    plain, same, other = (
        TrailStrategy.from_briefing(Briefing(browsed(Random(chance)))) for chance in (1, 1, 2)
    )
    for strategy in (same, other):
        strategy.inherit(kept, in_full=in_full)
    examples = [each._model._examples for each in (same, other)]
    has_meaning = [
        each["row"][known._model._from_session : each.size, len(NAMES) :].any()
        for each, known in zip(examples, (same, other), strict=True)
    ]
    assert has_meaning == [True, False]
    moved = same._model.wanted.weights - plain._model.wanted.weights
    assert np.abs(moved[len(NAMES) :]).max() > 0.01
