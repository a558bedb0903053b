"""The sources that a crawl's settings name: who links to a page, what people visited, a search.

Backlinks are ``crawl``, the link graph of the topic's own crawls, a path to a file of edges, or an
address with ``{url}`` in it, an endpoint. What was answered and fetched once is kept in the topic's
folder: a resumed crawl asks nothing again. Pages that sources speak of are fetched before a crawl
begins: politely, and each once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from trailhound.config.settings import FetchSettings, Settings
from trailhound.counting import counted
from trailhound.crawling.scope import Scope, scope_of
from trailhound.errors import SourceError, UsageError
from trailhound.fetching.polite_settings import polite_settings
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import FinishedPage, Outcome, Page, PageEvent
from trailhound.sessions.shown_pages import page_from_source
from trailhound.sources import BacklinkSource, SearchSource, Sources
from trailhound.sources.edge_list import EdgeList
from trailhound.sources.kept_links import ArchivedLinks, KeptAnswers
from trailhound.sources.page_search import ArchivedPagesSearch, KeptPagesSearch
from trailhound.text.extract import extract_page
from trailhound.topics.crawls.folder import CRAWL_LINKS, KEPT_BACKLINKS, CrawlFolder
from trailhound.topics.crawls.marking import archived_sources
from trailhound.topics.crawls.notices import Notify, Progress
from trailhound.topics.runs.traces import open_trace
from trailhound.urls import strip_tracking

if TYPE_CHECKING:
    from trailhound.sources.backlink_endpoint import HttpBacklinks


class PagesInMemory:
    """Remembers pages as long as it lives, as :class:`KeptAnswers` does on disk."""

    def __init__(self) -> None:
        self._pages: dict[str, Page | None] = {}
        self.has_page = self._pages.__contains__
        self.page = self._pages.get
        self.keep_page = self._pages.__setitem__

    def close(self) -> None:
        """There is no file."""


class PolitePages:
    """Fetches by the rules of a crawl: robots.txt, delays, allowed addresses, scope.

    What was ``kept`` is not asked for again, had or not. ``kind`` names the pages in what is told
    when they take long.
    """

    def __init__(
        self,
        kept: KeptAnswers | PagesInMemory,
        settings: FetchSettings,
        notify: Notify,
        *,
        kind: str,
        in_scope: Scope | None = None,
    ) -> None:
        self._kept = kept
        self._settings = settings
        self._notify = notify
        self._kind = kind
        self._in_scope = in_scope
        self._asked = MemoryFrontier()
        self.pages_read = 0
        """Pages that were asked for."""
        self.is_closed = False
        """Whether a crawl runs, which keeps to its hosts' delays alone."""

    async def page(self, url: str) -> Page | None:
        """A page that was fetched, now or earlier."""
        await self.expect([url])
        return self._kept.page(url)

    async def expect(self, urls: Sequence[str]) -> None:
        """Ask for all pages that are not kept; those outside the crawl's scope are left alone."""
        wanted = [url for url in dict.fromkeys(urls) if self._is_wanted(url)]
        if not wanted or self.is_closed:
            return
        progress, done = Progress(self._notify), count(1)

        def tell(_: PageEvent) -> None:
            progress.tell(f"{self._kind}: {next(done):,} of {len(wanted):,} fetched.")

        # Here and not above: commands that fetch nothing need not load HTTP, which takes 0.2 s.
        from trailhound.crawling.visiting import visit

        await visit(
            wanted, self._settings, self, in_scope=self._in_scope, told=tell, frontier=self._asked
        )
        # The crawl may begin with a host that has just been asked.
        await asyncio.sleep(polite_settings(self._settings).delay_seconds)

    def resting(self) -> dict[str, float]:
        """When the hosts that were asked may be asked again, in seconds since 1970."""
        return self._asked.resting()

    def close(self) -> None:
        """Let the file go in which pages are kept."""
        self._kept.close()

    def _is_wanted(self, url: str) -> bool:
        return (self._in_scope is None or self._in_scope(url)) and not self._kept.has_page(url)

    def keep(self, finished: FinishedPage) -> None:
        """Take in what came of one request."""
        self.pages_read += 1
        result, page = finished.result, None
        if result.outcome is Outcome.FETCHED:
            page = extract_page(result.body, result.final_url, result.content_type)
        self._kept.keep_page(result.url, page)


