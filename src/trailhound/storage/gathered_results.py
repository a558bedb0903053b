"""Results of a cluster's shards, taken into those of the whole crawl.

Each shard has a file of results of its own, and numbers its pages by itself. Rows that are new are
written behind the others, in short transactions that also note how far the shard has been taken
in: whoever is killed goes on there, and nothing comes twice. Pages get the numbers of the whole
crawl, in the order in which they are gathered, and its count of requests; marks that people have
made in the whole crawl hold for them; copies of pages of other shards are folded.

``gathered``
    One row for each shard: the last of its rows that is here, by which it is known again (``url``
    and ``at``), the requests of it that are counted, how much of its log is copied, and how its
    file looked then.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec

from trailhound.storage.page_rows import kept_fingerprints, unsigned
from trailhound.storage.results import (
    PATIENCE,
    REQUESTS,
    RESULTS,
    ROBOTS_REQUESTS,
    SAVE_STATE,
    UNARCHIVED,
    put_event,
)
from trailhound.storage.sqlite import transaction

TOGETHER = 200
"""Rows in one transaction, in some hundredths of a second: others may want to mark a page."""
_TABLE = (
    "CREATE TABLE IF NOT EXISTS gathered (shard TEXT PRIMARY KEY, last INTEGER NOT NULL, "
    "url TEXT NOT NULL, at REAL NOT NULL, requests INTEGER NOT NULL, robots INTEGER NOT NULL, "
    "log INTEGER NOT NULL, looked TEXT NOT NULL) WITHOUT ROWID"
)
_TAKEN = "SELECT * FROM gathered WHERE shard = ?"
_NOTE = "INSERT OR REPLACE INTO gathered VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_ROWS = """
    SELECT event.*, words.data AS kept_words, unindexed.text AS kept_text,
        (SELECT judged FROM marked WHERE marked.address = event.address
            AND event.current AND event.outcome = 'fetched') AS judged
    FROM event LEFT JOIN words ON words.id = event.id LEFT JOIN unindexed ON unindexed.id = event.id
    WHERE event.id > ? ORDER BY event.id LIMIT ?
"""
_STATE = "SELECT data FROM state WHERE name = ?"
_IS_HERE = "SELECT number FROM event WHERE address = ? AND url = ? AND at = ?"

FindCopy = Callable[[int, str, bool], str | None]
"""From a page's fingerprint and address to an earlier page that says the same; it remembers."""


class Taken(NamedTuple):
    """How far a shard has been taken in: a row of ``gathered`` behind the shard's name."""

    last: int = 0
    """The ``id`` of its last row that is here."""
    url: str = ""
    at: float = 0.0
    requests: int = 0
    robots: int = 0
    log: int = 0
    """Bytes of its log that were looked through."""
    looked: str = ""


