"""Turns with a search engine: queries, start pages, finds, sessions from paths, what is kept."""

from __future__ import annotations

from asyncio import run
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.errors import SourceError, StorageError
from trailhound.judges.calibration import OwnVerdicts
from trailhound.models.topic_model import TopicModel, TopicParameters, learn_topic
from trailhound.records import Link, Page
from trailhound.sessions.events import Mark, Reached, Visit
from trailhound.sessions.page_graph import PageGraph, build_page_graph
from trailhound.sessions.path_sessions import PathPage, session_of_paths
from trailhound.sources import SearchHit
from trailhound.topics.runs.turn_planning import (
    AskedQuery,
    OpenTurn,
    ScoredFind,
    TurnLimits,
    TurnReport,
    TurnsFile,
    TurnsRecord,
    choose_seeds,
    cluster_queries,
    plan_turn,
    strong_finds,
)


def page(name: str, words: str, *links: str) -> Page:
    counts = {word: words.split().count(word) for word in words.split()}
    url = f"http://{name}.test/"
    linked = tuple(Link(f"http://{link}.test/") for link in links)
    return Page(url, title=name, text=words, language="en", terms=counts, links=linked)


def garden() -> PageGraph:
    """Two targets on honey; a hub that leads to them; two pages on trains that lead nowhere."""
    pages = (
        page("t1", "honey honey honey wax wax hive"),
        page("t2", "honey honey honey wax wax hive"),
        page("hub", "garden garden flower flower", "t1", "t2"),
        page("hub2", "garden garden flower flower", "t1"),
        page("train1", "train train rail rail"),
        page("train2", "train train rail rail"),
    )
    return PageGraph(pages, ((2, 0), (2, 1), (3, 0)), frozenset({0, 1}))


@pytest.fixture(scope="module")
def model() -> TopicModel:
    learned = learn_topic(garden(), TopicParameters(min_clusters=2, max_clusters=2))
    return replace(learned, clusters=np.array([0, 0, 1, 1, 2, 2]))


class Search:
    """Answers from a table; ``None`` stands for a search that is down."""

    def __init__(self, answers: dict[str, Sequence[str] | None]) -> None:
        self._answers = answers
        self.asked: list[str] = []

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        self.asked.append(query)
        found = self._answers.get(query, ())
        if found is None:
            raise SourceError("The search is down.")
        return [SearchHit(url) for url in found][:limit]

    async def page(self, url: str) -> Page | None:
        return None


def test_each_cluster_asks_for_its_strongest_words_targets_first(model: TopicModel) -> None:
    # Within a cluster the more frequent word has the larger log odds: honey (6 of 12 counts) before
    # wax (4) before hive (2). Hubs are one hop from a target, trains are in the last level, so hubs
    # come before trains.
    texts = [query.text for query in cluster_queries(model, n_words=2)]
    assert [set(text.split()) for text in texts] == [
        {"honey", "wax"},
        {"garden", "flower"},
        {"train", "rail"},
    ]
    assert texts[0] == "honey wax"


def test_a_query_that_was_asked_before_goes_on_with_the_next_words(model: TopicModel) -> None:
    queries = cluster_queries(model, n_words=2, asked={"honey wax"})
    assert queries[0].text == "hive"
    assert queries[0].cluster == 0


def test_clusters_that_have_nothing_left_to_ask_are_left_out(model: TopicModel) -> None:
    first = [query.text for query in cluster_queries(model, n_words=3)]
    again = cluster_queries(model, n_words=3, asked=first)
    assert again == ()


def test_far_clusters_can_be_left_out(model: TopicModel) -> None:
    clusters = [query.cluster for query in cluster_queries(model, 2, max_hops=1.0)]
    assert len(clusters) == 2
    assert clusters[0] == 0


def test_start_pages_are_taken_in_turn_from_each_query_and_known_ones_are_passed_over() -> None:
    results = [["a", "known", "b"], ["c", "a"], []]
    assert choose_seeds(results, {"known"}.__contains__, 10) == ("a", "c", "b")
    assert choose_seeds(results, {"known"}.__contains__, 2) == ("a", "c")


