"""``crawl`` without a seed: it starts where the session led on to what was useful."""

from __future__ import annotations

from pathlib import Path

import pytest
from live_webs import Site

from trailhound.config.settings import Settings
from trailhound.errors import UsageError
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.finds.explaining import Explainer
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.runs.starts import USUAL_SEEDS, seeds_of, suggested_seeds
from trailhound.topics.workspace import Workspace
from trailhound.urls import host_key

AGENT = "hound/1.0 (+http://contact.test/)"


def test_a_crawl_starts_from_pages_of_the_session(demo: Site) -> None:
    suggested = [seed.url for seed in suggested_seeds(demo.topic)]
    with demo.begun(crawl__strategy="best-first", crawl__max_requests=12) as crawl:
        events = list(crawl.run())
    begun = [event.url for event in events if event.parent is None]
    assert sorted(begun) == sorted(suggested[:USUAL_SEEDS])
    assert set(CrawlFolder(demo.topic).read().settings.crawl.seeds) == set(begun)
    assert any(suggested[0] in notice for notice in demo.notices if "No seed" in notice)
    demo.notices.clear()
    with demo.resumed(crawl__max_requests=20) as crawl:
        assert list(crawl.run())
    assert not any("No seed" in notice for notice in demo.notices), "it has its seeds"


def test_trail_follows_links_that_they_have_shown(demo: Site) -> None:
    with demo.begun(crawl__strategy="trail", crawl__max_requests=60) as crawl:
        events = list(crawl.run())
    fetched = {event.final_url for event in events}
    shown = {
        event.url: event.parent
        for event in events
        if event.parent is not None and event.parent not in fetched
    }
    pages = demo.topic.load().model.graph.pages
    links = {page.url: {link.url for link in page.links} for page in pages}
    assert len(shown) > USUAL_SEEDS
    assert all(url in links[parent] for url, parent in shown.items())
    url, parent = next(iter(shown.items()))
    with Results(crawl.folder.results) as results:
        told = Explainer(crawl.folder, results, lambda _: {}).explain(url)
    assert told.path[:-1] == [parent]
    assert any(f"{parent}, a page of your sessions, links there" in each for each in told.details)


def test_scope_chooses_among_all_pages_that_led_on() -> None:
    pages = [
        Page(f"http://h{host:02}.test/{name}", links=())
        for host in range(15)
        for name in ("hub", "find")
    ]
    finds = range(1, len(pages), 2)
    graph = PageGraph(tuple(pages), tuple((find - 1, find) for find in finds), frozenset(finds))
    last = seeds_of(graph, 1, lambda url: "h14" in url)
    assert [seed.url for seed in last] == ["http://h14.test/hub"]
    marked = seeds_of(graph, 1, lambda url: url.endswith("find"))
    assert [seed.url for seed in marked] == ["http://h00.test/find"], "better than nothing"


def test_a_topic_that_was_not_learned_says_so_rather_than_ask_for_a_seed(tmp_path: Path) -> None:
    topic = Workspace(tmp_path).folder_for("new")
    topic.prepare()
    with pytest.raises(UsageError, match="Nothing has been learned"):
        open_crawl(topic, CrawlRequest(Settings().changed({"fetch.user_agent": AGENT})))


def test_it_starts_where_it_may_go(demo: Site) -> None:
    *_, last = (seed.url for seed in suggested_seeds(demo.topic))
    host = host_key(last)
    with (
        pytest.raises(UsageError, match="in scope"),
        demo.begun(crawl__scope=["elsewhere.test"], crawl__max_requests=5),
    ):
        pass
    with demo.begun(crawl__scope=[host], crawl__max_requests=5) as crawl:
        assert all(host_key(event.url) == host for event in crawl.run())
