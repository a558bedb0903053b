"""Pages for sessions that were imported without contents, fetched politely and resumably."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path

import msgspec

from trailhound.config.settings import FetchSettings
from trailhound.crawling.visiting import visit
from trailhound.errors import UNREADABLE
from trailhound.records import FinishedPage, Outcome
from trailhound.sessions.events import Session, Visit
from trailhound.storage.files import explaining
from trailhound.text.encoding import decode
from trailhound.urls import canonicalize

Progress = Callable[[int, int], None]
"""Called with the pages asked for so far, and all of them."""


NO_ANSWER = "no-answer"


class FetchedPage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of asking for one page."""

    url: str
    """Canonical, as it was asked for."""
    outcome: Outcome
    final_url: str = ""
    html: str | None = None


class FetchedPages:
    """A sink that keeps pages in a file beside the topic's sessions until they are in these.

    Each page is on disk when it has come, so that an interrupted import goes on where it was.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.pages: dict[str, FetchedPage] = {}
        self.unanswered = 0
        """Pages that were asked for, and nothing came of it."""
        if path.exists():
            with explaining(path):
                lines = path.read_bytes().splitlines()
            for line in lines:
                # A line may be torn: the import was interrupted.
                with contextlib.suppress(*UNREADABLE):
                    page = msgspec.json.decode(line, type=FetchedPage)
                    self.pages[page.url] = page

    def keep(self, finished: FinishedPage) -> None:
        """Keep what came of one request."""
        result, html = finished.result, None
        if result.outcome is Outcome.FETCHED:
            html = decode(result.body, result.content_type).text
        final_url = result.final_url if html is not None else ""
        page = FetchedPage(result.url, result.outcome, final_url, html)
        self.pages[page.url] = page
        with explaining(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                # A line end first: the line before may be torn.
                file.write(b"\n" + msgspec.json.encode(page))

    def close(self) -> None:
        """Nothing is open between two pages."""

    def outcomes(self) -> Counter[str]:
        """How many pages ended how."""
        ended = Counter(page.outcome.value for page in self.pages.values())
        return ended + Counter({NO_ANSWER: self.unanswered})

    def fill(self, sessions: Iterable[Session]) -> Iterator[Session]:
        """Sessions with these pages in them, each page once: at its first visit of all."""
        left = {url: page for url, page in self.pages.items() if page.html is not None}
        for session in sessions:
            events = tuple(
                _filled(event, left) if isinstance(event, Visit) else event
                for event in session.events
            )
            yield msgspec.structs.replace(session, events=events)

    def discard(self) -> None:
        """The pages are where they belong; the file is no longer needed."""
        with explaining(self._path):
            self._path.unlink(missing_ok=True)


def _filled(visit: Visit, left: dict[str, FetchedPage]) -> Visit:
    page = left.pop(canonicalize(visit.url) or "", None) if visit.html is None else None
    if page is None:
        return visit
    if page.final_url == page.url:
        return msgspec.structs.replace(visit, html=page.html)
    # Relative links count from where the page is now.
    requested = visit.requested_url or visit.url
    return msgspec.structs.replace(
        visit, url=page.final_url, requested_url=requested, html=page.html
    )


def pages_wanted(sessions: Iterable[Session]) -> list[str]:
    """Canonical URLs of the pages without contents, the most visited first."""
    visits: Counter[str] = Counter()
    have = set()
    for session in sessions:
        for event in session.events:
            if isinstance(event, Visit) and (url := canonicalize(event.url)) is not None:
                visits[url] += 1
                if event.html:
                    have.add(url)
    return [url for url, _ in visits.most_common() if url not in have]


def fetch_missing(
    sessions: Iterable[Session],
    store: FetchedPages,
    settings: FetchSettings,
    most: int,
    progress: Progress,
) -> int:
    """Ask for so many pages without contents, at most; how many more there are."""
    wanted = pages_wanted(sessions)
    asyncio.run(fetch_pages(wanted[:most], settings, store, progress))
    # A host that does not answer is given up before its pages have ended in any way.
    store.unanswered = sum(url not in store.pages for url in wanted[:most])
    return max(0, len(wanted) - most)


async def fetch_pages(
    urls: Sequence[str], settings: FetchSettings, store: FetchedPages, progress: Progress
) -> None:
    """Ask for every page that ``store`` does not have, each host politely."""
    wanted = [url for url in urls if url not in store.pages]
    done = count(len(urls) - len(wanted))
    progress(next(done), len(urls))
    if wanted:
        await visit(wanted, settings, store, told=lambda _: progress(next(done), len(urls)))
