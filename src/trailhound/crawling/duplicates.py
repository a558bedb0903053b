"""Pages that say what an earlier page says, so that mirrors do not count twice."""

from __future__ import annotations

from collections.abc import Iterable

from trailhound.records import Page
from trailhound.text.near_duplicates import NearDuplicates, fingerprint


class DuplicateFinder:
    """Remembers what every page says. ``known`` are addresses and fingerprints of earlier pages.

    Either of its two ways in may be used: with a page, or with a fingerprint that is known already.
    """

    def __init__(self, known: Iterable[tuple[str, int]] = ()) -> None:
        self._near = NearDuplicates()
        self._urls: list[str] = []
        self._latest: tuple[str, int | None] = ("", None)
        for url, mark in known:
            self._add(mark, url)

    def __call__(self, page: Page) -> str | None:
        """An earlier page that says the same as this one."""
        mark = fingerprint(page)
        if mark is None:
            self._latest = (page.url, None)
            return None
        return self.find_or_add(mark, page.url)

    def find_or_add(self, fingerprint: int, url: str) -> str | None:
        """An earlier page that says the same; without one, remember this page."""
        self._latest = (url, fingerprint)
        number = self._near.find(fingerprint)
        if number is None:
            self._add(fingerprint, url)
            return None
        # A page that was fetched before a crash, or is looked at again, is no copy of itself.
        earlier = self._urls[number]
        return earlier if earlier != url else None

    def fingerprint_of(self, page: Page) -> int | None:
        """The fingerprint of the page that was last looked at, if it is this one."""
        url, mark = self._latest
        return mark if url == page.url else None

    def _add(self, mark: int, url: str) -> None:
        self._near.add(mark, len(self._urls))
        self._urls.append(url)
