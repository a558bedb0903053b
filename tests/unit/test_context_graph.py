"""The context-graph strategy: queues, modes, back-crawling and rebuilding, by hand."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_lab_web import ONE_BY_ONE, write_tiny_web

from trailhound.crawling.engine import SEED_PRIORITY
from trailhound.errors import SourceError, StorageError, UsageError
from trailhound.lab.corpora import Corpus
from trailhound.lab.recorded_sources import RecordedBacklinks
from trailhound.lab.results import ExperimentPlan, Parameters, RunResult, RunTask
from trailhound.lab.runner import TopicRunner
from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance, ScoredLink
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import Sources
from trailhound.strategies.base import Asking, Briefing, Explaining, Remembering, learns_online
from trailhound.strategies.choosing import make_strategy
from trailhound.strategies.context_graph.layer_classifier import (
    ClassifierParameters,
    Verdict,
    fit_layers,
)
from trailhound.strategies.context_graph.strategy import AT_ONCE, ContextGraphStrategy
from trailhound.strategies.parts import BackCrawling, DocumentCounts

LAYERS = [[{"honey": 1}], [{"shelf": 1}], [{"portal": 1}]]
REFERENCE = DocumentCounts.of([terms for layer in LAYERS for terms in layer])
CLASSIFIER = fit_layers(
    LAYERS, REFERENCE, ClassifierParameters(threshold="min", min_features=1), n_master_layers=3
)
# |V| = 3 and one document a layer: P = 2/4 for the layer's own word.
LIKELIHOOD = math.log(1 / 2)
MINOR = 1 / (2 - LIKELIHOOD)


def crawled(
    word: str,
    *,
    url: str = "http://h.test/page",
    links: str = "ab",
    relevant: bool = False,
    candidate: Candidate | None = None,
) -> CrawledPage:
    addresses = tuple(Link(f"http://h.test/{name}") for name in links)
    page = Page(url, terms={word: 1}, links=addresses)
    return CrawledPage(page, Relevance(0.9, relevant), candidate or Candidate(url, SEED_PRIORITY))


def priorities(strategy: ContextGraphStrategy, page: CrawledPage) -> list[float]:
    return [each.priority for each in strategy.score_links(page)]


def test_the_layer_comes_first_and_the_likelihood_second() -> None:
    strategy = ContextGraphStrategy(CLASSIFIER)
    # N = 2: queues 0, 1, 2 and 3 for "other". Links of a page at layer i wait in queue i - 1.
    assert priorities(strategy, crawled("portal")) == pytest.approx([3 - 1 + MINOR] * 2)
    assert priorities(strategy, crawled("shelf")) == pytest.approx([3 - 0 + MINOR] * 2)
    assert priorities(strategy, crawled("honey")) == pytest.approx([3 - 0 + MINOR] * 2)
    assert priorities(strategy, crawled("nonsense")) == [0.0, 0.0]


def test_with_prefetch_links_wait_in_the_queue_of_their_page() -> None:
    strategy = ContextGraphStrategy(CLASSIFIER, mode="prefetch")
    assert priorities(strategy, crawled("honey"))[0] == pytest.approx(3 + MINOR)
    assert priorities(strategy, crawled("shelf", url="http://h.test/2"))[0] == pytest.approx(
        2 + MINOR
    )
    assert priorities(strategy, crawled("portal", url="http://h.test/3"))[0] == pytest.approx(
        1 + MINOR
    )


@given(st.floats(max_value=0.0), st.floats(max_value=0.0), st.integers(0, 3), st.integers(0, 3))
def test_no_likelihood_leaves_its_queue(
    one: float, two: float, first_queue: int, second_queue: int
) -> None:
    strategy, nothing = ContextGraphStrategy(CLASSIFIER, mode="prefetch"), np.zeros(3)
    first = strategy._priority(Verdict(first_queue, one, nothing))
    second = strategy._priority(Verdict(second_queue, two, nothing))
    if first_queue < second_queue:
        assert first > second
    if first_queue == second_queue and one > two:
        assert first >= second


def test_the_first_child_brings_its_siblings() -> None:
    strategy = ContextGraphStrategy(CLASSIFIER, mode="prefetch")
    family = list(strategy.score_links(crawled("shelf", url="http://h.test/s", links="abc")))
    waiting = Candidate("http://h.test/b", family[1].priority, family[1].memory, "http://h.test/s")
    child = crawled("honey", url="http://h.test/b", links="x", candidate=waiting)
    found = {each.link.url[-1]: each for each in strategy.score_links(child)}
    assert found["a"].priority == found["c"].priority == AT_ONCE + waiting.priority
    assert "b" not in found
    # A sibling that comes at once brings nobody, although its parent is now the first child.
    sibling = Candidate("http://h.test/a", found["a"].priority, found["a"].memory, child.page.url)
    second = crawled("honey", url="http://h.test/a", links="y", candidate=sibling)
    assert [each.link.url[-1] for each in strategy.score_links(second)] == ["y"]


def test_what_was_forgotten_over_a_restart_is_no_error() -> None:
    strategy = ContextGraphStrategy(CLASSIFIER, mode="prefetch")
    waiting = Candidate("http://h.test/b", 2.4, b"", "http://h.test/s")
    page = crawled("honey", url="http://h.test/b", links="x", candidate=waiting)
    assert len(list(strategy.score_links(page))) == 1


class Backlinks:
    def __init__(self, answers: Mapping[str, Sequence[str]], pages: Sequence[Page] = ()) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self._pages = {page.url: page for page in pages}

    async def linking_to(self, url: str) -> Sequence[str]:
        self.asked.append(url)
        return self.answers.get(url, ())

    async def page(self, url: str) -> Page | None:
        return self._pages.get(url)


class Broken(Backlinks):
    async def linking_to(self, url: str) -> Sequence[str]:
        await super().linking_to(url)
        raise SourceError("the endpoint is down")


def asked(strategy: Asking, page: CrawledPage) -> list[ScoredLink]:
    return list(asyncio.run(strategy.ask(page)))


# In the order of their checksums, crc32: 0x3775…, 0xAE7D…, 0xD97C….
PARENTS = [f"http://hub.test/{number}" for number in (2, 1, 0)]


def test_parents_of_a_find_come_at_once_and_are_rationed() -> None:
    source = Backlinks({"http://h.test/page": [*sorted(PARENTS), "http://h.test/page"]})
    strategy = ContextGraphStrategy(CLASSIFIER, back_crawl=BackCrawling(source, 2))
    links = asked(strategy, crawled("honey", relevant=True))
    assert [each.link.url for each in links] == PARENTS[:2]
    assert all(each.priority > AT_ONCE and not each.memory for each in links)
    assert asked(strategy, crawled("honey")) == []
    assert source.asked == ["http://h.test/page"], "only finds are asked about"


def test_to_the_letter_the_classifier_of_layer_0_says_what_is_found() -> None:
    source = Backlinks({"http://h.test/page": PARENTS})
    parents = BackCrawling(source, 2)
    strategy = ContextGraphStrategy(CLASSIFIER, back_crawl=parents, literal=True)
    assert len(asked(strategy, crawled("honey"))) == 2
    assert asked(strategy, crawled("shelf", relevant=True)) == []


# A session: portal → shelf → two targets; and what else links there.
TARGETS = tuple(
    Page(f"http://h.test/t{n}", terms={"honey": 2, "wax": 1, "bee": 1}) for n in range(2)
)
SHELF = Page("http://h.test/shelf", terms={"shelf": 1, "list": 2, "bee": 1})
PORTAL = Page("http://h.test/", terms={"welcom": 1, "portal": 1, "news": 1})
GRAPH = PageGraph((*TARGETS, SHELF, PORTAL), ((2, 0), (2, 1), (3, 2)), frozenset({0, 1}))
HUB = Page("http://hub.test/", terms={"hub": 2, "bookmark": 1, "bee": 1})
ABOVE = Page("http://hub.test/up", terms={"start": 1, "search": 1, "hub": 1})
KNOWING = {TARGETS[0].url: [HUB.url, "http://gone.test/"], HUB.url: [ABOVE.url]}


def make(
    options: str, source: Backlinks | None = None, graph: PageGraph = GRAPH
) -> ContextGraphStrategy:
    strategy = make_strategy(
        f"context-graph:{options}", Briefing(graph, 3, sources=Sources.of(backlinks=source))
    )
    assert isinstance(strategy, ContextGraphStrategy)
    return strategy


def queue_of(strategy: ContextGraphStrategy, page: Page) -> int:
    return strategy._classifier.classify(page.terms).queue


def test_it_learns_from_what_links_to_the_targets() -> None:
    source = Backlinks(KNOWING, [HUB, ABOVE])
    strategy = make("layers=2", source)
    assert queue_of(strategy, TARGETS[0]) == 0
    assert queue_of(strategy, HUB) == 1
    assert queue_of(strategy, SHELF) == 1, "pages of the session cost nothing"
    assert "list" not in make("layers=2,training=backlinks", source)._classifier.vocabulary
    assert "list" not in make("layers=2,literal=true", source)._classifier.vocabulary
    source.asked.clear()
    make("layers=2", source)
    assert source.asked == [TARGETS[0].url, TARGETS[1].url, HUB.url, "http://gone.test/"]


def test_without_a_source_it_learns_from_the_session() -> None:
    strategy = make("layers=2")
    assert queue_of(strategy, SHELF) == 1
    assert make("layers=2,training=session", Backlinks(KNOWING, [HUB]))._classifier.vocabulary
    assert "list" in make("layers=2,training=session", Backlinks(KNOWING))._classifier.vocabulary


@pytest.mark.parametrize("source", [Backlinks({}), Broken({})])
def test_a_source_that_is_down_or_knows_nothing_is_done_without(
    source: Backlinks, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        strategy = make("layers=2", source)
    assert queue_of(strategy, SHELF) == 1
    assert "session's own pages instead" in caplog.text
    with pytest.raises(SourceError, match=r"is down|knows no page"):
        make("training=backlinks", source)


def test_it_refuses_when_nothing_leads_to_the_targets() -> None:
    lonely = Briefing(PageGraph(TARGETS, (), frozenset({0, 1})))
    with pytest.raises(UsageError, match=r"lead to the targets.*--backlinks"):
        make_strategy("context-graph", lonely)
    with pytest.raises(UsageError, match="nothing else knows any"):
        make_strategy(
            "context-graph",
            Briefing(lonely.graph, sources=Sources.of(backlinks=Backlinks({}))),
        )
    with pytest.raises(UsageError, match="training=backlinks needs"):
        make("training=backlinks")


@pytest.mark.parametrize(
    "options",
    [
        "mode=sideways",
        "threshold=0.5",
        "training=none",
        "reference=web",
        "vocabulary=everything",
        "layers=0",
        "layers=99",
        "layer_size=0",
        "terms=0",
        "back_crawl=-1",
        "back_crawl=3",
        "rebuild_every=-1",
    ],
)
def test_impossible_options_are_refused(options: str) -> None:
    with pytest.raises(UsageError, match=r"should be|needs to know"):
        make(options)


def test_the_literal_reading_reaches_the_classifier() -> None:
    literal = make("literal=true")._classifier.parameters
    assert (literal.threshold, literal.per_feature, literal.min_features) == ("min", False, 1)
    assert literal.use_counts, "every occurrence of a word counts"
    # Children are fetched before anything else, unless that is asked not to be.
    for options, prefetches in (
        ("literal=true", True),
        ("literal=true,mode=inherit", False),
        ("", False),
        ("mode=prefetch", True),
    ):
        assert make(options)._prefetches is prefetches
    assert make("priors=sizes")._classifier.parameters.priors == "sizes"
    assert make("literal=true,threshold=posterior")._classifier.parameters.threshold == "posterior"
    assert set(make("literal=true")._classifier.vocabulary) == {"honey", "wax", "bee"}
    assert set(make("vocabulary=targets")._classifier.vocabulary) == {"honey", "wax", "bee"}
    assert make("")._classifier.parameters == ClassifierParameters()


@pytest.mark.parametrize("name", ["everyday", "shipped"])
def test_everyday_words_may_weigh_the_words(name: str) -> None:
    pages = tuple(msgspec.structs.replace(page, language="en") for page in GRAPH.pages)
    english = replace(GRAPH, pages=pages)
    idf = make(f"reference={name}", graph=english)._classifier
    weights = dict(zip(idf.vocabulary, idf.idf.tolist(), strict=True))
    assert weights["list"] < weights["honey"]


def test_without_everyday_words_of_a_language_its_pages_weigh_the_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    unknown = make("reference=everyday")._classifier
    assert "knows no everyday words" in caplog.text
    assert unknown.idf.tolist() == make("")._classifier.idf.tolist()


def test_it_promises_independence_only_where_it_can() -> None:
    assert not learns_online(make("layers=2"))
    source = Backlinks(KNOWING, [HUB])
    for options in ("mode=prefetch", "back_crawl=1", "rebuild_every=5"):
        assert learns_online(make(options, source))


def find(number: int) -> CrawledPage:
    page = Page(f"http://new.test/{number}", terms={"mead": 2, "honey": 1, "brew": 1})
    return CrawledPage(page, Relevance(0.9, True), Candidate(page.url, 1.0))


def test_finds_become_targets_and_their_parents_a_layer() -> None:
    words = {"brewer": 2, "address": 1, "mead": 1}
    brewers = Page("http://new.test/list", terms=words, links=(Link("http://new.test/0"),))
    liar = Page("http://new.test/lie", terms={"liar": 2, "spam": 1, "mead": 1})
    named = [brewers.url, liar.url, "http://new.test/unread"]
    source = Backlinks({**KNOWING, "http://new.test/0": named}, [HUB, ABOVE, brewers, liar])
    strategy = make("layers=2,rebuild_every=2", source)
    assert "brewer" not in strategy._classifier.vocabulary
    for page in (brewers, liar):
        strategy.observe(CrawledPage(page, Relevance(0.1, False), Candidate(page.url, 1.0)))
    strategy.observe(find(0))
    assert isinstance(strategy, Remembering)
    assert strategy.snapshot() == b""
    strategy.observe(find(1))
    assert asked(strategy, find(1)) == []
    assert "brewer" in strategy._classifier.vocabulary
    assert "liar" not in strategy._classifier.vocabulary, "it does not link there"
    assert queue_of(strategy, brewers) == 1
    assert queue_of(strategy, HUB) == 1, "what was known is not forgotten"
    again = make("layers=2,rebuild_every=2", source)
    again.restore(strategy.snapshot())
    assert queue_of(again, brewers) == 1
    assert again.snapshot() == strategy.snapshot(), "a second restart knows it, too"
    other = make("layers=3,rebuild_every=2", source)
    with pytest.raises(ValueError, match="3 layers, not 4"):
        other.restore(strategy.snapshot())
    with pytest.raises(ValueError, match="Expected `array`"):
        other.restore(b"nonsense")


def test_a_source_that_breaks_down_on_the_way_stops_nothing() -> None:
    strategy = make("layers=2,rebuild_every=1,back_crawl=2", Broken({}))
    before = strategy._classifier
    strategy.observe(find(0))
    assert asked(strategy, find(0)) == []
    assert strategy._classifier is not before
    assert "mead" in strategy._classifier.vocabulary


def test_kept_answers_that_cannot_be_used_cost_no_page() -> None:
    class Full(Backlinks):
        async def linking_to(self, url: str) -> Sequence[str]:
            if url.startswith("http://new.test/"):
                raise StorageError("the disk is full")
            return await super().linking_to(url)

    strategy = make("layers=2,rebuild_every=1,back_crawl=2", Full(KNOWING, [HUB, ABOVE]))
    strategy.observe(find(0))
    assert asked(strategy, find(0)) == []
    assert "mead" in strategy._classifier.vocabulary


def test_it_says_what_it_expected() -> None:
    strategy = ContextGraphStrategy(CLASSIFIER)
    assert isinstance(strategy, Explaining)
    memory = next(iter(strategy.score_links(crawled("shelf")))).memory
    # honey : shelf : portal = 1/4 : 2/4 : 1/4 for the word "shelf".
    told = strategy.explain(memory)
    assert list(told.values()) == pytest.approx([0.25, 0.5, 0.25])
    assert list(told)[1] == "its page is 1 link from one"
    other = next(iter(strategy.score_links(crawled("nonsense")))).memory
    assert any("none of these" in name for name in strategy.explain(other))
    assert strategy.explain(b"") == strategy.explain(b"123") == {}


def test_the_other_strategies_ask_for_parents_too() -> None:
    page = CrawledPage(
        Page("http://h.test/page", terms=TARGETS[0].terms, links=(Link("http://h.test/a"),)),
        Relevance(0.9, True),
        Candidate("http://h.test/page", 1.0),
    )
    dull = CrawledPage(page.page, Relevance(0.1, False), page.candidate)
    for name in ("best-first", "hidden-markov"):
        source = Backlinks({"http://h.test/page": PARENTS})
        briefing = Briefing(GRAPH, sources=Sources.of(backlinks=source))
        strategy = make_strategy(f"{name}:back_crawl=2", briefing)
        assert isinstance(strategy, Asking)
        own, links = list(strategy.score_links(page)), asked(strategy, page)
        assert [each.link.url for each in links] == PARENTS[:2]
        assert len({each.priority for each in (*own, *links)}) == 1
        assert links[-1].memory == b""
        assert asked(strategy, dull) == []
        assert learns_online(strategy)
        assert not learns_online(make_strategy(name, briefing))
        broken = make_strategy(
            f"{name}:back_crawl=2", Briefing(GRAPH, sources=Sources.of(backlinks=Broken({})))
        )
        assert isinstance(broken, Asking)
        assert asked(broken, page) == []
        with pytest.raises(UsageError, match="back_crawl needs to know"):
            make_strategy(f"{name}:back_crawl=2", Briefing(GRAPH))


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> TopicRunner:
    corpus: Path = write_tiny_web(tmp_path_factory.mktemp("lab") / "tiny.thc")
    parameters = Parameters(["context-graph"], ["bees"], 60, 1, 7)
    return TopicRunner(ExperimentPlan(corpus, parameters))


def run(runner: TopicRunner, strategy: str) -> RunResult:
    return runner.run(RunTask("bees", 0, strategy))


def test_in_the_lab_learning_is_reported_and_questions_cost(runner: TopicRunner) -> None:
    asking = run(runner, "context-graph:layers=3,training=backlinks")
    before = asking.learning_queries + asking.learning_pages
    assert asking.learning_queries > 4
    assert asking.learning_pages > 4
    assert asking.queries == 0
    # The curve begins with what learning cost; the rest of the budget is the crawl's.
    assert asking.curve[:before] == [0] * before
    assert asking.fetches == 60
    assert 58 - before <= sum(asking.outcomes.values()) <= 60 - before
    assert asking.nauc_learning_free > asking.nauc > 0
    assert len(asking.found_pages) == asking.found == asking.curve[-1] > 0
    plain = run(runner, "best-first")
    assert (plain.learning_queries, plain.learning_pages, plain.queries) == (0, 0, 0)
    assert plain.nauc == plain.nauc_learning_free
    back = run(runner, "best-first:back_crawl=3")
    assert back.queries > 0
    assert back.fetches == len(back.curve) <= 60
    pages = sum(back.outcomes.values())
    # A redirect costs two requests. Each question took the place of a page.
    assert 58 <= pages + back.queries <= 60


def test_in_the_lab_learning_may_cost_the_whole_budget(tmp_path: Path) -> None:
    corpus = write_tiny_web(tmp_path / "tiny.thc")
    parameters = Parameters(
        ["context-graph"], ["bees"], 20, 1, 7, judge="cosine", settings=ONE_BY_ONE
    )
    result = run(TopicRunner(ExperimentPlan(corpus, parameters)), "context-graph")
    assert result.learning_queries + result.learning_pages > 20
    assert result.curve == [0] * 20
    assert (result.nauc, result.recall, result.outcomes, result.found_pages) == (0.0, 0.0, {}, [])
    assert result.nauc_learning_free > 0


def test_in_the_lab_rebuilding_asks_and_reads_no_further_page(
    runner: TopicRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[RecordedBacklinks] = []

    class Watched(RecordedBacklinks):
        def __init__(self, corpus: Corpus, closed: Collection[str] = ()) -> None:
            super().__init__(corpus, closed)
            made.append(self)

    monkeypatch.setattr("trailhound.lab.runner.RecordedBacklinks", Watched)
    result = run(runner, "context-graph:training=backlinks,rebuild_every=3")
    (source,) = made
    assert source.pages_read == result.learning_pages
    assert source.queries > result.learning_queries, "it did ask"
    assert result.queries > 0


def test_in_the_lab_closed_pages_are_not_asked_for(tmp_path: Path) -> None:
    corpus = Corpus.open(write_tiny_web(tmp_path / "tiny.thc"))
    whole = RecordedBacklinks(corpus)
    url = next(url for url in corpus.page_urls if len(asyncio.run(whole.linking_to(url))) > 1)
    first, *others = asyncio.run(whole.linking_to(url))
    source = RecordedBacklinks(corpus, {first})
    assert asyncio.run(source.linking_to(url)) == others
    assert asyncio.run(source.linking_to(first)) == ()
    assert asyncio.run(source.page(first)) is None
    assert asyncio.run(source.page(others[0])) is not None


@pytest.mark.parametrize(
    "options",
    ["", ":literal=true", ":mode=prefetch,back_crawl=2,rebuild_every=3", ":training=session"],
)
def test_in_the_lab_every_reading_runs_and_repeats(runner: TopicRunner, options: str) -> None:
    first, second = (run(runner, f"context-graph{options}") for _ in range(2))
    assert first.curve == second.curve
    assert first.outcomes == second.outcomes
    assert first.queries == second.queries


def test_in_the_lab_fish_search_runs(runner: TopicRunner) -> None:
    assert run(runner, "fish-search").curve
