"""Pages that say what an earlier page says, so that mirrors do not count twice."""

from __future__ import annotations

from collections.abc import Iterable

from trailhound.text.near_duplicates import NearDuplicates


class DuplicateFinder:
    """Remembers what pages say. ``known`` are addresses and fingerprints of earlier pages."""

    def __init__(self, known: Iterable[tuple[str, int]] = ()) -> None:
        self._near = NearDuplicates()
        self._urls: list[str] = []
        for url, mark in known:
            self.find_or_add(mark, url)

    def find_or_add(self, fingerprint: int, url: str, *, noindex: bool = False) -> str | None:
        """An earlier page that says the same; without one, remember this page.

        One that asks not to be listed is not remembered: it would hide those that may be.
        """
        number = self._near.find(fingerprint)
        if number is None:
            if not noindex:
                self._near.add(fingerprint, len(self._urls))
                self._urls.append(url)
            return None
        # A page that was fetched before a crash, or is looked at again, is no copy of itself.
        earlier = self._urls[number]
        return earlier if earlier != url else None
