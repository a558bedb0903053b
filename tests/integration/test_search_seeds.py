"""``crawl --seeds-from search``: the first results for the topic's words are where it starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from live_webs import Site
from search_servers import SearchServer, demo_search, results

from trailhound.demo import DemoWeb
from trailhound.errors import SourceError, UsageError
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.runs.starts import FIRST_HITS, topic_words


@pytest.fixture
def engine(web: DemoWeb) -> Iterator[SearchServer]:
    with SearchServer(demo_search(web)).served() as server:
        yield server


def settings(engine: SearchServer, **more: Any) -> dict[str, Any]:
    return {
        "crawl__seeds_from": "search",
        "crawl__max_requests": 15,
        "sources__search": engine.template,
        **more,
    }


def test_the_first_results_are_the_seeds(demo: Site, engine: SearchServer) -> None:
    with demo.begun(**settings(engine)) as crawl:
        events = list(crawl.run())
    (query,) = engine.queries
    assert query == topic_words("trail", demo.topic.load().model, "")
    begun = [event.url for event in events if event.parent is None]
    assert len(begun) == FIRST_HITS
    assert set(begun) == set(CrawlFolder(demo.topic).read().settings.crawl.seeds)
    assert crawl.progress.requests == 15, "the question is one of them"
    assert sum(event.requests for event in events) == 14
    with demo.resumed(crawl__max_requests=20) as crawl:
        assert list(crawl.run())
    assert len(engine.queries) == 1, "a resumed crawl has its seeds"


def test_the_strategys_own_words_are_asked_for(demo: Site, engine: SearchServer) -> None:
    flags = settings(engine, crawl__strategy="content-link:keywords=wild bees")
    with demo.begun(**flags) as crawl:
        list(crawl.run())
    assert engine.queries == ["wild bees"]
    assert not any("does not use --search" in notice for notice in demo.notices)


def test_a_topic_that_was_not_taught_is_asked_for_by_its_name() -> None:
    assert topic_words("best-first", None, "wild-bees_2") == "wild bees 2"


def test_seeds_of_ones_own_come_as_well(demo: Site, web: DemoWeb, engine: SearchServer) -> None:
    flags = settings(engine, crawl__seeds=web.start_urls[:1])
    with demo.begun(**flags) as crawl:
        events = list(crawl.run())
    assert web.start_urls[0] in {event.url for event in events if event.parent is None}
    assert len(CrawlFolder(demo.topic).read().settings.crawl.seeds) in (FIRST_HITS, FIRST_HITS + 1)


def test_without_a_search_or_a_result_nothing_is_begun(demo: Site) -> None:
    with (
        pytest.raises(UsageError, match="--seeds-from search needs"),
        demo.begun(crawl__seeds_from="search"),
    ):
        pass
    with (
        SearchServer(lambda _query, _limit: results([])).served() as server,
        pytest.raises(SourceError, match="names no page"),
        demo.begun(**settings(server)),
    ):
        pass
    with pytest.raises(SourceError, match="unreachable"), demo.begun(**settings(server)):
        pass
    assert not CrawlFolder(demo.topic).exists()


def test_a_source_that_the_strategy_does_not_use_is_said(
    demo: Site, web: DemoWeb, engine: SearchServer
) -> None:
    flags: dict[str, Any] = {
        "crawl__seeds": web.start_urls[:1],
        "crawl__strategy": "best-first",
        "crawl__max_requests": 2,
        "sources__search": engine.template,
        "sources__backlinks": "http://127.0.0.1:9/{url}",
        "sources__trace": "no-such-file.log",
    }
    with demo.begun(**flags) as crawl:
        list(crawl.run())
    for name in ("backlinks", "trace", "search"):
        assert sum(f"does not use --{name}" in notice for notice in demo.notices) == 1
    assert engine.queries == []