class GatheredResults:
    """The whole crawl's results, to be added to. Close it, or use it in a ``with`` statement."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with RESULTS.explaining(path):
            self._connection = RESULTS.open(path)
            self._connection.execute(PATIENCE)
            self._connection.execute(_TABLE)

    def taken(self, shard: str) -> Taken:
        """How far that shard is here."""
        with RESULTS.explaining(self.path):
            row = self._connection.execute(_TAKEN, (shard,)).fetchone()
        return Taken() if row is None else Taken(*row[1:])

    def note(self, shard: str, taken: Taken) -> None:
        """Keep how far that shard is here."""
        with RESULTS.explaining(self.path):
            self._note(shard, taken)

    def _note(self, shard: str, taken: Taken) -> None:
        self._connection.execute(_NOTE, (shard, *taken))

    def take(self, shard: str, source: Path, find_copy: FindCopy) -> int:
        """Take in what is new in a shard's results, also while it writes; how many rows."""
        looked = _look(source)
        before = self.taken(shard)
        if before.looked == looked:
            return 0
        with RESULTS.explaining(source), closing(RESULTS.open_for_reading(source)) as reading:
            reading.row_factory = sqlite3.Row
            rows = _ShardRows(reading)
            taken, may_be_here = before, not rows.has(before)
            if may_be_here:  # a file that was lost, or went back in time
                taken = taken._replace(last=0)
            count = 0
            while some := rows.after(taken.last):
                with RESULTS.explaining(self.path), transaction(self._connection):
                    batch = _Batch(self._connection, rows, find_copy, taken)
                    count += batch.write(some, may_be_here=may_be_here)
                    taken = batch.taken
                    self._note(shard, taken)
            with RESULTS.explaining(self.path), transaction(self._connection):
                taken = _count_requests(self._connection, rows, taken)
                self._add_unarchived(rows)
                self._note(shard, taken._replace(looked=looked))
        return count

    def _add_unarchived(self, rows: _ShardRows) -> None:
        """Pages whose content a shard knows to be lost, by their numbers here."""
        kept = self._connection.execute(_STATE, (UNARCHIVED,)).fetchone()
        known = set(msgspec.msgpack.decode(kept[0], type=list[int])) if kept else set()
        lost = set(known)
        for key in rows.unarchived():
            lost.update(number for (number,) in self._connection.execute(_IS_HERE, key))
        if lost != known:
            data = msgspec.msgpack.encode(sorted(lost))
            self._connection.execute(SAVE_STATE, (UNARCHIVED, data))

    def fingerprints(self) -> Iterator[tuple[str, int]]:
        """Addresses and fingerprints of the pages here, in their order."""
        with RESULTS.explaining(self.path):
            yield from kept_fingerprints(self._connection)

    def forget_shards(self) -> None:
        """Nothing more will come from those so far: the next ones begin anew."""
        with RESULTS.explaining(self.path):
            self._connection.execute("DELETE FROM gathered")

    def close(self) -> None:
        """Let the file go; everything is in it."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _ShardRows:
    """What a shard's results say."""

    def __init__(self, reading: sqlite3.Connection) -> None:
        self._reading = reading
        judged = reading.execute("SELECT first, judge, threshold FROM judged ORDER BY first")
        self._judges = [(0, ("", None)), *((row[0], (row[1], row[2])) for row in judged)]

    def has(self, taken: Taken) -> bool:
        """Whether the row that was taken in last is as it was then."""
        find = "SELECT 1 FROM event WHERE id = ? AND url = ? AND at = ?"
        return self._reading.execute(find, (taken.last, taken.url, taken.at)).fetchone() is not None

    def after(self, last: int) -> list[sqlite3.Row]:
        """The next rows behind one."""
        return self._reading.execute(_ROWS, (last, TOGETHER)).fetchall()

    def judge_of(self, row: int) -> tuple[str, float | None]:
        """Who judged a row."""
        at = bisect_right(self._judges, row, key=lambda each: each[0])
        return self._judges[at - 1][1]

    def text_of(self, row: sqlite3.Row) -> str | None:
        """What searches look through; ``None`` when there is no page."""
        kept: str | None = row["kept_text"]
        if kept is not None or row["outcome"] != "fetched":
            return kept
        find = "SELECT text FROM found WHERE rowid = ?"
        indexed = self._reading.execute(find, (row["id"],)).fetchone() if row["relevant"] else None
        return str(indexed[0]) if indexed else str(row["snippet"])

    def requests(self, name: str) -> int | None:
        """What the shard says of its requests; ``None`` when it says nothing."""
        found = self._reading.execute(_STATE, (name,)).fetchone()
        return int(found[0]) if found else None

    def unarchived(self) -> Iterator[tuple[str, str, float]]:
        """Address, URL and time of pages whose archived content is lost."""
        found = self._reading.execute(_STATE, (UNARCHIVED,)).fetchone()
        for number in msgspec.msgpack.decode(found[0], type=list[int]) if found else ():
            find = "SELECT address, url, at FROM event WHERE number = ?"
            yield from map(tuple, self._reading.execute(find, (number,)))


