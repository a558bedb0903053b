"""A recorded web. Nothing is loaded before it is asked for; damage is reported with the file."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec

from trailhound.fetching.replay import RecordedResponse
from trailhound.lab.corpora.contents import (
    Access,
    AddressBook,
    CorpusInfo,
    OtherEntry,
    Trail,
    access_log,
)
from trailhound.lab.corpora.file_format import (
    META_INDICES,
    META_INDPTR,
    META_INFO,
    UNPACKING_ERRORS,
    Unpacker,
    damaged,
    open_database,
)
from trailhound.lab.corpora.link_graph import LinkGraph
from trailhound.records import Page
from trailhound.sessions.events import Session

_Content = TypeVar("_Content")


class Corpus:
    """A recorded web, made by :class:`~trailhound.lab.corpora.writer.CorpusWriter`.

    Pages are numbered from 0 in the order in which they were recorded. URLs are given in
    canonical form. Use one object per thread and process; opening is cheap.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        """Where the file is."""
        self._connection = open_database(self.path)
        self._unpacker = Unpacker()
        try:
            self._info = self._read_info()
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

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
        return self._unpacked(self._unpacker.page, frame)

    def html(self, url: str) -> bytes | None:
        """The source of the page that a visitor of ``url`` ends on."""
        number = self.page_id(url)
        if number is None:
            return None
        (frame,) = self._row("SELECT data FROM sources WHERE id = ?", number)
        return self._unpacked(self._unpacker.unpack, frame)

    @cached_property
    def page_urls(self) -> Sequence[str]:
        """URL of every page, by number."""
        return tuple(self._addresses.pages)

    @cached_property
    def graph(self) -> LinkGraph:
        """The links between pages."""
        unpack = self._unpacker.array
        return LinkGraph(
            indptr=self._unpacked(unpack, self._meta(META_INDPTR)),
            indices=self._unpacked(unpack, self._meta(META_INDICES)),
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
            yield from self._unpacked(self._unpacker.trails, frame)

    def access_log(self) -> Iterator[Access]:
        """The trails as one log of who asked for what, in order of time."""
        return access_log(self.trails())

    def sessions(self) -> tuple[Session, ...]:
        """Recorded browsing sessions."""
        frames = self._rows("SELECT data FROM sessions ORDER BY id")
        return tuple(self._unpacked(self._unpacker.session, frame) for (frame,) in frames)

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
        return self._members("SELECT label, page FROM labels ORDER BY label, page")

    @cached_property
    def _groups(self) -> Mapping[str, frozenset[int]]:
        return self._members("SELECT name, page FROM groups ORDER BY name, page")

    def _members(self, query: str) -> Mapping[str, frozenset[int]]:
        members: defaultdict[str, set[int]] = defaultdict(set)
        for name, page in self._rows(query):
            members[name].add(page)
        return {name: frozenset(pages) for name, pages in members.items()}

    def _response(self, number: int) -> RecordedResponse:
        url, status, content_type, frame = self._row(
            "SELECT url, status, content_type, data FROM pages JOIN records USING (id) "
            "WHERE id = ?",
            number,
        )
        page = self._unpacked(self._unpacker.page, frame)
        return RecordedResponse(url, status, page=page, content_type=content_type)

    def _read_info(self) -> CorpusInfo:
        decode = msgspec.json.Decoder(CorpusInfo).decode
        described = self._unpacked(decode, self._meta(META_INFO))
        return msgspec.structs.replace(described, bytes=self.path.stat().st_size)

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

    def _unpacked(self, unpack: Callable[[bytes], _Content], frame: bytes) -> _Content:
        try:
            return unpack(frame)
        except UNPACKING_ERRORS as error:
            raise damaged(self.path, error) from error
