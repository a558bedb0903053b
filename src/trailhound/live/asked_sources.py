"""The sources that a crawl's settings name, opened for its strategy."""

from __future__ import annotations

from collections.abc import Callable

from trailhound.config.settings import Settings
from trailhound.errors import UsageError
from trailhound.live.folder import CrawlFolder
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
        raise UsageError("--backlinks is not supported yet.")

    def trace(self) -> AccessTrace | None:
        """What people visited."""
        if not self._settings.sources.trace:
            return None
        raise UsageError("--trace is not supported yet.")

    def search(self) -> SearchSource | None:
        """Something to put a query to."""
        if not self._settings.sources.search:
            return None
        raise UsageError("--search is not supported yet.")
