"""From accesses to an index, in four sorted passes and little memory.

1. Accesses in pieces, each read without knowing of the others, by any process: clients and URLs
   become keys, addresses go to a file of their own.
2. In order of client and time: busy clients are found and left out, people get numbers.
3. In order of page and time: pages get numbers and their addresses; the columns by page.
4. In order of person and time: the columns by user.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailhound.counting import counted
from trailhound.errors import SourceError
from trailhound.sessions.importers.base import Tally
from trailhound.sessions.importers.log_formats import NOT_ON_THE_WEB
from trailhound.sessions.importers.logs import GroupFilter, too_many_within
from trailhound.sources.traces.index import (
    ColumnFiles,
    Numbering,
    TraceHeader,
    TraceIndex,
    replacing,
    write_header,
)
from trailhound.sources.traces.sorting import (
    PIECE_ROWS,
    ROW,
    Rows,
    SortedAddresses,
    SortedRows,
    url_key,
)
from trailhound.urls import canonicalize

PageAccess = tuple[bytes, float, bytes | None]
"""Client, Unix time, URL if it was for a page."""
UserKey = Callable[[bytes], int]
"""From a client's name to 64 bits that stand for it."""
PIECE_BYTES = 64 * 1024 * 1024
"""Addresses in memory at a time, should a log be full of long ones."""
NO_PAGE = 0
"""In place of a URL's key: an access that was for no page, which only tells how busy one is."""


class Piece(NamedTuple):
    """Some accesses, as far as they can be read without the others."""

    clients: list[bytes]
    rows: Rows
    """Users by their place in ``clients``, pages by their key. Shape (accesses,)."""
    addresses: dict[int, bytes]
    """By key."""
    not_on_the_web: int

    def keyed(self, user_key: UserKey) -> Rows:
        """The rows, with users by key."""
        rows = self.rows.copy()
        keys = np.fromiter(map(user_key, self.clients), np.uint64, len(self.clients))
        rows["user"] = keys[rows["user"]]
        return rows


def in_pieces(accesses: Iterable[PageAccess], piece_rows: int = PIECE_ROWS) -> Iterator[Piece]:
    """Accesses, so many at a time; fewer if their addresses are long."""
    reading = _Reading()
    for client, when, url in accesses:
        reading.add(client, when, url)
        if len(reading) >= piece_rows or reading.url_bytes >= PIECE_BYTES:
            yield reading.piece()
            reading = _Reading()
    if len(reading):
        yield reading.piece()


def piece_of(accesses: Iterable[PageAccess]) -> Piece:
    """All of them."""
    reading = _Reading()
    for client, when, url in accesses:
        reading.add(client, when, url)
    return reading.piece()


class _Reading:
    """Accesses in memory, until there are enough for a piece."""

    def __init__(self) -> None:
        self._users: dict[bytes, int] = {}
        self._pages: dict[bytes, int] = {}
        self._rows: list[tuple[int, float, int]] = []
        self._addresses: dict[int, bytes] = {}
        self._not_on_the_web = 0
        self.url_bytes = 0

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, client: bytes, when: float, url: bytes | None) -> None:
        user = self._users.setdefault(client, len(self._users))
        page = NO_PAGE
        if url is not None:
            found = self._pages.get(url)
            page = self._page(url) if found is None else found
            self._not_on_the_web += page == NO_PAGE
        self._rows.append((user, when, page))

    def _page(self, url: bytes) -> int:
        """The key of an address in canonical form, under which a crawl will ask for it."""
        canonical = canonicalize(url.decode("utf-8", "replace"))
        key = NO_PAGE
        if canonical is not None:
            content = canonical.encode()
            key = url_key(content)
            self._addresses[key] = content
        self._pages[url] = key
        self.url_bytes += len(url)
        return key

    def piece(self) -> Piece:
        rows = np.array(self._rows, ROW)
        return Piece(list(self._users), rows, self._addresses, self._not_on_the_web)


Progress = Callable[[str], None]
"""Told now and then what is being done."""

_MINUTE, _DAY = 60, 86_400


def build_trace(
    folder: Path,
    accesses: Iterable[PageAccess],
    tally: Tally,
    user_key: UserKey,
    *,
    groups: GroupFilter | None = None,
    piece_rows: int = PIECE_ROWS,
) -> TraceHeader:
    """Make an index of accesses; see :func:`build_from_pieces`."""
    pieces = in_pieces(accesses, piece_rows)
    return build_from_pieces(folder, pieces, tally, user_key, groups=groups, piece_rows=piece_rows)


