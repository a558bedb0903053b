"""Turns on a recorded web: what they charge, find and learn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tiny_lab_web import ONE_BY_ONE, leaf_url, write_tiny_web

from trailhound.config.settings import Settings
from trailhound.lab.corpora import Corpus
from trailhound.lab.results import ExperimentPlan, Parameters, RunTask
from trailhound.lab.runner import TopicRunner
from trailhound.lab.search_turns import SearchTurnsBench, TurnsPlan, path_to
from trailhound.lab.topics import topic_source
from trailhound.records import Outcome, PageEvent
from trailhound.topics.runs.turn_planning import TurnLimits

SEED = 7


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with Corpus.open(write_tiny_web(tmp_path_factory.mktemp("web") / "tiny.thc")) as opened:
        yield opened


@pytest.fixture(scope="module")
def bench(corpus: Corpus) -> SearchTurnsBench:
    topic = topic_source(corpus).build("bees", n_seed_sets=1, seed=SEED)
    return SearchTurnsBench(
        corpus, topic, Settings().changed(ONE_BY_ONE | {"judge.kind": "cosine"})
    )


PLAN = TurnsPlan("best-first", rounds=3, max_requests=45, limits=TurnLimits(words=3, seeds=4))


def test_turns_find_pages_sooner_than_a_plain_crawl(bench: SearchTurnsBench) -> None:
    turned = bench.run(PLAN, 0, SEED)
    plain = bench.run(TurnsPlan("best-first", 1, 45, searches=False, relearn=False), 0, SEED)
    assert len(turned.curve) == len(plain.curve) == 45
    assert turned.curve[8] > plain.curve[8], "the search knows leaves from the first request on"
    assert plain.turns[0].plan.queries == ()


def test_every_query_is_charged_and_rounds_share_the_budget(bench: SearchTurnsBench) -> None:
    turned = bench.run(PLAN, 0, SEED)
    assert [turn.requests for turn in turned.turns] == [15, 15, 15]
    first = turned.turns[0]
    assert 0 < len(first.plan.seeds) <= 4
    # Queries come first and find nothing.
    assert turned.curve[: len(first.plan.queries)] == [0] * len(first.plan.queries)
    assert sum(turn.found for turn in turned.turns) == turned.curve[-1]
    assert first.found_by_search <= first.found
    texts = [query.text for turn in turned.turns for query in turn.plan.queries]
    assert len(texts) == len(set(texts)), "nothing is asked twice"


def test_finds_are_learned_from_but_never_outnumber_the_marked_pages(
    bench: SearchTurnsBench,
) -> None:
    turned = bench.run(PLAN, 0, SEED)
    adopted = [url for turn in turned.turns for url in turn.adopted]
    assert 0 < len(adopted) == len(set(adopted)) <= len(bench.topic.graph.targets)
    assert sum(turn.adopted_right for turn in turned.turns) >= 1
    untaught = bench.run(TurnsPlan("best-first", 3, 45, relearn=False), 0, SEED)
    assert not any(turn.adopted for turn in untaught.turns)


def test_the_same_seed_gives_the_same_turns(bench: SearchTurnsBench) -> None:
    assert bench.run(PLAN, 0, SEED) == bench.run(PLAN, 0, SEED)


def test_a_budget_that_queries_alone_spend_crawls_nothing(bench: SearchTurnsBench) -> None:
    turned = bench.run(TurnsPlan("best-first", rounds=2, max_requests=2), 0, SEED)
    assert turned.curve == [0, 0]
    assert all(turn.found == 0 for turn in turned.turns)


def test_what_the_strategy_asks_the_search_is_charged_too(bench: SearchTurnsBench) -> None:
    asking = TurnsPlan("content-link:query=honey hive,results=5", 2, 40, searches=False)
    turned = bench.run(asking, 0, SEED)
    # In each turn one query and five results that are read, in front of the crawl.
    assert turned.curve[:6] == [0] * 6
    assert [turn.requests for turn in turned.turns] == [20, 20]
    assert len(turned.curve) == 40


def event(number: int, url: str, parent: str | None, final: str = "") -> PageEvent:
    return PageEvent(
        number=number,
        url=url,
        final_url=final or url,
        outcome=Outcome.FETCHED,
        parent=parent,
        depth=0,
        priority=0.0,
        requests=1,
        requests_total=number,
    )


def test_the_path_to_a_page_begins_at_a_seed() -> None:
    events = [event(1, "a", None), event(2, "b", "a", final="c"), event(3, "d", "c")]
    assert [(page.url, page.requested_url) for page in path_to(events, "d")] == [
        ("a", "a"),
        ("c", "b"),
        ("d", "d"),
    ]
    circle = [event(1, "a", "b"), event(2, "b", "a")]
    assert [page.url for page in path_to(circle, "b")] == ["a", "b"]
    assert path_to(events, "nowhere") == []


def test_a_strategy_that_asks_nothing_pays_for_no_search(corpus: Corpus) -> None:
    parameters = Parameters(
        strategies=["best-first"], topics=["bees"], max_requests=20, seed_sets=1, seed=SEED
    )
    runner = TopicRunner(ExperimentPlan(corpus.path, parameters))
    result = runner.run(RunTask("bees", 0, "best-first"))
    assert (result.queries, result.learning_queries) == (0, 0)
    assert leaf_url("bees", 0, 0) in corpus


def test_a_query_for_the_topics_words_is_charged(corpus: Corpus) -> None:
    spec = "content-link:query=honey hive,results=6"
    parameters = Parameters(
        strategies=[spec],
        topics=["bees"],
        max_requests=30,
        seed_sets=1,
        seed=SEED,
        judge="cosine",
        settings=ONE_BY_ONE,
    )
    result = TopicRunner(ExperimentPlan(corpus.path, parameters)).run(RunTask("bees", 0, spec))
    assert (result.learning_queries, result.learning_pages, result.queries) == (1, 6, 0)
    assert result.curve[:7] == [0] * 7
    assert len(result.curve) == 30
