"""Filling the tables of a corpus."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import msgspec

from trailhound.lab.corpora.addresses import OtherEntry
from trailhound.lab.corpora.information import CorpusInfo
from trailhound.lab.corpora.link_graph import LinkGraph
from trailhound.lab.corpora.packing import Packer, Unpacker, encode
from trailhound.lab.corpora.preparation import PreparedPage
from trailhound.lab.corpora.schema import META_INDICES, META_INDPTR, META_INFO
from trailhound.lab.corpora.side_data import PlacedSideData
from trailhound.lab.corpora.trails import Trail
from trailhound.sessions.events import Session

# Trails per stored block: large enough to compress well, small enough to stream.
TRAILS_PER_BLOCK = 2048


class CorpusTables:
    """Inserts rows; one method per kind of content."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._packer = Packer()
        self._waiting_trails: list[Trail] = []

    def add_page(self, number: int, page: PreparedPage) -> None:
        """A page, its record and its source."""
        run = self._connection.execute
        row = (number, page.url, page.status, page.content_type)
        run("INSERT INTO pages (id, url, status, content_type) VALUES (?, ?, ?, ?)", row)
        run("INSERT INTO records (id, data) VALUES (?, ?)", (number, page.record))
        run("INSERT INTO sources (id, data) VALUES (?, ?)", (number, page.source))

    def source(self, number: int) -> bytes:
        """The body of a page added before."""
        query = "SELECT data FROM sources WHERE id = ?"
        (frame,) = self._connection.execute(query, (number,)).fetchone()
        return Unpacker().unpack(frame)

    def add_others(self, entries: Iterable[tuple[str, OtherEntry]]) -> None:
        """Redirects, aliases and errors."""
        insert = "INSERT INTO others (url, status, target, content_type) VALUES (?, ?, ?, ?)"
        self._connection.executemany(insert, ((url, *entry) for url, entry in entries))

    def add_trail(self, trail: Trail) -> None:
        """A trail; written when a block is full."""
        self._waiting_trails.append(trail)
        if len(self._waiting_trails) == TRAILS_PER_BLOCK:
            self.flush_trails()

    def flush_trails(self) -> None:
        """Write the trails that wait for a full block."""
        if self._waiting_trails:
            frame = self._packer.pack(encode(self._waiting_trails))
            self._connection.execute("INSERT INTO trails (data) VALUES (?)", (frame,))
            self._waiting_trails = []

    def add_session(self, session: Session) -> None:
        """A browsing session."""
        row = (session.topic, self._packer.pack(encode(session)))
        self._connection.execute("INSERT INTO sessions (topic, data) VALUES (?, ?)", row)

    def add_side_data(self, side: PlacedSideData) -> None:
        """Labels, groups and duplicates."""
        run = self._connection.executemany
        run("INSERT INTO labels (label, page) VALUES (?, ?)", side.labels)
        run("INSERT INTO groups (page, name) VALUES (?, ?)", side.groups)
        run("INSERT INTO duplicates (url, original) VALUES (?, ?)", side.duplicates)

    def add_graph(self, graph: LinkGraph) -> None:
        """The links between pages."""
        self._put_meta(META_INDPTR, self._packer.pack_array(graph.indptr))
        self._put_meta(META_INDICES, self._packer.pack_array(graph.indices))

    def add_info(self, info: CorpusInfo) -> None:
        """What the corpus says about itself."""
        self._put_meta(META_INFO, msgspec.json.encode(info))

    def _put_meta(self, key: str, value: bytes) -> None:
        self._connection.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (key, value))
