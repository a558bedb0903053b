"""Content and link analysis: where the table comes from, and how a crawl uses it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import pytest
from interest_pages import crawled
from small_webs import record_web
from tiny_lab_web import write_tiny_web

from trailhound.crawling.engine import Crawler
from trailhound.errors import SessionError, SourceError, TrailhoundError, UsageError
from trailhound.fetching.replay import ReplayFetcher
from trailhound.frontier.memory import MemoryFrontier
from trailhound.lab.experiment import plan_experiment, run_experiment
from trailhound.records import Link, Page, PageEvent, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import SearchHit, SearchSource, Sources
from trailhound.strategies.base import Briefing, learns_online
from trailhound.strategies.choosing import make_strategy
from trailhound.strategies.content_link.strategy import ContentLinkStrategy

H = "http://h.test/"
GRAPH = PageGraph(
    pages=(
        Page(f"{H}bees", terms={"bee": 4, "hive": 2, "page": 3}),
        Page(f"{H}wax", terms={"wax": 2, "hive": 2, "page": 3}),
        Page(f"{H}cars", terms={"car": 2, "page": 3}),
        Page(f"{H}rain", terms={"rain": 2, "page": 3}),
    ),
    edges=(),
    targets=frozenset({0, 1}),
)
EMPTY = PageGraph((), (), frozenset())


class Search:
    """A search engine with two results, one of which can be read."""

    def __init__(self, hits: Sequence[SearchHit] = (), *, down: bool = False) -> None:
        self.hits = hits
        self.down = down
        self.asked: list[tuple[str, int]] = []

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        self.asked.append((query, limit))
        if self.down:
            raise SourceError("The search at http://search.test/ does not answer.")
        return self.hits[:limit]

    async def page(self, url: str) -> Page | None:
        return Page(url, terms={"honey": 3, "comb": 1}) if url.endswith("1") else None


HITS = (
    SearchHit(f"{H}1", "First", "never read"),
    SearchHit(f"{H}2", "Honey jars", "glass jars"),
)


def make(
    options: str = "", graph: PageGraph = GRAPH, search: SearchSource | None = None
) -> ContentLinkStrategy:
    strategy = make_strategy(
        f"content-link:{options}", Briefing(graph, sources=Sources.of(search=search))
    )
    assert isinstance(strategy, ContentLinkStrategy)
    return strategy


def test_the_targets_words_make_the_table() -> None:
    # tf · df · ln(3 / (df elsewhere + 1)): bee 4 · 1, hive 4 · 2, wax 2 · 1, all with ln 3; page is
    # on both other pages: ln(3/3) = 0.
    assert make().topic_words == pytest.approx({"hive": 1.0, "bee": 0.5, "wax": 0.25})


def test_the_literal_table_lets_every_word_in() -> None:
    # tf · df: page 6 · 2 = 12, hive 8, bee 4, wax 2.
    table = {"page": 1.0, "hive": 8 / 12, "bee": 4 / 12, "wax": 2 / 12}
    assert make("literal=true").topic_words == pytest.approx(table)
    assert list(make("literal=true,words=2").topic_words) == ["page", "hive"]


def test_keywords_are_taken_as_they_are() -> None:
    assert make("keywords=the Hives and honey bees").topic_words == {
        "hive": 1.0,
        "honey": 1.0,
        "bee": 1.0,
    }


def test_a_search_makes_the_table() -> None:
    search = Search(HITS)
    strategy = make("query=honey jars,results=2,literal=true", search=search)
    assert search.asked == [("honey jars", 2)]
    # The first page has honey 3, comb 1; the second is known by title and snippet: honey 1, jar 2,
    # glass 1. tf · df: honey 4 · 2 = 8, jar 2, comb 1, glass 1.
    assert strategy.topic_words == pytest.approx(
        {"honey": 1.0, "jar": 0.25, "comb": 0.125, "glass": 0.125}
    )


def test_a_query_without_a_search_says_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"'honey'.*--search.*keywords"):
        make("query=honey")


@pytest.mark.parametrize("search", [Search(down=True), Search()], ids=["down", "no results"])
def test_a_search_that_fails_gives_way_to_the_session(
    search: Search, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        strategy = make("query=honey", search=search)
    assert strategy.topic_words == make().topic_words
    assert "session's targets instead" in caplog.text


def test_a_search_that_fails_with_nothing_else_is_an_error() -> None:
    with pytest.raises(SourceError, match="does not answer"):
        make("query=honey", EMPTY, Search(down=True))
    with pytest.raises(SessionError, match="no page marked useful"):
        make("query=honey", EMPTY, Search())


@pytest.mark.parametrize(
    ("options", "graph", "message"),
    [
        ("keywords=the and of 12", GRAPH, "Of the keywords"),
        ("", EMPTY, "no page marked useful"),
        ("", PageGraph((Page(H),), (), frozenset({0})), "no words that set them apart"),
        ("keywords=a,query=b", GRAPH, "Give one of them"),
        ("words=0", GRAPH, "1 or more"),
        ("max_level=-1", GRAPH, "max_level"),
        ("limit=1.5", GRAPH, "limit"),
    ],
)
def test_what_cannot_be_a_topic_is_refused_with_a_reason(
    options: str, graph: PageGraph, message: str
) -> None:
    with pytest.raises(TrailhoundError, match=message):
        make(options, graph)


def test_title_words_count_twice_and_three_words_are_wanted() -> None:
    page = crawled(H, words="hive hive bee wax", title="Hive").page
    # counts hive 3, bee 1, wax 1: (3 + 0.5 + 0.25) / sqrt((1 + 0.25 + 0.0625) (9 + 1 + 1))
    assert make().relevance(page) == pytest.approx(3.75 / (1.3125 * 11) ** 0.5)
    # One of three words: a third of 1 / sqrt(1.3125).
    assert make().relevance(crawled(H, words="hive").page) == pytest.approx(1.3125**-0.5 / 3)


def test_the_seeds_set_the_limit() -> None:
    strategy = make()
    strategy.observe(crawled(H, words="hive bee wax"))
    strategy.observe(crawled(f"{H}2", words="rain", parent=H))
    half = strategy.relevance(crawled(H, words="hive bee wax").page) / 2
    assert strategy.relevancy_limit == pytest.approx(half)
    assert 0.3 < half < 0.5
    assert make("limit=0.2").relevancy_limit == 0.2


def test_to_the_letter_the_seeds_addresses_set_the_limit() -> None:
    strategy = make("literal=true")
    strategy.observe(crawled(f"{H}hive", words="rain"))
    strategy.observe(crawled(f"{H}weather", words="hive bee wax"))
    words = strategy.topic_words
    # Of the first address "hive" is in the table, of the second nothing: half of the mean.
    in_address = words["hive"] / sum(weight**2 for weight in words.values()) ** 0.5
    assert strategy.relevancy_limit == pytest.approx((in_address + 0) / 2 / 2)


def test_links_of_relevant_pages_come_before_those_behind_dull_ones() -> None:
    strategy = make()
    links = [Link(f"{H}x", anchor="hive")]
    good = crawled(f"{H}1", words="hive bee wax", links=links)
    dull = crawled(f"{H}2", words="rain", links=[Link(f"{H}y", anchor="hive")], parent=H)
    (first,), (second,) = [list(strategy.score_links(page)) for page in (good, dull)]
    assert first.priority > second.priority > 0
    told = strategy.explain(second.memory)
    assert told["irrelevant pages on the way"] == 1
    assert told["topic words in the link"] == pytest.approx(1.3125**-0.5)
    assert strategy.explain(first.memory)["irrelevant pages on the way"] == 0
    assert strategy.explain(b"") == {}


def test_very_relevant_pages_teach_it_new_words() -> None:
    strategy = make()
    for number in range(3):
        words = "hive hive hive hive bee bee wax pollen pollen pollen pollen pollen"
        strategy.observe(crawled(f"{H}{number}", words=words, parent=H))
    assert strategy.topic_words["pollen"] == pytest.approx(0.45)


@pytest.mark.parametrize("literal", ["false", "true"])
def test_what_it_learned_survives_the_process(literal: str) -> None:
    strategy, later = make(f"literal={literal}"), make(f"literal={literal}")
    for number in range(5):
        links = [f"{H}{number}/a", f"{H}shared"]
        strategy.observe(crawled(f"{H}{number}", words="hive bee wax", links=links))
    later.restore(strategy.snapshot())
    page = crawled(f"{H}new", words="hive bee wax", links=[f"{H}shared", f"{H}x"], parent=H)
    strategy.observe(page)
    later.observe(page)
    assert list(later.score_links(page)) == list(strategy.score_links(page))
    assert later.relevancy_limit == strategy.relevancy_limit
    before = later.topic_words
    with pytest.raises(ValueError, match="no record"):
        later.restore(b"nonsense")
    assert later.topic_words == before


def test_it_learns_online() -> None:
    assert learns_online(make())


class NoJudge:
    def judge(self, page: Page) -> Relevance:
        return Relevance(0.0, False)


def crawl_figure_3(options: str, folder: Path) -> list[PageEvent]:
    """Crawl the paper's example from P; scores follow from the words in the addresses."""
    links = {
        "P": ["a", "b", "c", "d", "e"],
        "c": ["f"],
        "e": ["g", "h"],
        **{name: [] for name in "abdfgh"},
    }
    about = dict.fromkeys("cefgh", "hive bee wax " * 3)
    corpus = record_web(
        folder,
        {f"{H}{name}": [f"{H}{each}" for each in linked] for name, linked in links.items()},
        texts={f"{H}{name}": text for name, text in about.items()},
    )
    crawler = Crawler(
        strategy=make(f"keywords=hive bee wax,{options}"),
        frontier=MemoryFrontier(),
        fetcher=ReplayFetcher(corpus),
        judge=NoJudge(),
    )
    return list(crawler.run([f"{H}P"]))


