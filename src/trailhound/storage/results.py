"""The crawl's story on disk, page by page: what ``results``, ``export`` and ``explain`` read.

Each page is written before the frontier counts it as finished, so that a killed crawl has it in
both, or in the results only: then it is fetched again, and the last row counts.

``event``
    One row for each page that the crawl dealt with, in order. ``address`` is where the content
    lives: the end of the redirects. ``current`` marks the latest row that says what is at an
    address: of a page that was fetched twice the last counts, and a failed attempt to fetch it
    again does not hide what was found before. ``relevant`` is what counts: a person's mark, else
    what the judge says (:mod:`trailhound.storage.verdicts`).
``refusal``
    URLs that were not queued, or not fetched, by a rule of the crawl's own: traps, say.
``state``
    A few bytes by name, for parts that must remember something over a restart.
``found``
    A full-text index over titles and texts of the relevant pages; ``rowid`` is the event's ``id``.
``unindexed``
    What belongs into it and waits until somebody searches: indexing takes as long as judging.
``words``
    What judges look at in the page of an event, so that it can be judged again
    (:mod:`trailhound.storage.page_rows`); only where that is wanted.
``marked``
    Addresses that a person has marked, fetched or not, each with what the judge had said.
``judged``
    Which judge the events from ``first`` on were judged by, up to the next row.
``gathered``
    How much of each shard of a cluster is here: :mod:`trailhound.storage.gathered_results`.
``visit``
    When finds were found and changed, and when they are due: :mod:`trailhound.storage.finds`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from trailhound.errors import StorageError
from trailhound.records import FinishedPage, Outcome
from trailhound.storage.finds import (
    TELLS_NOTHING_NEW,
    VISITS,
    moved,
    note_visit,
    pass_on,
    retire,
    standing_original,
)
from trailhound.storage.page_rows import INSERT_EVENT, event_row, kept_fingerprints, pack_words
from trailhound.storage.sqlite import DatabaseKind, transaction
from trailhound.utf8 import storable

SEARCHABLE = (
    "CREATE VIRTUAL TABLE found USING fts5 "
    "(title, text, tokenize = 'porter unicode61 remove_diacritics 2')"
)
"""Makes a full-text index."""
_TABLES = (
    """
    CREATE TABLE event (
        id INTEGER PRIMARY KEY, number INTEGER NOT NULL, url TEXT NOT NULL, address TEXT NOT NULL,
        outcome TEXT NOT NULL, parent TEXT, depth INTEGER NOT NULL, priority REAL NOT NULL,
        memory BLOB NOT NULL, requests INTEGER NOT NULL, requests_total INTEGER NOT NULL,
        score REAL, relevant INTEGER NOT NULL, links_found INTEGER NOT NULL,
        links_added INTEGER NOT NULL, links_outside INTEGER NOT NULL, why TEXT NOT NULL,
        title TEXT NOT NULL, snippet TEXT NOT NULL, language TEXT NOT NULL, duplicate_of TEXT,
        noindex INTEGER NOT NULL, at REAL NOT NULL, status INTEGER, etag TEXT NOT NULL,
        last_modified TEXT NOT NULL, known INTEGER NOT NULL, fingerprint INTEGER,
        current INTEGER NOT NULL
    )
    """,
    "CREATE INDEX event_by_address ON event (address)",
    "CREATE INDEX event_by_url ON event (url) WHERE url <> address",
    "CREATE TABLE refusal (url TEXT PRIMARY KEY, reason TEXT NOT NULL, parent TEXT) WITHOUT ROWID",
    "CREATE TABLE state (name TEXT PRIMARY KEY, data BLOB NOT NULL)",
    SEARCHABLE,
)
_ADDITIONS = (
    "CREATE TABLE IF NOT EXISTS unindexed "
    "(id INTEGER PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS words (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS marked (address TEXT PRIMARY KEY, useful INTEGER NOT NULL, "
    "judged INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID",
    # Copies that are listed because somebody marked them, and what they are copies of.
    "CREATE TABLE IF NOT EXISTS unfolded "
    "(address TEXT PRIMARY KEY, duplicate_of TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS judged "
    "(first INTEGER PRIMARY KEY, judge TEXT NOT NULL, threshold REAL)",
    # All that counts ask for, so that they need not read the pages themselves.
    "CREATE INDEX IF NOT EXISTS event_by_find "
    "ON event (score DESC, id, duplicate_of, noindex, known, current, relevant) "
    "WHERE current AND relevant",
    "CREATE INDEX IF NOT EXISTS event_by_miss "
    "ON event (score DESC, id, noindex, current, relevant) WHERE current AND NOT relevant",
    "DROP INDEX IF EXISTS event_by_score",
    "CREATE INDEX IF NOT EXISTS event_by_original ON event (duplicate_of) "
    "WHERE duplicate_of IS NOT NULL",
)
RESULTS = DatabaseKind(
    name="results",
    none="There are no results",
    anew="begin again with --restart, or have it made anew with: trailhound check {topic} --repair",
    error=StorageError,
    application_id=0x54726C72,  # "Trlr"
    version=1,
    tables=_TABLES,
    pragmas=("PRAGMA busy_timeout = 2000",),  # ms: a reader may hold the file for a moment
    additions=(*_ADDITIONS, *VISITS),
)
IN_MEMORY = ":memory:"
UNFOLD = "INSERT OR REPLACE INTO unfolded VALUES (?, ?)"
LISTED = "current AND relevant AND duplicate_of IS NULL AND NOT noindex"
"""Of events: those that are results. It is put into queries; values only ever are parameters."""
PATIENCE = "PRAGMA busy_timeout = 60000"
"""In ms, for those that must write: others who write to the file take their time, too."""
REQUESTS = "requests"
"""In ``state``: all requests of the crawl, also those that came to no page or are being made."""
ROBOTS_REQUESTS = "robots-requests"
"""In ``state``: the same for robots.txt files."""
UNARCHIVED = "unarchived"
"""In ``state``: numbers of pages whose archived content is known to be lost, as MessagePack."""
PAGES = "pages"
"""In ``state``: how many there were when stores were last mended; later ones are numbered on."""
MARKS = "marks"
"""In ``state``: which session files the marks were taken from, as a checksum."""
SITEMAPS_READ = "sitemaps-read"
"""In ``state``: the seeds whose sitemaps were read to their end, one in a line."""
REFRESHING = "refreshing"
"""In ``state``: whether finds may wait for another look."""
SAVE_STATE = "INSERT OR REPLACE INTO state VALUES (?, ?)"

MAX_INDEXED_CHARS = 200_000
"""Of a page's text in the full-text index."""

