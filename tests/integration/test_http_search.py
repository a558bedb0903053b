"""A search endpoint on loopback: what it may answer, and what it may do to us."""

from __future__ import annotations

import gzip
import json
import threading
from asyncio import run
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from search_servers import Answer, Said, SearchServer, results

from trailhound.errors import SourceError, UsageError
from trailhound.records import Page
from trailhound.sources import SearchHit
from trailhound.sources.endpoint import CircuitBreaker
from trailhound.sources.search_endpoint import HttpSearch

USER_AGENT = "test-bot (+http://www.demo.test/about)"


@contextmanager
def asking(answer: Answer, **more: float) -> Iterator[tuple[HttpSearch, SearchServer]]:
    with SearchServer(answer).served() as server:
        options = {"timeout_seconds": 5.0, **more}
        search = HttpSearch(
            server.template,
            USER_AGENT,
            timeout_seconds=options["timeout_seconds"],
            max_bytes=int(options.get("max_bytes", 100_000)),
        )
        yield search, server


def said(content: object) -> Answer:
    return lambda _query, _limit: Said(json.dumps(content).encode())


def test_results_come_back_with_titles_and_snippets_and_at_most_so_many() -> None:
    urls = [f"http://a.test/{n}" for n in range(9)]
    with asking(lambda _query, _limit: results(urls)) as (search, server):
        assert run(search.search("wild bees & more", 2)) == [
            SearchHit("http://a.test/0", "A title", "Some words"),
            SearchHit("http://a.test/1", "A title", "Some words"),
        ]
        assert server.queries == ["wild bees & more"]
        assert run(search.page("http://a.test/0")) is None


@pytest.mark.parametrize(
    "content",
    [
        ["http://a.test/", "http://b.test/"],
        {"results": ["http://a.test/", "http://b.test/"]},
        {"items": [{"link": "http://a.test/"}, {"href": "HTTP://B.test"}]},
        ["bees", ["A", "B"], ["", ""], ["http://a.test/", "http://b.test/"]],
        # What is no address on the web is dropped, and so are repetitions.
        [
            "http://a.test/",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "http://a.test/#x",
            7,
            None,
            {"title": "x"},
            {"url": ["http://c.test/"]},
            "http://" + "x" * 5000,
            "http://b.test/",
        ],
    ],
)
def test_the_shapes_in_use_are_understood(content: object) -> None:
    with asking(said(content)) as (search, _):
        hits = [hit.url for hit in run(search.search("bees", 10))]
    assert hits == ["http://a.test/", "http://b.test/"]


def test_titles_cannot_move_the_cursor_or_fill_the_screen() -> None:
    content = [{"url": "http://a.test/", "title": "\x1b[2Jhi\n" + "x" * 9000, "content": 5}]
    with asking(said(content)) as (search, _):
        (hit,) = run(search.search("bees", 10))
    assert hit.title.startswith("[2Jhi x")
    assert len(hit.title) == 500
    assert hit.snippet == ""


def test_no_results_are_no_error() -> None:
    with asking(said({"results": []})) as (search, _):
        assert run(search.search("bees", 10)) == []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Said(b"<html>Are you a robot?"), "is no JSON"),
        (Said(b""), "is no JSON"),
        (Said(b"[" * 90_000), "is no JSON"),
        (Said(b"\xff\xfe"), "is no JSON"),
        (Said(b'{"error": "quota"}'), "holds no list of results"),
        (Said(b'["javascript:x", "mailto:y"]'), "none of 2 results has an address"),
        (Said(b"[]", 503), "status 503"),
        (Said(b"[]", 403), "status 403"),
        (Said(b"", 302, [("Location", "http://inside.test/")]), "redirects to"),
        (Said(b'["http://a.test/"]' + b" " * 200_000), "larger than 100,000 bytes"),
        (
            Said(
                gzip.compress(b'["http://a.test/"]' + b" " * 9_000_000),
                headers=[("Content-Encoding", "gzip")],
            ),
            "larger than 100,000 bytes",
        ),
    ],
)
def test_answers_of_no_use_are_a_source_error_with_the_reason(answer: Said, reason: str) -> None:
    with (
        asking(lambda _query, _limit: answer) as (search, _),
        pytest.raises(SourceError, match=reason) as raised,
    ):
        run(search.search("bees", 10))
    assert "The search at 127.0.0.1" in str(raised.value)


def test_a_slow_search_is_given_up() -> None:
    given_up = threading.Event()

    def slow(_query: str, _limit: int) -> Said:
        given_up.wait(60)
        return results([])

    with asking(slow, timeout_seconds=0.3) as (search, _):
        with pytest.raises(SourceError, match="timeout"):
            run(search.search("bees", 10))
        given_up.set()


def test_a_search_that_is_down_is_left_alone_after_three_attempts() -> None:
    with SearchServer(lambda _query, _limit: results([])).served() as server:
        template = server.template
    search = HttpSearch(template, USER_AGENT, timeout_seconds=2.0)
    for _ in range(3):
        with pytest.raises(SourceError, match="unreachable"):
            run(search.search("bees", 10))
    with pytest.raises(SourceError, match="failed 3 times in a row and is left alone"):
        run(search.search("bees", 10))
    assert search.queries == 3


def test_after_a_rest_one_question_is_let_through() -> None:
    now = [0.0]
    breaker = CircuitBreaker("It", failures=2, rest_seconds=10.0, clock=lambda: now[0])
    breaker.failed("a")
    breaker.check()
    breaker.failed("b")
    with pytest.raises(SourceError, match="The last failure: b"):
        breaker.check()
    now[0] = 10.0
    breaker.check()
    breaker.failed("c")
    with pytest.raises(SourceError, match="The last failure: c"):
        breaker.check()
    now[0] = 30.0
    breaker.check()
    breaker.succeeded()
    breaker.failed("d")
    breaker.check()


@pytest.mark.parametrize(
    "template", ["http://a.test/search?q=bees", "ftp://a.test/{query}", "{query}", "http://{query"]
)
def test_a_template_that_cannot_be_asked_is_refused_with_an_example(template: str) -> None:
    with pytest.raises(UsageError, match="is no search"):
        HttpSearch(template, USER_AGENT)


class Pages:
    """Has one page."""

    pages_read = 7

    async def page(self, url: str) -> Page | None:
        return Page(url) if url == "http://a.test/" else None

    async def expect(self, urls: Sequence[str]) -> None:
        pass


def test_pages_behind_results_come_from_whoever_can_read_them() -> None:
    search = HttpSearch("http://127.0.0.1:9/{query}", USER_AGENT, pages=Pages())
    assert run(search.page("http://a.test/")) == Page("http://a.test/")
    assert run(search.page("http://b.test/")) is None
    assert search.pages_read == 7
