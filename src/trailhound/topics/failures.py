"""What went wrong in a run, in words: seed by seed while it goes on, and in a table at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from trailhound.crawling.troubles import Troubles
from trailhound.records import Candidate, FetchResult, Outcome, PageEvent

if TYPE_CHECKING:  # brings NumPy along, which whoever only looks at crawls does not need
    from trailhound.crawling.progress import CrawlProgress

ENDS = {
    Outcome.NOT_FOUND: "there is no such page",
    Outcome.CLIENT_ERROR: "the server refused the request",
    Outcome.SERVER_ERROR: "the server failed, or its answer made no sense",
    Outcome.NOT_HTML: "it is no page, nor a document that is read",
    Outcome.TOO_LARGE: "it is larger than max_bytes",
    Outcome.TIMEOUT: "the server took too long",
    Outcome.UNREACHABLE: "the server could not be reached",
    Outcome.UNKNOWN_HOST: "DNS knows no such host",
    Outcome.ROBOTS: "the robots.txt of its site does not allow it",
    Outcome.TOO_MANY_REDIRECTS: "it redirects without end",
    Outcome.OUT_OF_SCOPE: "it redirects to where the crawl may not go",
    Outcome.DUPLICATE: "it leads to a page that had been fetched before",
    Outcome.NOT_MODIFIED: "it had not changed since it was fetched",
    Outcome.ADDRESS_REFUSED: "its host is at an address that is not public (see --allow-address)",
    Outcome.LOGIN_WANTED: "it asks to log in (see --cookies and --for-host)",
    Outcome.BUSY: "the server was busy, again and again",
    Outcome.POSTPONED: "it redirects to an address that waits for its own turn",
    Outcome.BROKEN: "our own code failed on it",
    Outcome.UNREADABLE: "it is a document that cannot be read",
    Outcome.TOO_COSTLY: "it takes too long, or too much memory, to analyse",
    Outcome.SKIPPED: "a rule of the crawl's own kept it away",
}
"""Outcomes other than ``FETCHED`` in words, about a page."""

_ONCE_MORE = "it came, and is to be asked for once more"
NOTHING_WRONG = frozenset([Outcome.FETCHED, Outcome.DUPLICATE, Outcome.NOT_MODIFIED])
MAX_SEEDS_TOLD = 10
"""Seeds whose failures are told one by one; a list of thousands may have died together."""


class Failure(msgspec.Struct, frozen=True):
    """One way in which things went wrong."""

    what: str
    times: int
    example: str
    """The first: where, and why."""
    outcome: str | None = None
    """Of the pages that it is about; ``None`` when a host or a plug-in is to blame."""


def failures_of(
    progress: CrawlProgress, hosts_in_trouble: Mapping[str, str], troubles: Troubles
) -> list[Failure]:
    """All there were in a run, with pages first and the most frequent of them on top.

    ``hosts_in_trouble`` have URLs that wait for another attempt; each comes with the reason.
    """
    hosts = _hosts_put_off(hosts_in_trouble)
    return [*_lost_pages(progress), *hosts, *_broken_plugins(troubles)]


def _lost_pages(progress: CrawlProgress) -> Iterator[Failure]:
    for name, times in progress.outcomes.most_common():
        outcome = Outcome(name)
        if outcome is Outcome.POSTPONED and progress.outcomes[Outcome.FETCHED]:
            continue  # nothing is lost: where it leads to waits
        if outcome not in NOTHING_WRONG:
            yield Failure(ENDS[outcome], times, progress.examples[name], name)


def _hosts_put_off(hosts: Mapping[str, str]) -> Iterator[Failure]:
    for host, why in list(hosts.items())[:1]:
        yield Failure("the host is to be asked again later", len(hosts), f"{host}: {why}")


def _broken_plugins(troubles: Troubles) -> Iterator[Failure]:
    for who, times in troubles.counts.items():
        yield Failure(f"{who} failed", times, troubles.first[who])


def why_put_off(result: FetchResult) -> str | None:
    """Why a URL waits for another attempt; that its host was to be spared is no failure."""
    is_spared = result.outcome is Outcome.POSTPONED
    return None if is_spared else result.detail or ENDS.get(result.outcome, _ONCE_MORE)


class SeedWatch:
    """Tells at once why a seed came to nothing, once for each seed."""

    def __init__(self, seeds: Iterable[str], tell: Callable[[str], None]) -> None:
        self._seeds = set(seeds)
        self._tell = tell
        self._left = MAX_SEEDS_TOLD

    def ended(self, event: PageEvent) -> None:
        """A page has been dealt with. What our own code failed on is told of elsewhere."""
        if event.outcome in NOTHING_WRONG or event.outcome is Outcome.BROKEN:
            return
        why = event.why or ENDS[event.outcome]
        self._note(event.url, f"was not fetched: {why}.{_advice(event.outcome, event.final_url)}")

    def put_off(self, candidate: Candidate, result: FetchResult) -> None:
        """A URL waits for another attempt."""
        why, seconds = why_put_off(result), result.retry_after_seconds or 0.0
        if why is not None:
            told = f"cannot be fetched now: {why}. It may be asked for again in {seconds:.0f} s."
            self._note(candidate.url, told)

    def _note(self, url: str, what: str) -> None:
        if url not in self._seeds or not self._left:
            return
        self._seeds.remove(url)
        self._left -= 1
        more = "" if self._left else " Further seeds that fail are counted at the end."
        self._tell(f"The seed {url} {what}{more}")


def _advice(outcome: Outcome, url: str) -> str:
    if outcome is Outcome.ADDRESS_REFUSED:
        return f" If it is meant to be visited, add --allow-address {urlsplit(url).hostname}."
    if outcome is Outcome.UNKNOWN_HOST:
        return " Check how it is spelled; --resolve tells where a host is."
    return ""
