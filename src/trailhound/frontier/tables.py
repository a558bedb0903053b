"""The tables of a frontier file: how URLs and their places become rows, and how rows are blanked.

Rows are only ever added at the end of the large tables, so that a write costs the same whatever
the size; what supersedes an older row is known by its later *arrival*, the running number of every
time that a URL was given a place in the queue.

``url``
    One row per URL ever seen, numbered from 1 without gaps. ``site`` is twice the host's number,
    plus one for https; ``path`` is the rest of the URL.
``place``
    The links of one page that were new or rose, with arrivals ``first``, ``first`` + 1, ...: their
    URL numbers (uint32), priorities (float64) and memories (MessagePack: one for all, or a list).
    ``parent`` is the page's URL number, or the text of a URL that is not in the table. The last
    place of a URL counts; a URL without any was never queued.
``rescore``
    Later opinions: URL numbers and priorities that replace those of places with an arrival before
    ``arrival``.
``finished``
    Outcomes, and the priority that a URL had in the end. A URL without a row here waits; leases are
    not written at all, so that those of a dead process are waiting again.
``mark``
    ``page``: the number, in the crawl, of the last page that is finished here. Made when it is
    missing, so that older versions read the file.
``host``
    Names, the wall-clock second before which each may not be asked, and its finished leases.

Rows of URLs that are forgotten must stay, because rows are counted; what they say goes.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from trailhound.errors import FrontierError
from trailhound.frontier.url_columns import Numbers
from trailhound.records import Candidate, Outcome
from trailhound.storage.sqlite import DatabaseKind, purge, transaction

_TABLES = (
    "CREATE TABLE url (number INTEGER PRIMARY KEY, site INTEGER NOT NULL, path TEXT NOT NULL)",
    "CREATE TABLE place (first INTEGER PRIMARY KEY, parent, depth INTEGER NOT NULL, "
    "memories BLOB NOT NULL, numbers BLOB NOT NULL, priorities BLOB NOT NULL)",
    "CREATE TABLE rescore (number INTEGER PRIMARY KEY, arrival INTEGER NOT NULL, "
    "numbers BLOB NOT NULL, priorities BLOB NOT NULL)",
    "CREATE TABLE finished (number INTEGER PRIMARY KEY, outcome TEXT NOT NULL, priority REAL)",
    "CREATE TABLE host (number INTEGER PRIMARY KEY, name TEXT NOT NULL, until REAL NOT NULL, "
    "pages INTEGER NOT NULL)",
)

MARK_TABLE = (
    "CREATE TABLE IF NOT EXISTS mark (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID"
)

FRONTIER = DatabaseKind(
    name="frontier",
    none="There is no frontier",
    anew="begin again with --restart, or have it made anew with: trailhound check {topic} --repair",
    error=FrontierError,
    application_id=0x54726C68,  # "Trlh"
    version=1,
    tables=_TABLES,
    pragmas=(
        "PRAGMA cache_size = -16384",  # KiB; the system's file cache holds the rest
        "PRAGMA wal_autocheckpoint = 1000",  # pages: 4 MB of log, soon reread after a crash
    ),
)

READ = (
    "SELECT u.site, u.path, l.first, l.parent, l.depth, l.memories, p.site, p.path "
    "FROM url AS u "
    "LEFT JOIN place AS l ON l.first = (SELECT max(first) FROM place WHERE first <= ?2) "
    "LEFT JOIN url AS p ON p.number = l.parent "
    "WHERE u.number = ?1"
)
"""What :meth:`SiteNames.candidate` takes, given the number and the last arrival of a URL."""

READ_MEMORIES = (
    "SELECT u.site, u.path, each.value - l.first, l.memories "
    "FROM json_each(?) AS each "
    "LEFT JOIN url AS u ON u.number = CAST(each.key AS INTEGER) "
    "LEFT JOIN place AS l ON l.first = (SELECT max(first) FROM place WHERE first <= each.value)"
)
"""What :meth:`SiteNames.memory` takes, given a JSON object of numbers and last arrivals."""

_NUMBER = np.dtype("<u4")
_PRIORITY = np.dtype("<f8")
# Candidates that are read one after the other tend to be links of one page.
_unpack_memories = lru_cache(maxsize=64)(msgspec.msgpack.Decoder(bytes | list[bytes]).decode)


class SiteNames:
    """The names of the hosts by number: the part of a URL that is stored once per host."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = list(names)

    def append(self, host: str) -> None:
        """Name the next host."""
        self._names.append(host)

    def find(self, host: str) -> int | None:
        """The number of a host; ``None`` when it is unknown."""
        return self._names.index(host) if host in self._names else None

    def split(self, url: str, host_number: int) -> tuple[int, str]:
        """``site`` and ``path`` of a canonical URL."""
        https = url.startswith("https")
        start = len("https://" if https else "http://") + len(self._names[host_number])
        return 2 * host_number + https, url[start:]

    def join(self, site: int, path: str) -> str:
        """The URL."""
        return ("https://" if site & 1 else "http://") + self._names[site >> 1] + path

    def candidate(self, row: tuple[Any, ...], arrival: int, priority: float) -> Candidate:
        """The candidate of a ``READ`` row: the place with that arrival, the present priority."""
        site, path, first, parent, depth, memories, parent_site, parent_path = row
        if parent_site is not None:
            parent = self.join(parent_site, parent_path)
        url, memory = self.memory((site, path, arrival - first, memories))
        return Candidate(url, priority, memory, parent, depth)

    def memory(self, row: tuple[Any, ...]) -> tuple[str, bytes]:
        """URL and memory of a ``READ_MEMORIES`` row."""
        site, path, at, memories = row
        unpacked = _unpack_memories(memories)
        return self.join(site, path), unpacked if isinstance(unpacked, bytes) else unpacked[at]


