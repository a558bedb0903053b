"""What fetchers and sinks promise."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from inspect import isawaitable
from pathlib import Path

from msgspec.structs import replace

from trailhound.crawling.sinks import Sink
from trailhound.fetching.base import Fetcher, always
from trailhound.records import (
    Candidate,
    FetchResult,
    FinishedPage,
    Outcome,
    Page,
    PageEvent,
    Relevance,
)
from trailhound.testing.promises import HOST, expect, never_raising, pages

MakeFetcher = Callable[[], Fetcher]
OpenSink = Callable[[Path], Sink]


def check_fetcher(make: MakeFetcher, page: str, missing: str) -> None:
    """``make`` gives a fetcher that finds a page at ``page`` and none at ``missing``.

    Both are canonical URLs; the fetcher is used in an event loop of its own, and closed.
    """

    async def check() -> None:
        fetcher = make()
        try:
            await _check_fetches(fetcher, page, missing)
        finally:
            with never_raising("A fetcher can be closed"):
                await fetcher.close()

    asyncio.run(check())


async def _check_fetches(fetcher: Fetcher, page: str, missing: str) -> None:
    found = await _fetched(fetcher, page)
    expect(found.outcome is Outcome.FETCHED, f"{page} is fetched, not {found.outcome.value}")
    expect(bool(found.body) or found.page is not None, "What is fetched has a body or a page")
    lost = await _fetched(fetcher, missing)
    expect(lost.outcome is not Outcome.FETCHED, f"{missing} is not there, so it is not fetched")
    expect(not lost.body or bool(lost.status), "A body without an answer makes no sense")
    await _fetched(fetcher, "http://nowhere.invalid/")
    together = await asyncio.gather(*(_fetched(fetcher, page) for _ in range(3)))
    expect(
        all(each.outcome in (Outcome.FETCHED, Outcome.POSTPONED) for each in together),
        "Several fetches may go on at once",
    )


async def _fetched(fetcher: Fetcher, url: str) -> FetchResult:
    with never_raising(f"What the web does wrong is an outcome (of {url})"):
        result = await fetcher.fetch(url, may_go_on=always)
    expect(isinstance(result, FetchResult), "fetch gives a FetchResult")
    expect(result.url == url, "A result has the URL that was asked for")
    expect(isinstance(result.outcome, Outcome), "A result has an Outcome")
    expect(result.requests >= 1, "A fetch costs at least one request")
    if result.outcome is not Outcome.FETCHED:
        expect(bool(result.detail), f"Outcome {result.outcome.value} has its reason in detail")
    return result


def check_sink(open_sink: OpenSink, folder: Path) -> None:
    """``open_sink`` opens a sink that may keep its files in ``folder``.

    It is shown a page of each sort, closed, opened once more and shown them again: what a resumed
    crawl does. What it made of them is yours to look at afterwards.
    """

    async def check() -> None:
        for _ in range(2):
            sink = open_sink(folder)
            try:
                for finished in finished_pages():
                    with never_raising(f"A sink takes any page ({finished.event.outcome.value})"):
                        kept = sink.keep(finished)
                        if isawaitable(kept):
                            await kept
            finally:
                with never_raising("A sink can be closed"):
                    closed = sink.close()
                    if isawaitable(closed):
                        await closed

    asyncio.run(check())


def finished_pages() -> tuple[FinishedPage, ...]:
    """Relevant, irrelevant, copied, unlisted, missing, and broken: what a sink may get."""
    bees, cars, empty, german = pages()
    found = _finished(1, bees, Relevance(0.9, True))
    copy = _finished(4, german, Relevance(0.8, True))
    lost = _finished(6, empty, None, Outcome.NOT_FOUND)
    return (
        found,
        _finished(2, cars, Relevance(0.1, False)),
        replace(copy, event=replace(copy.event, duplicate_of=bees.url)),
        replace(found, event=replace(found.event, number=5, noindex=True)),
        replace(lost, page=None),
        _finished(7, empty, None, Outcome.BROKEN),
    )


def _finished(
    number: int, page: Page, relevance: Relevance | None, outcome: Outcome = Outcome.FETCHED
) -> FinishedPage:
    candidate = Candidate(page.url, 0.5, parent=HOST, depth=1)
    event = PageEvent(
        number=number,
        url=page.url,
        final_url=page.url,
        outcome=outcome,
        parent=HOST,
        depth=1,
        priority=0.5,
        requests=1,
        requests_total=number,
        relevance=relevance,
        links_found=len(page.links),
        title=page.title,
        at=float(number),
    )
    body = b"<title>a page</title>" if outcome is Outcome.FETCHED else b""
    result = FetchResult(page.url, outcome, page.url, content_type="text/html", body=body)
    return FinishedPage(event, candidate, result, page)
