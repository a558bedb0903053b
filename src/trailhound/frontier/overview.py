"""What a frontier file says about all of its URLs, also while a crawl is using it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailhound.frontier.reading import reading_frontier
from trailhound.frontier.rows import SiteNames, unpack_numbers, unpack_priorities
from trailhound.records import Outcome
from trailhound.urls import host_key

_HOSTS = "SELECT name, until FROM host ORDER BY number"
_URL = "SELECT number FROM url WHERE site = ? AND path = ?"
_URLS = (
    "SELECT u.site, u.path, f.outcome FROM url AS u "
    "LEFT JOIN finished AS f ON f.number = u.number ORDER BY u.number"
)
_DELAYED = "SELECT name, until FROM host WHERE until > ?"
_LAST_NUMBER = "SELECT coalesce(max(number), 0) FROM url"
_PLACES = "SELECT first, numbers, priorities FROM place ORDER BY first"
_RESCORES = "SELECT arrival, numbers, priorities FROM rescore ORDER BY number"
_FINISHED = "SELECT number FROM finished"


class QueuePlace(NamedTuple):
    """Where a waiting URL stands."""

    ahead: int
    """Waiting URLs that come before it, whenever their hosts are ready."""
    waiting: int
    """All waiting URLs, itself included."""
    host_ready_at: float
    """When its host may be asked next, in seconds since 1970."""


def queue_place(path: Path, url: str) -> QueuePlace | None:
    """The place of a waiting URL, by priority and arrival; ``None`` when it does not wait."""
    with reading_frontier(path) as connection:
        hosts = dict(connection.execute(_HOSTS))
        host = host_key(url)
        if host not in hosts:
            return None
        sites = _sites(list(hosts))
        found = connection.execute(_URL, sites.split(url, list(hosts).index(host))).fetchone()
        if found is None:
            return None
        arrivals, priorities = _standings(connection)
    number: int = found[0]
    if not arrivals[number]:
        return None
    waiting = arrivals > 0
    before = (priorities > priorities[number]) | (
        (priorities == priorities[number]) & (arrivals < arrivals[number])
    )
    return QueuePlace(int((waiting & before).sum()), int(waiting.sum()), hosts[host])


def _standings(
    connection: sqlite3.Connection,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Arrival and priority by URL number; arrival 0 for those that do not wait."""
    ((last,),) = connection.execute(_LAST_NUMBER)
    arrivals = np.zeros(last + 1, np.int64)
    priorities = np.zeros(last + 1)
    for first, packed, packed_priorities in connection.execute(_PLACES):
        numbers = unpack_numbers(packed)
        # Arrivals are counted from 1 here, so that 0 is free to mean "not waiting".
        arrivals[numbers] = np.arange(first, first + len(numbers)) + 1
        priorities[numbers] = unpack_priorities(packed_priorities)
    for arrival, packed, packed_priorities in connection.execute(_RESCORES):
        numbers = unpack_numbers(packed)
        older = arrivals[numbers] <= arrival
        priorities[numbers[older]] = unpack_priorities(packed_priorities)[older]
    ended = np.array([number for (number,) in connection.execute(_FINISHED)], np.int64)
    arrivals[ended] = 0
    return arrivals, priorities


def all_urls(path: Path) -> Iterator[tuple[str, Outcome | None]]:
    """Every URL ever seen, in order of discovery, and how it ended; ``None`` while it waits."""
    with reading_frontier(path) as connection:
        sites = _sites([name for name, _ in connection.execute(_HOSTS)])
        for site, rest, outcome in connection.execute(_URLS):
            yield sites.join(site, rest), Outcome(outcome) if outcome is not None else None


def delayed_hosts(path: Path, now: float) -> dict[str, float]:
    """Hosts that want to be left alone after ``now``, and until when."""
    if not path.is_file():
        return {}
    with reading_frontier(path) as connection:
        return dict(connection.execute(_DELAYED, (now,)))


def _sites(names: list[str]) -> SiteNames:
    sites = SiteNames()
    for name in names:
        sites.append(name)
    return sites
