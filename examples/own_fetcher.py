"""A fetcher of your own: a crawl of pages that were saved, one folder for each host.

Try it, without installing anything::

    trailhound crawl bees --seed http://hives.test/ --fetcher examples/own_fetcher.py:folder=saved

``http://hives.test/queen.html`` is then read from ``saved/hives.test/queen.html``. To ship it, put
the class into a package and register it::

    [project.entry-points."trailhound.fetchers"]
    folder = "your_package.folder:FolderFetcher"
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import unquote, urlsplit

from trailhound.config.settings import FetchSettings
from trailhound.crawling.scope import Scope
from trailhound.errors import UsageError
from trailhound.fetching.base import MayGoOn, always
from trailhound.fetching.politeness import Politeness
from trailhound.records import FetchResult, Outcome


class FolderFetcher:
    """Pages from a folder of hosts; an address that ends in a slash is its ``index.html``."""

    summary = "pages that were saved, from a folder of hosts"

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    @classmethod
    def from_settings(
        cls,
        settings: FetchSettings,
        politeness: Politeness,
        in_scope: Scope | None,
        *,
        folder: Path,
    ) -> FolderFetcher:
        """Keyword arguments are options: ``folder`` must be given. A ``Path`` is made absolute."""
        del settings, politeness, in_scope  # it asks nobody, and follows no redirect
        if not folder.is_dir():
            raise UsageError(f"There is no folder '{folder}'. Name one that holds saved pages.")
        return cls(folder)

    async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
        """What is not there is an outcome, never an exception."""
        del may_go_on
        parts = urlsplit(url)
        path = (self._folder / parts.netloc / unquote(parts.path).lstrip("/")).resolve()
        path = path / "index.html" if path.is_dir() or url.endswith("/") else path
        if not path.is_relative_to(self._folder) or not path.is_file():
            return FetchResult(url, Outcome.NOT_FOUND, url, detail="it was not saved")
        body = await asyncio.to_thread(path.read_bytes)
        return FetchResult(url, Outcome.FETCHED, url, content_type="text/html", body=body)

    async def close(self) -> None:
        """Nothing is held open."""
