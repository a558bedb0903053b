"""Looking up one URL in a frontier file, also while a crawl is using it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from trailhound.errors import FrontierError
from trailhound.frontier.base import UrlState, UrlStatus
from trailhound.frontier.faults import explaining
from trailhound.frontier.rows import (
    READ,
    SiteNames,
    pack_numbers,
    unpack_numbers,
    unpack_priorities,
)
from trailhound.frontier.schema import VERSION, version_of
from trailhound.records import Candidate, Outcome
from trailhound.urls import host_key

_HOSTS = "SELECT name FROM host ORDER BY number"
_URL = "SELECT number FROM url WHERE site = ? AND path = ?"
_OUTCOME = "SELECT outcome, priority FROM finished WHERE number = ?"
# The bytes may also be found astride two numbers: to be checked.
_PLACES = "SELECT first, numbers, priorities FROM place WHERE instr(numbers, ?) ORDER BY first DESC"
_RESCORES = (
    "SELECT arrival, numbers, priorities FROM rescore WHERE instr(numbers, ?) ORDER BY number DESC"
)


def look_up(path: Path, url: str) -> UrlState | None:
    """What a frontier file says about a canonical URL; ``None`` when it was never seen.

    It reads the tables from end to end (some seconds for ten million URLs), as the file has no
    index. A URL that a running crawl is fetching at this moment counts as waiting.
    """
    with reading_frontier(path) as connection:
        names = [name for (name,) in connection.execute(_HOSTS)]
        host = host_key(url)
        if host not in names:
            return None
        sites = SiteNames()
        for name in names:
            sites.append(name)
        found = connection.execute(_URL, sites.split(url, names.index(host))).fetchone()
        return _state(connection, sites, url, found[0]) if found else None


@contextmanager
def reading_frontier(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write, with one view of the file throughout."""
    if not path.is_file():
        raise FrontierError(f"There is no frontier {path}: has this crawl been started?")
    uri = path.absolute().as_uri() + "?mode=ro"
    with explaining(path), closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as opened:
        opened.execute("BEGIN")
        version = version_of(opened, path)
        if version != VERSION:
            raise FrontierError(
                f"The frontier {path} has format {version}, this Trailhound reads {VERSION}. "
                "Resume its crawl once to bring it up to date, or upgrade Trailhound."
            )
        yield opened


def _state(connection: sqlite3.Connection, sites: SiteNames, url: str, number: int) -> UrlState:
    ended = connection.execute(_OUTCOME, (number,)).fetchone()
    status = UrlStatus.FINISHED if ended else UrlStatus.WAITING
    outcome = Outcome(ended[0]) if ended else None
    final_priority = ended[1] if ended else None
    return UrlState(url, status, outcome, _candidate(connection, sites, number, final_priority))


def _candidate(
    connection: sqlite3.Connection, sites: SiteNames, number: int, final_priority: float | None
) -> Candidate | None:
    place = _last(connection, _PLACES, number)
    if place is None:
        return None
    first, at, priority = place
    rescore = _last(connection, _RESCORES, number)
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
