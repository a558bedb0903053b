"""What a learned topic has to say in a Scrapy crawl: of each response, and of the links in it.

Strategy and judge come from the composer that every crawl of ours comes from, pages are read by its
analyst, and links are scored as its digestion scores them. The spider middleware asks for it: a
response is read before the spider sees it, its requests get ranks.
"""

from __future__ import annotations

import logging
import os
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.utils.job import job_dir

from trailhound.config.settings import Settings
from trailhound.crawling.analysis import Analyst, PageJob
from trailhound.crawling.answers import LinkScore, Troubles
from trailhound.crawling.build import Guides, Knowledge, make_guides
from trailhound.crawling.digestion import opinion_of
from trailhound.crawling.driving import Driver
from trailhound.crawling.ranking import RankedQueue, Ranking
from trailhound.errors import UNREADABLE, StorageError, UsageError, plugin_faults
from trailhound.integrations.scrapy.request_queue import UNRANKED
from trailhound.judges.choosing import check_judge
from trailhound.library.learning import load_topic
from trailhound.records import Candidate, CrawledPage, Relevance
from trailhound.storage.files import write_whole
from trailhound.strategies.base import (
    Rescoring,
    learns_online,
    reads_surroundings,
)
from trailhound.strategies.choosing import check_live_spec
from trailhound.strategies.parts import as_crawled
from trailhound.topics.runs.plan import knowledge_from, knowledge_of
from trailhound.topics.runs.strategy_memory import StrategyMemory
from trailhound.topics.workspace import Workspace, workspace_folder
from trailhound.urls import canonicalize, strip_tracking

KEY = "trailhound"
"""Our place in the ``meta`` of requests and responses."""

_log = logging.getLogger(__name__)


def known_as(url: str) -> str:
    """By which strategies know an address; empty for what is not of the web."""
    return strip_tracking(canonicalize(url) or "")


@dataclass(frozen=True)
class _Reading:
    """What is to be said of one response."""

    relevance: Relevance | None = None
    """``None`` when it could not be read, or is no HTML."""
    why: str = ""
    """Why there is no verdict."""
    ranks: Mapping[str, LinkScore] = field(default_factory=dict)
    """The strategy's, by the URL of the link."""
    usual_rank: float = UNRANKED
    """Of requests that are no link of the page: the middle of its links, or the page's own."""


class JobRecord(msgspec.Struct, frozen=True):
    """``trailhound.json`` in the folder of a job: what its requests were ranked by."""

    topic: str
    strategy: str


class TopicGuide:
    """Reads responses, and ranks what the spider makes of them."""

    def __init__(self, settings: BaseSettings) -> None:
        self.topic = _wanted(settings)
        ours = _our_settings(settings)
        self.strategy_name = ours.crawl.strategy
        known = _knowledge(self.topic, settings)
        guides = _guides(ours, known)
        self.strategy = guides.strategy
        online = learns_online(guides.strategy)
        self._analyst = Analyst(
            guides.judge,
            None if online else guides.strategy,
            surroundings=reads_surroundings(guides.strategy),
        )
        self._troubles = Troubles()
        self.pages = 0
        """Responses that the strategy has learned from, of all runs."""
        folder = job_dir(settings)
        self.job = Path(folder) if folder else None
        self._memory = StrategyMemory(
            guides.strategy, self.job and self.job / "trailhound-strategy.bin", self._troubles
        )
        self._resume()
        self.is_duplicate: Callable[[Request], bool] = lambda _: False
        """Asks the scheduler, if it is ours."""
        self.is_listening = False
        """Whether the spider middleware is there, without which nothing gets a rank."""

    def _resume(self) -> None:
        """What waits in the folder of a job was ranked by one strategy for one topic."""
        if self.job is None:
            return
        path, now = self.job / "trailhound.json", JobRecord(self.topic, self.strategy_name)
        if not path.is_file():
            write_whole(path, msgspec.json.encode(now))
            return
        try:
            before = msgspec.json.decode(path.read_bytes(), type=JobRecord)
        except (OSError, *UNREADABLE) as error:
            raise StorageError(
                f"{path} cannot be read ({error}), so that the job cannot go on. Begin another one "
                "with another JOBDIR."
            ) from error
        if before != now:
            raise UsageError(
                f"The job in {self.job} is for the topic '{before.topic}' with the strategy "
                f"'{before.strategy}', and the settings name '{now.topic}' with '{now.strategy}'. "
                "Set them as before, or another JOBDIR."
            )
        self._memory.restore(_log.warning)
        self.pages = self._memory.known_until

    def read(self, response: Response) -> _Reading:
        """Judge a response and rank its links; the strategy learns from it."""
        asked: Mapping[str, Any] = response.meta.get(KEY) or {}
        own_rank = float(asked.get("rank", UNRANKED))
        if not isinstance(response, HtmlResponse):
            return _Reading(None, "it is no HTML", usual_rank=own_rank)
        candidate = Candidate(
            known_as(response.meta.get("redirect_urls", [response.url])[0]) or response.url,
            own_rank,
            asked.get("memory", b""),
            asked.get("parent"),
            int(response.meta.get("depth", 0)),
        )
        url = canonicalize(response.url) or response.url
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        analysis = self._analyst.analyse(PageJob(candidate, url, content_type, response.body))
        if analysis.is_beyond:
            return _Reading(None, "it may be harmful to read", usual_rank=own_rank)
        if analysis.page is None or analysis.relevance is None:
            self._troubles.note("The judge", RuntimeError(analysis.failure), f" on {url}")
            return _Reading(None, analysis.failure, usual_rank=own_rank)
        crawled = CrawledPage(as_crawled(analysis.page), analysis.relevance, candidate)
        return self._reading(crawled, analysis.scores)

    def _reading(self, crawled: CrawledPage, scores: list[LinkScore] | None) -> _Reading:
        """With the strategy's opinion; what it fails at costs this page."""
        own_rank = crawled.candidate.priority
        try:
            scores, relevance = opinion_of(self.strategy, crawled, scores)
        except plugin_faults() as error:
            self._troubles.note("The strategy", error, f" on {crawled.page.url}")
            return _Reading(crawled.relevance, usual_rank=own_rank)
        self._count_page()
        ranks: dict[str, LinkScore] = {}
        for score in scores:
            known = ranks.get(score.url)
            if known is None or score.priority > known.priority:
                ranks[score.url] = score
        priorities = [score.priority for score in ranks.values()]
        return _Reading(
            relevance, "", ranks, statistics.median_low(priorities) if priorities else own_rank
        )

    def _count_page(self) -> None:
        self.pages += 1
        try:
            self._memory.count(self.pages)
        except StorageError as error:  # of a snapshot, which is no reason to lose the page
            self._troubles.note("Writing what the strategy has learned", error)

    def ranking(self, queue: RankedQueue) -> Ranking:
        """Ranks anew what waits in ``queue``, now and then; the spider says where to begin."""
        return Ranking(self.strategy, queue, None, self._troubles)

    @property
    def ranks_anew(self) -> bool:
        """Whether the strategy's opinion of what waits changes as it learns."""
        return isinstance(self.strategy, Rescoring)

    def close(self) -> None:
        """Keep what was learned."""
        if self.job is not None:
            self._memory.write()
        for told in self._troubles.summary():
            _log.warning(told)