OWN_CRAWLS = "crawl"
MAX_CLAIMS = 100_000
"""Pages whose claimed links are remembered; a long crawl asks about every find."""
MIN_CLAIMS = 10
"""Pages to look at before a source is called a liar."""


def _open_backlinks(
    folder: CrawlFolder,
    settings: Settings,
    notify: Notify,
    before_asking: Callable[[], None] = lambda: None,
) -> BacklinkSource:
    """The source that the settings name; UsageError when it can be none."""
    name, topic = settings.sources.backlinks, folder.topic.path
    if name == OWN_CRAWLS:
        return _own_crawls(folder, notify)
    kept = KeptAnswers(topic / KEPT_BACKLINKS, name)
    pages = PolitePages(
        kept,
        settings.fetch,
        notify,
        kind="Pages that lead to the targets",
        in_scope=scope_of(settings, settings.crawl.seeds),
    )
    if not name.startswith(("http://", "https://")):
        return LiveBacklinks(_edge_list(Path(name), topic, notify), pages, notify)
    # Here and not above: commands that fetch nothing need not load HTTP, which takes 0.2 s.
    from trailhound.fetching.resolver import mapped_resolver
    from trailhound.sources.backlink_endpoint import HttpBacklinks

    endpoint = HttpBacklinks(
        name,
        settings.fetch.user_agent,
        resolver=mapped_resolver(settings.fetch.resolve),
        before_asking=before_asking,
    )
    return LiveBacklinks(_KeptSource(endpoint, kept), pages, notify)


def _own_crawls(folder: CrawlFolder, notify: Notify) -> ArchivedLinks:
    progress = Progress(notify)
    links = ArchivedLinks(
        folder.topic.path / CRAWL_LINKS,
        folder.archives(),
        lambda done: progress.tell(f"{counted(done, 'archived page')} read."),
    )
    if not len(links):
        notify(
            "The topic's crawls have archived no page yet, so that --backlinks crawl knows of no "
            "link. It does when a crawl has run."
        )
    return links


def _edge_list(path: Path, topic: Path, notify: Notify) -> EdgeList:
    progress = Progress(notify)
    edges = EdgeList.open(
        path, topic, lambda done: progress.tell(f"{counted(done, 'line')} of {path.name} read.")
    )
    if edges.damaged:
        notify(
            f"Of {counted(edges.lines, 'line')} of {path}, {edges.damaged:,} held no edge (left "
            f"out; the first at line {edges.first_damaged:,})."
        )
    return edges


class _KeptSource:
    """Asks an endpoint what it has not been asked before."""

    def __init__(self, source: HttpBacklinks, kept: KeptAnswers) -> None:
        self._source = source
        self._kept = kept

    @property
    def queries(self) -> int:
        return self._source.queries

    def close(self) -> None:
        self._kept.close()

    async def linking_to(self, url: str) -> Sequence[str]:
        answer = self._kept.answer(url)
        if answer is None:
            answer = await self._source.linking_to(url)
            self._kept.keep_answer(url, answer)
        return answer


class LiveBacklinks:
    """Answers from a source, pages from the web. Pages that do not link as was said are dropped."""

    def __init__(self, source: EdgeList | _KeptSource, pages: PolitePages, notify: Notify) -> None:
        self._source = source
        self._pages = pages
        self._notify = notify
        self._is_leaving = False
        self._has_failed = False
        self._claims: dict[str, set[str]] = {}
        self._looked_at = 0
        self._false = 0

    @property
    def queries(self) -> int:
        """Questions over the network; a file on this machine costs nothing."""
        return int(getattr(self._source, "queries", 0))

    @property
    def pages_read(self) -> int:
        """Pages that were fetched to learn from."""
        return self._pages.pages_read

    async def linking_to(self, url: str) -> Sequence[str]:
        """What the source says; a failure is told to the user once."""
        if self._is_leaving:
            return ()
        try:
            found = await self._source.linking_to(url)
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

    def resting(self) -> dict[str, float]:
        """When hosts whose pages were fetched may be asked again, in seconds since 1970."""
        return self._pages.resting()

    def leave(self) -> None:
        """Ask nothing more: the crawl is to end. May be called from a signal handler."""
        self._is_leaving = True

    def close(self) -> None:
        """Let the files go."""
        self._source.close()
        self._pages.close()

    async def expect(self, urls: Sequence[str]) -> None:
        """Have pages fetched, unless the crawl has begun: it alone knows its hosts' delays."""
        await self._pages.expect(urls)

    async def page(self, url: str) -> Page | None:
        """The page behind an address, if it can be had and links to what it was said to."""
        page = await self._pages.page(url)
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


