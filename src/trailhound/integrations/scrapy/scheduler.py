"""The scheduler: what Scrapy's engine gives requests to, and gets the best one back from."""

from __future__ import annotations

import logging
import pickle
from typing import Any, Self

from scrapy import Request, Spider, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import (
    RequestFingerprinter,
    RequestFingerprinterProtocol,
    request_from_dict,
)
from twisted.internet.defer import Deferred

from trailhound.crawling.machine import collect_seldom
from trailhound.errors import TrailhoundError, UsageError
from trailhound.frontier.memory import MemoryFrontier
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.integrations.scrapy.request_queue import (
    REMEMBERED,
    UNRANKED,
    Entry,
    RequestQueue,
    Waiting,
)
from trailhound.integrations.scrapy.topic_guide import KEY, guide_of, known_as
from trailhound.records import Candidate, Outcome

MOST_HELD_BACK = 64
"""Requests for hosts that are busy; when there are more, it is waited for one of these."""

_log = logging.getLogger(__name__)


class TrailhoundScheduler(BaseScheduler):
    """Requests by their own priority, then by the rank that a learned topic gives them.

    With ``JOBDIR`` they wait in one SQLite file there, and a killed crawl goes on where it was:
    a request is done with when the spider is, and asked for again if that was not so. Without, they
    wait in memory, as do those that cannot be written down.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._guide = guide_of(crawler)
        self._filter = _other_filter(crawler)
        self._fingerprints = Fingerprints(crawler.request_fingerprinter)
        self._logs_unserialisable = crawler.settings.getbool("SCHEDULER_DEBUG")
        self._in_memory: dict[str, Request] = {}
        """By key: requests that are not in the frontier's file."""
        self._under_way: dict[Request, str] = {}
        self._held_back: list[tuple[Request, str]] = []
        """Leased requests whose hosts have enough to do, best first."""
        self._ranked_at = self._guide.pages
        self._failure: TrailhoundError | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """The way of Scrapy."""
        return cls(crawler)

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Open the queue; what waited in an earlier run waits again."""
        if not self._guide.is_listening:
            raise UsageError(
                "The scheduler has nothing to rank requests by. Add the spider middleware to "
                "Scrapy's settings: SPIDER_MIDDLEWARES = "
                "{'trailhound.integrations.scrapy.TrailhoundMiddleware': 950}"
            )
        self._spider = spider
        job = self._guide.job
        frontier = SqliteFrontier(job / "trailhound.db") if job else MemoryFrontier()
        self._queue = RequestQueue(frontier, is_ranked_anew=self._guide.ranks_anew)
        self._ranking = self._guide.ranking(self._queue)
        if len(self._queue):
            _log.info("Resuming crawl (%d requests scheduled)", len(self._queue))
        self._guide.is_duplicate = self.is_duplicate
        self._crawler.signals.connect(self._tell_reason, signals.spider_idle)
        self._crawler.signals.connect(self._note_answer, signals.response_received)
        self._collect_as_before = collect_seldom()
        return self._filter.open() if self._filter is not None else None

    def close(self, reason: str) -> Deferred[None] | None:
        """Keep everything; what the spider was not done with waits at the next start."""
        try:
            if self._failure is None:
                self._end_finished()
            self._guide.close()
            self._queue.close()
        except TrailhoundError as error:
            self._fail(error)
        self._collect_as_before()
        return self._filter.close(reason) if self._filter is not None else None

    def __len__(self) -> int:
        return len(self._queue) + len(self._held_back)

    def has_pending_requests(self) -> bool:
        """Whether a request waits."""
        return self._failure is None and len(self) > 0

    def enqueue_request(self, request: Request) -> bool:
        """Let a request wait; ``False`` for a duplicate, which may lift the one that waits.

        That one stays as it is, but for its place.
        """
        try:
            return self._failure is None and self._enqueue(request)
        except TrailhoundError as error:
            self._fail(error)
            return False

    def _enqueue(self, request: Request) -> bool:
        if self._is_seen(request) or self.is_duplicate(request):
            self._count("dupefilter/filtered")
            return False
        key, written = self._key(request), self._written(request)
        if not written:
            self._in_memory[key] = request
        rank, memory, parent = _asked(request)
        waiting = Waiting(known_as(request.url), request.priority, memory, written)
        self._queue.push(Entry(key, rank, parent, waiting))
        self._count("scheduler/enqueued")
        self._count(f"scheduler/enqueued/{self._place(key)}")
        return True

    def is_duplicate(self, request: Request) -> bool:
        """Whether the queue knows a request, be it done; one that waits may be lifted by it."""
        if request.dont_filter or self._filter is not None or self._failure is not None:
            return False
        return self._queue.lift(self._key(request), request.priority, *_asked(request))

    def _is_seen(self, request: Request) -> bool:
        if request.dont_filter or self._filter is None:
            return False
        return self._filter.request_seen(request)

    def _key(self, request: Request) -> str:
        is_filtered = not request.dont_filter and self._filter is None
        return self._queue.key(self._fingerprints.of(request), is_filtered=is_filtered)

    def _written(self, request: Request) -> bytes:
        """The request as Scrapy writes it, without our part; empty when it stays in memory."""
        if self._guide.job is None:
            return b""
        try:
            fields = request.to_dict(spider=self._spider)
            fields["meta"] = {name: each for name, each in request.meta.items() if name != KEY}
            return pickle.dumps(fields, protocol=4)
        except (ValueError, pickle.PicklingError, AttributeError, TypeError) as error:
            self._count("scheduler/unserializable")
            if self._logs_unserialisable:
                _log.warning(
                    "Unable to serialize request: %s - reason: %s - it stays in memory, and no "
                    "more of them will be logged (stats being collected)",
                    request,
                    error,
                )
                self._logs_unserialisable = False
            return b""

    def next_request(self) -> Request | None:
        """The best request whose host has room; ``None`` when there is none now."""
        try:
            return self._next() if self._failure is None else None
        except TrailhoundError as error:
            self._fail(error)
            return None

    def _next(self) -> Request | None:
        self._end_finished()
        found = self._freed() or self._best()
        if found is None:
            return None
        request, key = found
        self._under_way[request] = key
        return request

    def _freed(self) -> tuple[Request, str] | None:
        for place, (request, _) in enumerate(self._held_back):
            if not self._is_busy(request):
                return self._held_back.pop(place)
        return None

    def _best(self) -> tuple[Request, str] | None:
        while len(self._held_back) < MOST_HELD_BACK and (entry := self._queue.pop()):
            place = self._place(entry.key)
            request = self._read(entry)
            if request is None:
                self._queue.finish(entry.key, Outcome.SKIPPED)
                continue
            self._count("scheduler/dequeued")
            self._count(f"scheduler/dequeued/{place}")
            if not self._is_busy(request):
                return request, entry.key
            self._held_back.append((request, entry.key))
        return None

    def _read(self, entry: Entry) -> Request | None:
        """``None`` for one that an earlier run had in memory alone."""
        request = self._in_memory.pop(entry.key, None)
        if request is None:
            if not entry.waiting.request:
                return None
            fields: dict[str, Any] = pickle.loads(entry.waiting.request)  # noqa: S301  our own file
            request = request_from_dict(fields, spider=self._spider)
        if entry.rank != UNRANKED:
            request.meta[KEY] = {
                "rank": entry.rank,
                "memory": entry.waiting.memory,
                "parent": entry.parent,
            }
        return request

    @property
    def _engine(self) -> ExecutionEngine | None:
        try:
            return self._crawler.engine
        except RuntimeError:  # not set yet
            return None

    def _is_busy(self, request: Request) -> bool:
        """Whether the downloader has as many requests for the same host as it does at once."""
        if self._engine is None:
            return False
        downloader = self._engine.downloader
        slot = downloader.slots.get(downloader.get_slot_key(request))
        return slot is not None and len(slot.active) >= slot.concurrency

    def _end_finished(self) -> None:
        """End the leases of requests that the engine is done with, spider and all."""
        slot = self._engine._slot if self._engine is not None else None
        if slot is None:
            return
        done = [request for request in self._under_way if request not in slot.inprogress]
        for request in done:
            self._queue.finish(self._under_way.pop(request))
        while self._ranked_at < self._guide.pages:
            self._ranked_at += 1
            self._ranking.rank_anew(self._ranked_at)

    def _note_answer(self, response: Response, request: Request) -> None:
        """A strategy may want to know that there is no page behind a link of the spider's."""
        is_a_link = request in self._under_way and request.method == "GET"
        if response.status >= 400 and is_a_link and (url := known_as(request.url)):
            self._ranking.regret(Candidate(url, 0.0), Outcome.of_status(response.status))

    def _fail(self, error: TrailhoundError) -> None:
        """Nothing can be kept any more: let the crawl run dry, and say why."""
        if self._failure is None:
            self._failure = error
            _log.error("%s The crawl ends; what was not done with waits for the next run.", error)

    def _tell_reason(self) -> None:
        """When the spider is idle: it has not finished if the queue has failed."""
        if self._failure is not None:
            raise CloseSpider("trailhound_queue_failed")

    def _place(self, key: str) -> str:
        return "memory" if key in self._in_memory else "disk"

    def _count(self, what: str) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(what)


