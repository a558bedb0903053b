"""When a learning strategy should look at all waiting candidates again."""

from __future__ import annotations

CANDIDATES_PER_PAGE = 100
"""Waiting candidates that may be looked at again for each fetched page: about a millisecond."""


class RescorePace:
    """Often at first, when much is learned from each page; then every ``interval`` pages.

    Large frontiers are looked at less often, so that the cost for each fetched page stays the
    same however many candidates wait.
    """

    def __init__(self, interval: int, first: int) -> None:
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
        pause = max(self._first, min(self._interval, self._last), waiting // CANDIDATES_PER_PAGE)
        if self.pages - self._last < pause:
            return False
        self._last = self.pages
        return True

    def go_on_from(self, pages: int) -> None:
        """A crawl is resumed after so many pages."""
        self.pages = self._last = pages
