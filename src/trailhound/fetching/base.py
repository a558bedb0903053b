"""What a fetcher is: the only difference between the live web and a recorded one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from trailhound.records import FetchResult

NO_REQUEST_LEFT = "no request was left to follow it"


class Fetcher(Protocol):
    """Gets one URL. Never raises for what the web does; that is the result's outcome."""

    async def fetch(self, url: str) -> FetchResult:
        """Ask for ``url`` (canonical) and follow its redirects."""
        ...

    async def close(self) -> None:
        """Release connections or files."""
        ...


@runtime_checkable
class FrugalFetcher(Protocol):
    """Optional: a fetcher that asks before each further request that a redirect would cost."""

    async def fetch_within(self, url: str, may_go_on: Callable[[], bool]) -> FetchResult:
        """As ``fetch``, as long as ``may_go_on``.

        Otherwise the outcome is ``POSTPONED`` and final; ``final_url`` is where to go on.
        """
        ...


@runtime_checkable
class PoliteFetcher(Protocol):
    """Optional: a fetcher that knows how long a host wants to be left alone."""

    def delay_after(self, url: str) -> float:
        """Seconds that the host of ``url`` must be left alone from the start of a fetch."""
        ...