def pack_memories(memories: Sequence[bytes]) -> bytes:
    """The memories of a page's links; one is enough if all are equal."""
    shared = all(memory == memories[0] for memory in memories)
    return msgspec.msgpack.encode(memories[0] if shared else memories)


def pack_numbers(numbers: Sequence[int] | Numbers) -> bytes:
    """URL numbers as bytes."""
    return np.asarray(numbers, _NUMBER).tobytes()


def unpack_numbers(packed: bytes) -> Numbers:
    """URL numbers from bytes."""
    return np.frombuffer(packed, _NUMBER).astype(np.uintc, copy=False)


def pack_priorities(priorities: Sequence[float] | npt.NDArray[np.float64]) -> bytes:
    """Priorities as bytes."""
    return np.asarray(priorities, _PRIORITY).tobytes()


def unpack_priorities(packed: bytes) -> npt.NDArray[np.float64]:
    """Priorities from bytes."""
    return np.frombuffer(packed, _PRIORITY).astype(np.float64, copy=False)


_HOSTS = "SELECT number FROM host WHERE forgotten('https://' || name || '/-forgotten-')"
"""Also those without a URL here: where redirects, parts of pages and robots.txt files led to."""
_URLS = """
    SELECT u.number FROM url u JOIN host h ON h.number = u.site >> 1 WHERE forgotten(
        CASE WHEN u.site & 1 THEN 'https://' ELSE 'http://' END || h.name || u.path
    ) OR h.number IN (SELECT number FROM host WHERE forgotten('https://' || name || '/-forgotten-'))
"""

_FINISH = (
    "INSERT INTO finished (number, outcome) VALUES (?, ?) "
    "ON CONFLICT (number) DO UPDATE SET outcome = excluded.outcome"
)

_BLANKED = re.compile(r"https?://(forgotten-[0-9]+\.invalid/|[^/]+/-forgotten-[0-9]+$)")


def is_blanked(url: str) -> bool:
    """Whether this stands where a URL was forgotten: an address of nothing, not to be shown."""
    return _BLANKED.match(url) is not None


def forget_urls(path: Path, forgotten: Callable[[str], bool], *, dry_run: bool = False) -> int:
    """Blank out forgotten URLs in the file, which no crawl may have open; how many there are."""
    if not path.is_file():
        return 0
    connection = FRONTIER.open_for_reading(path) if dry_run else FRONTIER.open(path)
    with FRONTIER.explaining(path), closing(connection):
        connection.create_function("forgotten", 1, lambda url: bool(url) and forgotten(url))
        hosts = [number for (number,) in connection.execute(_HOSTS)]
        urls = [number for (number,) in connection.execute(_URLS)]
        if not dry_run:
            with transaction(connection):
                _blank(connection, urls, hosts)
            purge(connection)
        return len(urls)


def _blank(connection: sqlite3.Connection, urls: list[int], hosts: list[int]) -> None:
    """A blanked URL is finished: it waits no longer, and names nobody."""
    for number in urls:
        path = f"/-forgotten-{number}"
        connection.execute("UPDATE url SET path = ? WHERE number = ?", (path, number))
        connection.execute(_FINISH, (number, Outcome.SKIPPED.value))
    for number in hosts:
        name = f"forgotten-{number}.invalid"
        connection.execute("UPDATE host SET name = ? WHERE number = ?", (name, number))
    connection.execute(
        "UPDATE place SET parent = NULL WHERE typeof(parent) = 'text' AND forgotten(parent)"
    )
    # Of a shard: links on their way to others.
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'outgoing'").fetchone():
        connection.execute("DELETE FROM outgoing WHERE forgotten(url)")
        connection.execute("UPDATE outgoing SET parent = NULL WHERE forgotten(parent)")
