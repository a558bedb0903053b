"""``lab run --without``: closed pages exist for no strategy, in no source, in no session."""

from __future__ import annotations

from asyncio import run
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest
from tiny_lab_web import PORTAL, leaf_url, shelf_url, write_tiny_web

from trailhound.errors import TopicError
from trailhound.lab.corpora import Corpus, CorpusWriter, Trail
from trailhound.lab.ground_truth import GroundTruth
from trailhound.lab.recorded_sources import (
    RecordedBacklinks,
    RecordedSearch,
    open_trails,
    recorded_trace,
)
from trailhound.lab.results import RunTask
from trailhound.lab.runner import TopicBench
from trailhound.lab.topics import topic_source
from trailhound.lab.topics.base import LabTopic, without_pages
from trailhound.sessions.events import Event, Mark, Reached, Session, Submit, Visit

SHELF = shelf_url("bees", 0)
CLOSED = [leaf_url("bees", 0, 1), "http://bees.test/2/", "http://food.test/"]
STRATEGIES = ("best-first", "trail", "intelligent",
              "context-graph:layers=2,back_crawl=2,rebuild_every=2",
              "content-link:query=honey", "collaborative:min_pages=10", "oracle")  # fmt: skip


def is_closed(url: str) -> bool:
    return url.startswith(tuple(CLOSED))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The tiny web, with people who walk through all of it before the session begins."""
    path = write_tiny_web(tmp_path_factory.mktemp("lab") / "tiny.thc")
    walked = path.with_name("walked.thc")
    with Corpus.open(path) as web, CorpusWriter(walked, kind="tiny") as writer:
        for url in web.page_urls:
            writer.add_page(url, web.html(url) or b"")
        writer.add_redirect("http://bees.test/old", leaf_url("bees", 2, 5))
        for label, pages in web.labels().items():
            for page in sorted(pages):
                writer.add_label(web.page_urls[page], label)
        for session in web.sessions():
            late = (msgspec.structs.replace(each, time=each.time + 1e9) for each in session.events)
            writer.add_session(msgspec.structs.replace(session, events=tuple(late)))
        for user in range(12):
            leaves = [leaf_url("bees", user % 3, leaf) for leaf in range(user % 4, 8)]
            steps = (PORTAL, *leaves, "http://food.test/", SHELF)
            writer.add_trail(Trail(f"user{user}", 1000.0 * user, 30.0, steps))
    return Corpus.open(walked)


@pytest.fixture(scope="module")
def topic(corpus: Corpus) -> LabTopic:
    return topic_source(corpus, without=CLOSED).build("bees", 1, 7)


def addresses(session: Session) -> Iterable[str]:
    for event in session.events:
        if isinstance(event, Visit | Mark):
            yield event.url
        if isinstance(event, Visit) and event.from_url:
            yield event.from_url


def test_a_session_shows_none_of_them(topic: LabTopic) -> None:
    assert not any(map(is_closed, addresses(topic.session)))
    assert not any(is_closed(page.url) for page in topic.graph.pages)
    targets = {topic.graph.pages[number].url for number in topic.graph.targets}
    assert targets == {leaf_url("bees", 0, leaf) for leaf in (0, 2, 3)}


def test_none_of_them_counts_or_is_a_seed(topic: LabTopic) -> None:
    assert not any(map(is_closed, topic.relevant))
    assert not any(is_closed(url) for seeds in topic.seed_sets for url in seeds)
    # Two shelves of eight leaves are open; four leaves were shown, the closed one among them.
    assert len(topic.relevant) == 2 * 8 - 4


def test_no_source_knows_them(corpus: Corpus, topic: LabTopic) -> None:
    backlinks = RecordedBacklinks(corpus, topic.closed)
    search = RecordedSearch(corpus, topic.off_limits)
    trace = recorded_trace(corpus, topic, noise=0.5)
    assert trace is not None
    for url in corpus.page_urls:
        assert not any(map(is_closed, run(backlinks.linking_to(url))))
        if is_closed(url):
            assert run(backlinks.linking_to(url)) == ()
            assert run(backlinks.page(url)) is None
            assert run(search.page(url)) is None
            assert trace.page_number(url) is None
    hits = run(search.search("honey oven recipe bees", 1000))
    assert hits
    assert not any(is_closed(hit.url) for hit in hits)
    assert trace.n_pages
    assert not any(is_closed(trace.page_url(page)) for page in range(trace.n_pages))


def test_the_answers_know_no_way_through_them(corpus: Corpus) -> None:
    far = [leaf_url("bees", 0, 0)]
    assert GroundTruth(corpus, far).hops(PORTAL) == 3
    assert GroundTruth(corpus, far, [SHELF]).hops(PORTAL) is None


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_strategy_fetches_them(corpus: Corpus, topic: LabTopic, strategy: str) -> None:
    crawl = TopicBench(corpus, topic).crawl(RunTask("bees", 0, strategy), 1, 100)
    urls = [url for event in crawl.events for url in (event.url, event.final_url, event.parent)]
    assert len(urls) > 30
    assert not any(is_closed(url) for url in urls if url is not None)
    assert "http://bees.test/old" not in urls, "it leads to one of them"


def test_a_session_that_loses_its_targets_says_so(corpus: Corpus) -> None:
    source = topic_source(corpus, without=[SHELF])
    with pytest.raises(TopicError, match=r"'bees' loses every page .* http://bees\.test/0/ is clo"):
        source.build("bees", 1, 7)
    assert source.build("rocks", 1, 7).graph.targets


def test_whoever_made_the_session_is_recognised_without_them(topic: LabTopic) -> None:
    way = ("http://a.test/", "http://x.test/", "http://b.test/")
    visits = [Visit(1e9, way[0], reached=Reached.TYPED)]
    visits += [Visit(1e9, url, from_url=before) for before, url in pairwise(way)]
    session = without_pages(Session("t", tuple(visits)), lambda url: url == way[1])
    own, others = Trail("ann", 1.0, 2.0, way), Trail("bob", 1.0, 2.0, (way[1], way[2]))
    cut = replace(topic, session=session, closed=frozenset({way[1]}))
    assert list(open_trails(iter([own, others]), cut)) == [others]


def left(*events: Event) -> tuple[Event, ...]:
    return without_pages(Session("t", events), lambda url: url.startswith("x")).events


def test_the_page_behind_a_closed_one_takes_its_place() -> None:
    typed = Visit(1, "x1", reached=Reached.TYPED)
    assert left(typed, Visit(2, "a", from_url="x1")) == (
        Visit(2, "a", reached=Reached.TYPED, from_url=None),
    )
    way = Visit(1, "a", reached=Reached.TYPED), Visit(2, "x1", from_url="a"), Mark(2, "x1")
    behind = Visit(3, "x2", from_url="x1"), Visit(4, "b", from_url="x2"), Mark(4, "b"), Submit(5)
    assert left(*way, *behind) == (way[0], Visit(4, "b", from_url="a"), *behind[2:])
    back = Visit(3, "a", from_url="x1", reached=Reached.BACK)
    assert left(*way, back) == (way[0], Visit(3, "a", from_url="a", reached=Reached.BACK))
