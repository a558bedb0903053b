"""A strategy that waits for somebody's answer holds up no fetch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import ClassVar

import pytest
from test_engine import TinyWeb, TitleJudge

from trailhound.crawling.budget import Budget, StopReason
from trailhound.crawling.engine import Crawler
from trailhound.fetching.base import MayGoOn, always
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import CrawledPage, FetchResult, Link, ScoredLink

WEB: dict[str, Sequence[str] | str] = {
    "http://h.test/old": "http://h.test/a",
    "http://h.test/a": [f"http://h.test/{name}" for name in "bcdef"],
    **{f"http://h.test/{name}": [f"http://h.test/{name}x"] for name in "bcdef"},
    **{f"http://h.test/{name}x": [] for name in "bcdef"},
    "http://h.test/far": [],
}


class CountingWeb(TinyWeb):
    def __init__(self, enough: int) -> None:
        super().__init__(WEB)
        self._enough = enough
        self.done = 0
        self.enough = asyncio.Event()

    async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
        result = await super().fetch(url, may_go_on=may_go_on)
        self.done += 1
        if self.done >= self._enough:
            self.enough.set()
        return result


class Waiting:
    """Asks about one page, and gets its answer when others have been fetched."""

    name: ClassVar[str] = "waiting"
    summary: ClassVar[str] = ""
    paper: ClassVar[str] = ""

    def __init__(self, web: CountingWeb, about: str) -> None:
        self._web = web
        self._about = about
        self.observed: list[str] = []
        self.is_asked = asyncio.Event()
        self.questions = 0

    def observe(self, crawled: CrawledPage) -> None:
        self.observed.append(crawled.page.url)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        return (ScoredLink(link, 1.0) for link in crawled.page.links)

    async def ask(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        if not crawled.page.url.endswith(self._about):
            return ()
        self.questions += 1
        self.is_asked.set()
        await asyncio.wait_for(self._web.enough.wait(), 10.0)
        return [ScoredLink(Link("http://h.test/far"), 2.0)]


def crawler(strategy: Waiting, web: CountingWeb, concurrency: int = 3) -> Crawler:
    return Crawler(
        strategy=strategy,
        frontier=MemoryFrontier(),
        fetcher=web,
        judge=TitleJudge(),
        concurrency=concurrency,
        asked=lambda: strategy.questions,
    )


def test_fetches_begin_and_end_while_the_strategy_waits() -> None:
    web = CountingWeb(enough=4)
    strategy = Waiting(web, "/b")
    crawl = crawler(strategy, web)
    events = list(crawl.run(["http://h.test/a"]))
    assert crawl.stop_reason is StopReason.FRONTIER_EMPTY
    assert [event.number for event in events] == list(range(1, 13))
    assert "http://h.test/far" in strategy.observed, "what was answered is followed"
    assert strategy.observed == [each.final_url for each in events if each.relevance is not None]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_question_is_a_request(concurrency: int) -> None:
    web = CountingWeb(enough=0)
    crawl = crawler(Waiting(web, "/b"), web, concurrency)
    events = list(crawl.run(["http://h.test/a"], max_requests=9))
    assert crawl.requests == 9
    assert sum(event.queries for event in events) == 1
    assert [event.queries for event in events if event.url.endswith("/b")] == [1]
    assert sum(event.requests for event in events) == 8


@pytest.mark.parametrize("seed", ["a", "old"])
def test_a_page_that_is_broken_off_waits_to_be_fetched_again(seed: str) -> None:
    """Also when it is the end of a redirect: nothing of it has entered the frontier."""
    url = f"http://h.test/{seed}"

    async def broken_off() -> None:
        events = crawl.crawl([url], Budget())
        first = asyncio.ensure_future(anext(events))
        await asyncio.wait_for(strategy.is_asked.wait(), 10.0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        await events.aclose()

    web = CountingWeb(enough=100)
    strategy = Waiting(web, "/a")
    crawl = crawler(strategy, web)
    asyncio.run(broken_off())
    assert crawl.frontier.outcome_of("http://h.test/a") is None
    assert crawl.frontier.stats().leased == 1, "which a restart counts as waiting"
    assert crawl.frontier.stats().finished == 0


def test_an_error_of_the_strategy_costs_its_page_only() -> None:
    class Failing(Waiting):
        async def ask(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
            if crawled.page.url.endswith("c"):
                raise ValueError("no opinion")
            return ()

    web = CountingWeb(enough=0)
    events = list(crawler(Failing(web, ""), web).run(["http://h.test/a"]))
    assert [event.url[-1] for event in events if event.outcome == "broken"] == ["c"]