_guides_in_use: WeakKeyDictionary[Crawler, TopicGuide] = WeakKeyDictionary()


def guide_of(crawler: Crawler) -> TopicGuide:
    """The one of this crawl: scheduler and middleware share it."""
    if crawler not in _guides_in_use:
        _guides_in_use[crawler] = TopicGuide(crawler.settings)
    return _guides_in_use[crawler]


def _wanted(settings: BaseSettings) -> str:
    topic = settings.get("TRAILHOUND_TOPIC")
    if not topic:
        raise UsageError(
            "No topic to rank requests by. Name one that was learned in Scrapy's settings: "
            "TRAILHOUND_TOPIC = 'bees'; 'trailhound topics' lists them."
        )
    return str(topic)


def _our_settings(settings: BaseSettings) -> Settings:
    named = {"crawl.strategy": "TRAILHOUND_STRATEGY", "judge.kind": "TRAILHOUND_JUDGE"}
    given = {key: settings.get(name) for key, name in named.items() if settings.get(name)}
    ours = Settings().changed(given)
    check_live_spec(ours.crawl.strategy)
    check_judge(ours.judge.kind)
    return ours


def _knowledge(topic: str, settings: BaseSettings) -> Knowledge:
    """Of a topic by its name in the workspace, or by the folder it was saved in."""
    if Path(topic).expanduser().exists():
        return knowledge_from(load_topic(topic))
    place = settings.get("TRAILHOUND_WORKSPACE")
    home = workspace_folder(Path(place).expanduser() if place else None, os.environ)
    folder = Workspace(home).topic(topic)
    if not folder.is_learned():
        folder.load()  # says how to learn it
    return knowledge_of(folder)


def _guides(settings: Settings, known: Knowledge) -> Guides:
    driver = Driver()
    try:
        return driver.run(make_guides(settings, known))
    finally:
        driver.close()


class TrailhoundMiddleware(BaseSpiderMiddleware):
    """Tells the spider what a response is worth, and the scheduler what a request may be."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._guide = guide_of(crawler)
        self._guide.is_listening = True
        self._readings: WeakKeyDictionary[Response, _Reading] = WeakKeyDictionary()

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


def _told(reading: _Reading, asked: dict[str, Any]) -> dict[str, Any]:
    rank, parent = asked.get("rank", UNRANKED), asked.get("parent")
    came = f"a link of {parent}, ranked {rank:.4g}" if parent else "a start request"
    return {
        "relevance": reading.relevance.score if reading.relevance else None,
        "is_relevant": bool(reading.relevance and reading.relevance.relevant),
        "why": f"{came}; not judged: {reading.why}" if reading.why else came,
        "rank": rank,
        "parent": parent,
    }
