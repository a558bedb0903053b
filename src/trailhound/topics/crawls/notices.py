"""What a person is told of a run, in words; the log of the crawl keeps the same sentences.

What happens while it is prepared and runs, seed by seed where one fails, and what went wrong in all
in a table at its end.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from trailhound.counting import counted
from trailhound.crawling.answers import Troubles
from trailhound.errors import StorageError
from trailhound.fetching.base import Hampered
from trailhound.records import Candidate, FetchResult, Outcome, PageEvent
from trailhound.storage.event_log import EventLog, ProblemHandler
from trailhound.urls import host_key

if TYPE_CHECKING:
    from trailhound.crawling.progress import CrawlProgress

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
        # Here and not above: whoever only looks at a crawl need not load NumPy.
        from trailhound.crawling.progress import BARREN_PAGES

        last, self._barren = self._barren, pages
        if pages > last and pages % BARREN_PAGES == 0:
            self.tell(
                f"{counted(pages, 'page')} without a relevant one. Seeds nearer to the topic, a "
                "wider scope, or a session with more useful pages would help; Ctrl-C stops."
            )


ENDS = {
    Outcome.NOT_FOUND: "there is no such page",
    Outcome.CLIENT_ERROR: "the server refused the request",
    Outcome.SERVER_ERROR: "the server failed, or its answer made no sense",
    Outcome.NOT_HTML: "it is no page, nor a document that is read",
    Outcome.TOO_LARGE: "it is larger than max_bytes",
    Outcome.TIMEOUT: "the server took too long",
    Outcome.UNREACHABLE: "the server could not be reached",
    Outcome.UNKNOWN_HOST: "DNS knows no such host",
    Outcome.ROBOTS: "the robots.txt of its site does not allow it",
    Outcome.TOO_MANY_REDIRECTS: "it redirects without end",
    Outcome.OUT_OF_SCOPE: "it redirects to where the crawl may not go",
    Outcome.DUPLICATE: "it leads to a page that had been fetched before",
    Outcome.NOT_MODIFIED: "it had not changed since it was fetched",
    Outcome.ADDRESS_REFUSED: "its host is at an address that is not public (see --allow-address)",
    Outcome.LOGIN_WANTED: "it asks to log in (see --cookies and --for-host)",
    Outcome.BUSY: "the server was busy, again and again",
    Outcome.POSTPONED: "it redirects to an address that waits for its own turn",
    Outcome.BROKEN: "a part of the crawl failed on it",
    Outcome.UNREADABLE: "it is a document that cannot be read",
    Outcome.TOO_COSTLY: "it takes too long, or too much memory, to analyse",
    Outcome.SKIPPED: "a rule of the crawl's own kept it away",
}
"""Outcomes other than ``FETCHED`` in words, about a page."""

_ONCE_MORE = "it came, and is to be asked for once more"
NOTHING_WRONG = frozenset([Outcome.FETCHED, Outcome.DUPLICATE, Outcome.NOT_MODIFIED])
MAX_SEEDS_TOLD = 10
"""Seeds whose failures are told one by one; a list of thousands may have died together."""


class Failure(msgspec.Struct, frozen=True):
    """One way in which things went wrong."""

    what: str
    times: int
    example: str
    """The first: where, and why."""
    outcome: str | None = None
    """Of the pages that it is about; ``None`` when a host or a plug-in is to blame."""


def failures_of(
    progress: CrawlProgress, hosts_in_trouble: Mapping[str, str], troubles: Troubles
) -> list[Failure]:
    """All there were in a run, with pages first and the most frequent of them on top.

    ``hosts_in_trouble`` have URLs that wait for another attempt; each comes with the reason.
    """
    hosts = _hosts_put_off(hosts_in_trouble)
    return [*_lost_pages(progress), *hosts, *_broken_plugins(troubles)]


def _lost_pages(progress: CrawlProgress) -> Iterator[Failure]:
    for name, times in progress.outcomes.most_common():
        outcome = Outcome(name)
        if outcome is Outcome.POSTPONED and progress.outcomes[Outcome.FETCHED]:
            continue  # nothing is lost: where it leads to waits
        if outcome not in NOTHING_WRONG:
            yield Failure(ENDS[outcome], times, progress.examples[name], name)


def _hosts_put_off(hosts: Mapping[str, str]) -> Iterator[Failure]:
    for host, why in list(hosts.items())[:1]:
        yield Failure("the host is to be asked again later", len(hosts), f"{host}: {why}")


def _broken_plugins(troubles: Troubles) -> Iterator[Failure]:
    for who, times in troubles.counts.items():
        yield Failure(f"{who} failed", times, troubles.first[who])


def why_put_off(result: FetchResult) -> str | None:
    """Why a URL waits for another attempt; that its host was to be spared is no failure."""
    is_spared = result.outcome is Outcome.POSTPONED
    return None if is_spared else result.detail or ENDS.get(result.outcome, _ONCE_MORE)


class SeedWatch:
    """Tells at once why a seed came to nothing, once for each seed."""

    def __init__(self, seeds: Iterable[str], tell: Callable[[str], None]) -> None:
        self._seeds = set(seeds)
        self._tell = tell
        self._left = MAX_SEEDS_TOLD

    def ended(self, event: PageEvent) -> None:
        """A page has been dealt with. What a part of the crawl failed on is told of elsewhere."""
        if event.outcome in NOTHING_WRONG or event.outcome is Outcome.BROKEN:
            return
        why = event.why or ENDS[event.outcome]
        self._note(event.url, f"was not fetched: {why}.{_advice(event.outcome, event.final_url)}")

    def put_off(self, candidate: Candidate, result: FetchResult) -> None:
        """A URL waits for another attempt."""
        why, seconds = why_put_off(result), result.retry_after_seconds or 0.0
        if why is not None:
            told = f"cannot be fetched now: {why}. It may be asked for again in {seconds:.0f} s."
            self._note(candidate.url, told)

    def _note(self, url: str, what: str) -> None:
        if url not in self._seeds or not self._left:
            return
        self._seeds.remove(url)
        self._left -= 1
        more = "" if self._left else " Further seeds that fail are counted at the end."
        self._tell(f"The seed {url} {what}{more}")


def _advice(outcome: Outcome, url: str) -> str:
    if outcome is Outcome.ADDRESS_REFUSED:
        return f" If it is meant to be visited, add --allow-address {urlsplit(url).hostname}."
    if outcome is Outcome.UNKNOWN_HOST:
        return " Check how it is spelled; --resolve tells where a host is."
    return ""