@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), max_size=5),
    st.sets(st.sampled_from("abcdefgh")),
    st.integers(0, 8),
)
def test_start_pages_are_new_distinct_and_few(
    results: list[list[str]], known: set[str], limit: int
) -> None:
    seeds = choose_seeds(results, known.__contains__, limit)
    assert len(seeds) == len(set(seeds)) <= limit
    assert not known & set(seeds)


def test_a_plan_keeps_what_was_asked_and_what_failed(model: TopicModel) -> None:
    wanted = "http://new.test/"
    search = Search({"honey wax": [wanted, "http://t1.test/"], "hive": None})
    first = run(
        plan_turn(
            model, search, {"http://t1.test/"}.__contains__, (), TurnLimits(words=2, hops=None)
        )
    )
    assert first.seeds == (wanted,)
    assert first.problem == ""
    assert [query.hits for query in first.queries] == [2, 0, 0]
    broken = run(
        plan_turn(model, search, lambda _: False, {"honey wax"}, TurnLimits(words=2, hops=0))
    )
    assert broken.seeds == ()
    assert broken.problem == "The search is down."


def test_a_plan_that_leads_nowhere_says_why(model: TopicModel) -> None:
    limits = TurnLimits(words=2, hops=0)
    nothing = run(plan_turn(model, Search({}), lambda _: False, (), limits))
    assert [query.text for query in nothing.queries] == ["honey wax", "hive"]
    assert nothing.problem == "none of 2 queries had a result"
    known = run(plan_turn(model, Search({"hive": ["http://a.test/"]}), lambda _: True, (), limits))
    assert known.problem == "the search named only pages that are known already, or out of scope"
    exhausted = run(plan_turn(model, Search({}), lambda _: False, {"honey wax", "hive"}, limits))
    assert exhausted.problem == "every query that the clusters have words for was asked before"


def test_while_nothing_new_is_named_the_next_words_are_asked_for(model: TopicModel) -> None:
    search = Search({"honey wax": ["http://t1.test/"], "hive": ["http://new.test/"]})
    known = {"http://t1.test/"}.__contains__
    plan = run(plan_turn(model, search, known, (), TurnLimits(words=2, hops=0)))
    assert plan.seeds == ("http://new.test/",)
    assert [query.text for query in plan.queries] == ["honey wax", "hive"]
    assert plan.problem == ""


def finds(*scores: float, host: str = "") -> list[ScoredFind]:
    return [
        ScoredFind(score, f"http://{host or f'h{n}'}.test/{n}") for n, score in enumerate(scores)
    ]


def test_only_the_best_tenth_that_also_reaches_the_median_of_the_marked_pages_joins() -> None:
    # The 0.9 quantile of 0.0, 0.1, …, 1.0 is 0.9: two finds reach it.
    eleven = finds(*(n / 10 for n in range(11)))
    own = [0.2, 0.5, 0.6]  # median 0.5: no further bar
    assert strong_finds(eleven, adopted=(), own_scores=own) == [
        "http://h10.test/10",
        "http://h9.test/9",
    ]
    # Marked pages that score 0.95 in the median leave one.
    assert strong_finds(eleven, adopted=(), own_scores=[0.95] * 3) == ["http://h10.test/10"]
    assert strong_finds(eleven, adopted=(), own_scores=[2.0] * 3) == []


def test_finds_never_outnumber_the_marked_pages() -> None:
    equal = finds(*([0.5] * 9))
    assert len(strong_finds(equal, adopted=(), own_scores=[0.1] * 4)) == 4
    assert len(strong_finds(equal, adopted=["http://x.test/"] * 3, own_scores=[0.1] * 4)) == 1
    assert strong_finds(equal, adopted=["http://x.test/"] * 4, own_scores=[0.1] * 4) == []
    assert strong_finds(equal, adopted=(), own_scores=[]) == []


def test_few_finds_come_from_one_host_when_there_are_many_hosts() -> None:
    many = [*finds(*([0.9] * 10), host="busy"), *finds(*([0.9] * 20))]
    chosen = strong_finds(many, adopted=(), own_scores=[0.1] * 40)
    assert sum("busy" in url for url in chosen) == 3
    alone = strong_finds(finds(*([0.9] * 10), host="only"), adopted=(), own_scores=[0.1] * 40)
    assert len(alone) == 10


