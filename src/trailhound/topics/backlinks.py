"""Who links to a page, for a live crawl: opened as ``[sources] backlinks`` says.

``crawl`` is the link graph of the topic's own crawls, a path is a file of edges, and an address
with ``{url}`` in it is an endpoint. What was answered and fetched once is kept in the topic's
folder: a resumed crawl asks nothing again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from trailhound.config.settings import Settings
from trailhound.counting import counted
from trailhound.crawling.scope import scope_of
from trailhound.errors import SourceError
from trailhound.records import Page
from trailhound.sources import BacklinkSource
from trailhound.sources.backlink_endpoint import HttpBacklinks
from trailhound.sources.crawled_links import ArchivedLinks
from trailhound.sources.edge_list import EdgeList
from trailhound.sources.kept_answers import KeptAnswers
from trailhound.text.extract import extract_page
from trailhound.topics.crawl_folder import CRAWL_LINKS, KEPT_BACKLINKS, CrawlFolder
from trailhound.topics.page_fetching import FetchedPage, fetch_pages
from trailhound.topics.sources import Notify
from trailhound.urls import strip_tracking

OWN_CRAWLS = "crawl"
FIRST_NOTICE_SECONDS = 2.0
NOTICE_EVERY_SECONDS = 10.0
MAX_CLAIMS = 100_000
"""Pages whose claimed links are remembered; a long crawl asks about every find."""
MIN_CLAIMS = 10
"""Pages to look at before a source is called a liar."""


def open_backlinks(folder: CrawlFolder, settings: Settings, notify: Notify) -> BacklinkSource:
    """The source that the settings name; UsageError when it can be none."""
    name, topic = settings.sources.backlinks, folder.topic.path
    if name == OWN_CRAWLS:
        return _own_crawls(topic, notify)
    kept = KeptAnswers(topic / KEPT_BACKLINKS, name)
    pages = PolitePages(kept, settings, notify)
    if name.startswith(("http://", "https://")):
        endpoint = HttpBacklinks(name, user_agent=settings.fetch.user_agent or "trailhound")
        return LiveBacklinks(_KeptSource(endpoint, kept), pages, notify, is_far=True)
    return LiveBacklinks(_edge_list(Path(name), topic, notify), pages, notify)


def _own_crawls(topic: Path, notify: Notify) -> ArchivedLinks:
    progress = _Progress(notify)
    links = ArchivedLinks(
        topic / CRAWL_LINKS,
        sorted(topic.glob("crawl*/archive")),
        lambda done: progress.tell(f"{counted(done, 'archived page')} read."),
    )
    if not len(links):
        notify(
            "The topic's crawls have archived no page yet, so that --backlinks crawl knows of no "
            "link. It does when a crawl has run."
        )
    return links


def _edge_list(path: Path, topic: Path, notify: Notify) -> EdgeList:
    progress = _Progress(notify)
    edges = EdgeList.open(
        path, topic, lambda done: progress.tell(f"{counted(done, 'line')} of {path.name} read.")
    )
    if edges.damaged:
        notify(
            f"Of {counted(edges.lines, 'line')} of {path}, {edges.damaged:,} held no edge (left "
            f"out; the first at line {edges.first_damaged:,})."
        )
    return edges


class _Answering(Protocol):
    def linking_to(self, url: str) -> Sequence[str]: ...


class _KeptSource:
    """Asks an endpoint what it has not been asked before."""

    def __init__(self, source: HttpBacklinks, kept: KeptAnswers) -> None:
        self._source = source
        self._kept = kept

    def linking_to(self, url: str) -> Sequence[str]:
        answer = self._kept.answer(url)
        if answer is None:
            answer = self._source.linking_to(url)
            self._kept.keep_answer(url, answer)
        return answer


class LiveBacklinks:
    """Answers from a source, pages from the web. Pages that do not link as was said are dropped.

    ``is_far`` says that an answer may take its time.
    """

    def __init__(
        self, source: _Answering, pages: PolitePages, notify: Notify, *, is_far: bool = False
    ) -> None:
        self.is_far = is_far
        self._source = source
        self._pages = pages
        self._notify = notify
        self._is_leaving = False
        self._has_failed = False
        self._claims: dict[str, set[str]] = {}
        self._looked_at = 0
        self._false = 0

    def linking_to(self, url: str) -> Sequence[str]:
        """What the source says; a failure is told to the user once."""
        if self._is_leaving:
            return ()
        try:
            found = self._source.linking_to(url)
        except SourceError as error:
            if not self._has_failed:
                self._notify(str(error))
            self._has_failed = True
            raise
        if len(self._claims) > MAX_CLAIMS:
            self._claims.clear()  # pages are looked at soon after they were named
        for source in found:
            self._claims.setdefault(source, set()).add(_loose(url))
        return found

    def crawl_begins(self) -> None:
        """No page is fetched from now on but by the crawl itself."""
        self._pages.is_closed = True

    def leave(self) -> None:
        """Ask nothing more: the crawl is to end. May be called from a signal handler."""
        self._is_leaving = True

    def expect(self, urls: Sequence[str]) -> None:
        """Have pages fetched, unless the crawl has begun: it must not be held up."""
        self._pages.fetch(urls)

    def page(self, url: str) -> Page | None:
        """The page behind an address, if it can be had and links to what it was said to."""
        page = self._pages.page(url)
        claims = self._claims.get(url)
        if page is None or claims is None:
            return page
        is_true = any(_loose(link.url) in claims for link in page.links)
        self._count(is_true)
        return page if is_true else None

    def _count(self, is_true: bool) -> None:
        self._looked_at += 1
        self._false += not is_true
        if self._looked_at >= MIN_CLAIMS and self._false > self._looked_at / 2:
            self._notify(
                f"{self._false} of {self._looked_at} pages do not link to what the source of "
                "backlinks says they do; such pages are left out."
            )
            self._looked_at = -1_000_000_000  # said once


def _loose(url: str) -> str:
    """Addresses that lead to one page, whatever the scheme and such."""
    return strip_tracking(url).partition("://")[2].removeprefix("www.").rstrip("/")


class PolitePages:
    """Pages of the web that are fetched before a crawl begins, politely, and kept."""

    def __init__(self, kept: KeptAnswers, settings: Settings, notify: Notify) -> None:
        self._kept = kept
        self._settings = settings
        self._notify = notify
        self._in_scope = scope_of(settings, settings.crawl.seeds)
        self.is_closed = False
        """Whether a crawl runs, which keeps to its hosts' delays alone."""

    def page(self, url: str) -> Page | None:
        """A page that was fetched, now or earlier."""
        if not self._kept.has_page(url):
            self.fetch([url])
        return self._kept.page(url)

    def fetch(self, urls: Sequence[str]) -> None:
        """Ask for all pages that are not kept; those outside the crawl's scope are left alone."""
        wanted = [url for url in dict.fromkeys(urls) if self._is_wanted(url)]
        if not wanted or self.is_closed:
            return
        asyncio.run(self._fetch(wanted))
        # The crawl, or the next layer, may begin with a host that has just been asked.
        time.sleep(self._settings.fetch.delay_seconds)

    def _is_wanted(self, url: str) -> bool:
        return (self._in_scope is None or self._in_scope(url)) and not self._kept.has_page(url)

    async def _fetch(self, wanted: Sequence[str]) -> None:
        progress = _Progress(self._notify)

        def tell(done: int, total: int) -> None:
            progress.tell(f"Pages that lead to the targets: {done:,} of {total:,} fetched.")

        await fetch_pages(wanted, self._settings.fetch, self, tell, self._in_scope)

    @property
    def pages(self) -> frozenset[str]:
        """Nothing: what is kept was not asked for."""
        return frozenset()

    def add(self, page: FetchedPage) -> None:
        """Keep what came of one request."""
        extracted = None
        if page.html is not None:
            body = page.html.encode("utf-8", "replace")
            extracted = extract_page(body, page.final_url, "text/html; charset=utf-8")
        self._kept.keep_page(page.url, extracted)


class _Progress:
    """Tells how far something is when it takes long, and then not too often."""

    def __init__(self, notify: Notify, clock: Callable[[], float] = time.monotonic) -> None:
        self._notify = notify
        self._clock = clock
        self._next = clock() + FIRST_NOTICE_SECONDS

    def tell(self, message: str) -> None:
        now = self._clock()
        if now >= self._next:
            self._next = now + NOTICE_EVERY_SECONDS
            self._notify(message)
