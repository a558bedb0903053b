"""Puts the parts together. The only place that knows all of them; commands stay thin."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

from trailhound.crawling.engine import Crawler
from trailhound.demo import DemoWeb
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.resolver import MappedResolver
from trailhound.frontier.memory import MemoryFrontier
from trailhound.judges.cosine import CosineJudge
from trailhound.records import Page, PageEvent
from trailhound.sessions.page_graph import PageGraph, build_page_graph
from trailhound.strategies.base import Briefing
from trailhound.strategies.choosing import make_strategy
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
    max_pages: int
    found: list[str] = field(default_factory=list)
    """Members of the topic that the session had not shown, in the order of discovery."""

    def run(self) -> Generator[PageEvent]:
        """Crawl from the demo web's start pages."""
        wanted = self.unseen_members()
        for event in self._crawler().run(self.web.start_urls, max_pages=self.max_pages):
            member = self.web.duplicates.get(event.final_url, event.final_url)
            if member in wanted and event.relevance is not None:
                wanted.discard(member)
                self.found.append(member)
            yield event

    def unseen_members(self) -> set[str]:
        """What is there to be found: the topic's pages that nobody has visited yet."""
        return set(self.web.topics[self.topic]) - {page.url for page in self.graph.pages}

    def _crawler(self) -> Crawler:
        resolver = MappedResolver({f"*.{DEMO_DOMAIN}": f"127.0.0.1:{self.port}"}, use_dns=False)
        briefing = Briefing(self.graph)
        return Crawler(
            strategy=make_strategy(self.strategy, briefing),
            frontier=MemoryFrontier(),
            fetcher=HttpFetcher(
                DEMO_USER_AGENT,
                allow_addresses=[f"*.{DEMO_DOMAIN}"],
                in_scope=in_demo_web,
                resolver=resolver,
            ),
            judge=CosineJudge.from_graph(self.graph, similarity=briefing.similarity),
            in_scope=in_demo_web,
            concurrency=8,
        )


def in_demo_web(url: str) -> bool:
    """Whether a URL belongs to the demo web."""
    return host_key(url).endswith(f".{DEMO_DOMAIN}")
