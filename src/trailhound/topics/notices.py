"""What a person is told while a crawl is prepared and runs; its log keeps the same sentences."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from trailhound.counting import counted
from trailhound.crawling.progress import BARREN_PAGES, CrawlProgress
from trailhound.errors import StorageError
from trailhound.fetching.base import Hampered
from trailhound.records import Outcome, PageEvent
from trailhound.storage.event_log import EventLog, ProblemHandler
from trailhound.urls import host_key

FIRST_NOTICE_SECONDS = 2.0
NOTICE_EVERY_SECONDS = 10.0
MAX_HOSTS_TOLD = 10

Notify = Callable[[str], None]
"""Told what a person should know, a sentence or two at a time."""


class Progress:
    """Tells how far something is when it takes long, and then not too often."""

    def __init__(self, notify: Notify, clock: Callable[[], float] = time.monotonic) -> None:
        self._notify = notify
        self._clock = clock
        self._next = clock() + FIRST_NOTICE_SECONDS

    def tell(self, message: str) -> None:
        """Pass on a message if it is time for one."""
        now = self._clock()
        if now >= self._next:
            self._next = now + NOTICE_EVERY_SECONDS
            self._notify(message)


class CrawlNotices:
    """Tells a person, and from the moment a run begins its log as well."""

    def __init__(self, notify: Notify) -> None:
        self._notify = notify
        self._file: EventLog | None = None
        self._barren = 0
        self._trouble = ""
        self._closed: set[str] = set()
        """Hosts of which it was told that they ask to log in."""

    @contextmanager
    def logged(self, file: EventLog | None) -> Iterator[None]:
        """Within it, ``file`` gets every notice.

        Our own errors and warnings go there, too, and not between the lines of the display.
        """
        self._file = file
        if file is None:
            yield
            return
        logger, handler = logging.getLogger("trailhound"), ProblemHandler(file)
        logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)

    def log(self, event: str, **details: object) -> None:
        """For the log alone."""
        if self._file is not None:
            self._file.note(event, **details)

    def tell(self, message: str) -> None:
        """What a person should know."""
        self.log("notice", message=message)
        self._notify(message)

    def tell_trouble(self, message: str) -> None:
        """The same about a failure, which may be a disk that is full: the crawl ends by that."""
        with suppress(StorageError):
            self.tell(message)

    def tell_lost_page(self, event: PageEvent, progress: CrawlProgress) -> None:
        """The first page that is lost to an error of ours, the tenth, the hundredth, …"""
        lost = progress.outcomes[Outcome.BROKEN]
        if event.outcome is not Outcome.BROKEN or lost not in (1, 10, 100, 1_000, 10_000):
            return
        count = f"{lost} of {progress.pages} pages" if lost > 1 else "The first page"
        details = f"; the details are in {self._file.path}" if self._file is not None else ""
        self.tell(
            f"{count} could not be dealt with. {event.final_url}: {event.why}. Such pages are "
            f"lost to the crawl, which goes on{details}."
        )

    def tell_login(self, event: PageEvent) -> None:
        """A page asks to log in: told once for each host, of ten at most."""
        if event.outcome is not Outcome.LOGIN_WANTED or len(self._closed) >= MAX_HOSTS_TOLD:
            return
        host = host_key(event.final_url)
        if host not in self._closed:
            self._closed.add(host)
            self.tell(f"{event.final_url}: {event.why}.")

    def tell_fetcher(self, fetcher: object) -> None:
        """What the fetcher cannot do, once."""
        trouble = fetcher.trouble if isinstance(fetcher, Hampered) else ""
        if trouble and trouble != self._trouble:
            self._trouble = trouble
            self.tell(trouble)

    def tell_barren(self, pages: int) -> None:
        """So many pages have passed without a relevant one; said now and then."""
        last, self._barren = self._barren, pages
        if pages > last and pages % BARREN_PAGES == 0:
            self.tell(
                f"{counted(pages, 'page')} without a relevant one. Seeds nearer to the topic, a "
                "wider scope, or a session with more useful pages would help; Ctrl-C stops."
            )
