"""A recorded web answers as the live one would have, at the same price."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from trailhound.fetching.replay import RecordedResponse, ReplayFetcher
from trailhound.records import FetchResult, Outcome, Page

PAGE = Page(url="http://a.test/", title="Home")


class RecordedPages:
    def __init__(self, responses: Mapping[str, RecordedResponse]) -> None:
        self._responses = responses

    def lookup(self, url: str) -> RecordedResponse | None:
        return self._responses.get(url)


def fetch(url: str, *responses: RecordedResponse, **renamed: RecordedResponse) -> FetchResult:
    web = RecordedPages({response.url: response for response in responses} | renamed)
    return asyncio.run(ReplayFetcher(web).fetch(url))


def redirect(url: str, to: str) -> RecordedResponse:
    return RecordedResponse(url, 301, redirect_to=to)


def test_a_page_comes_as_it_was_extracted_for_one_request() -> None:
    result = fetch("x", RecordedResponse("x", 200, page=PAGE, content_type="text/html"))
    assert result == FetchResult(
        url="x",
        outcome=Outcome.FETCHED,
        final_url="x",
        requests=1,
        status=200,
        content_type="text/html",
        page=PAGE,
    )


def test_every_redirect_costs_a_request() -> None:
    page = RecordedResponse("c", 200, page=PAGE)
    result = fetch("a", redirect("a", "b"), redirect("b", "c"), page)
    assert (result.outcome, result.final_url, result.requests) == (Outcome.FETCHED, "c", 3)
    assert result.url == "a"


def test_a_redirect_without_a_request_left_is_not_followed() -> None:
    web = RecordedPages({"a": redirect("a", "b"), "b": RecordedResponse("b", 200, page=PAGE)})
    result = asyncio.run(ReplayFetcher(web).fetch("a", may_go_on=lambda _="": False))
    assert (result.outcome, result.final_url, result.requests) == (Outcome.POSTPONED, "b", 1)
    assert result.page is None
    assert "request was left" in result.detail


def test_another_spelling_brings_the_page_without_a_second_request() -> None:
    result = fetch("b", b=RecordedResponse("a", 200, page=PAGE))
    assert (result.outcome, result.final_url, result.requests) == (Outcome.FETCHED, "a", 1)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (404, Outcome.NOT_FOUND),
        (410, Outcome.NOT_FOUND),
        (403, Outcome.CLIENT_ERROR),
        (500, Outcome.SERVER_ERROR),
        (503, Outcome.SERVER_ERROR),
        (0, Outcome.UNREACHABLE),
        (200, Outcome.NOT_HTML),
    ],
)
def test_answers_without_a_page_are_outcomes(status: int, outcome: Outcome) -> None:
    result = fetch("x", RecordedResponse("x", status, content_type="application/pdf"))
    assert (result.outcome, result.requests, result.page) == (outcome, 1, None)
    assert result.detail


def test_a_redirect_loop_ends_when_it_closes() -> None:
    result = fetch("a", redirect("a", "b"), redirect("b", "a"))
    assert (result.outcome, result.requests) == (Outcome.TOO_MANY_REDIRECTS, 2)
    assert (result.final_url, result.status) == ("b", 301)


def test_a_long_chain_of_redirects_is_given_up() -> None:
    chain = [redirect(str(number), str(number + 1)) for number in range(20)]
    result = fetch("0", *chain)
    assert (result.outcome, result.requests) == (Outcome.TOO_MANY_REDIRECTS, 11)


def test_a_redirect_out_of_the_recorded_web_costs_only_the_redirect() -> None:
    result = fetch("a", redirect("a", "http://elsewhere.test/"))
    assert (result.outcome, result.requests) == (Outcome.OUT_OF_SCOPE, 1)
    assert result.final_url == "a"
    assert "elsewhere.test" in result.detail


def test_what_was_not_recorded_cannot_be_reached() -> None:
    result = fetch("x")
    assert (result.outcome, result.requests, result.final_url) == (Outcome.UNREACHABLE, 1, "x")


def test_closing_the_fetcher_leaves_the_recorded_web_to_its_owner() -> None:
    web = RecordedPages({"x": RecordedResponse("x", 200, page=PAGE)})
    asyncio.run(ReplayFetcher(web).close())
    assert asyncio.run(ReplayFetcher(web).fetch("x")).page == PAGE
