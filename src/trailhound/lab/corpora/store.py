"""Reading the tables of a corpus; damage is reported with the file's name."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from trailhound.fetching.replay import RecordedResponse
from trailhound.lab.corpora.addresses import AddressBook, OtherEntry
from trailhound.lab.corpora.information import CorpusInfo
from trailhound.lab.corpora.link_graph import LinkGraph
from trailhound.lab.corpora.opening import damaged, open_database
from trailhound.lab.corpora.packing import UNPACKING_ERRORS, Unpacker
from trailhound.lab.corpora.schema import META_INDICES, META_INDPTR, META_INFO
from trailhound.lab.corpora.trails import Trail
from trailhound.records import Page
from trailhound.sessions.events import Session

_Content = TypeVar("_Content")


class CorpusStore:
    """One query per kind of content. Nothing is kept in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = open_database(path)
        self._unpacker = Unpacker()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def info(self) -> CorpusInfo:
        """What the corpus says about itself."""
        described = self._unpacked(_decode_info, self._meta(META_INFO))
        return msgspec.structs.replace(described, bytes=self.path.stat().st_size)

    def addresses(self) -> AddressBook:
        """Every recorded URL."""
        book = AddressBook()
        book.pages.update(self._rows("SELECT url, id FROM pages ORDER BY id"))
        for url, *entry in self._rows("SELECT url, status, target, content_type FROM others"):
            book.others[url] = OtherEntry(*entry)
        return book

    def response(self, number: int) -> RecordedResponse:
        """A page as its server gave it."""
        url, status, content_type, frame = self._row(
            "SELECT url, status, content_type, data FROM pages JOIN records USING (id) "
            "WHERE id = ?",
            number,
        )
        page = self._unpacked(self._unpacker.page, frame)
        return RecordedResponse(url, status, page=page, content_type=content_type)

    def page(self, number: int) -> Page:
        """A page as it was extracted."""
        (frame,) = self._row("SELECT data FROM records WHERE id = ?", number)
        return self._unpacked(self._unpacker.page, frame)

    def source(self, number: int) -> bytes:
        """A page's body."""
        (frame,) = self._row("SELECT data FROM sources WHERE id = ?", number)
        return self._unpacked(self._unpacker.unpack, frame)

    def graph(self) -> LinkGraph:
        """The links between pages."""
        unpack = self._unpacker.array
        return LinkGraph(
            indptr=self._unpacked(unpack, self._meta(META_INDPTR)),
            indices=self._unpacked(unpack, self._meta(META_INDICES)),
        )

    def labels(self) -> list[tuple[str, int]]:
        """(label, page), sorted."""
        return self._rows("SELECT label, page FROM labels ORDER BY label, page")

    def groups(self) -> list[tuple[str, int]]:
        """(group, page), sorted."""
        return self._rows("SELECT name, page FROM groups ORDER BY name, page")

    def duplicates(self) -> list[tuple[str, str]]:
        """(URL, original), sorted."""
        return self._rows("SELECT url, original FROM duplicates ORDER BY url")

    def trails(self) -> Iterator[Trail]:
        """Trails in the order in which they were recorded."""
        for (number,) in self._rows("SELECT id FROM trails ORDER BY id"):
            (frame,) = self._row("SELECT data FROM trails WHERE id = ?", number)
            yield from self._unpacked(self._unpacker.trails, frame)

    def sessions(self) -> Iterator[Session]:
        """Browsing sessions in the order in which they were recorded."""
        for (frame,) in self._rows("SELECT data FROM sessions ORDER BY id"):
            yield self._unpacked(self._unpacker.session, frame)

    def _meta(self, key: str) -> bytes:
        (value,) = self._row("SELECT value FROM meta WHERE key = ?", key)
        return bytes(value)

    def _row(self, query: str, key: int | str) -> Any:
        try:
            row = self._connection.execute(query, (key,)).fetchone()
        except sqlite3.DatabaseError as error:
            raise damaged(self.path, error) from error
        if row is None:
            raise damaged(self.path, LookupError(f"{key} is missing"))
        return row

    def _rows(self, query: str) -> list[Any]:
        try:
            return self._connection.execute(query).fetchall()
        except sqlite3.DatabaseError as error:
            raise damaged(self.path, error) from error

    def _unpacked(self, unpack: Callable[[bytes], _Content], frame: bytes) -> _Content:
        try:
            return unpack(frame)
        except UNPACKING_ERRORS as error:
            raise damaged(self.path, error) from error


def _decode_info(data: bytes) -> CorpusInfo:
    return msgspec.json.decode(data, type=CorpusInfo)