def _asked(request: Request) -> tuple[float, bytes, str | None]:
    """Rank, the strategy's memory, and the page that led here."""
    told = request.meta.get(KEY) or {}
    return told.get("rank", UNRANKED), told.get("memory", b""), told.get("parent")


class Fingerprints:
    """What tells requests apart: Scrapy's fingerprints, those of ordinary ones remembered.

    Pages of a site have links in common, and a fingerprint takes half the time of queueing one.
    """

    def __init__(self, fingerprinter: RequestFingerprinterProtocol) -> None:
        self._fingerprinter = fingerprinter
        self._is_usual = type(fingerprinter) is RequestFingerprinter
        self._known: dict[str, bytes] = {}

    def of(self, request: Request) -> bytes:
        """A request's fingerprint."""
        is_ordinary = self._is_usual and request.method == "GET" and not request.body
        if not is_ordinary or "verbatim_url" in request.meta:
            return self._fingerprinter.fingerprint(request)
        found = self._known.get(request.url)
        if found is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            found = self._known[request.url] = self._fingerprinter.fingerprint(request)
        return found


def _other_filter(crawler: Crawler) -> BaseDupeFilter | None:
    """The one that the settings name; ``None`` for Scrapy's usual one: the queue does its work."""
    kind = load_object(crawler.settings["DUPEFILTER_CLASS"])
    return None if kind is RFPDupeFilter else build_from_crawler(kind, crawler)
