"""Live crawls that ask who links to a page: a file, an endpoint, their own archives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from live_webs import Site

from loopback import served
from trailhound.demo import DemoWeb
from trailhound.errors import SourceError, UsageError
from trailhound.sources.kept_links import KeptAnswers
from trailhound.storage.results_reading import Results
from trailhound.text.extract import extract_page
from trailhound.topics.crawls.folder import CRAWL_LINKS, KEPT_BACKLINKS, CrawlFolder
from trailhound.topics.finds.opinions import Opinions
from trailhound.topics.upkeep.forgetting import forget_pages, one_host
from trailhound.topics.workspace import Workspace
from trailhound.urls import host_key

CONTEXT = "context-graph:layers=2,layer_size=6,training=backlinks"


@pytest.fixture(scope="module")
def parents(web: DemoWeb) -> dict[str, list[str]]:
    """Who links to each page of the demo web."""
    found: dict[str, list[str]] = {}
    for url, response in web.responses.items():
        kind = response.headers.get("Content-Type", "")
        if response.status == 200 and "html" in kind:
            for link in extract_page(response.body, url, kind).links:
                found.setdefault(link.url, []).append(url)
    return found


@pytest.fixture
def edges(parents: dict[str, list[str]], tmp_path: Path) -> Path:
    path = tmp_path / "edges.tsv"
    lines = [f"{source}\t{target}\n" for target, sources in parents.items() for source in sources]
    path.write_text("".join([*lines, "no edge at all\n"]), "utf-8")
    return path


def settings(web: DemoWeb, source: object, **more: Any) -> dict[str, Any]:
    return {
        "crawl__seeds": web.start_urls[:2],
        "crawl__max_requests": 60,  # of which learning takes some
        "fetch__delay_seconds": 0.05,
        "fetch__address_delay_seconds": 0.0,
        "fetch__allow_impolite": True,
        "sources__backlinks": str(source),
        "crawl__strategy": CONTEXT,
        **more,
    }


def test_a_crawl_learns_from_a_file_of_edges(demo: Site, web: DemoWeb, edges: Path) -> None:
    with demo.begun(**settings(web, edges)) as crawl:
        events = list(crawl.run())
    assert len(events) >= 20
    assert any("1 held no edge" in notice for notice in demo.notices)
    kept = demo.topic.path / KEPT_BACKLINKS
    assert kept.is_file()
    edges.unlink()
    with pytest.raises(UsageError, match="cannot be read"), demo.resumed(crawl__max_requests=80):
        pass
    assert not [name for name in demo.topic.path.iterdir() if name.name.endswith(".part")]


@contextmanager
def endpoint(parents: dict[str, list[str]], asked: list[str]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            (url,) = parse_qs(urlsplit(self.path).query)["of"]
            asked.append(url)
            body = json.dumps({"backlinks": parents.get(url, [])}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with served(Handler) as port:
        yield f"http://127.0.0.1:{port}/?of={{url}}"


def test_a_resumed_crawl_and_an_explanation_ask_nothing_again(
    demo: Site, web: DemoWeb, parents: dict[str, list[str]]
) -> None:
    asked: list[str] = []
    with endpoint(parents, asked) as template:
        with demo.begun(**settings(web, template)) as crawl:
            first = list(crawl.run())
        assert len(asked) == len(set(asked)) > 3
        before = len(asked)
        with demo.resumed(crawl__max_requests=80) as crawl:
            second = list(crawl.run())
        assert len(asked) == before
    assert second[0].number == first[-1].number + 1
    # The endpoint is gone, and what it said still explains.
    with Results(crawl.folder.results) as results:
        page = next(page for event in first if (page := results.events_of(event.url)[0]).memory)
        told = Opinions(CrawlFolder(demo.topic), results).belief(page.memory)
    assert sum(told.values()) == pytest.approx(1, abs=0.01) or len(told) == 4


def test_parents_of_finds_are_fetched(
    demo: Site, web: DemoWeb, topic_name: str, parents: dict[str, list[str]]
) -> None:
    asked: list[str] = []
    graph = demo.topic.load().model.graph
    targets = [graph.pages[number].url for number in sorted(graph.targets)][:2]
    with endpoint(parents, asked) as template:
        flags = settings(
            web, template, crawl__seeds=targets, crawl__strategy="best-first:back_crawl=3"
        )
        with demo.begun(**flags) as crawl:
            events = list(crawl.run())
    assert set(targets) <= set(asked)
    wanted = {source for target in targets for source in parents[target][:3]}
    assert wanted & {event.url for event in events}


@pytest.mark.parametrize("mode", ["inherit", "prefetch"])
def test_a_crawl_that_learns_again_waits_for_nobody(
    demo: Site, web: DemoWeb, edges: Path, mode: str
) -> None:
    graph = demo.topic.load().model.graph
    targets = [graph.pages[number].url for number in sorted(graph.targets)][:3]
    spec = f"{CONTEXT},rebuild_every=1,back_crawl=2,mode={mode}"
    flags = settings(web, edges, crawl__seeds=targets, crawl__strategy=spec)
    with demo.begun(**flags) as crawl:
        events = list(crawl.run())
    assert "broken" not in {event.outcome.value for event in events}
    assert sum(event.relevance is not None and event.relevance.relevant for event in events) >= 3
    assert (crawl.folder.path / "strategy.bin").stat().st_size > 1000
    with demo.resumed(crawl__max_requests=80) as crawl:
        assert list(crawl.run())
    assert not any("cannot be used" in notice for notice in demo.notices)


def test_a_source_that_is_down_refuses_or_is_done_without(demo: Site, web: DemoWeb) -> None:
    with endpoint({}, []) as template:
        pass
    flags = settings(web, template)
    with pytest.raises(SourceError, match="cannot be used"), demo.begun(**flags):
        pass
    assert not CrawlFolder(demo.topic).exists(), "nothing was begun"
    flags = settings(web, template, crawl__strategy="context-graph", crawl__max_requests=5)
    with demo.begun(**flags) as crawl:
        assert list(crawl.run())
    assert sum("cannot be used" in notice for notice in demo.notices) == 2, "once for each try"


def test_a_source_that_lies_is_found_out(
    demo: Site, web: DemoWeb, parents: dict[str, list[str]]
) -> None:
    graph = demo.topic.load().model.graph
    targets = {graph.pages[number].url for number in graph.targets}
    strangers = [
        url
        for url, response in web.responses.items()
        if response.status == 200
        and url not in targets
        and not any(url in parents.get(target, ()) for target in targets)
    ][:12]
    lies = {target: [*strangers, "javascript:1", "nonsense"] for target in targets}
    with endpoint(lies, []) as template:
        flags = settings(web, template)
        flags["crawl__strategy"] = "context-graph:layers=1,layer_size=50,training=backlinks"
        with pytest.raises(SourceError, match="knows no page"), demo.begun(**flags):
            pass
    assert any("do not link to what" in notice for notice in demo.notices)


def test_its_own_archive_is_a_link_graph(demo: Site, web: DemoWeb) -> None:
    flags = settings(web, "crawl", crawl__strategy="best-first:back_crawl=1")
    with demo.begun(**flags) as crawl:
        events = list(crawl.run())
    assert any("archived no page yet" in notice for notice in demo.notices)
    demo.notices.clear()
    flags["crawl__strategy"] = "context-graph:layers=2,layer_size=6"
    with demo.begun(restart=True, **flags) as crawl:
        list(crawl.run())
    assert not any("archived no page yet" in notice for notice in demo.notices)
    links = demo.topic.path / CRAWL_LINKS
    assert links.stat().st_size > 10_000
    host = host_key(events[-1].final_url)
    workspace = Workspace(demo.topic.path.parents[1])
    report = forget_pages(workspace, demo.topic.name, one_host(host))
    assert report.removed["pages and links collected from archives"] > 0
    assert not links.exists()


def test_forgetting_reaches_what_was_asked(demo: Site, web: DemoWeb, edges: Path) -> None:
    with demo.begun(**settings(web, edges)):
        pass
    path = demo.topic.path / KEPT_BACKLINKS
    kept = KeptAnswers(path, str(edges))
    url = "http://nobody.demo.test/"
    kept.keep_answer(url, [])
    kept.close()
    workspace = Workspace(demo.topic.path.parents[1])
    report = forget_pages(workspace, demo.topic.name, one_host("nobody.demo.test"))
    assert report.removed["backlinks asked for, and their pages"] == 1
    assert not list(demo.topic.path.glob("edges-*.db"))


def test_pages_outside_the_scope_are_not_asked_for(demo: Site, web: DemoWeb, edges: Path) -> None:
    hosts = [host_key(url) for url in web.start_urls[:1]]
    flags = settings(web, edges, crawl__scope=tuple(hosts))
    with pytest.raises(SourceError, match="knows no page"), demo.begun(**flags):
        pass
