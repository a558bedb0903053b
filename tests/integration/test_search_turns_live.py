"""``trailhound turns`` on the demo web over loopback, with a real little search server."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from live_webs import Site, options, wait_until
from search_servers import Said, SearchServer, demo_search, results

from command_line import COMMAND, Command
from trailhound.config.layers import configure
from trailhound.crawling.budget import StopReason
from trailhound.demo import DemoWeb
from trailhound.errors import SourceError, UsageError
from trailhound.sessions.events import Mark, Visit
from trailhound.sessions.path_sessions import SEARCH_TURNS
from trailhound.sources import Charged, SearchSource
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import archived_sources, session_of_crawl
from trailhound.topics.runs.crawl import TopicCrawl
from trailhound.topics.runs.sources import open_search
from trailhound.topics.runs.turn_planning import TurnLimits
from trailhound.topics.runs.turns import SearchTurns, TurnsRequest
from trailhound.topics.workspace import TopicFolder, Workspace


@pytest.fixture(scope="module")
def engine(web: DemoWeb) -> Iterator[SearchServer]:
    with SearchServer(demo_search(web)).served() as server:
        yield server


def run(crawl: TopicCrawl) -> None:
    for _ in crawl.run():
        pass


def request(topic: TopicFolder, port: int, search: str, **more: Any) -> TurnsRequest:
    flags = Site(topic, port).flags(sources__search=search)
    asked = TurnsRequest(configure(flags).settings, flags, rounds=2, requests_per_round=40)
    return replace(asked, limits=TurnLimits(seeds=10), **more)


def turns(topic: TopicFolder, asked: TurnsRequest, notices: list[str] | None = None) -> SearchTurns:
    workspace = Workspace(topic.path.parent.parent)
    told = [] if notices is None else notices
    return SearchTurns(workspace, topic, asked, notify=told.append)


def test_rounds_ask_crawl_and_learn_without_a_single_seed(
    topic: TopicFolder, port: int, engine: SearchServer, web: DemoWeb, topic_name: str
) -> None:
    before = topic.load().model.graph
    notices: list[str] = []
    running = turns(topic, request(topic, port, engine.template), notices)
    first, second = list(running.run(run))
    assert (first.number, second.number) == (1, 2)
    assert first.queries[0].cluster == 0
    assert 0 < first.seeds <= 10
    assert 40 <= first.requests <= 45
    assert not running.problem
    assert {query.text for query in first.queries} <= set(engine.queries)
    assert not {q.text for q in first.queries} & {q.text for q in second.queries}
    with Results(running.folder.results) as kept:
        found = {page.address for page in kept.ranked(only_new=True)}
    assert len(found & web.topics[topic_name]) >= 3
    # What was learned from: a session of its own, whose finds are now targets.
    after = topic.load().model.graph
    adopted = first.adopted + second.adopted
    assert adopted >= 1
    assert len(after.targets) == len(before.targets) + adopted <= 2 * len(before.targets)
    assert len(after.pages) > len(before.pages)
    own = [each for each in topic.sessions().values() if each.recorder == SEARCH_TURNS]
    marked = {event.url for each in own for event in each.events if isinstance(event, Mark)}
    assert len(marked) == adopted
    assert marked <= found
    assert all(event.html for each in own for event in each.events if isinstance(event, Visit))
    assert notices[0].startswith("Round 1 of 2: ")
    # A further run goes on from there, with questions that were not asked before.
    again = turns(topic, replace(request(topic, port, engine.template), rounds=1))
    (third,) = again.run(run)
    assert third.number == 3
    assert not {q.text for q in third.queries} & {q.text for q in (*first.queries, *second.queries)}


def test_an_interrupted_round_goes_on_where_it_was(
    topic: TopicFolder, port: int, engine: SearchServer
) -> None:
    asked = request(topic, port, engine.template)

    def interrupted(crawl: TopicCrawl) -> None:
        for event in crawl.run():
            if event.number >= 10:
                crawl.stop()

    running = turns(topic, asked)
    assert list(running.run(interrupted)) == []
    assert running.interrupted
    queries = len(engine.queries)
    notices: list[str] = []
    again = turns(topic, asked, notices)
    first = next(again.run(run))
    assert "Going on with what was interrupted: 2 more rounds." in notices
    assert len(engine.queries) == queries, "what was asked is not asked again"
    assert 40 <= first.requests <= 45
    # Killed between crawl and learning: the crawl is not made again.
    open_turn = running.record.open
    assert open_turn is not None
    path = topic.path / "turns.json"
    record = json.loads(path.read_text())
    kept = {**record, "turns": [], "open": json.loads(json.dumps(_plain(open_turn)))}
    path.write_text(json.dumps(kept))
    crawled: list[StopReason | None] = []
    repeated = turns(topic, asked)
    turn = next(repeated.run(lambda crawl: crawled.append(crawl.stop_reason)))
    assert (turn.number, crawled) == (1, [])


def _plain(value: Any) -> Any:
    import msgspec

    return msgspec.to_builtins(value)


def test_a_crawl_that_was_begun_anew_begins_the_turns_anew(
    topic: TopicFolder, port: int, engine: SearchServer, web: DemoWeb
) -> None:
    asked = replace(request(topic, port, engine.template), rounds=1, requests_per_round=12)
    assert len(list(turns(topic, asked).run(run))) == 1
    site = Site(topic, port)
    with site.begun(restart=True, crawl__seeds=web.start_urls, crawl__max_requests=5) as crawl:
        run(crawl)
    (again,) = turns(topic, asked).run(run)
    assert again.number == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Said(b"", 500), "status 500"),
        (Said(b"<html>captcha"), "is no JSON"),
        (results([]), "queries had a result"),
        (results(["http://localhost/"]), ""),
    ],
)
def test_a_search_that_leads_nowhere_ends_the_run_with_the_reason(
    topic: TopicFolder, port: int, answer: Said, reason: str
) -> None:
    with SearchServer(lambda _query, _limit: answer).served() as server:
        running = turns(topic, replace(request(topic, port, server.template), rounds=2))
        reports = list(running.run(run))
    if reason:
        assert reports == []
        assert reason in running.problem
        assert not CrawlFolder(topic).exists()
    else:  # a start page that may not be visited: an empty round, then nothing new
        assert [each.relevant for each in reports] == [0]
        assert "known already" in running.problem
    assert not running.record.unfinished
    assert topic.load().model.graph.targets


def test_given_seeds_do_when_the_search_is_down(
    topic: TopicFolder, port: int, web: DemoWeb
) -> None:
    with SearchServer(lambda _query, _limit: Said(b"", 500)).served() as server:
        asked = request(topic, port, server.template, seeds=web.start_urls[:1])
        running = turns(topic, asked)
        reports = list(running.run(run))
    assert [each.number for each in reports] == [1]
    assert reports[0].requests >= 40
    assert running.problem.startswith("No new start page for round 2")


def test_start_pages_out_of_scope_are_not_taken(
    topic: TopicFolder, port: int, engine: SearchServer
) -> None:
    asked = request(topic, port, engine.template)
    flags = {**asked.flags, "crawl.exclude": ("*.demo.test",)}
    running = turns(topic, replace(asked, settings=configure(flags).settings, flags=flags))
    assert list(running.run(run)) == []
    assert "out of scope" in running.problem


def test_without_a_search_the_message_says_what_to_give(topic: TopicFolder, port: int) -> None:
    with pytest.raises(UsageError, match="There is no search to ask"):
        turns(topic, request(topic, port, ""))
    with pytest.raises(UsageError, match="is no search"):
        turns(topic, request(topic, port, "somewhere"))


def opened_search(site: Site, name: str) -> SearchSource:
    settings = configure({**site.flags(), "sources.search": name}).settings
    return open_search(CrawlFolder(site.topic), settings, lambda _: None)


def test_the_crawls_own_pages_and_archives_can_be_searched(
    topic: TopicFolder, port: int, web: DemoWeb, topic_name: str
) -> None:
    site = Site(topic, port)
    members = sorted(web.topics[topic_name])[:6]
    with site.begun(crawl__seeds=members, crawl__max_requests=6) as crawl:
        run(crawl)
    folder = CrawlFolder(topic)
    with Results(folder.results) as kept:
        best = kept.ranked(1)[0]
    words = " ".join(best.title.split())
    own = opened_search(site, "crawl")
    assert best.address in [hit.url for hit in asyncio.run(own.search(words, 10))]
    page = asyncio.run(own.page(best.address))
    assert page is not None
    assert page.title == best.title
    assert asyncio.run(own.page("http://nowhere.test/")) is None
    archive = opened_search(site, str(folder.archive))
    assert best.address in [hit.url for hit in asyncio.run(archive.search(words, 10))]
    assert asyncio.run(archive.page(best.address)) is not None
    # The crawl's own pages are known, so that they are nothing to start from.
    running = turns(topic, request(topic, port, "crawl"))
    assert list(running.run(run)) == []
    assert "No new start page" in running.problem


def test_a_crawl_can_be_given_a_search_and_pages_come_politely(
    topic: TopicFolder, port: int, engine: SearchServer, web: DemoWeb
) -> None:
    site = Site(topic, port)
    source = opened_search(site, engine.template)
    assert isinstance(source, Charged)
    url = web.start_urls[0]
    page = asyncio.run(source.page(url))
    assert page is not None
    assert page.url == url
    assert asyncio.run(source.page("http://www.demo.test/no-such-page")) is None
    assert (source.queries, source.pages_read) == (0, 2)
    with pytest.raises(SourceError, match="own pages"):
        asyncio.run(opened_search(site, "crawl").search("bees", 5))
    with site.begun(
        crawl__seeds=web.start_urls, crawl__max_requests=3, sources__search=engine.template
    ) as crawl:
        run(crawl)


def test_sessions_from_a_crawl_hold_the_way_and_its_pages(
    topic: TopicFolder, port: int, web: DemoWeb
) -> None:
    site = Site(topic, port)
    with site.begun(crawl__seeds=web.start_urls[:2], crawl__max_requests=30) as crawl:
        run(crawl)
    folder = CrawlFolder(topic)
    with Results(folder.results) as kept:
        deepest = max(kept.iterate(min_score=0.0), key=lambda page: page.depth)
        session = session_of_crawl("bees", kept, [deepest], folder.archive, recorder="test")
        assert session is not None
        visits = [event for event in session.events if isinstance(event, Visit)]
        assert len(visits) == deepest.depth + 1
        assert visits[0].url in web.start_urls
        assert visits[-1].url == deepest.address
        assert session_of_crawl("bees", kept, [], folder.archive, recorder="test") is None
    assert archived_sources(folder.path / "nowhere", {"http://a.test/"}) == {}


def test_the_command_prints_rounds_and_ctrl_c_can_be_followed_by_the_same_command(
    topic: TopicFolder, port: int, engine: SearchServer, trailhound: Command
) -> None:
    place = str(topic.path.parent.parent)
    asked = [
        *("turns", topic.name),
        *("--search", engine.template, "--rounds", "1", "--max-requests", "60", "--json"),
        *("--strategy", "best-first", "--workspace", place),
        *options(port),
    ]
    running = subprocess.Popen(
        [*COMMAND, *asked], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    folder = CrawlFolder(topic)
    wait_until(lambda: folder.log.exists() and folder.log.read_text().count('"page"') >= 5)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    told = json.loads(out)
    assert (told["interrupted"], told["rounds_left"], told["turns"]) == (True, 1, [])
    again = trailhound(*asked)
    told = again.report
    assert [turn["number"] for turn in told["turns"]] == [1]
    assert told["turns"][0]["requests"] >= 60
    assert "Going on with what was interrupted" in again.err
    down = ["--search", "http://127.0.0.1:1/{query}", "--workspace", place]
    failed = trailhound("turns", topic.name, *down, *options(port))
    assert failed.code == 1
    assert "No new start page for round 2" in failed.out
    assert "unreachable" in failed.out
