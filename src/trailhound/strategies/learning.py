"""What strategies that learn on the way share: a session told as a crawl, and when to rank anew."""

from __future__ import annotations

from collections.abc import Iterator

from trailhound.records import Candidate, CrawledPage, Page, Relevance
from trailhound.sessions.page_graph import PageGraph


def session_as_crawl(graph: PageGraph) -> Iterator[CrawledPage]:
    """The pages in the order of their visits; the targets were the relevant ones.

    Pages of which an import knows only the address were not read: they say nothing about what is
    relevant, and may well be worth a fetch. A mark does say something.
    """
    for number, page in enumerate(graph.pages):
        relevant = number in graph.targets
        if relevant or was_read(page):
            yield CrawledPage(page, Relevance(float(relevant), relevant), Candidate(page.url, 0.0))


def was_read(page: Page) -> bool:
    """Whether more than the address is known of a page of a session."""
    return bool(page.text or page.terms or page.links)


CANDIDATES_PER_PAGE = 100
"""Waiting candidates that may be looked at again for each fetched page: about a millisecond."""


class RescorePace:
    """Often at first, when much is learned from each page; then every ``interval`` pages.

    Large frontiers are looked at less often, so that the cost for each fetched page stays the
    same however many candidates wait; unless it is not ``bounded``.
    """

    def __init__(self, interval: int, first: int, *, bounded: bool = True) -> None:
        self._bounded = bounded
        self._interval = interval
        self._first = first
        self.pages = 0
        """Pages fetched so far."""
        self._last = 0

    def page_done(self) -> None:
        """Count a page."""
        self.pages += 1

    def is_due(self, waiting: int) -> bool:
        """Whether it is time, with so many candidates waiting; if so, the next turn is later."""
        rest = waiting // CANDIDATES_PER_PAGE if self._bounded else 0
        pause = max(self._first, min(self._interval, self._last), rest)
        if self.pages - self._last < pause:
            return False
        self._last = self.pages
        return True

    def go_on_from(self, pages: int) -> None:
        """A crawl is resumed after so many pages."""
        self.pages = self._last = pages
