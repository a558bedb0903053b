"""A list of pages, fetched by the same engine as every crawl; no link is followed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

import msgspec

from trailhound.config.settings import CrawlSettings, FetchSettings, Settings
from trailhound.crawling.budget import Budget
from trailhound.crawling.build import Guides, Stores, build_crawl
from trailhound.crawling.scope import Scope
from trailhound.crawling.sinks import Sink
from trailhound.fetching.http import HttpFetcher
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import CrawledPage, Page, PageEvent, Relevance, ScoredLink
from trailhound.sources import Sources

MAX_IDLE_SECONDS = 60.0
"""Hosts that want to be left alone for longer are given up."""


class _StayingPut:
    """A strategy that follows nothing."""

    name: ClassVar[str] = "staying-put"
    summary: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    learns_online: ClassVar[bool] = False
    reads_surroundings: ClassVar[bool] = False

    def observe(self, crawled: CrawledPage) -> None:
        pass

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        del crawled
        return ()


class _NoOpinion:
    """A judge for whom nothing is on topic."""

    def judge(self, page: Page) -> Relevance:
        del page
        return Relevance(0.0, False)


async def visit(
    urls: Iterable[str],
    settings: FetchSettings,
    sink: Sink,
    *,
    in_scope: Scope | None = None,
    told: Callable[[PageEvent], None] = lambda _: None,
    frontier: MemoryFrontier | None = None,
) -> None:
    """Ask for every URL (canonical), each host politely, and give what comes back to ``sink``.

    Who comes again gives a ``frontier``, which remembers how long hosts want to be left alone.
    """
    settings = msgspec.structs.replace(settings, documents="none")  # who visits wants HTML
    plan = Settings(
        crawl=CrawlSettings(max_idle=MAX_IDLE_SECONDS, host_budgets=False), fetch=settings
    )
    crawler = build_crawl(
        plan,
        Guides(_StayingPut(), _NoOpinion(), Sources()),
        lambda politeness, scope: HttpFetcher.from_settings(settings, politeness, scope),
        Stores(frontier if frontier is not None else MemoryFrontier(), [sink]),
        in_scope=in_scope,
    )
    try:
        async for event in crawler.crawl(urls, Budget()):
            told(event)
    finally:
        await crawler.fetcher.close()
