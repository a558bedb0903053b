"""A Scrapy spider that follows every link, the most promising first.

    scrapy runspider examples/scrapy_spider.py -a start=https://example.org/ \
        -s TRAILHOUND_TOPIC=bees -s USER_AGENT='bees-bot (+https://example.org/bot)' -O found.jsonl

``bees`` is a topic that ``trailhound learn`` has learned. Without the first two settings below, the
same spider crawls in Scrapy's own order. With ``-s JOBDIR=job`` it can be stopped and goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor


class FocusedSpider(scrapy.Spider):
    """Yields relevant pages as items."""

    name = "focused"
    custom_settings = {  # noqa: RUF012  as Scrapy has it
        "SCHEDULER": "trailhound.integrations.scrapy.TrailhoundScheduler",
        "SPIDER_MIDDLEWARES": {"trailhound.integrations.scrapy.TrailhoundMiddleware": 950},
        "ROBOTSTXT_OBEY": True,
        "AUTOTHROTTLE_ENABLED": True,
    }
    links = LinkExtractor()

    def __init__(self, start: str = "", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = start.split(",")

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        """An item for a relevant page, and a request for each link."""
        if not isinstance(response, HtmlResponse):
            return
        page = response.meta.get("trailhound", {})
        if page.get("is_relevant"):
            title = response.css("title::text").get("")
            yield {"url": response.url, "title": title, "relevance": page["relevance"]}
        yield from response.follow_all(self.links.extract_links(response))