MAX_REFUSALS = 200_000
"""Refused URLs that are kept: a trap has no end."""


class ResultsProgress(msgspec.Struct, frozen=True):
    """How far the crawl had come, for the next run to go on from."""

    pages: int = 0
    requests: int = 0
    barren: int = 0
    """Pages since the last relevant one."""
    last_at: float = 0.0
    """When its last page was dealt with, by the clock of then."""


class ResultsStore:
    """Keeps every event of a crawl; a sink for :class:`trailhound.crawling.engine.Crawler`.

    ``path`` is made when it is missing; ``IN_MEMORY`` is no file. ``known`` are the
    addresses of pages that were in the sessions learned from. With ``extraction``, the version of
    the extractor, words of pages are kept for judges.
    """

    is_vital: ClassVar[bool] = True

    def __init__(
        self,
        path: str | Path,
        known: Container[str] = frozenset(),
        *,
        extraction: int | None = None,
    ) -> None:
        self.path = Path(path)
        self._known = known
        self._extraction = extraction
        self._connection = RESULTS.open(self.path)
        self._connection.execute(PATIENCE)
        with RESULTS.explaining(self.path):
            (self._refusals,) = self._connection.execute("SELECT count(*) FROM refusal").fetchone()
        self._promised = self._next_promise = self.progress().requests, self.robots_requests()

    def keep(self, finished: FinishedPage) -> None:
        """Write one page, for good."""
        event, page = finished.event, finished.page
        row = event_row(finished) | {"known": event.final_url in self._known}
        words = None
        if page is not None and self._extraction is not None:
            words = pack_words(page, self._extraction)
        text = page.text[:MAX_INDEXED_CHARS] if page is not None else None
        with RESULTS.explaining(self.path), transaction(self._connection):
            put_event(self._connection, row, words, None if text is None else storable(text))
            self._write_promise()
        self._promised = self._next_promise

    def note_judge(self, judge: str, threshold: float | None) -> None:
        """Write down who judges the pages to come, and from which score on they are relevant."""
        last = "SELECT judge, threshold FROM judged ORDER BY first DESC LIMIT 1"
        note = "INSERT OR REPLACE INTO judged SELECT coalesce(max(id), 0) + 1, ?, ? FROM event"
        # Numbers of rows that were forgotten are given again.
        tidy = "DELETE FROM judged WHERE first > (SELECT coalesce(max(id), 0) FROM event)"
        with RESULTS.explaining(self.path), transaction(self._connection):
            self._connection.execute(tidy)
            if self._connection.execute(last).fetchone() != (judge, threshold):
                self._connection.execute(note, (judge, threshold))

    def note_refusals(self, refusals: Iterable[tuple[str, str, str | None]]) -> None:
        """Keep why URLs were not queued or not fetched: ``(url, reason, parent)`` each."""
        rows = list(refusals)
        room = MAX_REFUSALS - self._refusals
        if not rows or room <= 0:
            return
        insert = "INSERT OR IGNORE INTO refusal VALUES (?, ?, ?)"
        with RESULTS.explaining(self.path), transaction(self._connection):
            self._refusals += self._connection.executemany(insert, rows).rowcount

    def save_state(self, name: str, data: bytes) -> None:
        """Replace what is kept under ``name``."""
        with RESULTS.explaining(self.path):
            self._connection.execute(SAVE_STATE, (name, data))

    def state(self, name: str) -> bytes | None:
        """What is kept under ``name``."""
        with RESULTS.explaining(self.path):
            query = "SELECT data FROM state WHERE name = ?"
            row = self._connection.execute(query, (name,)).fetchone()
        return bytes(row[0]) if row is not None else None

    # A ledger of requests: see :mod:`trailhound.crawling.budget`

    @property
    def promised(self) -> tuple[int, int]:
        """Requests that are on disk, made or about to be, and those for robots.txt files."""
        return self._promised

    def promise(self, requests: int, robots: int) -> None:
        """Write a promise, for good."""
        self.promise_with_page(requests, robots)
        with RESULTS.explaining(self.path), transaction(self._connection):
            self._write_promise()
        self._promised = self._next_promise

    def promise_with_page(self, requests: int, robots: int) -> None:
        """Write it together with the next page. A promise is never lowered."""
        before = self._next_promise
        self._next_promise = max(requests, before[0]), max(robots, before[1])

    def _write_promise(self) -> None:
        for name, now, before in zip(
            (REQUESTS, ROBOTS_REQUESTS), self._next_promise, self._promised, strict=True
        ):
            if now != before:
                self._connection.execute(SAVE_STATE, (name, str(now).encode()))

    def settle(self, requests: int, robots: int) -> None:
        """A run has ended with so many requests: what was promised beyond them was not made."""
        self._next_promise = requests, robots
        with RESULTS.explaining(self.path), transaction(self._connection):
            self._write_promise()
        self._promised = self._next_promise

    def robots_requests(self) -> int:
        """Requests for robots.txt files so far, which no budget counts."""
        return int(self.state(ROBOTS_REQUESTS) or 0)

    def progress(self) -> ResultsProgress:
        """Where an earlier run stopped."""
        noted, pages = int(self.state(REQUESTS) or 0), int(self.state(PAGES) or 0)
        with RESULTS.explaining(self.path):
            last = self._connection.execute(
                "SELECT number, requests_total, at FROM event ORDER BY id DESC LIMIT 1"
            ).fetchone()
            if last is None:
                return ResultsProgress(pages, noted)
            barren = self._connection.execute(
                "SELECT count(*) FROM event WHERE score IS NOT NULL AND "
                "id > (SELECT coalesce(max(id), 0) FROM event WHERE relevant)"
            ).fetchone()
        return ResultsProgress(max(last[0], pages), max(last[1], noted), barren[0], last[2])

    def has_pages(self) -> bool:
        """Whether any page was ever fetched."""
        query = "SELECT 1 FROM event WHERE outcome = 'fetched' LIMIT 1"
        with RESULTS.explaining(self.path):
            return self._connection.execute(query).fetchone() is not None

    def finds(self) -> int:
        """Relevant pages so far, without copies and those that ask not to be listed."""
        query = "SELECT count(*) FROM event WHERE " + LISTED  # noqa: S608
        with RESULTS.explaining(self.path):
            (found,) = self._connection.execute(query).fetchone()
        return int(found)

    def inherit_finds(self, found: Iterable[tuple[str, float]]) -> None:
        """What an earlier crawl has found, and when: it is no news when this one finds it."""
        insert = (
            "INSERT OR IGNORE INTO visit (address, told, found_at, seen_at) VALUES (?1, 0, ?2, ?2)"
        )
        with RESULTS.explaining(self.path), transaction(self._connection):
            self._connection.executemany(insert, found)

    def fingerprints(self) -> Iterator[tuple[str, int]]:
        """Addresses and fingerprints of the pages so far, in their order."""
        with RESULTS.explaining(self.path):
            yield from kept_fingerprints(self._connection)

    def copy(self) -> sqlite3.Connection:
        """All of it in memory, as it is now."""
        copied = sqlite3.connect(IN_MEMORY, isolation_level=None, check_same_thread=False)
        with RESULTS.explaining(self.path):
            self._connection.backup(copied)
        return copied

    def close(self) -> None:
        """Let the file go; everything is in it."""
        self._connection.close()


