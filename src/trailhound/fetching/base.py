"""What a fetcher is: the only difference between the live web and a recorded one."""

from __future__ import annotations

from typing import Protocol

from trailhound.records import FetchResult


class Fetcher(Protocol):
    """Gets one URL. Never raises for what the web does; that is the result's outcome."""

    async def fetch(self, url: str) -> FetchResult:
        """Ask for ``url`` (canonical) and follow its redirects."""
        ...

    async def close(self) -> None:
        """Release connections or files."""
        ...
