"""Looking things up in a frontier file, also while a crawl is using it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from trailhound.errors import FrontierError
from trailhound.frontier.base import UrlState, UrlStatus
from trailhound.frontier.faults import explaining
from trailhound.frontier.rows import READ, SiteNames
from trailhound.frontier.schema import VERSION, version_of
from trailhound.records import Outcome
from trailhound.urls import host_key


def look_up(path: Path, url: str) -> UrlState | None:
    """What a frontier file says about a canonical URL; ``None`` when it was never seen.

    It reads the table from end to end (some seconds for ten million URLs), as the file has no
    index. A URL that a running crawl is fetching at this moment counts as waiting.
    """
    if not path.is_file():
        raise FrontierError(f"There is no frontier {path}: has this crawl been started?")
    with explaining(path), closing(_open(path)) as connection:
        names = _names(connection)
        row = _find(connection, names, url)
        if row is None:
            return None
        ended = connection.execute("SELECT outcome FROM finished WHERE number = ?", row[:1])
        outcome = ended.fetchone()
    candidate = names.candidate(row)[1]
    if outcome is None:
        return UrlState(url, UrlStatus.WAITING, candidate=candidate)
    return UrlState(url, UrlStatus.FINISHED, Outcome(outcome[0]), candidate)


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
    with explaining(path), closing(_open(path)) as connection:
        row = _find(connection, _names(connection), url)
        if row is None:
            return None
        return _place_of(connection, row[0], host_key(url))


def _place_of(connection: sqlite3.Connection, number: object, host: str) -> QueuePlace | None:
    found = connection.execute(
        "SELECT priority, arrival FROM url WHERE number = ? AND priority IS NOT NULL "
        "AND number NOT IN (SELECT number FROM finished)",
        (number,),
    ).fetchone()
    if found is None:
        return None
    priority, arrival = found
    waiting, ahead = connection.execute(
        "SELECT count(*), coalesce(sum(priority > ? OR (priority = ? AND arrival < ?)), 0) "
        "FROM url WHERE priority IS NOT NULL AND number NOT IN (SELECT number FROM finished)",
        (priority, priority, arrival),
    ).fetchone()
    (until,) = connection.execute("SELECT until FROM host WHERE name = ?", (host,)).fetchone()
    return QueuePlace(ahead, waiting, until)


def all_urls(path: Path) -> Iterator[tuple[str, Outcome | None]]:
    """Every URL ever seen, in order of discovery, and how it ended; ``None`` while it waits."""
    with explaining(path), closing(_open(path)) as connection:
        names = _names(connection)
        query = (
            "SELECT u.site, u.path, f.outcome FROM url AS u "
            "LEFT JOIN finished AS f ON f.number = u.number ORDER BY u.number"
        )
        for site, rest, outcome in connection.execute(query):
            yield names.join(site, rest), Outcome(outcome) if outcome is not None else None


def delayed_hosts(path: Path, now: float) -> dict[str, float]:
    """Hosts that want to be left alone after ``now``, and until when."""
    if not path.is_file():
        return {}
    with explaining(path), closing(_open(path)) as connection:
        return dict(connection.execute("SELECT name, until FROM host WHERE until > ?", (now,)))


def _open(path: Path) -> sqlite3.Connection:
    uri = path.absolute().as_uri() + "?mode=ro"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    try:
        version = version_of(connection, path)
        if version != VERSION:
            raise FrontierError(
                f"The frontier {path} has format {version}, this Trailhound reads {VERSION}. "
                "Resume its crawl once to bring it up to date, or upgrade Trailhound."
            )
    except BaseException:
        connection.close()
        raise
    return connection


def _names(connection: sqlite3.Connection) -> SiteNames:
    names = SiteNames()
    for (name,) in connection.execute("SELECT name FROM host ORDER BY number"):
        names.append(name)
    return names


def _find(connection: sqlite3.Connection, names: SiteNames, url: str) -> tuple[object, ...] | None:
    host = connection.execute("SELECT number FROM host WHERE name = ?", (host_key(url),)).fetchone()
    if host is None:
        return None
    where = "WHERE u.site = ? AND u.path = ?"
    row: tuple[object, ...] | None
    row = connection.execute(READ + where, names.split(url, host[0])).fetchone()
    return row
