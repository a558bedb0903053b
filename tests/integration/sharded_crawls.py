"""Crawls in shards as a cluster leaves them, made without one: each shard has a host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from half_way_crawls import PAGES, TOPIC, page
from live_webs import USER_AGENT, TinySite

from trailhound.config.layers import configure
from trailhound.topics.crawls.folder import SHARDS, CrawlFolder
from trailhound.topics.runs.crawl import TopicCrawl
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.workspace import TopicFolder, Workspace

HOSTS = ("one.test", "two.test")


@dataclass
class ShardedCrawl:
    """A crawl of a site with the same pages on two hosts, in one shard each."""

    topic: TopicFolder
    port: int

    @property
    def whole(self) -> CrawlFolder:
        return CrawlFolder(self.topic)

    def shard(self, number: int) -> CrawlFolder:
        return CrawlFolder(self.topic, self.whole.path / SHARDS / f"{number:03d}")

    @contextmanager
    def opened(self, number: int, max_requests: int) -> Iterator[TopicCrawl]:
        """A shard, begun or resumed."""
        shard = self.shard(number)
        shard.make()
        flags: dict[str, Any] = {"crawl.max_requests": max_requests}
        if shard.exists():
            request = CrawlRequest(flags=flags, resume=True)
        else:
            flags |= {
                "crawl.seeds": (f"http://{HOSTS[number]}/0",),
                "crawl.strategy": "breadth-first",
                "judge.kind": "keywords:words=bees",
                "fetch.user_agent": USER_AGENT,
                "fetch.resolve": (f"*.test=127.0.0.1:{self.port}",),
                "fetch.allow_addresses": ("*.test",),
                "fetch.delay_seconds": 0.0,
                "fetch.allow_impolite": True,
            }
            request = CrawlRequest(configure(flags).settings, flags)
        with open_crawl(self.topic, request, folder=shard) as crawl:
            crawl.begin()
            if not self.whole.exists():
                self.whole.write(shard.read())
            yield crawl

    def run(self, number: int, max_requests: int = PAGES) -> None:
        """Crawl a shard, up to so many requests in all."""
        with self.opened(number, max_requests) as crawl:
            assert list(crawl.run())


@contextmanager
def sharded(folder: Path) -> Iterator[ShardedCrawl]:
    """A topic and a site, and no page fetched yet."""
    resources = {f"/{number}": page(number) for number in range(PAGES)}
    topic = Workspace(folder).folder_for(TOPIC)
    topic.prepare()
    with TinySite(resources) as site:
        yield ShardedCrawl(topic, site.port)
