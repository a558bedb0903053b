"""A corpus in the making: what is gathered until all pages are known, and the unfinished file."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import zstandard

from trailhound.errors import CorpusError, UsageError
from trailhound.lab.corpora.contents import CorpusInfo, OtherEntry, Trail
from trailhound.lab.corpora.file_format import (
    META_INDICES,
    META_INDPTR,
    META_INFO,
    TABLES,
    may_be_replaced,
    new_compressor,
)
from trailhound.lab.corpora.link_graph import LinkGraph
from trailhound.lab.corpora.preparation import PreparedPage
from trailhound.sessions.events import Session
from trailhound.storage.files import is_written_straight

# Trails per stored block: large enough to compress well, small enough to stream.
TRAILS_PER_BLOCK = 2048


class PlacedSideData(NamedTuple):
    """Side data with URLs replaced by page numbers, sorted."""

    labels: tuple[tuple[str, int], ...]
    """(label, page)"""
    groups: tuple[tuple[int, str], ...]
    """(page, group)"""
    duplicates: tuple[tuple[str, str], ...]
    """(URL, original)"""
    start_urls: tuple[str, ...]
    unplaced: int
    """Labels and groups of URLs that lead to no page."""


class SideData:
    """Collects side data by URL while pages may still be missing."""

    def __init__(self) -> None:
        self.labels: set[tuple[str, str]] = set()
        """(URL, label)"""
        self.groups: dict[str, str] = {}
        self.duplicates: dict[str, str] = {}
        self.start_urls: tuple[str, ...] = ()

    def placed(self, resolve: Callable[[str], int | None]) -> PlacedSideData:
        """Everything by page number; ``resolve`` gives the page that a URL leads to."""
        labels = {(label, resolve(url)) for url, label in self.labels}
        # Sorted, so that of two URLs of one page the same one always wins.
        groups = {resolve(url): name for url, name in sorted(self.groups.items(), reverse=True)}
        unplaced = sum(resolve(url) is None for url, _ in self.labels)
        unplaced += sum(resolve(url) is None for url in self.groups)
        return PlacedSideData(
            labels=tuple(sorted((label, page) for label, page in labels if page is not None)),
            groups=tuple(sorted((page, name) for page, name in groups.items() if page is not None)),
            duplicates=tuple(sorted(self.duplicates.items())),
            start_urls=self.start_urls,
            unplaced=unplaced,
        )


class Outlinks:
    """Who links to which URL. Each URL is kept once: a site's pages share most of their links."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._rows: list[array[int]] = []

    @property
    def n_pages(self) -> int:
        """Pages added so far."""
        return len(self._rows)

    @property
    def urls(self) -> Collection[str]:
        """Every URL that some page links to, in order of first appearance."""
        return self._numbers.keys()

    def add_page(self, links: Iterable[str]) -> None:
        """Add the distinct links of the next page."""
        numbers = self._numbers
        self._rows.append(array("i", [numbers.setdefault(url, len(numbers)) for url in links]))

    def count(self, wanted: Callable[[str], bool]) -> int:
        """How many (page, URL) pairs have a URL that is ``wanted``."""
        chosen = [wanted(url) for url in self._numbers]
        return sum(chosen[number] for row in self._rows for number in row)

    def graph(self, resolve: Callable[[str], int | None]) -> LinkGraph:
        """The links between pages; ``resolve`` gives the page that a URL leads to."""
        pages = [resolve(url) for url in self._numbers]
        rows = [
            [page for number in row if (page := pages[number]) is not None] for row in self._rows
        ]
        return LinkGraph.from_rows(rows)


