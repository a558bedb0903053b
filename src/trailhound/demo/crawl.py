"""The demo: a crawl of the generated web over HTTP on this machine, counted by ground truth."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trailhound.config.settings import CrawlSettings, FetchSettings, Settings
from trailhound.crawling.budget import Budget
from trailhound.crawling.build import Knowledge, Stores, build_crawl, make_guides
from trailhound.crawling.driving import Driver
from trailhound.crawling.engine import Crawler
from trailhound.demo import DemoWeb
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.resolver import MappedResolver
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import Page, PageEvent
from trailhound.sessions.page_graph import PageGraph, build_page_graph
from trailhound.text.extract import extract_page
from trailhound.urls import host_key

DEMO_DOMAIN = "demo.test"
DEMO_USER_AGENT = "trailhound-demo (+http://www.demo.test/about)"


def demo_page_graph(web: DemoWeb, topic: str) -> PageGraph:
    """The page graph of the demo web's recorded session for a topic."""

    def content(url: str) -> Page | None:
        response = web.respond(url)
        if response.status != 200:
            return None
        return extract_page(response.body, url, response.headers.get("Content-Type", ""))

    return build_page_graph([web.sessions[topic]], content)


@dataclass
class DemoCrawl:
    """A crawl of the demo web over HTTP on this machine, counted by ground truth."""

    web: DemoWeb
    port: int
    topic: str
    graph: PageGraph
    strategy: str
    max_requests: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What differs from a live crawl's defaults, by ``section.name``."""
    found: list[str] = field(default_factory=list)
    """Members of the topic that the session had not shown, in the order of discovery."""

    def run(self) -> Generator[PageEvent]:
        """Crawl from the demo web's start pages."""
        wanted = self.unseen_members()
        driver = Driver()
        crawler = driver.run(self.crawler())
        try:
            budget = Budget(self.max_requests)
            for event in driver.iterate(crawler.crawl(self.web.start_urls, budget)):
                member = self.web.duplicates.get(event.final_url, event.final_url)
                if member in wanted and event.relevance is not None:
                    wanted.discard(member)
                    self.found.append(member)
                yield event
        finally:
            driver.run(crawler.fetcher.close())
            driver.close()

    def unseen_members(self) -> set[str]:
        """What is there to be found: the topic's pages that nobody has visited yet."""
        return set(self.web.topics[self.topic]) - {page.url for page in self.graph.pages}

    async def crawler(self) -> Crawler:
        """The crawl, put together like any other."""
        settings = demo_settings(self.strategy).changed(dict(self.settings))
        resolver = MappedResolver({f"*.{DEMO_DOMAIN}": f"127.0.0.1:{self.port}"}, use_dns=False)
        return build_crawl(
            settings,
            await make_guides(settings, Knowledge(self.graph)),
            lambda politeness, in_scope: HttpFetcher.from_settings(
                settings.fetch, politeness, in_scope, resolver=resolver
            ),
            Stores(MemoryFrontier()),
            in_scope=in_demo_web,
        )


def demo_settings(strategy: str) -> Settings:
    """Those of a live crawl, on the demo web's own server."""
    return Settings(
        crawl=CrawlSettings(strategy=strategy),
        fetch=FetchSettings(
            user_agent=DEMO_USER_AGENT,
            allow_addresses=(f"*.{DEMO_DOMAIN}",),
            documents="none",  # its PDF files are there to be left out
        ),
    )


def in_demo_web(url: str) -> bool:
    """Whether a URL belongs to the demo web."""
    return host_key(url).endswith(f".{DEMO_DOMAIN}")
