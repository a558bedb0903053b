"""One frontier into several by host, and several into one: whole files, row by row.

Every URL keeps what is known of it: whether it waits, with which priority, memory, parent and
depth, or how it ended; every host keeps its delay and its count of pages. Nothing is ranked anew.
Some 3 µs a URL; the memory is four bytes for each, and in :func:`join_frontiers` the URLs of hosts
that several files know: ends of redirects.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from trailhound.frontier.reading import reading
from trailhound.frontier.store import LAST_NUMBER
from trailhound.frontier.tables import (
    FRONTIER,
    MARK_TABLE,
    SiteNames,
    pack_memories,
    pack_numbers,
    pack_priorities,
    unpack_numbers,
    unpack_priorities,
)

_READ_TOGETHER = 5_000
_HOSTS = "SELECT number, name, until, pages FROM host ORDER BY number"
_URLS = "SELECT number, site, path FROM url ORDER BY number"
_PLACES = "SELECT first, parent, depth, memories, numbers, priorities FROM place ORDER BY first"
_RESCORES = "SELECT arrival, numbers, priorities FROM rescore ORDER BY number"
_FINISHED = "SELECT number, outcome, priority FROM finished"
_ADD_PLACE = "INSERT INTO place VALUES (?, ?, ?, ?, ?, ?)"
_ADD_RESCORE = "INSERT INTO rescore (arrival, numbers, priorities) VALUES (?, ?, ?)"
_ADD_FINISHED = (
    "INSERT INTO finished VALUES (?, ?, ?) ON CONFLICT (number) DO UPDATE "
    "SET outcome = excluded.outcome, priority = excluded.priority WHERE finished.priority IS NULL"
)
_decode = msgspec.msgpack.Decoder(bytes | list[bytes]).decode


def split_frontier(source: Path, targets: Sequence[Path], owner: Callable[[str], int]) -> None:
    """Give each target, a file that is not there yet, the hosts that it is the ``owner`` of."""
    with reading(source) as connection, ExitStack() as stack:
        files = [stack.enter_context(_Written.new(path)) for path in targets]
        _Splitting(connection, files, owner).run()


def join_frontiers(sources: Sequence[Path], target: Path, page: int) -> None:
    """Write one file, which is not there yet, from all; ``page`` is the crawl's last page.

    A URL that several know has ended if it has for one of them.
    """
    with _Written.new(target, page) as file:
        joining = _Joining(file, _shared_hosts(sources))
        for source in sources:
            with reading(source) as connection:
                joining.take(connection)
        file.hosts(joining.hosts())


class _Written:
    """A frontier file that is being made, in one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.execute = connection.execute
        self.executemany = connection.executemany
        self.next_number = 1
        self.next_arrival = 1

    @classmethod
    @contextmanager
    def new(cls, path: Path, page: int = 0) -> Iterator[_Written]:
        with FRONTIER.explaining(path), closing(FRONTIER.open(path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield cls(connection)
            connection.execute(MARK_TABLE)
            connection.execute("INSERT OR REPLACE INTO mark VALUES ('page', ?)", (page,))
            connection.execute("COMMIT")

    def hosts(self, rows: Iterable[tuple[int, str, float, int]]) -> None:
        self.executemany("INSERT INTO host VALUES (?, ?, ?, ?)", rows)

    def urls(self, rows: Sequence[tuple[int, str]]) -> None:
        numbered = ((self.next_number + at, *row) for at, row in enumerate(rows))
        self.executemany("INSERT INTO url VALUES (?, ?, ?)", numbered)
        self.next_number += len(rows)

    def place(
        self,
        about: tuple[int | str | None, int, bytes],
        numbers: npt.NDArray[np.uint32],
        priorities: npt.NDArray[np.float64],
    ) -> None:
        packed = pack_numbers(numbers), pack_priorities(priorities)
        self.execute(_ADD_PLACE, (self.next_arrival, *about, *packed))
        self.next_arrival += numbers.size

    def rescore(
        self, arrival: int, numbers: npt.NDArray[np.uint32], priorities: npt.NDArray[np.float64]
    ) -> None:
        self.execute(_ADD_RESCORE, (arrival, pack_numbers(numbers), pack_priorities(priorities)))


def _numbers(connection: sqlite3.Connection) -> npt.NDArray[np.uint32]:
    """Room for something about each URL of a file."""
    (last,) = connection.execute(LAST_NUMBER).fetchone()
    return np.zeros(last + 1, np.uint32)


class _Splitting:
    def __init__(
        self, source: sqlite3.Connection, files: Sequence[_Written], owner: Callable[[str], int]
    ) -> None:
        self._source = source
        self._files = files
        self._hosts: list[tuple[int, int]] = []
        """By number: whose each is, and its number there."""
        self._owners = _numbers(source)
        self._new = _numbers(source)
        """By a URL's number: its number in its owner's file."""
        self._arrivals: list[list[npt.NDArray[np.int64]]] = [[] for _ in files]
        """Of the places of each file, as they were in the source."""
        self._names = SiteNames()
        self._owner = owner

    def run(self) -> None:
        self._split_hosts()
        self._split_urls()
        for row in self._source.execute(_PLACES):
            self._split_place(row)
        self._split_rescores()
        for row in self._source.execute(_FINISHED):
            number = row[0]
            ended = (int(self._new[number]), *row[1:])
            self._files[self._owners[number]].execute(_ADD_FINISHED, ended)

    def _split_hosts(self) -> None:
        counts = [0] * len(self._files)
        for _, name, until, pages in self._source.execute(_HOSTS):
            owner = self._owner(name)
            self._files[owner].hosts([(counts[owner], name, until, pages)])
            self._hosts.append((owner, counts[owner]))
            self._names.append(name)
            counts[owner] += 1

    def _split_urls(self) -> None:
        rows = self._source.execute(_URLS)
        while part := rows.fetchmany(_READ_TOGETHER):
            parts: list[list[tuple[int, str]]] = [[] for _ in self._files]
            for number, site, path in part:
                owner, host = self._hosts[site >> 1]
                self._owners[number] = owner
                self._new[number] = self._files[owner].next_number + len(parts[owner])
                parts[owner].append((2 * host + (site & 1), path))
            for file, own in zip(self._files, parts, strict=True):
                file.urls(own)

    def _split_place(self, row: tuple[Any, ...]) -> None:
        first, parent, depth, memories, packed, packed_priorities = row
        numbers, priorities = unpack_numbers(packed), unpack_priorities(packed_priorities)
        unpacked, owners = _decode(memories), self._owners[numbers]
        for owner in np.unique(owners).tolist():
            own = np.flatnonzero(owners == owner)
            if isinstance(unpacked, list):
                memories = pack_memories([unpacked[at] for at in own])
            about = self._parent_for(parent, owner), depth, memories
            self._files[owner].place(about, self._new[numbers[own]], priorities[own])
            self._arrivals[owner].append(first + own)

    def _parent_for(self, parent: int | str | None, owner: int) -> int | str | None:
        """The number of a page in its file; where it is another's, its URL."""
        if not isinstance(parent, int):
            return parent
        if self._owners[parent] == owner:
            return int(self._new[parent])
        find = "SELECT site, path FROM url WHERE number = ?"
        return self._names.join(*self._source.execute(find, (parent,)).fetchone())

    def _split_rescores(self) -> None:
        arrivals = [np.concatenate(each) if each else np.zeros(0) for each in self._arrivals]
        for arrival, packed, packed_priorities in self._source.execute(_RESCORES):
            numbers, priorities = unpack_numbers(packed), unpack_priorities(packed_priorities)
            owners = self._owners[numbers]
            for owner in np.unique(owners).tolist():
                own = np.flatnonzero(owners == owner)
                before = int(np.searchsorted(arrivals[owner], arrival))
                self._files[owner].rescore(before + 1, self._new[numbers[own]], priorities[own])


class _Joining:
    def __init__(self, file: _Written, shared: frozenset[str]) -> None:
        self._file = file
        self._shared = shared
        self._hosts: dict[str, tuple[int, float, int]] = {}
        """Number, time until which it rests, and pages, by name."""
        self._known: dict[tuple[int, str], int] = {}
        """URLs of shared hosts, with their numbers."""

    def hosts(self) -> Iterator[tuple[int, str, float, int]]:
        """Rows of all of them."""
        return ((each[0], name, *each[1:]) for name, each in self._hosts.items())

    def take(self, source: sqlite3.Connection) -> None:
        """Add everything of a file."""
        before = self._file.next_arrival - 1
        new = self._take_urls(source, self._take_hosts(source))
        for _, parent, depth, memories, numbers, priorities in source.execute(_PLACES):
            parent = int(new[parent]) if isinstance(parent, int) else parent
            own = new[unpack_numbers(numbers)]
            self._file.place((parent, depth, memories), own, unpack_priorities(priorities))
        for arrival, numbers, priorities in source.execute(_RESCORES):
            own = new[unpack_numbers(numbers)]
            self._file.rescore(before + arrival, own, unpack_priorities(priorities))
        ended = ((int(new[row[0]]), *row[1:]) for row in source.execute(_FINISHED))
        self._file.executemany(_ADD_FINISHED, ended)

    def _take_hosts(self, source: sqlite3.Connection) -> list[tuple[int, bool]]:
        """By their numbers in the source: their numbers here, and whether others know them."""
        taken = []
        for _, name, until, pages in source.execute(_HOSTS):
            number, until_before, before = self._hosts.get(name, (len(self._hosts), 0.0, 0))
            self._hosts[name] = number, max(until, until_before), before + pages
            taken.append((number, name in self._shared))
        return taken

    def _take_urls(
        self, source: sqlite3.Connection, hosts: Sequence[tuple[int, bool]]
    ) -> npt.NDArray[np.uint32]:
        new = _numbers(source)
        rows = source.execute(_URLS)
        while part := rows.fetchmany(_READ_TOGETHER):
            added: list[tuple[int, str]] = []
            for number, site, path in part:
                host, is_shared = hosts[site >> 1]
                url = 2 * host + (site & 1), path
                here = self._file.next_number + len(added)
                new[number] = self._known.setdefault(url, here) if is_shared else here
                if new[number] == here:
                    added.append(url)
            self._file.urls(added)
        return new


def _shared_hosts(sources: Iterable[Path]) -> frozenset[str]:
    """Those that several files know."""
    counts: Counter[str] = Counter()
    for source in sources:
        with reading(source) as connection:
            counts.update(row[1] for row in connection.execute(_HOSTS))
    return frozenset(name for name, count in counts.items() if count > 1)