class StagedCorpus:
    """A corpus file under a temporary name beside its destination; one method per kind of content.

    Every method says in words what is wrong when the disk refuses.
    """

    def __init__(self, destination: Path) -> None:
        if is_written_straight(destination):
            raise UsageError(
                f"Cannot write a corpus into {destination}: it is no file, and a corpus cannot be "
                "written from its beginning to its end. Name a file."
            )
        self.destination = destination = Path(os.path.realpath(destination))  # a link stays
        if destination.is_dir():
            raise CorpusError(f"Cannot write {destination}: it is a folder. Name a file in it.")
        if not may_be_replaced(destination):
            raise CorpusError(
                f"Cannot write {destination}: there is a file that is no corpus. Choose another "
                "name, or remove it first."
            )
        token = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._temporary = destination.with_name(f".{destination.name}.{token}.partial")
        self._compress = new_compressor().compress
        self._waiting_trails: list[Trail] = []
        with self._errors_explained():
            destination.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self._temporary)
            try:
                # The file is thrown away on any failure, so it needs no journal.
                self._connection.executescript(
                    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + TABLES
                )
            except BaseException:
                self.discard()
                raise

    def add_page(self, number: int, page: PreparedPage) -> None:
        """A page, its record and its source."""
        self._insert("pages", [(number, page.url, page.status, page.content_type)])
        self._insert("records", [(number, page.record)])
        self._insert("sources", [(number, page.source)])

    def source(self, number: int) -> bytes:
        """The body of a page added before."""
        query = "SELECT data FROM sources WHERE id = ?"
        with self._errors_explained():
            (frame,) = self._connection.execute(query, (number,)).fetchone()
        return zstandard.ZstdDecompressor().decompress(frame)

    def add_trail(self, trail: Trail) -> None:
        """A trail; written when a block is full."""
        self._waiting_trails.append(trail)
        if len(self._waiting_trails) == TRAILS_PER_BLOCK:
            self._flush_trails()

    def add_session(self, session: Session) -> None:
        """A browsing session."""
        self._insert("sessions", [(None, session.topic, self._packed(session))])

    def add_rest(
        self,
        others: Iterable[tuple[str, OtherEntry]],
        side: PlacedSideData,
        graph: LinkGraph,
        info: CorpusInfo,
    ) -> None:
        """All that is known when all pages are: redirects and errors, labels, links."""
        self._flush_trails()
        self._insert("others", ((url, *entry) for url, entry in others))
        self._insert("labels", side.labels)
        self._insert("groups", side.groups)
        self._insert("duplicates", side.duplicates)
        meta = {
            META_INDPTR: self._compress(graph.indptr.astype("<i4").tobytes()),
            META_INDICES: self._compress(graph.indices.astype("<i4").tobytes()),
            META_INFO: msgspec.json.encode(info),
        }
        self._insert("meta", meta.items())

    def publish(self) -> int:
        """Give the file its final name, replacing what was there; returns its size."""
        with self._errors_explained():
            self._connection.commit()
            self._connection.close()
            with self._temporary.open("r+b") as file:
                os.fsync(file.fileno())
            size = self._temporary.stat().st_size
            self._temporary.replace(self.destination)
        return size

    def discard(self) -> None:
        """Remove the file, if it is not published; what stood under the final name stays."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()
        with contextlib.suppress(OSError):
            self._temporary.unlink(missing_ok=True)

    def _flush_trails(self) -> None:
        if self._waiting_trails:
            self._insert("trails", [(None, self._packed(self._waiting_trails))])
            self._waiting_trails = []

    def _packed(self, record: object) -> bytes:
        return self._compress(msgspec.msgpack.encode(record))

    def _insert(self, table: str, rows: Iterable[Sequence[object]]) -> None:
        """Whole rows, in the order of the table's columns."""
        with self._errors_explained():
            for row in rows:
                places = ", ".join("?" * len(row))
                self._connection.execute(f"INSERT INTO {table} VALUES ({places})", row)  # noqa: S608

    @contextlib.contextmanager
    def _errors_explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise CorpusError(
                f"Cannot write {self.destination}: {reason}. "
                "Make room there or choose another destination; nothing was changed."
            ) from error
