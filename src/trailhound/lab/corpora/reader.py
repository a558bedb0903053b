"""A recorded web. Nothing is loaded before it is asked for; damage is reported with the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec
import numpy as np
import zstandard

from trailhound.fetching.replay import RecordedResponse
from trailhound.lab.corpora.contents import (
    AddressBook,
    CorpusInfo,
    OtherEntry,
    Trail,
)
from trailhound.lab.corpora.file_format import (
    META_INDICES,
    META_INDPTR,
    META_INFO,
    damaged,
    open_database,
)
from trailhound.lab.corpora.link_graph import IntArray, LinkGraph
from trailhound.records import Page
from trailhound.sessions.events import Session

_Content = TypeVar("_Content")

_decode_info = msgspec.json.Decoder(CorpusInfo).decode
_decode_page = msgspec.msgpack.Decoder(Page).decode
_decode_session = msgspec.msgpack.Decoder(Session).decode
_decode_trails = msgspec.msgpack.Decoder(tuple[Trail, ...]).decode


def _decode_numbers(data: bytes) -> IntArray:
    return np.frombuffer(data, dtype="<i4").astype(np.int32, copy=False)


def _members(rows: Iterable[tuple[str, int]]) -> dict[str, frozenset[int]]:
    by_name = groupby(rows, key=itemgetter(0))
    return {name: frozenset(page for _, page in of_name) for name, of_name in by_name}


class Corpus:
    """A recorded web, made by :class:`~trailhound.lab.corpora.writer.CorpusWriter`.

    Pages are numbered from 0 in the order in which they were recorded. URLs are given in
    canonical form. Use one object per process, in one thread at a time; opening is cheap.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        """Where the file is."""
        self._connection = open_database(self.path)
        self._decompress = zstandard.ZstdDecompressor().decompress
        try:
            described = self._decoded(_decode_info, self._meta(META_INFO))
            self._info = msgspec.structs.replace(described, bytes=self.path.stat().st_size)
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open a corpus file; CorpusError says what is wrong with one that cannot be read."""
        return cls(path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def info(self) -> CorpusInfo:
        """Counts, origin and fingerprint."""
        return self._info

    def __len__(self) -> int:
        """Number of pages."""
        return self._info.pages

    def __contains__(self, url: object) -> bool:
        """Whether anything was recorded for ``url``: a page, a redirect or an error."""
        return url in self._addresses

    def lookup(self, url: str) -> RecordedResponse | None:
        """What was recorded for ``url``; a redirect is an answer of its own."""
        number = self._addresses.pages.get(url)
        if number is not None:
            return self._response(number)
        entry = self._addresses.others.get(url)
        if entry is None:
            return None
        if entry.is_alias and (number := self.page_id(url)) is not None:
            return self._response(number)
        target = entry.target if entry.is_redirect else None
        return RecordedResponse(
            url, entry.status, redirect_to=target, content_type=entry.content_type
        )

    def page_id(self, url: str) -> int | None:
        """The number of the page that a visitor of ``url`` ends on, redirects followed."""
        return self._addresses.resolve(url)

    def page_ids(self, urls: Iterable[str]) -> list[int]:
        """The numbers of the pages behind the URLs, of those that lead to one."""
        return [number for url in urls if (number := self.page_id(url)) is not None]

    def redirects(self, url: str) -> int:
        """Requests that a visitor of ``url`` is sent on by before she gets an answer."""
        return self._addresses.redirects(url)

    def page(self, url: str) -> Page | None:
        """The page that a visitor of ``url`` ends on; ``None`` when there is none."""
        number = self.page_id(url)
        return None if number is None else self.page_by_id(number)

    def page_by_id(self, number: int) -> Page:
        """The page with this number."""
        (frame,) = self._row("SELECT data FROM records WHERE id = ?", number)
        return self._unpacked(_decode_page, frame)

    def html(self, url: str) -> bytes | None:
        """The source of the page that a visitor of ``url`` ends on."""
        number = self.page_id(url)
        if number is None:
            return None
        (frame,) = self._row("SELECT data FROM sources WHERE id = ?", number)
        return self._unpacked(bytes, frame)

    @cached_property
    def page_urls(self) -> Sequence[str]:
        """URL of every page, by number."""
        return tuple(self._addresses.pages)

    @cached_property
    def graph(self) -> LinkGraph:
        """The links between pages."""
        return LinkGraph(
            indptr=self._unpacked(_decode_numbers, self._meta(META_INDPTR)),
            indices=self._unpacked(_decode_numbers, self._meta(META_INDICES)),
        )

    def labels(self) -> Mapping[str, frozenset[int]]:
        """Numbers of the pages that carry each label."""
        return self._labels

    def groups(self) -> Mapping[str, frozenset[int]]:
        """Numbers of the pages in each group; a page is in one group at most."""
        return self._groups

    def duplicates(self) -> Mapping[str, str]:
        """URLs of pages that repeat others, with the URL of the original."""
        return dict(self._rows("SELECT url, original FROM duplicates ORDER BY url"))

    def trails(self) -> Iterator[Trail]:
        """Recorded walks of many users, in the order in which they were recorded."""
        for (number,) in self._rows("SELECT id FROM trails ORDER BY id"):
            (frame,) = self._row("SELECT data FROM trails WHERE id = ?", number)
            yield from self._unpacked(_decode_trails, frame)

    def sessions(self) -> tuple[Session, ...]:
        """Recorded browsing sessions."""
        frames = self._rows("SELECT data FROM sessions ORDER BY id")
        return tuple(self._unpacked(_decode_session, frame) for (frame,) in frames)

    @property
    def start_urls(self) -> tuple[str, ...]:
        """Where browsing this web would begin; may be empty."""
        return self._info.start_urls

    @cached_property
    def _addresses(self) -> AddressBook:
        book = AddressBook()
        book.pages.update(self._rows("SELECT url, id FROM pages ORDER BY id"))
        for url, *entry in self._rows("SELECT url, status, target, content_type FROM others"):
            book.others[url] = OtherEntry(*entry)
        return book

    @cached_property
    def _labels(self) -> Mapping[str, frozenset[int]]:
        return _members(self._rows("SELECT label, page FROM labels ORDER BY label"))

    @cached_property
    def _groups(self) -> Mapping[str, frozenset[int]]:
        return _members(self._rows("SELECT name, page FROM groups ORDER BY name"))

    def _response(self, number: int) -> RecordedResponse:
        url, status, content_type, frame = self._row(
            "SELECT url, status, content_type, data FROM pages JOIN records USING (id) "
            "WHERE id = ?",
            number,
        )
        page = self._unpacked(_decode_page, frame)
        return RecordedResponse(url, status, page=page, content_type=content_type)

    def _meta(self, key: str) -> bytes:
        (value,) = self._row("SELECT value FROM meta WHERE key = ?", key)
        return bytes(value)

    def _row(self, query: str, key: int | str) -> Any:
        rows = self._rows(query, (key,))
        if not rows:
            raise damaged(self.path, LookupError(f"{key} is missing"))
        return rows[0]

    def _rows(self, query: str, keys: Sequence[int | str] = ()) -> list[Any]:
        try:
            return self._connection.execute(query, keys).fetchall()
        except sqlite3.DatabaseError as error:
            raise damaged(self.path, error) from error

    def _unpacked(self, decode: Callable[[bytes], _Content], frame: bytes) -> _Content:
        """Decompressed and decoded."""
        return self._decoded(lambda data: decode(self._decompress(data)), frame)

    def _decoded(self, decode: Callable[[bytes], _Content], data: bytes) -> _Content:
        try:
            return decode(data)
        except (zstandard.ZstdError, msgspec.MsgspecError, ValueError) as error:
            raise damaged(self.path, error) from error