def build_from_pieces(
    folder: Path,
    pieces: Iterable[Piece],
    tally: Tally,
    user_key: UserKey,
    *,
    origin: str = "",
    groups: GroupFilter | None = None,
    progress: Progress = lambda _: None,
    piece_rows: int = PIECE_ROWS,
) -> TraceHeader:
    """Make an index; nothing is under its name before it is complete, then it replaces any.

    It is the same however the accesses are cut into pieces.
    """
    try:
        with replacing(folder) as draft:
            with ExitStack() as scratch:
                builder = _Builder(
                    draft, tally, groups or GroupFilter(), progress, piece_rows, scratch
                )
                header = builder.build(pieces, user_key, origin)
            write_header(draft, header)
    except OSError as error:
        raise SourceError(
            f"The index {folder} cannot be written: {error.strerror or error}. Free space (it "
            "needs about 100 bytes for each access while it is made), or choose another place."
        ) from error
    return header


def trace_in_memory(accesses: Iterable[PageAccess], user_key: UserKey) -> TraceIndex:
    """A small index without a place of its own: its columns are read into memory."""
    with TemporaryDirectory(prefix="trailhound-") as place:
        folder = Path(place) / "memory.trace"
        build_trace(folder, accesses, Tally("access"), user_key)
        return TraceIndex.open(folder).in_memory()


class _Builder:
    """The four passes."""

    def __init__(
        self,
        folder: Path,
        tally: Tally,
        groups: GroupFilter,
        progress: Progress,
        piece_rows: int,
        scratch: ExitStack,
    ) -> None:
        self._folder = folder
        self._tally = tally
        self._groups = groups
        self._progress = progress
        self._piece_rows = piece_rows
        self._scratch = scratch
        self._addresses = SortedAddresses(folder / "addresses.part")
        scratch.callback(self._addresses.remove)

    def build(self, pieces: Iterable[Piece], user_key: UserKey, origin: str) -> TraceHeader:
        by_client = self._rows("clients.part", "user")
        for piece in pieces:
            self._take(piece)
            by_client.add(piece.keyed(user_key))
        self._progress("sorting by user")
        by_page = self._rows("pages.part", "url")
        n_users = self._people(by_client, by_page)
        by_client.remove()
        if not n_users:
            raise SourceError(_nothing_in(self._tally))
        self._progress("sorting by page")
        by_user = self._rows("users.part", "user")
        n_pages, n_accesses, url_bytes = self._page_columns(by_page, by_user)
        by_page.remove()
        self._progress("writing users")
        self._user_columns(by_user)
        return TraceHeader(
            origin=origin,
            accesses=n_accesses,
            users=n_users,
            pages=n_pages,
            url_bytes=url_bytes,
            read=self._tally.read,
            skipped=_most_first(self._tally.skipped),
            notes=tuple(self._tally.notes),
        )

    def _rows(self, name: str, major: str) -> SortedRows:
        rows = SortedRows(self._folder / name, major, self._piece_rows)
        self._scratch.callback(rows.remove)
        return rows

    def _take(self, piece: Piece) -> None:
        """Pass 1."""
        self._addresses.add(piece.addresses)
        if piece.not_on_the_web:
            self._tally.skip(NOT_ON_THE_WEB, piece.not_on_the_web)
        self._progress(f"{counted(self._tally.read, self._tally.unit)} read")

    def _people(self, by_client: SortedRows, by_page: SortedRows) -> int:
        """Pass 2; the number of people."""
        busy = BusyClients(self._groups)
        for rows in by_client.merged():
            busy.see(rows)
        too_busy = busy.found()
        people, dropped = Numbering(), 0
        for rows in by_client.merged():
            pages = rows[rows["url"] != NO_PAGE]
            is_busy = np.isin(pages["user"], too_busy)
            dropped += int(is_busy.sum())
            kept = pages[~is_busy]
            kept["user"] = people.numbers(kept["user"])
            by_page.add(kept)
        self._tell_busy(len(too_busy), dropped)
        return len(people)

    def _tell_busy(self, n_clients: int, n_accesses: int) -> None:
        groups = self._groups
        if n_clients:
            self._tally.skip(
                f"by clients with over {groups.max_per_day:,} accesses a day or "
                f"{groups.max_per_minute:,} a minute",
                n_accesses,
            )
            self._tally.notes.append(f"{counted(n_clients, 'client')} too busy to be one person")

    def _page_columns(self, by_page: SortedRows, by_user: SortedRows) -> tuple[int, int, int]:
        """Pass 3; the numbers of pages, of accesses and of bytes in their addresses."""
        pages, total, url_end = Numbering(), 0, 0
        addresses = self._addresses.merged()
        with ColumnFiles(self._folder) as columns:
            for rows in by_page.merged():
                keys, starts = pages.new(rows["url"])
                columns.write("url-keys", keys)
                urls = list(_matching(addresses, keys))
                columns.write_bytes("urls", b"".join(urls))
                ends = url_end + np.cumsum([len(url) for url in urls], dtype=np.uint64)
                columns.write("url-ends", ends)
                url_end = int(ends[-1]) if len(ends) else url_end
                columns.write("page-ends", _ends_before(starts, total))
                columns.write("page-users", rows["user"])
                columns.write("page-times", rows["time"])
                rows["url"] = pages.numbers(rows["url"])
                by_user.add(rows)
                total += len(rows)
            columns.write("page-ends", [total])
        return len(pages), total, url_end

    def _user_columns(self, by_user: SortedRows) -> None:
        """Pass 4."""
        users, total = Numbering(), 0
        with ColumnFiles(self._folder) as columns:
            for rows in by_user.merged():
                _, starts = users.new(rows["user"])
                users.numbers(rows["user"])
                columns.write("user-ends", _ends_before(starts, total))
                columns.write("user-pages", rows["url"])
                columns.write("user-times", rows["time"])
                total += len(rows)
            columns.write("user-ends", [total])