class _Batch:
    """Some rows of a shard, on their way into the open transaction."""

    def __init__(
        self, connection: sqlite3.Connection, rows: _ShardRows, find_copy: FindCopy, taken: Taken
    ) -> None:
        self.taken = taken
        self._execute = connection.execute
        self._connection = connection
        self._rows = rows
        self._find_copy = find_copy
        last = self._execute(
            "SELECT number, requests_total FROM event ORDER BY id DESC LIMIT 1"
        ).fetchone()
        self._number: int = last[0] if last else 0
        noted = self._execute(_STATE, (REQUESTS,)).fetchone()
        self._total = max(last[1] if last else 0, int(noted[0]) if noted else 0)
        self._judge = self._execute(
            "SELECT judge, threshold FROM judged ORDER BY first DESC LIMIT 1"
        ).fetchone() or ("", None)

    def write(self, rows: list[sqlite3.Row], *, may_be_here: bool) -> int:
        written = 0
        for row in rows:
            key = row["address"], row["url"], row["at"]
            if may_be_here and self._execute(_IS_HERE, key).fetchone():
                counted = max(self.taken.requests, row["requests_total"])
                self.taken = self.taken._replace(requests=counted)
            else:
                self._write(row)
                written += 1
            last = {"last": row["id"], "url": row["url"], "at": row["at"]}
            self.taken = self.taken._replace(**last)
        self._execute(SAVE_STATE, (REQUESTS, str(self._total).encode()))
        return written

    def _write(self, row: sqlite3.Row) -> None:
        self._number += 1
        made = max(0, row["requests_total"] - self.taken.requests)
        self._total += made
        self.taken = self.taken._replace(requests=self.taken.requests + made)
        told: dict[str, Any] = dict(row) | {
            "number": self._number,
            "requests_total": self._total,
            "relevant": row["relevant"] if row["judged"] is None else row["judged"],
        }
        if row["fingerprint"] is not None:
            told["duplicate_of"] = self._original(row)
        added = put_event(self._connection, told, row["kept_words"], self._rows.text_of(row))
        judge = self._rows.judge_of(row["id"])
        if judge != self._judge:
            self._judge = judge
            self._execute("INSERT OR REPLACE INTO judged VALUES (?, ?, ?)", (added, *judge))

    def _original(self, row: sqlite3.Row) -> str | None:
        """The page that this one is a copy of, in the whole crawl."""
        copied: str | None = row["duplicate_of"]
        said = unsigned(row["fingerprint"])
        found = self._find_copy(said, row["address"], bool(row["noindex"]))
        if found is not None or copied is None:
            return found
        find = "SELECT duplicate_of FROM event WHERE address = ? AND current"
        first: tuple[str | None] | None = self._execute(find, (copied,)).fetchone()
        return (first[0] if first else None) or copied


def _count_requests(connection: sqlite3.Connection, rows: _ShardRows, taken: Taken) -> Taken:
    """All requests of a shard, also those that came to no page, are counted here as well."""
    requests = _counted_on(connection, REQUESTS, taken.requests, rows.requests(REQUESTS))
    robots = _counted_on(connection, ROBOTS_REQUESTS, taken.robots, rows.requests(ROBOTS_REQUESTS))
    return taken._replace(requests=requests, robots=robots)


def _counted_on(connection: sqlite3.Connection, name: str, before: int, now: int | None) -> int:
    if now is None or now == before:
        return before
    noted = connection.execute(_STATE, (name,)).fetchone()
    total = max(0, (int(noted[0]) if noted else 0) + now - before)
    connection.execute(SAVE_STATE, (name, str(total).encode()))
    return now


def _look(path: Path) -> str:
    """Another text when something was written."""
    looks = []
    for each in (path, path.with_name(path.name + "-wal")):
        try:
            stat = each.stat()
            looks.append(f"{stat.st_size} {stat.st_mtime_ns}")
        except OSError:
            looks.append("")
    return " / ".join(looks)
