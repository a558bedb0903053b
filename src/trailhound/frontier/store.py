"""The frontier's file: what must survive a crash, written page by page.

Changes gather in memory and go to the file together at ``commit``, in one transaction. SQLite's
write-ahead log makes that safe against the death of the process at any moment; with
``synchronous=NORMAL`` a power cut can at worst take back the last few transactions, each as a
whole.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from trailhound.errors import FrontierError, TrailhoundError
from trailhound.frontier.index import FrontierIndex, HostQueue
from trailhound.frontier.tables import (
    FRONTIER,
    MARK_TABLE,
    READ,
    READ_MEMORIES,
    SiteNames,
    pack_memories,
    pack_numbers,
    pack_priorities,
    unpack_numbers,
    unpack_priorities,
)
from trailhound.frontier.url_columns import Numbers, Standings
from trailhound.records import Candidate, Outcome
from trailhound.storage.locks import Ownership

_INSERT_RESCORE = "INSERT INTO rescore (arrival, numbers, priorities) VALUES (?, ?, ?)"
_SAVE_HOST = (
    "INSERT INTO host VALUES (?, ?, ?, ?) "
    "ON CONFLICT (number) DO UPDATE SET until = excluded.until, pages = excluded.pages"
)
_MAX_UNWRITTEN = 20_000
"""Places held in memory; more go into the open transaction before it is committed."""
_MAX_PLACES_PER_ROW = 256
"""Keeps the reading of one place cheap."""
_RESCORES_PER_ROW = 10_000

_LOADED_TOGETHER = 500
"""Rows taken in at once: few enough not to set off the garbage collector, a third of the time."""

LAST_NUMBER = "SELECT coalesce(max(number), 0) FROM url"


class FrontierStore:
    """Reads and writes one frontier file, which it owns while it is open.

    ``number_of`` gives the number of a known URL, or 0. After an error the store refuses all
    further work, as memory and file no longer agree; the file holds what was committed.
    """

    def __init__(self, path: Path, number_of: Callable[[str], int]) -> None:
        self.path = path
        self.names = SiteNames()
        self._number_of = number_of
        self._urls: list[tuple[int, int, str]] = []
        """Number, host and text of new URLs."""
        self._places: list[tuple[int, Candidate]] = []
        """Numbers and candidates of new places, with arrivals from ``first_unwritten`` on."""
        self.first_unwritten = 1
        self._outcomes: dict[int, tuple[Outcome, float | None] | None] = {}
        """Number → how it ended, under which priority; ``None`` when it waits again."""
        self._hosts: dict[int, HostQueue] = {}
        self.rescores = 0
        """Priorities in the ``rescore`` table."""
        self.page: int | None = None
        """Number of the crawl's last page that is finished here."""
        self._page_changed = False
        self._beside: list[tuple[str, list[tuple[Any, ...]]]] = []
        self._failure: TrailhoundError | None = None
        self._ownership = _own(path)
        try:
            self._connection = FRONTIER.open(path)
        except BaseException:
            self._ownership.release()
            raise

    @contextmanager
    def working(self) -> Iterator[sqlite3.Connection]:
        """The connection, unless something has failed; what fails now is remembered."""
        if self._failure is not None:
            raise self._failure
        try:
            yield self._connection
        except sqlite3.Error as error:
            self._failure = FRONTIER.explained(self.path, error)
            raise self._failure from error

    def add_host(self, host: HostQueue) -> None:
        """Note a new host; they must come in the order of their numbers."""
        self.names.append(host.name)
        self._hosts[host.number] = host

    def save_host(self, host: HostQueue) -> None:
        """Note that a host's delay or page count has changed."""
        self._hosts[host.number] = host

    def save_page(self, number: int) -> None:
        """Note which page of the crawl is finished with what is committed next."""
        self.page, self._page_changed = number, True

    def keep_beside(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        """Note what others keep in this file, for tables of their own: committed with the rest."""
        self._beside.append((statement, rows))

    def look_beside(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Rows of such tables, as far as they have been written."""
        with self.working() as connection:
            return connection.execute(query, values).fetchall()

    def add_url(self, number: int, host: HostQueue, url: str) -> None:
        """Note a new URL; they must come in the order of their numbers."""
        self._urls.append((number, host.number, url))

    def add_place(self, number: int, candidate: Candidate) -> None:
        """Note that a URL has a new place in the queue, with the next arrival."""
        self._places.append((number, candidate))
        if len(self._places) >= _MAX_UNWRITTEN:
            self.write()

    def finish(self, number: int, outcome: Outcome, priority: float | None) -> None:
        """Note how a URL ended, and under which priority."""
        self._outcomes[number] = (outcome, priority)

    def reopen(self, number: int) -> None:
        """Note that a finished URL waits again."""
        self._outcomes[number] = None

    def read(self, number: int, arrival: int, priority: float) -> Candidate:
        """The candidate with its last place; the present priority is the caller's to know."""
        if arrival >= self.first_unwritten:
            last = self._places[arrival - self.first_unwritten][1]
            return msgspec.structs.replace(last, priority=priority)
        with self.working() as connection:
            row = connection.execute(READ, (number, arrival)).fetchone()
        return self.names.candidate(row, arrival, priority)

    def memories(self, arrivals: dict[int, int]) -> list[tuple[str, bytes]]:
        """URLs and memories, given the numbers of written places with their arrivals."""
        with self.working() as connection:
            rows = connection.execute(READ_MEMORIES, (msgspec.json.encode(arrivals).decode(),))
            return list(map(self.names.memory, rows))

    def final_priority(self, number: int) -> float | None:
        """The priority under which a URL was finished; ``None`` when it was never leased."""
        ended = self._outcomes.get(number)
        if ended is not None:
            return ended[1]
        with self.working() as connection:
            query = "SELECT priority FROM finished WHERE number = ?"
            row = connection.execute(query, (number,)).fetchone()
        priority: float | None = row[0] if row else None
        return priority

    def rescore(
        self, numbers: Numbers, priorities: npt.NDArray[np.float64], *, replace: bool
    ) -> None:
        """Write new priorities; ``replace`` drops all earlier ones."""
        self.write()
        with self.working() as connection:
            self._begin(connection)
            if replace:
                connection.execute("DELETE FROM rescore")
                self.rescores = 0
            for start in range(0, numbers.size, _RESCORES_PER_ROW):
                part = slice(start, start + _RESCORES_PER_ROW)
                packed = pack_numbers(numbers[part]), pack_priorities(priorities[part])
                connection.execute(_INSERT_RESCORE, (self.first_unwritten, *packed))
        self.rescores += numbers.size

    @staticmethod
    def _begin(connection: sqlite3.Connection) -> None:
        if not connection.in_transaction:
            connection.execute("BEGIN IMMEDIATE")

    def write(self) -> None:
        """Put the changes into the open transaction, to be committed later."""
        changes = (self._urls, self._places, self._outcomes, self._hosts, self._beside)
        if not (any(changes) or self._page_changed):
            return
        with self.working() as connection:
            self._begin(connection)
            urls = [(number, *self.names.split(url, host)) for number, host, url in self._urls]
            connection.executemany("INSERT INTO url VALUES (?, ?, ?)", urls)
            places = self._place_rows()
            connection.executemany("INSERT INTO place VALUES (?, ?, ?, ?, ?, ?)", places)
            ended = [(n, each[0].value, each[1]) for n, each in self._outcomes.items() if each]
            connection.executemany("INSERT OR REPLACE INTO finished VALUES (?, ?, ?)", ended)
            reopened = [(number,) for number, each in self._outcomes.items() if each is None]
            connection.executemany("DELETE FROM finished WHERE number = ?", reopened)
            hosts = [(h.number, h.name, h.until, h.pages) for h in self._hosts.values()]
            connection.executemany(_SAVE_HOST, hosts)
            if self._page_changed:
                connection.execute("INSERT OR REPLACE INTO mark VALUES ('page', ?)", (self.page,))
            for statement, rows in self._beside:
                connection.executemany(statement, rows)
        self._beside.clear()
        self._urls.clear()
        self.first_unwritten += len(self._places)
        self._places.clear()
        self._outcomes.clear()
        self._hosts.clear()
        self._page_changed = False

    def _place_rows(self) -> Iterator[tuple[Any, ...]]:
        """Places of one page next to each other: they share most of what is to be written."""
        first = self.first_unwritten
        by_page = groupby(self._places, lambda place: (place[1].parent, place[1].depth))
        for (parent, depth), siblings in by_page:
            links = list(siblings)
            for start in range(0, len(links), _MAX_PLACES_PER_ROW):
                numbers, candidates = zip(*links[start : start + _MAX_PLACES_PER_ROW], strict=True)
                yield (
                    first,
                    parent and (self._number_of(parent) or parent),
                    depth,
                    pack_memories([candidate.memory for candidate in candidates]),
                    pack_numbers(numbers),
                    pack_priorities([candidate.priority for candidate in candidates]),
                )
                first += len(numbers)

    def commit(self) -> None:
        """Write the changes and make them survive a crash."""
        self.write()
        with self.working() as connection:
            if connection.in_transaction:
                connection.execute("COMMIT")

    def close(self, *, commit: bool) -> None:
        """Give the file free, with or without what has not been committed."""
        try:
            if commit and self._failure is None:
                self.commit()
        finally:
            self._connection.close()
            self._ownership.release()


def _own(path: Path) -> Ownership:
    """The lock beside the file, which itself stays open to readers."""
    return Ownership(
        path.with_name(path.name + ".lock"),
        in_use=FrontierError(
            f"The frontier {path} is in use by another process. Only one crawl can work on it: "
            "wait until that one has ended, or stop it, and try again."
        ),
        unwritable=lambda reason: FRONTIER.unwritable(path, reason),
    )


def load(store: FrontierStore, index: FrontierIndex) -> None:
    """Fill an empty index from the file; everything without an outcome waits.

    About 2 µs per URL; memory grows by the index alone.
    """
    with store.working() as connection, loading(store.path):
        _load_hosts(connection, store, index)
        _load_urls(connection, store, index)
        store.rescores = load_standings(connection, index.standings, store.path)
        connection.execute(MARK_TABLE)
        store.page = page_mark(connection)
        if store.page is None and not len(index.seen):
            store.save_page(0)  # a new file; those of old do not know their pages
    store.first_unwritten = index.standings.next_arrival
    index.load_queues()


@contextmanager
def loading(path: Path) -> Iterator[None]:
    """What makes no sense while a file is read is damage."""
    try:
        yield
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise _damaged(path, f"what is in it makes no sense ({error})") from error


def _load_hosts(connection: sqlite3.Connection, store: FrontierStore, index: FrontierIndex) -> None:
    hosts = "SELECT number, name, until, pages FROM host ORDER BY number"
    for number, name, until, pages in connection.execute(hosts):
        host = index.add_host(name)
        if host.number != number:
            raise _damaged(store.path, f"host {number} is out of order")
        host.until, host.pages = until, pages
        store.names.append(name)


def _load_urls(connection: sqlite3.Connection, store: FrontierStore, index: FrontierIndex) -> None:
    take_in = [host.append_unsorted for host in index.hosts.values()]
    rows = connection.execute("SELECT site, path FROM url ORDER BY number")
    while part := rows.fetchmany(_LOADED_TOGETHER):
        sites, paths = zip(*part, strict=True)
        for number, site in enumerate(sites, len(index.seen) + 1):
            take_in[site >> 1](number)
        index.seen.extend(map(store.names.join, sites, paths))
    index.standings.expect(len(index.seen))
    (last,) = connection.execute(LAST_NUMBER).fetchone()
    if last != len(index.seen):
        raise _damaged(store.path, f"of {last} URLs, {len(index.seen)} are there")


def load_standings(connection: sqlite3.Connection, standings: Standings, path: Path) -> int:
    """Put all URLs that are expected where they stand; how many priorities were given later."""
    places = "SELECT first, numbers, priorities FROM place ORDER BY first"
    for first, numbers, priorities in connection.execute(places):
        if first != standings.next_arrival:
            raise _damaged(path, f"arrival {standings.next_arrival} is missing")
        standings.arrive_together(unpack_numbers(numbers), unpack_priorities(priorities))
    rescored, rescores = 0, "SELECT arrival, numbers, priorities FROM rescore ORDER BY number"
    for arrival, packed, priorities in connection.execute(rescores):
        numbers = unpack_numbers(packed)
        standings.rescore(numbers, unpack_priorities(priorities), arrival)
        rescored += numbers.size
    for number, outcome in connection.execute("SELECT number, outcome FROM finished"):
        if number >= len(standings):
            raise _damaged(path, f"there is no URL number {number}")
        standings.finish(number, Outcome(outcome))
    if standings.has_lost_places():
        raise _damaged(path, "the places of some URLs are missing")
    return rescored


def page_mark(connection: sqlite3.Connection) -> int | None:
    """Number of the last page that is finished in a file; ``None`` in files of old."""
    made = "SELECT count(*) FROM sqlite_schema WHERE name = 'mark'"
    if not connection.execute(made).fetchone()[0]:
        return None
    row = connection.execute("SELECT value FROM mark WHERE name = 'page'").fetchone()
    return int(row[0]) if row else None


def _damaged(path: Path, what: str) -> FrontierError:
    return FrontierError(
        f"The frontier {path} is damaged: {what}. Restore it from a copy, or "
        f"{FRONTIER.anew_at(path)}."
    )
