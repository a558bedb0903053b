"""The crawl's own side of being watched: it writes how it is, and hears what is wanted of it.

A thread does both, so that it happens also while every host rests or one page takes long.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import uuid
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from trailhound.crawling.budget import StopReason
from trailhound.errors import StorageError
from trailhound.frontier.base import FrontierStats
from trailhound.records import PageEvent
from trailhound.topics.crawls.notices import Notify
from trailhound.topics.crawls.status import (
    STATUS,
    CrawlState,
    Notice,
    RecentPage,
    RunningCrawl,
    Wish,
    drop_leftovers,
    drop_wish,
    read_status,
    read_wish,
    write_status,
)

if TYPE_CHECKING:
    from trailhound.topics.runs.crawl import TopicCrawl

_log = logging.getLogger(__name__)

LISTEN_EVERY_SECONDS = 0.5
TELL_EVERY_SECONDS = 1.0
LATEST_PAGES = 10
LATEST_NOTICES = 20
SCORED_PAGES = 50
"""Pages whose mean score is told."""
QUIET_SECONDS = 3.0
"""Without a page for so long and with nothing in flight, all hosts are asleep."""
_LAST_ATTEMPTS = 40
"""To write how a run ended, a twentieth of a second apart."""


class CrawlBeacon:
    """Tells how one run is, from the moment its topic is locked until that lock is released.

    ``started_by`` says who wanted it, and may name the run: ``app``, ``app:4f1c…``. A run that
    cannot begin leaves what was told before. Without a ``topic`` folder nothing is told.
    """

    def __init__(self, topic: Path | None, name: str, started_by: str) -> None:
        who, _, run = started_by.partition(":")
        self._topic = topic
        self._status = RunningCrawl(
            topic=name,
            run=run or uuid.uuid4().hex,
            state=CrawlState.STARTING,
            pid=os.getpid(),
            started_by=who,
            started_at=time.time(),
        )
        self._crawl: TopicCrawl | None = None
        self._wish: Wish | None = None
        self._has_ended = False
        self._has_failed = False
        self._finds = 0
        self._stats = FrontierStats(0, 0, 0, 0)
        self._pages: deque[RecentPage] = deque(maxlen=LATEST_PAGES)
        self._scores: deque[float] = deque(maxlen=SCORED_PAGES)
        self._notices: deque[Notice] = deque(maxlen=LATEST_NOTICES)
        self._closing = threading.Event()
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._told_before: bytes | None = None

    def __enter__(self) -> Self:
        if self._topic is not None:
            with suppress(OSError):
                self._told_before = (self._topic / STATUS).read_bytes()
            self._status = _with_figures_of(read_status(self._topic), self._status)
            drop_wish(self._topic)
            drop_leftovers(self._topic)
            self._tell()
            self._thread = threading.Thread(target=self._watch, name="beacon", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        if self._topic is not None and self._status.state is CrawlState.STARTING:
            self._tell_what_was_told_before(self._topic)

    def _tell_what_was_told_before(self, topic: Path) -> None:
        with suppress(OSError):
            if self._told_before is None:
                (topic / STATUS).unlink(missing_ok=True)
            else:
                (topic / STATUS).write_bytes(self._told_before)

    def noting(self, notify: Notify) -> Notify:
        """``notify``, heard by those who watch as well."""

        def both(message: str) -> None:
            self._notices.appendleft(Notice(time.time(), message))
            notify(message)

        return both

    @property
    def is_to_stop(self) -> bool:
        """Whether somebody wants the run to end."""
        return self._wish is not None

    def begin(self, crawl: TopicCrawl) -> None:
        """The run begins; one that was to stop before ends at once."""
        self._crawl = crawl
        self._tell(CrawlState.RUNNING)
        if self.is_to_stop:
            crawl.stop()

    def add(self, event: PageEvent) -> None:
        """A page has been dealt with."""
        relevance = event.relevance
        page = RecentPage(
            event.final_url,
            event.title,
            event.outcome.value,
            relevance.score if relevance is not None else None,
            relevance is not None and relevance.relevant,
            event.at,
        )
        self._pages.appendleft(page)
        if relevance is not None:
            self._scores.append(relevance.score)
        is_known = self._crawl is not None and event.url in self._crawl.refresh.addresses
        self._finds += event.is_find and not is_known

    def end(self) -> None:
        """The run has ended; its figures stay."""
        crawl = self._crawl
        if crawl is None or self._topic is None:
            return
        reason = crawl.stop_reason
        paused = self._wish is Wish.PAUSE and reason is StopReason.INTERRUPTED
        ended = "it was paused" if paused else reason.value if reason is not None else ""
        last = msgspec.structs.replace(
            self._now(CrawlState.PAUSED if paused else CrawlState.ENDED),
            ended=ended,
            ended_at=time.time(),
            asked_to=self._wish,
            finds=self._counted_anew(crawl),
            failed=crawl.failed,
            seconds_left=None,
            remark="",
        )
        drop_wish(self._topic)
        with self._writing:
            self._has_ended, self._status = True, last
            for _ in range(_LAST_ATTEMPTS):
                if write_status(self._topic, last):
                    return
                time.sleep(0.05)

    def _watch(self) -> None:
        told_at = time.monotonic()
        while not self._closing.wait(LISTEN_EVERY_SECONDS):
            self._listen()
            if time.monotonic() - told_at >= TELL_EVERY_SECONDS:
                told_at = time.monotonic()
                self._tell_somehow()

    def _tell_somehow(self) -> None:
        """The crawl goes on in another thread, and may change what is being read; a frontier of a
        stranger may not want to be asked here at all. Neither is to end the listening.
        """
        try:
            self._tell()
        except Exception:
            if not self._has_failed:
                _log.exception("How the crawl is could not be told")
            self._has_failed = True

    def _listen(self) -> None:
        wish = read_wish(self._topic, self._status.run) if self._topic is not None else None
        if wish is None or self._wish is not None:
            return
        self._wish = wish
        if self._crawl is not None:
            self._crawl.stop()

    def _tell(self, state: CrawlState | None = None) -> None:
        if self._topic is None:
            return
        with self._writing:
            if not self._has_ended:
                self._status = self._now(state or self._status.state)
                write_status(self._topic, self._status)

    def _now(self, state: CrawlState) -> RunningCrawl:
        now, crawl = time.time(), self._crawl
        notices = tuple(self._notices)
        if crawl is None:
            return msgspec.structs.replace(self._status, updated_at=now, notices=notices)
        if crawl.is_stopping and state is CrawlState.RUNNING:
            state = CrawlState.STOPPING
        stats = self._stats = self._stats_of(crawl)
        progress, before, scores = crawl.progress, crawl.before, tuple(self._scores)
        return msgspec.structs.replace(
            self._status,
            state=state,
            updated_at=now,
            requests=progress.requests,
            requests_of_run=progress.requests - before.requests,
            pages=before.pages + progress.pages,
            pages_of_run=progress.pages,
            finds=before.finds + self._finds,
            finds_of_run=self._finds,
            max_requests=crawl.budget.max_requests,
            max_seconds=crawl.budget.max_seconds,
            share_done=progress.share_done(now),
            seconds_left=progress.seconds_left(now),
            pages_per_second=progress.pages_per_second(now),
            waiting=stats.waiting,
            in_flight=stats.leased,
            hosts_waiting=stats.hosts_waiting,
            hosts_asked=progress.hosts,
            mean_score=sum(scores) / len(scores) if scores else None,
            outcomes=dict(progress.outcomes),
            remark=self._remark(crawl, now),
            latest=tuple(self._pages),
            notices=notices,
            went_wrong=tuple(crawl.failures()),
        )

    def _stats_of(self, crawl: TopicCrawl) -> FrontierStats:
        """What waits; the last that was known, where it cannot be asked for in this thread."""
        try:
            return crawl.stats()
        except Exception:
            return self._stats

    def _remark(self, crawl: TopicCrawl, now: float) -> str:
        if crawl.disk.state:
            return crawl.disk.state
        stats, pages = self._stats, tuple(self._pages)
        is_quiet = not pages or now - pages[0].at > QUIET_SECONDS
        if is_quiet and stats.waiting and not stats.leased and not crawl.is_stopping:
            return "all hosts that have something left are to be left alone for the moment"
        return ""

    def _counted_anew(self, crawl: TopicCrawl) -> int:
        """All finds: some may have left the results meanwhile."""
        try:
            return crawl.results.finds()
        except StorageError:  # that is told elsewhere
            return crawl.before.finds + self._finds


def _with_figures_of(earlier: RunningCrawl | None, starting: RunningCrawl) -> RunningCrawl:
    """Until it has counted itself, a crawl is as large as it was."""
    if earlier is None:
        return starting
    names = ("requests", "pages", "finds", "waiting", "hosts_waiting")
    return msgspec.structs.replace(starting, **{name: getattr(earlier, name) for name in names})
