"""The spider middleware: a response is read before the spider sees it, its requests get ranks."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from trailhound.integrations.scrapy.request_queue import UNRANKED
from trailhound.integrations.scrapy.topic_guide import KEY, Reading, guide_of, known_as
from trailhound.urls import canonicalize


class TrailhoundMiddleware(BaseSpiderMiddleware):
    """Tells the spider what a response is worth, and the scheduler what a request may be."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._guide = guide_of(crawler)
        self._guide.is_listening = True
        self._readings: WeakKeyDictionary[Response, Reading] = WeakKeyDictionary()

    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Read the response: ``response.meta["trailhound"]`` has the verdict from here on."""
        del spider  # of earlier versions of Scrapy
        asked = response.meta.get(KEY) or {}
        reading = self._readings[response] = self._guide.read(response)
        response.meta[KEY] = _told(reading, asked)
        if reading.relevance is not None:
            self._count("trailhound/pages")
            self._count("trailhound/relevant", int(reading.relevance.relevant))

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Give a request the rank of the link that it follows; duplicates end here.

        Three of four links lead where others have led, and the way to the scheduler is long.
        """
        reading = self._readings.get(response) if response is not None else None
        if response is None or reading is None:
            request.meta.pop(KEY, None)  # a copy of another's
            return request
        # Most addresses are canonical as they are, and looking is cheaper than making them so.
        spellings = (str, canonicalize, known_as)  # a learner's links are without tracking
        found = (reading.ranks.get(spell(request.url) or "") for spell in spellings)
        score = next(filter(None, found), None)
        rank, memory = (score.priority, score.memory) if score else (reading.usual_rank, b"")
        request.meta[KEY] = {"rank": rank, "memory": memory, "parent": response.url}
        if self._guide.is_duplicate(request):
            self._count("dupefilter/filtered")
            return None
        return request

    def _count(self, what: str, by: int = 1) -> None:
        if self.crawler.stats is not None:
            self.crawler.stats.inc_value(what, by)


def _told(reading: Reading, asked: dict[str, Any]) -> dict[str, Any]:
    rank, parent = asked.get("rank", UNRANKED), asked.get("parent")
    came = f"a link of {parent}, ranked {rank:.4g}" if parent else "a start request"
    return {
        "relevance": reading.relevance.score if reading.relevance else None,
        "is_relevant": bool(reading.relevance and reading.relevance.relevant),
        "why": f"{came}; not judged: {reading.why}" if reading.why else came,
        "rank": rank,
        "parent": parent,
    }
