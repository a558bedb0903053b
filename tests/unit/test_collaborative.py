"""The collaborative strategy: candidates from a trace, sampling, refreshing, remembering."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from six_users import CRAWLED, six_user_trace, url

from trailhound.crawling.budget import StopReason
from trailhound.crawling.engine import Crawler
from trailhound.errors import UsageError
from trailhound.fetching.replay import RecordedResponse, ReplayFetcher
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance, ScoredLink
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.sessions.files import read_topic_set, write_session
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import Sources
from trailhound.sources.traces.building import trace_in_memory
from trailhound.sources.traces.index import TraceIndex
from trailhound.strategies.base import (
    Briefing,
    Explaining,
    Remembering,
    Rescoring,
    Restocking,
    learns_online,
)
from trailhound.strategies.choosing import make_strategy
from trailhound.strategies.collaborative.ranking import TopicSignatures, WordSignatures
from trailhound.strategies.collaborative.statistics import Limits
from trailhound.strategies.collaborative.strategy import CollaborativeStrategy

NOTHING = PageGraph((), (), frozenset())
TRACE = six_user_trace()


def made(options: str = "", *, trace: TraceIndex = TRACE, seed: int = 1) -> CollaborativeStrategy:
    spec = f"collaborative:explore=0,signatures=none,{options}"
    strategy = make_strategy(spec, Briefing(NOTHING, seed=seed, sources=Sources.of(trace=trace)))
    assert isinstance(strategy, CollaborativeStrategy)
    return strategy


def crawled(page: str, relevant: bool, links: Iterable[str] = ()) -> CrawledPage:
    found = Page(url(page), terms={page: 1}, links=tuple(Link(url(each)) for each in links))
    return CrawledPage(found, Relevance(float(relevant), relevant), Candidate(url(page), 0.0))


def after(strategy: CollaborativeStrategy, page: CrawledPage) -> list[ScoredLink]:
    strategy.observe(page)
    return list(strategy.score_links(page))


def names(links: Iterable[ScoredLink]) -> list[str]:
    return [each.link.url.rsplit("/", 1)[1] for each in links]


def test_candidates_are_pages_whose_interest_is_above_one_and_that_were_not_crawled() -> None:
    strategy = made("significance=1")
    done: set[str] = set()
    for page, relevant in CRAWLED:
        done.add(page)
        found = after(strategy, crawled(page, relevant))
        assert all(each.priority > 0 for each in found)
        assert not done & set(names(found))
    assert strategy.rescore({url("c"): b"x"}) is None, "a refresh is due after a hundred pages"


def test_what_a_fetch_changes_is_offered_at_once() -> None:
    """After a+, b: P = 1.5/3 = 0.5. e+ makes it 2.5/4 = 0.625: u2 has (2 + 4P)/6 / P = 1.2 and
    T = 0.375/√(0.234/2) = 1.096; inside TL(U) are a, b, e with two hits, (2 + 4P)/7 / P = 1.0286.
    """
    strategy = made("significance=1")
    after(strategy, crawled("a", True))
    after(strategy, crawled("b", False))
    found = after(strategy, crawled("e", True))
    by_name = dict(zip(names(found), found, strict=True))
    assert by_name["c"].priority == pytest.approx(math.log(1.2 * 1.028571), abs=1e-5)


def test_the_interest_of_a_waiting_page_is_renewed_every_so_often() -> None:
    strategy = made("significance=1,refresh=5")
    for page, relevant in CRAWLED:
        after(strategy, crawled(page, relevant))
    waiting = {url("c"): b"x", url("d"): b"x", url("seed"): b"", url("elsewhere"): b"x"}
    now = strategy.rescore(waiting)
    # By hand in test_collaborative_statistics.py; signatures are off.
    assert now == pytest.approx(
        {
            url("c"): math.log(1.466667 * 1.1),
            url("d"): math.log(2 / 3 * 0.8),
            url("elsewhere"): 0.0,
        },
        abs=1e-5,
    )
    assert strategy.rescore(waiting) is None


def test_a_page_is_offered_again_only_when_its_priority_has_risen() -> None:
    strategy = made("significance=1")
    after(strategy, crawled("a", True))
    after(strategy, crawled("b", False))
    found = after(strategy, crawled("e", True))
    first = dict(zip(names(found), found, strict=True))["c"]
    assert after(strategy, crawled("unvisited", False)) == []
    # Readers of d opened c; P(U) has fallen, so the interest of u2 has risen.
    found = after(strategy, crawled("d", False))
    assert dict(zip(names(found), found, strict=True))["c"].priority > first.priority
    # Whoever reads g tells nothing of c: it is not even looked at.
    assert "c" not in names(after(strategy, crawled("g", False)))


def test_the_memory_of_a_candidate_explains_it() -> None:
    strategy = made("significance=1")
    best = max(after(strategy, crawled("a", True)), key=lambda each: each.priority)
    told = strategy.explain(best.memory)
    assert math.prod(told.values()) == pytest.approx(math.exp(best.priority), rel=1e-5)
    assert told["links to it"] == 1.0
    assert strategy.explain(b"") == {}


def test_it_is_all_that_the_engine_looks_for() -> None:
    strategy = made()
    for kind in (Rescoring, Restocking, Remembering, Explaining):
        assert isinstance(strategy, kind)
    assert learns_online(strategy)


def test_the_session_counts_as_crawled_and_brings_the_first_candidates() -> None:
    pages = tuple(Page(url(page), terms={page: 1}) for page, _ in CRAWLED)
    graph = PageGraph(pages, (), frozenset({0, 2}))
    spec = "collaborative:explore=0,significance=1,signatures=none"
    strategy = make_strategy(spec, Briefing(graph, sources=Sources.of(trace=TRACE)))
    assert isinstance(strategy, Restocking)
    found = {each.url: each.priority for each in strategy.restock()}
    # By hand in test_collaborative_statistics.py: frequency and locality.
    wanted = {url("c"): math.log(1.466667 * 1.1), url("g"): math.log(1.1)}
    assert found == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize(("options", "size"), [("", 8), ("literal=true", 1)])
def test_random_pages_of_the_trace_until_enough_are_crawled(options: str, size: int) -> None:
    strategy = made(f"min_pages=20,{options}")
    drawn = [each.url for each in strategy.restock()]
    assert len(drawn) == len(set(drawn)) == size
    assert {each.priority for each in strategy.restock()} == {0.0}
    for number in range(20):
        strategy.observe(crawled(f"unknown{number}", False))
    assert list(strategy.restock()) == []


def test_the_same_seed_draws_the_same_pages() -> None:
    draws = [[each.url for each in made("min_pages=3", seed=seed).restock()] for seed in (1, 1, 2)]
    assert draws[0] == draws[1]
    assert len({tuple(draw) for draw in draws}) == 2


def test_exploring_goes_to_random_pages_first() -> None:
    spec = "collaborative:explore=1,signatures=none"
    strategy = make_strategy(spec, Briefing(NOTHING, sources=Sources.of(trace=TRACE)))
    page = crawled("unvisited", False)
    strategy.observe(page)
    (random,) = strategy.score_links(page)
    assert random.priority > 1e5
    assert TRACE.page_number(random.link.url) is not None


def test_to_the_letter_one_unlucky_page_annihilates_all_others_of_its_reader() -> None:
    """c was read by u1, who read a+, and by u2, who read x. P = 20/41 = 0.488; √(P(1-P)/N) = 0.078.

    By N, T of u2 (q = 1, no hit) is 0.488/0.078 = 6.2: he counts, and his ratio is 0. By q it is
    0.976 and he does not; neither does u1, with T = 1.02.
    """
    trace = trace_in_memory(
        [
            *((b"u1", 1e9 + at, url(p).encode()) for at, p in enumerate(["a", "c"])),
            *((b"u2", 1e9 + at, url(p).encode()) for at, p in enumerate(["x", "c"])),
        ],
        lambda client: int(client[1:]),
    )
    pages = [*((f"n{n}", n % 2 > 0) for n in range(39)), ("a", True), ("x", False)]
    priorities = {}
    for literal in ("true", "false"):
        strategy = made(f"literal={literal},refresh=1", trace=trace)
        for page, relevant in pages:
            after(strategy, crawled(page, relevant))
        priorities[literal] = (strategy.rescore({url("c"): b"x"}) or {})[url("c")]
    assert priorities["true"] < -10
    assert abs(priorities["false"]) < 0.2


@pytest.mark.parametrize(("options", "offered"), [("literal=true", 60), ("session=false", 10)])
def test_to_the_letter_all_candidates_are_offered_at_once(options: str, offered: int) -> None:
    """A reader opened a relevant page and then sixty others; bounded, the ten next to it count.

    P = 1/2 after two pages. To the letter, I^B of him is 1 / ½; nothing that was crawled is
    near in time, and of the others one of two was relevant: I^TL is 1.
    """
    opened = ["good", *(f"c{number:02}" for number in range(60))]
    visits = [(b"reader", 1e9 + 60 * at, url(page).encode()) for at, page in enumerate(opened)]
    trace = trace_in_memory(visits, lambda _: 1)
    strategy = made(f"{options},significance=0", trace=trace)
    after(strategy, crawled("dull", relevant=False))
    found = after(strategy, crawled("good", relevant=True))
    assert sorted(names(found)) == opened[1 : offered + 1]
    if offered == 60:
        assert [each.priority for each in found] == pytest.approx([math.log(2)] * 60)


def test_to_the_letter_all_words_are_signatures() -> None:
    page = Page("http://h.test/", terms={f"w{number}": 1 for number in range(100)})
    assert len(WordSignatures().of_page(page)) == 20
    assert len(WordSignatures(Limits.none().words).of_page(page)) == 100


def test_with_links_a_relevant_page_brings_all_its_links() -> None:
    strategy = made("significance=1,links=true")
    nothing = after(strategy, crawled("h", False, links=["x", "y"]))
    assert not {"x", "y"} & set(names(nothing))
    found = after(strategy, crawled("a", True, links=["c", "new", "new"]))
    by_name = dict(zip(names(found), found, strict=True))
    assert {"c", "new"} <= set(by_name)
    assert names(found).count("new") == 1
    told = strategy.explain(by_name["new"].memory)
    assert [told[name] for name in list(told)[:3]] == [1.0, 1.0, 1.0], "nobody visited it"


@pytest.mark.parametrize("options", ["", "links=true", "signatures=words"])
def test_a_snapshot_goes_on_where_the_crawl_stood(options: str) -> None:
    before, restored = (made(f"significance=1,refresh=5,{options}") for _ in range(2))
    for page, relevant in CRAWLED[:4]:
        after(before, crawled(page, relevant, links=["c", "q"]))
    restored.restore(before.snapshot())
    last = crawled("h", False)
    assert after(before, last) == after(restored, last)
    waiting = {url("c"): b"x", url("q"): b"x"}
    for number in range(5):
        for each in (before, restored):
            after(each, crawled(f"n{number}", False))
    assert before.rescore(waiting) == pytest.approx(restored.rescore(waiting))


def test_a_snapshot_that_makes_no_sense_changes_nothing() -> None:
    strategy = made("significance=1")
    after(strategy, crawled("a", True))
    kept = strategy.snapshot()
    other = trace_in_memory([(b"u1", 1.0, b"http://h.test/a")], lambda _: 1)
    for wrong in (b"", b"nonsense", kept[: len(kept) // 2], made(trace=other).snapshot()):
        with pytest.raises(ValueError, match=r"it|trace"):
            strategy.restore(wrong)
    assert strategy.snapshot() == kept


def test_without_a_trace_it_says_what_to_do() -> None:
    with pytest.raises(UsageError, match="--trace FILE, or the topic's own sessions"):
        make_strategy("collaborative", Briefing(NOTHING))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("signatures=letters", "signatures is 'letters', but it should be words or topics or none"),
        ("divisor=2", "divisor is '2'"),
        ("signatures=topics", "needs a set of topics"),
        ("signatures=topics,topics=/no/such/place", "There is no topic set"),
        ("users=0", "users .* is too small"),
        ("threshold=0", "threshold .* is too small"),
        ("smoothing=-1", "can be negative"),
    ],
)
def test_wrong_options_say_what_is_wrong(options: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_strategy(
            f"collaborative:{options}", Briefing(NOTHING, sources=Sources.of(trace=TRACE))
        )


def test_words_are_signatures_of_texts_and_addresses() -> None:
    words = WordSignatures()
    page = Page("http://h.test/honey-bees", terms={"hive": 5, "wax": 2})
    shown = words.of_address("http://other.test/Honey_Bees?x=%41pple")
    assert len(shown) == 3
    assert len(set(words.of_page(page)) & set(shown.tolist())) == 2
    assert len(words.of_page(page)) == 4
    assert len(words.of_page(Page("http://h.test/", terms={f"w{n}": n for n in range(99)}))) == 20


def test_topics_are_signatures_by_nearness() -> None:
    topics = TopicSignatures(
        {"bees": {"hive": 3, "honey": 1}, "rocks": {"granite": 2}, "sport": {"goal": 1}}, k=2
    )
    page = Page("http://h.test/", terms={"hive": 4, "goal": 1, "other": 9})
    assert [topics.names[number - 1] for number in topics.of_page(page)] == ["bees", "sport"]
    assert topics.of_page(Page("http://h.test/")) == []


def test_a_topic_set_is_a_folder_or_a_json_file(tmp_path: Path) -> None:
    as_json = tmp_path / "topics.json"
    as_json.write_text('{"bees": "Hives and honey.", "rocks": ["granite", "basalt"]}')
    assert read_topic_set(str(as_json)) == {
        "bees": {"hive": 1, "honey": 1},
        "rocks": {"granit": 1, "basalt": 1},
    }
    folder = tmp_path / "topics"
    (folder / "birds" / "sessions").mkdir(parents=True)
    (folder / "bees.txt").write_text("hives honey honey")
    (folder / "notes.md").write_text("no topic")
    html = "<p>owls and eagles</p>"
    events = (Visit(1.0, "http://h.test/owl", html=html), Mark(2.0, "http://h.test/owl"))
    write_session(Session("birds", events), folder / "birds" / "sessions" / "1.jsonl")
    found = read_topic_set(str(folder))
    assert found == {"bees": {"hive": 1, "honey": 2}, "birds": {"owl": 1, "eagl": 1}}
    spec = f"collaborative:signatures=topics,topics={folder}"
    assert (
        make_strategy(spec, Briefing(NOTHING, sources=Sources.of(trace=TRACE))).name
        == "collaborative"
    )


@pytest.mark.parametrize("content", ["[]", '{"bees": 1}', "no json", '{"bees": "hive"}'])
def test_a_topic_set_that_cannot_be_used_says_why(tmp_path: Path, content: str) -> None:
    path = tmp_path / "topics.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"cannot be read|describes 1 topic,"):
        read_topic_set(str(path))
    with pytest.raises(UsageError, match="cannot be read"):
        read_topic_set("~nobody-of-this-name/topics.json")


class SmallWeb:
    """Pages without a single link: only a trace leads from one to the next."""

    def __init__(self, relevant: frozenset[str], others: frozenset[str]) -> None:
        self._relevant = relevant
        self._others = others

    def lookup(self, address: str) -> RecordedResponse | None:
        word = "honey" if address in self._relevant else "gravel"
        if address not in self._relevant | self._others:
            return None
        return RecordedResponse(address, 200, page=Page(address, terms={word: 1}))


class HoneyJudge:
    def judge(self, page: Page) -> Relevance:
        found = "honey" in page.terms
        return Relevance(float(found), found)


def test_a_crawl_needs_neither_seeds_nor_links() -> None:
    """Twenty people, half of whom read about honey."""
    rng = np.random.default_rng(3)
    honey = [f"http://h.test/honey{n}" for n in range(30)]
    gravel = [f"http://h.test/gravel{n}" for n in range(170)]
    visits = [
        (f"u{user}".encode(), 1e9 + 60.0 * at, str(page).encode())
        for user in range(1, 21)
        for at, page in enumerate(rng.choice(honey if user % 2 else gravel, 15))
    ]
    trace = trace_in_memory(visits, lambda client: int(client[1:]))
    web = SmallWeb(frozenset(honey), frozenset(gravel))
    crawler = Crawler(
        strategy=made("min_pages=30", trace=trace),
        frontier=MemoryFrontier(),
        fetcher=ReplayFetcher(web),
        judge=HoneyJudge(),
    )
    events = list(crawler.run([], max_requests=60))
    found = [event.relevance is not None and event.relevance.relevant for event in events]
    visited = {page for _, _, page in visits}
    assert sum(found) == len(visited & {each.encode() for each in honey})
    assert crawler.stop_reason in (StopReason.REQUESTS_SPENT, StopReason.FRONTIER_EMPTY)
    last = max(place for place, hit in enumerate(found) if hit)
    assert sum(found) / (last + 1) > 0.6, "random drawing would give 15 %"