def names(events: Sequence[PageEvent]) -> list[str]:
    return [event.url.removeprefix(H) for event in events]


def test_the_papers_figure_3_is_crawled_to_its_end(tmp_path: Path) -> None:
    events = crawl_figure_3("max_level=2", tmp_path)
    order = names(events)
    assert order[0] == "P"
    assert sorted(order) == sorted("Pabcdefgh")
    # What the relevant page c links to comes before what is left behind the irrelevant P.
    assert order.index("f") < order.index("d")
    # What is kept is the judge's business, and this one keeps nothing.
    assert not any(event.relevance and event.relevance.relevant for event in events)


def test_to_the_letter_the_limit_decides_what_is_kept(tmp_path: Path) -> None:
    events = crawl_figure_3("literal=true,max_level=2,limit=0.6", tmp_path)
    kept = [event for event in events if event.relevance and event.relevance.relevant]
    # Every fetched page with the three words of the table has relevance 1, the others 0.
    assert set(names(kept)) == set(names(events)) & set("cefgh") != set()
    assert all(event.relevance and event.relevance.score == pytest.approx(1) for event in kept)


def test_the_verdict_to_the_letter_by_hand() -> None:
    """Table {hive 1, bee 1, wax 1}; a page with hive twice and bee once: 3 / √(3 · 5) = 0.775."""
    page = crawled(f"{H}2", words="hive hive bee", parent=H)
    for limit, kept in (("0.7", True), ("0.8", False)):
        strategy = make(f"keywords=hive bee wax,literal=true,limit={limit}")
        assert strategy.verdict(page) is None, "it has not been observed"
        strategy.observe(page)
        verdict = strategy.verdict(page)
        assert verdict is not None
        assert verdict.score == pytest.approx(3 / 15**0.5)
        assert verdict.relevant is kept
    repaired = make("keywords=hive bee wax,limit=0.7")
    repaired.observe(page)
    assert repaired.verdict(page) is None, "what is kept is the judge's business"


def test_the_literal_reading_loses_pages_of_figure_3(tmp_path: Path) -> None:
    order = names(crawl_figure_3("literal=true,max_level=0", tmp_path))
    # All scores are equal: a fails, everything else sinks beyond the deepest level.
    assert order == ["P", "a"]


def test_a_whole_experiment_on_a_tiny_web(tmp_path: Path) -> None:
    corpus = write_tiny_web(tmp_path / "tiny.thc")
    specs = ("content-link", "content-link:literal=true", "random")
    plan = plan_experiment(corpus, specs, max_requests=60, seed_sets=2)
    results = run_experiment(plan, tmp_path / "out")
    assert len(results.runs) == 12
    nauc = {spec: results.summary[spec]["nauc"].mean for spec in specs}
    assert nauc["content-link"] > nauc["random"]
