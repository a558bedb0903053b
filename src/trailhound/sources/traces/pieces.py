"""Accesses in pieces, each read without knowing of the others: by any process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from trailhound.sources.traces.sorting import PIECE_ROWS, ROW, Rows, url_key
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
