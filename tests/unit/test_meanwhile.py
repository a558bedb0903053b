"""A strategy that waits for somebody's answer holds up no fetch."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Sequence
from typing import ClassVar

import pytest
from test_engine import TinyWeb, TitleJudge

from trailhound.crawling.engine import Crawler
from trailhound.crawling.meanwhile import meanwhile
from trailhound.crawling.stopping import Budget, StopReason
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import CrawledPage, FetchResult, PageEvent, ScoredLink

WEB: dict[str, Sequence[str] | str] = {
    "http://h.test/old": "http://h.test/a",
    "http://h.test/a": [f"http://h.test/{name}" for name in "bcdef"],
    **{f"http://h.test/{name}": [f"http://h.test/{name}x"] for name in "bcdef"},
    **{f"http://h.test/{name}x": [] for name in "bcdef"},
}


class CountingWeb(TinyWeb):
    def __init__(self, enough: int) -> None:
        super().__init__(WEB, 0.01)
        self._enough = enough
        self.done = 0
        self.enough = threading.Event()

    async def fetch(self, url: str) -> FetchResult:
        result = await super().fetch(url)
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
        self.is_asked = threading.Event()
        self.answered = False
        self.threads: set[int] = set()

    def observe(self, crawled: CrawledPage) -> None:
        self.threads.add(threading.get_ident())
        if crawled.page.url.endswith(self._about):
            self.is_asked.set()
            self.answered = self._web.enough.wait(3.0)
        self.observed.append(crawled.page.url)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        self.threads.add(threading.get_ident())
        return (ScoredLink(link, 1.0) for link in crawled.page.links)


def crawler(strategy: Waiting, web: CountingWeb, *, waits: bool) -> Crawler:
    return Crawler(
        strategy=strategy,
        frontier=MemoryFrontier(),
        fetcher=web,
        judge=TitleJudge(),
        concurrency=3,
        strategy_waits=waits,
    )


def test_fetches_begin_and_end_while_the_strategy_waits() -> None:
    web = CountingWeb(enough=4)
    strategy = Waiting(web, "/b")
    crawl = crawler(strategy, web, waits=True)
    events = list(crawl.run(["http://h.test/a"]))
    assert strategy.answered, "b is the second page; c and d were fetched meanwhile"
    assert threading.get_ident() not in strategy.threads
    assert crawl.stop_reason is StopReason.FRONTIER_EMPTY
    assert [event.number for event in events] == list(range(1, 12))
    assert strategy.observed == [each.final_url for each in events if each.relevance is not None]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_thread_changes_nothing_but_who_waits(concurrency: int) -> None:
    told: list[list[PageEvent]] = []
    for waits in (False, True):
        web = CountingWeb(enough=0)
        crawl = Crawler(
            strategy=Waiting(web, "nothing"),
            frontier=MemoryFrontier(),
            fetcher=web,
            judge=TitleJudge(),
            concurrency=concurrency,
            strategy_waits=waits,
            clock=lambda: 0.0,
        )
        told.append(list(crawl.run(["http://h.test/a"], max_pages=9)))
        assert crawl.requests == 9
    assert told[0] == told[1]


def test_who_breaks_off_leaves_the_strategy_in_one_piece() -> None:
    async def broken_off() -> list[str]:
        done: list[str] = []

        async def dealing() -> None:
            await asyncio.to_thread(release.wait, 3.0)
            done.append("strategy")

        def go_on() -> None:
            asyncio.get_running_loop().call_later(0.01, task.cancel)
            asyncio.get_running_loop().call_later(0.05, release.set)

        release = threading.Event()
        task = asyncio.ensure_future(meanwhile(dealing(), asyncio.Event(), go_on))
        with pytest.raises(asyncio.CancelledError):
            await task
        return done

    assert asyncio.run(broken_off()) == ["strategy"]


@pytest.mark.parametrize("seed", ["a", "old"])
def test_a_crawl_that_is_broken_off_has_no_page_half_way(seed: str) -> None:
    """Also not at the end of a redirect, when nothing else is begun meanwhile."""

    async def broken_off() -> None:
        events = crawl.crawl([f"http://h.test/{seed}"], Budget())
        first = asyncio.ensure_future(anext(events))
        await asyncio.to_thread(strategy.is_asked.wait, 3.0)
        first.cancel()
        asyncio.get_running_loop().call_later(0.05, web.enough.set)
        with pytest.raises(asyncio.CancelledError):
            await first
        await events.aclose()

    web = CountingWeb(enough=100)
    strategy = Waiting(web, "/a")
    crawl = crawler(strategy, web, waits=True)
    asyncio.run(broken_off())
    assert strategy.answered
    assert strategy.observed == ["http://h.test/a"]
    later = list(crawl.run([], max_pages=crawl.requests + 1))
    assert [event.url for event in later] == ["http://h.test/b"]


def test_an_error_of_the_strategy_costs_its_page_only() -> None:
    class Failing(Waiting):
        def observe(self, crawled: CrawledPage) -> None:
            if crawled.page.url.endswith("c"):
                raise ValueError("no opinion")

    web = CountingWeb(enough=0)
    events = list(crawler(Failing(web, ""), web, waits=True).run(["http://h.test/a"]))
    assert [event.url[-1] for event in events if event.outcome == "broken"] == ["c"]