def put_event(
    connection: sqlite3.Connection, row: dict[str, Any], words: bytes | None, text: str | None
) -> int:
    """Write a row of ``event`` behind the others, with all that follows from it; its ``id``.

    ``row`` has the columns by name, but for ``id`` and ``current``; ``relevant`` is what the judge
    says. ``words`` are for judges, ``text`` is for searches; ``None`` when there is no page.
    """
    execute = connection.execute
    find_current = (
        "SELECT id, outcome, number, fingerprint FROM event WHERE address = ? AND current"
    )
    before = execute(find_current, (row["address"],)).fetchone()
    stands = before and before[1] == Outcome.FETCHED and row["outcome"] in TELLS_NOTHING_NEW
    # A row that was lost comes back behind those that were written since.
    stands = stands or (before and before[2] > row["number"])
    if before and not stands:
        retire(connection, before[0])
    row = row | {"current": not stands} | moved(connection, row)
    row["duplicate_of"] = standing_original(connection, row)
    if row["outcome"] == Outcome.FETCHED and not stands:
        row |= _heeded(connection, row)
    added = execute(INSERT_EVENT, row).lastrowid or 0
    if text is not None and not stands:
        if words:
            execute("INSERT OR REPLACE INTO words VALUES (?, ?)", (added, words))
        if row["relevant"]:
            execute("INSERT INTO unindexed VALUES (?, ?, ?)", (added, row["title"], text))
    if before and not stands:
        pass_on(connection, before[3], row)
    note_visit(connection, row["address"], Outcome(row["outcome"]), row["at"])
    return added


def _heeded(connection: sqlite3.Connection, row: dict[str, Any]) -> dict[str, object]:
    """What a person's mark changes: a page marked useful is listed, copy or not."""
    find = "SELECT useful FROM marked WHERE address IN (?1, ?2) ORDER BY address <> ?1"
    marked = connection.execute(find, (row["address"], row["url"])).fetchone()
    if marked is None:
        return {}
    mark = (row["address"], marked[0], bool(row["relevant"]))
    connection.execute("INSERT OR REPLACE INTO marked VALUES (?, ?, ?)", mark)
    if marked[0] and row["duplicate_of"] is not None:
        connection.execute(UNFOLD, (row["address"], row["duplicate_of"]))
    return {"relevant": True, "duplicate_of": None} if marked[0] else {"relevant": False}


def may_hold_pages(path: Path) -> bool:
    """Whether a file of results has, or had before it was damaged, a page in it."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            (made,) = opened.execute(
                "SELECT count(*) FROM sqlite_schema WHERE name = 'event'"
            ).fetchone()
            return bool(made and opened.execute("SELECT 1 FROM event LIMIT 1").fetchone())
    except sqlite3.Error:
        return True