def _most_first(skipped: Counter[str]) -> dict[str, int]:
    """Whichever was met first."""
    return dict(sorted(((why, n) for why, n in skipped.items() if n), key=lambda x: (-x[1], x[0])))


def _ends_before(starts: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Where one begins, the one before it has ended; nothing comes before the first."""
    ends = starts + total
    return ends[ends > 0]


def _nothing_in(tally: Tally) -> str:
    reasons = "; ".join(f"{count:,} {reason}" for reason, count in tally.skipped.most_common())
    return (
        f"The trace holds no visit of a person to a page: {counted(tally.read, tally.unit)} read"
        + (f", of which {reasons}" if reasons else "")
        + ". Give another log."
    )


def _matching(addresses: Iterator[tuple[int, bytes]], keys: NDArray[np.uint64]) -> Iterator[bytes]:
    """The address of each key; both come in order, and every key has one."""
    for wanted in keys.tolist():
        yield next(url for key, url in addresses if key == wanted)


class BusyClients:
    """Finds clients that are no single person: programs, and proxies that many people share.

    Accesses come in order of client and time, block by block.
    """

    def __init__(self, groups: GroupFilter) -> None:
        self._busiest = (
            _BusyWithin(_MINUTE, groups.max_per_minute),
            _BusyWithin(_DAY, groups.max_per_day),
        )

    def see(self, rows: Rows) -> None:
        """Take the next block."""
        for each in self._busiest:
            each.see(rows["user"], rows["time"])

    def found(self) -> NDArray[np.uint64]:
        """Their keys, in order."""
        keys = set().union(*(each.users for each in self._busiest))
        return np.array(sorted(keys), np.uint64)


class _BusyWithin:
    """Clients with more than ``limit`` accesses within so many seconds, across blocks."""

    def __init__(self, seconds: int, limit: int) -> None:
        self._seconds = seconds
        self._limit = limit
        self._last_users: NDArray[np.uint64] = np.zeros(0, np.uint64)
        self._last_times: NDArray[np.float64] = np.zeros(0)
        self.users: set[int] = set()

    def see(self, users: NDArray[np.uint64], times: NDArray[np.float64]) -> None:
        users = np.concatenate((self._last_users, users))
        times = np.concatenate((self._last_times, times))
        same = users[self._limit :] == users[: max(0, len(users) - self._limit)]
        busy = same & too_many_within(self._seconds, self._limit, times)
        self.users.update(users[self._limit :][busy].tolist())
        keep = max(0, len(users) - self._limit)
        self._last_users, self._last_times = users[keep:], times[keep:]
