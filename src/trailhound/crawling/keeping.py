"""What a crawl leaves behind: each page goes to the keepers before it counts as done."""

from __future__ import annotations

from typing import Protocol

from trailhound.records import Candidate, FetchResult, Page, PageEvent


class Keeper(Protocol):
    """Stores pages: an archive, a list of results, a log.

    Called once for each candidate that was dealt with, in the order of the crawl, and before the
    frontier forgets the lease: after a crash a page may come twice, but never not at all.
    """

    def keep(
        self, event: PageEvent, candidate: Candidate, result: FetchResult, page: Page | None
    ) -> None:
        """Take one page; ``page`` is ``None`` when there was nothing to extract."""
        ...

    def close(self) -> None:
        """Finish what has been written."""
        ...
