"""Finds that a run looks at again, and what that has brought."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from trailhound.counting import counted
from trailhound.crawling.gate import REFRESH_PRIORITY
from trailhound.errors import StorageError
from trailhound.fetching.base import Validators
from trailhound.frontier.base import Frontier, UrlStatus
from trailhound.records import Outcome, PageEvent
from trailhound.storage.finds import TELLS_NOTHING_NEW
from trailhound.storage.results import REFRESHING, ResultsStore
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.storage.visit_reading import visits_of

_SAYS_THE_SAME = frozenset({Outcome.NOT_MODIFIED, Outcome.DUPLICATE})


class LookedAgain(NamedTuple):
    """What another look at finds has brought; how many each."""

    finds: int
    changed: int
    gone: int
    """Which are no finds any more."""
    unanswered: int
    waiting: int

    def __str__(self) -> str:
        were = "was" if self.finds == 1 else "were"
        news = [_so_many(self.changed, "has changed", "have changed")]
        news.append(_so_many(self.gone, "is gone", "are gone"))
        if self.unanswered:
            news.append(f"{self.unanswered:,} could not be read")
        if self.waiting:
            news.append(f"{self.waiting:,} still {'waits' if self.waiting == 1 else 'wait'}")
        return f"{counted(self.finds, 'find')} {were} looked at again: {', '.join(news)}."


def _so_many(count: int, one: str, several: str) -> str:
    return f"{count:,} {several}" if count > 1 else f"{count or 'none'} {one}"


class Refresh:
    """Counts what comes of the finds that a run asks for news. ``since`` is when it began."""

    def __init__(self, addresses: Collection[str] = (), since: float = 0.0) -> None:
        self.addresses = frozenset(addresses)
        self.found_again = 0
        """Finds that were finds at the second look, too."""
        self._since = since
        self._seen: dict[str, bool] = {}
        """With whether there was an answer to learn from."""

    def add(self, event: PageEvent) -> None:
        """A page has been dealt with."""
        if event.url not in self.addresses:
            return
        self.found_again += event.is_find
        is_told = event.outcome in _SAYS_THE_SAME or event.outcome not in TELLS_NOTHING_NEW
        self._seen[event.url] = is_told

    def told_by(self, results: Path) -> LookedAgain | None:
        """What the results say of it; ``None`` when nothing was to be looked at."""
        if not self.addresses:
            return None
        with suppress(StorageError), Results(results) as stored:
            finds = {page.address for page in stored.ranked()}
            visits = visits_of(results, self._seen)
            changed = {
                address
                for address, visit in visits.items()
                if (visit.changed_at or 0.0) >= self._since
            }
            gone = self._seen.keys() - finds
            unanswered = sum(not is_told for is_told in self._seen.values())
            waiting = len(self.addresses - self._seen.keys())
            return LookedAgain(len(self._seen), len(changed - gone), len(gone), unanswered, waiting)
        return None


def versions_of(pages: Collection[StoredPage]) -> dict[str, Validators]:
    """What servers said of pages, by which these can be asked for news."""
    return {page.address: Validators(page.etag, page.last_modified) for page in pages}


def note_refresh(results: ResultsStore) -> None:
    """Finds are about to wait for another look; if some still do, the next run looks for them."""
    results.save_state(REFRESHING, b"yes")


def left_by_a_refresh(results: ResultsStore, frontier: Frontier) -> dict[str, Validators]:
    """Finds that an earlier run was to look at again, and what their servers said of them.

    Costs nothing where there was no such run.
    """
    if not results.state(REFRESHING):
        return {}
    with Results(results.path) as stored:
        left = versions_of([page for page in stored.ranked() if _waits(frontier, page.address)])
    if not left:
        results.save_state(REFRESHING, b"")
    return left


def _waits(frontier: Frontier, address: str) -> bool:
    """Other finds may wait because their contents are lost: those are wanted whole."""
    state = frontier.state_of(address)
    if state is None or state.status is not UrlStatus.WAITING or state.candidate is None:
        return False
    return state.candidate.priority == REFRESH_PRIORITY
