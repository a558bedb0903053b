"""A Scrapy spider over a tree of pages, run by a test that kills it.

python scrapy_to_be_killed.py URL TOPIC JOB
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

PACKAGE = "trailhound.integrations.scrapy"


class TreeSpider(Spider):
    """Follows all links, with arguments that must survive."""

    name = "tree"

    def parse(self, response: Response, depth: int = 0) -> Iterator[Any]:
        """Each page knows how deep it is."""
        if len(response.url.rstrip("/").split("/")) - 3 != depth:
            raise ValueError(f"{response.url} came with depth {depth}")
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse, cb_kwargs={"depth": depth + 1})


def main(url: str, topic: str, job: str) -> None:
    """Crawl until nothing is left."""
    process = CrawlerProcess(
        {
            "SCHEDULER": f"{PACKAGE}.TrailhoundScheduler",
            "SPIDER_MIDDLEWARES": {f"{PACKAGE}.TrailhoundMiddleware": 950},
            "TRAILHOUND_TOPIC": topic,
            "JOBDIR": job,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "ERROR",
            "CONCURRENT_REQUESTS": 4,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 2,  # so that requests are held back
            "AUTOTHROTTLE_ENABLED": True,
            "AUTOTHROTTLE_START_DELAY": 0,
            "AUTOTHROTTLE_MAX_DELAY": 0.01,
        }
    )
    crawler = process.create_crawler(TreeSpider)
    process.crawl(crawler, start_urls=[url])
    process.start()
    assert crawler.stats is not None
    sys.stdout.write(str(crawler.stats.get_value("spider_exceptions/count", 0)))


if __name__ == "__main__":
    main(*sys.argv[1:])
