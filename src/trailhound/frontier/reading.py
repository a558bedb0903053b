"""What a frontier file says, also while a crawl is using it: about one URL, or about all.

The file has no index, so that every question reads whole tables: some seconds for ten million URLs.
A URL that a running crawl is fetching at this moment counts as waiting.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trailhound.frontier.base import UrlState, UrlStatus
from trailhound.frontier.store import LAST_NUMBER, load_standings, loading, page_mark
from trailhound.frontier.tables import (
    FRONTIER,
    READ,
    SiteNames,
    pack_numbers,
    unpack_numbers,
    unpack_priorities,
)
from trailhound.frontier.url_columns import Standings
from trailhound.records import Candidate, Outcome
from trailhound.urls import host_key

_URLS = (
    "SELECT u.site, u.path, f.outcome FROM url AS u "
    "LEFT JOIN finished AS f ON f.number = u.number ORDER BY u.number"
)
_WAITING_BY_HOST = (
    "SELECT u.site >> 1, count(*) FROM url AS u LEFT JOIN finished AS f ON f.number = u.number "
    "WHERE f.number IS NULL GROUP BY 1"
)
# The bytes may also be found astride two numbers: to be checked.
_PLACES_OF = (
    "SELECT first, numbers, priorities FROM place WHERE instr(numbers, ?) ORDER BY first DESC"
)
_RESCORES_OF = (
    "SELECT arrival, numbers, priorities FROM rescore WHERE instr(numbers, ?) ORDER BY number DESC"
)


class QueuePlace(NamedTuple):
    """Where a waiting URL stands."""

    ahead: int
    """Waiting URLs that come before it, whenever their hosts are ready."""
    waiting: int
    """All waiting URLs, itself included."""


def look_up(path: Path, url: str) -> UrlState | None:
    """What is known about a canonical URL; ``None`` when it was never seen, or nothing was kept."""
    if not path.is_file():  # a frontier in memory, or one that keeps its URLs elsewhere
        return None
    with reading(path) as connection:
        sites = _sites(connection)
        number = _number_of(connection, sites, url)
        if not number:
            return None
        ended = "SELECT outcome, priority FROM finished WHERE number = ?"
        outcome, priority = connection.execute(ended, (number,)).fetchone() or (None, None)
        candidate = _candidate(connection, sites, number, priority)
    if outcome is None:
        return UrlState(url, UrlStatus.WAITING, candidate=candidate)
    return UrlState(url, UrlStatus.FINISHED, Outcome(outcome), candidate)


def queue_place(path: Path, url: str) -> QueuePlace | None:
    """The place of a waiting URL, by priority and arrival; ``None`` when it does not wait."""
    with reading(path) as connection:
        number = _number_of(connection, _sites(connection), url)
        standings = Standings()
        standings.expect(*connection.execute(LAST_NUMBER).fetchone())
        load_standings(connection, standings, path)
    worst_first = standings.worst_first(standings.waiting())
    places = np.flatnonzero(worst_first == number)
    if not places.size:
        return None
    return QueuePlace(worst_first.size - 1 - int(places[0]), worst_first.size)


class HostState(NamedTuple):
    """A host as the frontier knows it."""

    name: str
    pages: int
    """Finished leases."""
    waiting: int
    ready_at: float
    """When it may be asked next, in seconds since 1970."""


def host_states(path: Path) -> list[HostState]:
    """All hosts, in order of discovery."""
    hosts = "SELECT name, pages, until FROM host ORDER BY number"
    with reading(path) as connection:
        waiting = dict(connection.execute(_WAITING_BY_HOST))
        rows = enumerate(connection.execute(hosts))
        return [HostState(row[0], row[1], waiting.get(n, 0), row[2]) for n, row in rows]


def best_waiting(path: Path, limit: int) -> list[Candidate]:
    """What waits, the best first, by priority and arrival."""
    with reading(path) as connection, loading(path):
        sites, standings = _sites(connection), Standings()
        standings.expect(*connection.execute(LAST_NUMBER).fetchone())
        load_standings(connection, standings, path)
        best_first = standings.worst_first(standings.waiting(limit))[::-1].tolist()
        found = []
        for number in best_first:
            arrival, priority = standings.arrivals[number], standings.priorities[number]
            row = connection.execute(READ, (number, arrival)).fetchone()
            found.append(sites.candidate(row, arrival, priority))
        return found


def all_urls(path: Path) -> Iterator[tuple[str, Outcome | None]]:
    """Every URL ever seen, in order of discovery, and how it ended; ``None`` while it waits."""
    with reading(path) as connection:
        sites = _sites(connection)
        for site, rest, outcome in connection.execute(_URLS):
            yield sites.join(site, rest), Outcome(outcome) if outcome is not None else None


def last_page(path: Path) -> int | None:
    """The number of the crawl's last page that is finished; ``None`` when it is not known."""
    with reading(path) as connection:
        return page_mark(connection)


def check_places(path: Path) -> None:
    """FrontierError when what is in the file makes no sense as a frontier."""
    with reading(path) as connection, loading(path):
        sites = _sites(connection)
        for site, rest, _ in connection.execute(_URLS):
            sites.join(site, rest)
        standings = Standings()
        standings.expect(*connection.execute(LAST_NUMBER).fetchone())
        load_standings(connection, standings, path)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write, with one view of the file throughout."""
    with FRONTIER.explaining(path), closing(FRONTIER.open_for_reading(path)) as connection:
        connection.execute("BEGIN")
        yield connection


def _sites(connection: sqlite3.Connection) -> SiteNames:
    names = connection.execute("SELECT name FROM host ORDER BY number")
    return SiteNames(name for (name,) in names)


def _number_of(connection: sqlite3.Connection, sites: SiteNames, url: str) -> int:
    """The number of a URL, or 0."""
    host = sites.find(host_key(url))
    if host is None:
        return 0
    query = "SELECT number FROM url WHERE site = ? AND path = ?"
    found = connection.execute(query, sites.split(url, host)).fetchone()
    return int(found[0]) if found else 0


def _candidate(
    connection: sqlite3.Connection, sites: SiteNames, number: int, final_priority: float | None
) -> Candidate | None:
    place = _last(connection, _PLACES_OF, number)
    if place is None:
        return None
    first, at, priority = place
    rescore = _last(connection, _RESCORES_OF, number)
    if rescore is not None and rescore[0] > first + at:
        priority = rescore[2]
    if final_priority is not None:
        priority = final_priority
    row: tuple[Any, ...] = connection.execute(READ, (number, first + at)).fetchone()
    return sites.candidate(row, first + at, priority)


def _last(connection: sqlite3.Connection, query: str, number: int) -> tuple[int, int, float] | None:
    """The newest row that names a number: its key, where it does so last, and the priority."""
    for key, numbers, priorities in connection.execute(query, (pack_numbers([number]),)):
        places = (unpack_numbers(numbers) == number).nonzero()[0]
        if places.size:
            at = int(places[-1])
            return key, at, float(unpack_priorities(priorities)[at])
    return None
