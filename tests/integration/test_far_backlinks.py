"""Endpoints for backlinks that hang, fail and lie while a crawl asks them: the crawl goes on."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from live_webs import Resource, Site, TinySite, wait_until

from loopback import served
from trailhound.demo import DemoWeb
from trailhound.records import Outcome, PageEvent
from trailhound.sources.backlink_endpoint import MAX_ANSWERS, HttpBacklinks
from trailhound.topics.workspace import TopicFolder

N_PAGES = 12
SECONDS = 0.5
"""What an endpoint has here, to keep the tests short."""
Answer = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def site(web: DemoWeb, topic: TopicFolder) -> Iterator[TinySite]:
    """A dozen pages, all of the topic, none like another, and without links."""
    graph = topic.load().model.graph
    targets = sorted(graph.targets)
    bodies = [web.responses[graph.pages[number].url].body for number in targets]
    texts = [body.replace(b"<a ", b"<i ").replace(b"</a>", b"</i>") for body in bodies]
    pages = {
        f"/{n}": Resource(texts[n % len(texts)] + f"<p>{'bee ' * n}</p>".encode())
        for n in range(N_PAGES)
    }
    with TinySite(pages) as server:
        yield server


@contextmanager
def endpoint(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """An address, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            with suppress(OSError):  # the client has left
                answer(self)

        def log_message(self, *_: object) -> None:
            pass

    with served(Handler) as port:
        yield f"http://127.0.0.1:{port}/?of={{url}}", asked


def settings(template: str, **more: Any) -> dict[str, Any]:
    """Of a crawl that asks about each find."""
    return {
        "crawl__seeds": [f"http://tiny.test/{n}" for n in range(N_PAGES)],
        "crawl__strategy": "best-first:back_crawl=5",
        "crawl__max_requests": 40,
        "fetch__delay_seconds": 0.05,
        "fetch__address_delay_seconds": 0.0,
        "fetch__allow_impolite": True,
        "sources__backlinks": template,
        **more,
    }


def crawl(
    topic: TopicFolder, site: TinySite, template: str, **more: Any
) -> tuple[list[PageEvent], str]:
    """All events, and the log."""
    demo = Site(topic, site.port, "tiny.test")
    with demo.begun(**settings(template, **more)) as running:
        events = list(running.run())
    return events, running.folder.log.read_text("utf-8")


def said(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200) -> None:
    handler.send_response(status)
    handler.end_headers()
    handler.wfile.write(body)


def pages_of(events: list[PageEvent]) -> list[PageEvent]:
    return [event for event in events if event.url.startswith("http://tiny.test/")]


def check_all_fetched(events: list[PageEvent]) -> None:
    own = pages_of(events)
    assert len(own) == N_PAGES
    assert {event.outcome for event in own} == {Outcome.FETCHED}
    assert all(event.relevance is not None and event.relevance.relevant for event in own)


def test_others_are_fetched_while_an_answer_is_awaited(
    topic: TopicFolder, site: TinySite, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = partial(HttpBacklinks, timeout_seconds=90.0)
    monkeypatch.setattr("trailhound.sources.backlink_endpoint.HttpBacklinks", patient)
    site.resources["/robots.txt"] = Resource(b"User-agent: *\nCrawl-delay: 0.1\n")
    meanwhile: list[bool] = []

    def slow(handler: BaseHTTPRequestHandler) -> None:
        if not meanwhile:
            meanwhile.append(False)
            before = len(site.paths())
            wait_until(lambda: len(site.paths()) >= before + 4, seconds=30)
            meanwhile.append(True)
        said(handler, b"[]")

    with endpoint(slow) as (template, asked):
        events, log = crawl(topic, site, template)
    assert meanwhile[-1], "four requests arrived while the first answer was awaited"
    check_all_fetched(events)
    assert len(asked) == N_PAGES
    assert "problem" not in log


def test_an_endpoint_that_hangs_is_left_alone(
    topic: TopicFolder, site: TinySite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "trailhound.sources.backlink_endpoint.HttpBacklinks",
        partial(HttpBacklinks, timeout_seconds=SECONDS),
    )
    done = threading.Event()
    with endpoint(lambda _: (done.wait(20.0), None)[1]) as (template, asked):
        events, log = crawl(topic, site, template)
        done.set()
    check_all_fetched(events)
    assert len(asked) == 3, "not once for each of a dozen finds"
    assert log.count("is left alone for 60 s") == 1


def _endless(handler: BaseHTTPRequestHandler) -> None:
    said(handler, b"[")
    while True:
        handler.wfile.write(b'"http://h.test/",' * 1000)


def _lines(handler: BaseHTTPRequestHandler) -> None:
    said(handler, b"http://h.test/page\n" * (10_000_000 // 19))


BAD_ANSWERS: dict[str, Answer] = {
    "fails": lambda handler: said(handler, b"", 500),
    "garbage": lambda handler: said(handler, b"\x00\xff\xfe{]" * 100),
    "endless": _endless,
    "lines": _lines,
    "breaks off": lambda handler: handler.connection.close(),
}


@pytest.mark.parametrize("kind", BAD_ANSWERS)
def test_an_endpoint_of_no_use_is_done_without(
    topic: TopicFolder, site: TinySite, kind: str
) -> None:
    with endpoint(BAD_ANSWERS[kind]) as (template, asked):
        events, log = crawl(topic, site, template)
    check_all_fetched(events)
    assert len(events) == N_PAGES
    assert len(asked) == 3
    assert log.count("is left alone for 60 s") == 1


def test_an_endpoint_that_names_what_is_not_to_be_reached(
    topic: TopicFolder, site: TinySite
) -> None:
    with TinySite({"/secret": Resource(b"secret")}) as inside:
        lies = [
            f"http://127.0.0.1:{inside.port}/secret",
            f"http://localhost:{inside.port}/secret",
            f"http://[::ffff:127.0.0.1]:{inside.port}/secret",
            "http://169.254.169.254/latest/meta-data/",
            "http://10.0.0.1/",
            "file:///etc/passwd",
            "ftp://tiny.test/9",
            "javascript:alert(1)",
            "data:text/html,bee",
        ]
        body = json.dumps(lies + ["http://tiny.test/nobody"] * 2000).encode()
        with endpoint(lambda handler: said(handler, body)) as (template, asked):
            strategy = f"best-first:back_crawl={MAX_ANSWERS}"
            events, _ = crawl(topic, site, template, crawl__strategy=strategy)
        assert inside.paths() == [], "nobody came"
    assert len(asked) == N_PAGES
    others = {event.url: event.outcome for event in events if event not in pages_of(events)}
    assert set(others.values()) == {Outcome.ADDRESS_REFUSED}
    assert all(url.startswith("http://") for url in others)
    assert len(others) == 5
    own = [event for event in pages_of(events) if event.outcome is Outcome.FETCHED]
    assert len(own) == N_PAGES


def test_a_crawl_that_is_stopped_asks_nothing_more(topic: TopicFolder, site: TinySite) -> None:
    """The rest of the finds in flight would cost an answer each."""
    demo = Site(topic, site.port, "tiny.test")
    running: list[Any] = []

    def stopping(handler: BaseHTTPRequestHandler) -> None:
        running[0].stop()
        said(handler, b"[]")

    with endpoint(stopping) as (template, asked), demo.begun(**settings(template)) as crawling:
        running.append(crawling)
        events = list(crawling.run())
    assert len(asked) == 1
    assert {event.outcome for event in events} == {Outcome.FETCHED}
