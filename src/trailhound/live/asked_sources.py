"""The sources that a crawl's settings name, opened for its strategy."""

from __future__ import annotations

from collections.abc import Callable

from trailhound.config.settings import Settings
from trailhound.live.folder import CrawlFolder
from trailhound.live.search_sources import open_search
from trailhound.live.trace_sources import open_trace
from trailhound.sources import AccessTrace, BacklinkSource, SearchSource

Notify = Callable[[str], None]
"""Told what a person should know, a sentence or two at a time."""


class AskedSources:
    """Opens what ``[sources]`` names; ``None`` for what it does not."""

    def __init__(self, folder: CrawlFolder, settings: Settings, notify: Notify) -> None:
        self._folder = folder
        self._settings = settings
        self._notify = notify

    def backlinks(self) -> BacklinkSource | None:
        """Who links to a page."""
        if not self._settings.sources.backlinks:
            return None
        from trailhound.live.backlink_sources import open_backlinks

        return open_backlinks(self._folder, self._settings, self._notify)

    def trace(self) -> AccessTrace | None:
        """What people visited."""
        name = self._settings.sources.trace
        return open_trace(name, self._folder, self._settings, self._notify) if name else None

    def search(self) -> SearchSource | None:
        """Something to put a query to."""
        name = self._settings.sources.search
        return open_search(name, self._folder, self._settings.fetch) if name else None
