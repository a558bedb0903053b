"""A small web and judges that worker processes can load; some of them misbehave on purpose."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from trailhound.crawling.analysis import Analyst
from trailhound.fetching.base import MayGoOn, always
from trailhound.records import CrawledPage, FetchResult, Outcome, Page, Relevance, ScoredLink

PAGES = 60


def address(number: int) -> str:
    return f"http://h.test/{number}"


def number_of(url: str) -> int:
    return int(url.rpartition("/")[2])


def markup(number: int) -> str:
    """A page with links to others, some of them known, some beyond the end of the web."""
    targets = (2 * number + 1, 2 * number + 2, (7 * number + 3) % (PAGES + 5))
    links = "".join(f'<li><a href="/{target}">page {target}</a></li>' for target in targets)
    words = " ".join(f"word{number * step % 97}" for step in range(1, 40))
    return f"<html lang=en><title>Page {number}</title><p>{words}<ul>{links}</ul></html>"


class MadeUpWeb:
    """Serves the pages without a network; ``seconds`` is how long each takes."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self.fetched: list[str] = []

    async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
        await asyncio.sleep(self._seconds)
        self.fetched.append(url)
        number = number_of(url)
        if number >= PAGES:
            return FetchResult(url, Outcome.NOT_FOUND, url, status=404, detail="HTTP 404")
        return FetchResult(
            url,
            Outcome.FETCHED,
            url,
            status=200,
            content_type="text/html",
            body=markup(number).encode(),
        )

    async def close(self) -> None: ...


class LengthJudge:
    """Any function of the page will do."""

    def judge(self, page: Page) -> Relevance:
        score = len(page.text) % 10 / 10
        return Relevance(score, score > 0.5)


class SlowJudge(LengthJudge):
    """Every third page takes long, so that answers come back in another order."""

    def judge(self, page: Page) -> Relevance:
        if number_of(page.url) % 3 == 0:
            time.sleep(0.05)
        return super().judge(page)


class ClumsyJudge(LengthJudge):
    """Fails on one page."""

    def judge(self, page: Page) -> Relevance:
        if number_of(page.url) == 4:
            raise ValueError("page four is too much")
        return super().judge(page)


class DeadlyJudge(LengthJudge):
    """Ends its process on page 4; with a ``diary`` only when it gets there first."""

    def __init__(self, diary: Path | None = None) -> None:
        self._diary = diary

    def judge(self, page: Page) -> Relevance:
        if number_of(page.url) == 4 and not (self._diary is not None and self._diary.exists()):
            if self._diary is not None:
                self._diary.write_text("died once")
            os._exit(9)
        return super().judge(page)


class RelevanceStrategy:
    """The page's own relevance, and its depth; says that it does not learn."""

    name: ClassVar[str] = "relevance"
    summary: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    learns_online: ClassVar[bool] = False

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        memory = bytes([crawled.candidate.depth + 1])
        return [
            ScoredLink(link, crawled.relevance.score + number_of(link.url) / 1000, memory)
            for link in crawled.page.links
        ]

    def observe(self, crawled: CrawledPage) -> None: ...


class CountingStrategy(RelevanceStrategy):
    """Priorities depend on how many pages came before: inherits a promise that it cannot keep."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        for scored in super().score_links(crawled):
            yield ScoredLink(scored.link, scored.priority * (len(self.seen) % 7), scored.memory)

    def observe(self, crawled: CrawledPage) -> None:
        self.seen.append(crawled.page.url)


def failing_recipe() -> Analyst:
    raise FileNotFoundError("there is no model")


def deadly_recipe() -> Analyst:
    os._exit(5)