def asked_on_the_way(sources: Sources) -> LiveBacklinks | None:
    """The backlinks that a crawl asks while it runs, if it does; no page is read from now on."""
    if not sources.looked_at("backlinks") or not isinstance(sources.backlinks, LiveBacklinks):
        return None
    sources.backlinks.crawl_begins()
    return sources.backlinks


def _loose(url: str) -> str:
    """Addresses that lead to one page, whatever the scheme and such."""
    return strip_tracking(url).partition("://")[2].removeprefix("www.").rstrip("/")


OWN_PAGES = "crawl"
"""Names the search over what the crawl has kept."""


def open_sources(folder: CrawlFolder, settings: Settings, notify: Notify) -> Sources:
    """What ``[sources]`` names, each opened when it is first wanted."""
    named = settings.sources

    def before_asking() -> None:
        sources.before_asking()

    sources = Sources(
        backlinks=lambda: (
            _open_backlinks(folder, settings, notify, before_asking) if named.backlinks else None
        ),
        trace=lambda: open_trace(named.trace, folder, settings, notify) if named.trace else None,
        search=lambda: (
            open_search(folder, settings, notify, before_asking) if named.search else None
        ),
    )
    return sources


def tell_unused(
    sources: Sources, settings: Settings, notify: Notify, needed: Collection[str] = ()
) -> None:
    """Say which sources the settings name and the strategy has not looked at.

    ``needed`` are those that somebody else asks.
    """
    for name in ("backlinks", "trace", "search"):
        is_named = bool(getattr(settings.sources, name))
        if is_named and not sources.looked_at(name) and name not in needed:
            notify(
                f"The strategy '{settings.crawl.strategy}' does not use --{name}, so it is not "
                "asked. trailhound strategies shows what each one can do with a source."
            )


def open_search(
    folder: CrawlFolder,
    settings: Settings,
    notify: Notify,
    before_asking: Callable[[], None] = lambda: None,
) -> SearchSource:
    """What ``--search NAME`` means; UsageError when it means nothing."""
    name = settings.sources.search
    if name == OWN_PAGES:
        return KeptPagesSearch(folder.results, lambda url: _archived_page(folder.archive, url))
    if name.startswith(("http://", "https://")):
        return _endpoint(settings, notify, before_asking)
    if Path(name).exists():
        return ArchivedPagesSearch(Path(name))
    raise UsageError(
        f"'{name}' is no search. Give an address with {{query}} in it "
        "('http://localhost:8888/search?q={query}&format=json'), a WARC or WACZ file or a folder "
        "of them, or 'crawl' for the pages that the topic's crawl has kept."
    )


def _endpoint(
    settings: Settings, notify: Notify, before_asking: Callable[[], None]
) -> SearchSource:
    # Here and not above: commands that fetch nothing need not load HTTP, which takes 0.2 s.
    from trailhound.fetching.resolver import mapped_resolver
    from trailhound.sources.search_endpoint import HttpSearch

    fetch = settings.fetch
    return HttpSearch(
        settings.sources.search,
        fetch.user_agent,
        timeout_seconds=fetch.timeout_seconds,
        pause_seconds=polite_settings(fetch).delay_seconds,
        resolver=mapped_resolver(fetch.resolve),
        pages=PolitePages(PagesInMemory(), fetch, notify, kind="Pages that the search names"),
        before_asking=before_asking,
    )


def _archived_page(archive: Path, url: str) -> Page | None:
    source = archived_sources(archive, {url}).get(url)
    return None if source is None else page_from_source(source, url)
