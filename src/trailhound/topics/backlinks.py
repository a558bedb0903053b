"""Who links to a page, for a live crawl: opened as ``[sources] backlinks`` says.

``crawl`` is the link graph of the topic's own crawls, a path is a file of edges, and an address
with ``{url}`` in it is an endpoint. What was answered and fetched once is kept in the topic's
folder: a resumed crawl asks nothing again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trailhound.config.settings import Settings
from trailhound.counting import counted
from trailhound.crawling.scope import scope_of
from trailhound.errors import SourceError
from trailhound.records import Page
from trailhound.sources import BacklinkSource, Sources
from trailhound.sources.crawled_links import ArchivedLinks
from trailhound.sources.edge_list import EdgeList
from trailhound.sources.kept_answers import KeptAnswers
from trailhound.topics.crawl_folder import CRAWL_LINKS, KEPT_BACKLINKS, CrawlFolder
from trailhound.topics.notices import Notify, Progress
from trailhound.topics.polite_pages import PolitePages
from trailhound.urls import strip_tracking

if TYPE_CHECKING:
    from trailhound.sources.backlink_endpoint import HttpBacklinks

OWN_CRAWLS = "crawl"
MAX_CLAIMS = 100_000
"""Pages whose claimed links are remembered; a long crawl asks about every find."""
MIN_CLAIMS = 10
"""Pages to look at before a source is called a liar."""


def open_backlinks(
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