def test_verdicts_come_from_the_marked_pages_and_the_others() -> None:
    verdicts = OwnVerdicts(learn_topic(garden()))
    assert len(verdicts.own_scores) == 2
    on_topic = verdicts.score(page("x", "honey wax"))
    assert on_topic > 0.5 > verdicts.score(page("y", "train rail"))


def test_verdicts_without_unmarked_pages_are_cosines() -> None:
    graph = garden()
    only = PageGraph(graph.pages[:2], (), frozenset({0, 1}))
    verdicts = OwnVerdicts(learn_topic(only))
    assert verdicts.own_scores == pytest.approx([1.0, 1.0])
    assert verdicts.score(page("x", "honey honey honey wax wax hive")) == pytest.approx(1.0)


def test_paths_become_visits_and_marks_each_page_once() -> None:
    a, b, c, d = (PathPage(f"http://{name}.test/", time, name) for time, name in enumerate("abcd"))
    session = session_of_paths(
        "bees", [[a, b, c], [a, d]], recorder="turns", label="x", source={a.url: "<p>A"}.get
    )
    visits = [event for event in session.events if isinstance(event, Visit)]
    assert [(visit.url, visit.from_url) for visit in visits] == [
        (a.url, None),
        (b.url, a.url),
        (c.url, b.url),
        (d.url, a.url),
    ]
    assert visits[0].reached is Reached.TYPED
    assert visits[0].html == "<p>A"
    marks = [event for event in session.events if isinstance(event, Mark)]
    assert [(mark.url, mark.label) for mark in marks] == [(c.url, "x"), (d.url, "x")]


def test_a_session_of_paths_builds_a_graph_with_the_finds_as_targets() -> None:
    web = {each.url: each for each in garden().pages}
    hub, target = PathPage("http://hub.test/", 1.0), PathPage("http://t1.test/", 2.0)
    session = session_of_paths("bees", [[hub, target]], recorder="turns")
    graph = build_page_graph([session], web.get)
    assert graph.edges == ((0, 1),)
    assert graph.targets == {1}
    assert graph.starts == (0,)


def test_a_redirect_on_the_way_keeps_the_link_to_it() -> None:
    pages = {
        "http://a.test/": page("a", "start", "old"),
        "http://new.test/": page("new", "honey"),
    }
    path = [
        PathPage("http://a.test/", 1.0),
        PathPage("http://new.test/", 2.0, requested_url="http://old.test/"),
    ]
    graph = build_page_graph([session_of_paths("bees", [path], recorder="turns")], pages.get)
    assert graph.edges == ((0, 1),)


def report(number: int, *texts: str) -> TurnReport:
    return TurnReport(
        number=number,
        queries=tuple(AskedQuery(0, text, 3) for text in texts),
        seeds=2,
        requests=40,
        relevant=5,
        adopted=1,
        pages_learned_from=30,
        crawl_ended="",
    )


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    file = TurnsFile(tmp_path / "turns.json")
    assert file.read() == TurnsRecord()
    turn = OpenTurn(
        number=2,
        queries=(AskedQuery(1, "wax", problem="down"),),
        n_seeds=1,
        seeds=("http://a.test/",),
        pages_before=3,
        requests_before=4,
        until_requests=44,
    )
    record = TurnsRecord(last_turn=2, turns=(report(1, "honey"),), open=turn, crawl_begun_at=1.5)
    file.write(record)
    assert file.read() == record
    assert record.asked == {"honey"}


def test_a_run_is_unfinished_until_its_last_turn_is_done() -> None:
    assert not TurnsRecord().unfinished
    assert TurnsRecord(last_turn=2, turns=(report(1),)).unfinished
    assert not TurnsRecord(last_turn=2, turns=(report(1), report(2))).unfinished


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b'{"last_turn": "x"}', "cannot be read"),
        (b'{"version": 99}', "Upgrade Trailhound"),
        (b'{"format": "else"}', "has format 'else'"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "turns.json"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=message):
        TurnsFile(path).read()
