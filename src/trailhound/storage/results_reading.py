"""Reading a crawl's results: ranked, searched, page by page, also while the crawl runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from trailhound.records import Candidate, Outcome, PageEvent
from trailhound.storage.page_rows import tidied
from trailhound.storage.results import LISTED, REQUESTS, RESULTS, UNARCHIVED, ResultsStore
from trailhound.storage.text_index import apart, index_for_search, index_waiting, together

MAX_PATH_PAGES = 200
"""Of a path from a seed; depths beyond this are a trap's."""


_REMEMBERED_PARENTS = 100_000


class StoredPage(msgspec.Struct, frozen=True, kw_only=True):
    """One event as it was kept."""

    number: int
    """Position in the crawl, from 1."""
    address: str
    """Where the content lives."""
    url: str
    """What was asked for: another address when it redirected."""
    title: str
    score: float | None
    """The judge's opinion, 0 to 1; ``None`` when there was no page."""
    relevant: bool
    snippet: str
    outcome: Outcome
    why: str
    parent: str | None
    depth: int
    priority: float
    duplicate_of: str | None
    noindex: bool
    at: float
    """When it was processed, in seconds since 1970."""
    language: str
    status: int | None
    links_found: int
    links_added: int
    links_outside: int
    requests: int
    etag: str
    last_modified: str
    known: bool
    """Whether it was in the sessions learned from."""
    marked: bool | None = None
    """What a person has marked it: useful, not useful, or nothing."""
    memory: bytes = b""
    """What the strategy knew about the path that led here."""


class EventKey(NamedTuple):
    """What other stores know a page by."""

    number: int
    url: str
    address: str
    outcome: Outcome
    status: int | None
    """``None`` when nobody answered: there is nothing to archive then."""


class KeptEvent(NamedTuple):
    """A page with what the crawl knew before and said after it."""

    event: PageEvent
    candidate: Candidate
    status: int | None


class ResultsSummary(msgspec.Struct, frozen=True):
    """A crawl in figures."""

    pages: int
    """Each as often as it was asked for."""
    addresses: int
    """Different ones."""
    fetched: int
    """Those of them that could be fetched."""
    requests: int
    relevant: int
    """Without duplicates and pages that ask not to be listed."""
    known: int
    """Those of them that were in the sessions learned from, or are marked."""
    duplicates: int
    """Relevant pages that say what an earlier one says."""
    unlisted: int
    """Relevant pages that ask not to be listed."""
    outcomes: dict[str, int]
    started_at: float
    ended_at: float


_WAITING = "SELECT 1 FROM sqlite_schema WHERE name = 'unindexed'"
"""Whether texts may wait to be indexed: in older files there is no table of them."""


class ThresholdEffect(msgspec.Struct, frozen=True):
    """What another threshold would do to the results, about: a judge may have further reasons."""

    finds: int
    """Pages that would be in the results."""
    joined: int
    left: int


_MARK = "(SELECT useful FROM marked WHERE marked.address = event.address)"
_NO_MARK = "NULL"  # a file that nobody has written to since marks count
_SELECT = "SELECT *, {mark} AS marked FROM event WHERE "
_FINDS = """
    SELECT count(nullif(duplicate_of IS NULL AND NOT noindex, 0)),
        count(nullif(duplicate_of IS NULL AND NOT noindex AND known, 0)),
        count(duplicate_of), count(nullif(noindex, 0))
    FROM event WHERE current AND relevant
"""
_COUNT = "SELECT count(*) FROM event WHERE "
_IS_MARKED = "address IN (SELECT address FROM marked) AND "
_SEARCH = f"""
    SELECT event.*, {{mark}} AS marked, snippet(found, 1, '', '', '…', 32) AS passage
    FROM event JOIN found ON found.rowid = event.id
    WHERE found MATCH ? AND {LISTED} AND score >= ?
    ORDER BY bm25(found, 4.0, 1.0), score DESC LIMIT ?
"""  # noqa: S608


class Results:
    """The results of one crawl. Close it, or use it in a ``with`` statement."""

    def __init__(self, path: str | Path, connection: sqlite3.Connection | None = None) -> None:
        self.path = Path(path)
        self._connection = connection or RESULTS.open_for_reading(self.path)
        self._connection.row_factory = sqlite3.Row
        self._parent_of = lru_cache(maxsize=_REMEMBERED_PARENTS)(self._read_parent)
        with RESULTS.explaining(self.path):
            tables = "SELECT 1 FROM sqlite_schema WHERE name = 'marked'"
            self._mark = _MARK if self._connection.execute(tables).fetchone() else _NO_MARK

    @classmethod
    def of(cls, store: ResultsStore) -> Self:
        """What a store holds that lives in memory: open as long as the store is."""
        copied = store.copy()
        with RESULTS.explaining(store.path):
            index_waiting(copied)
        return cls(store.path, copied)

    def ranked(
        self,
        limit: int | None = None,
        *,
        min_score: float | None = None,
        everything: bool = False,
        only_new: bool = False,
    ) -> list[StoredPage]:
        """Best first: the relevant pages, or all that reach ``min_score``.

        Duplicates and pages that ask not to be listed come only with ``everything``. ``only_new``
        leaves out what was in the sessions learned from.
        """
        pages = self.iterate(limit, min_score=min_score, everything=everything, only_new=only_new)
        return list(pages)

    def iterate(
        self,
        limit: int | None = None,
        *,
        min_score: float | None = None,
        everything: bool = False,
        only_new: bool = False,
    ) -> Iterator[StoredPage]:
        """As :meth:`ranked`, one at a time."""
        where = "current AND score >= ?" if min_score is not None else "current"
        if not everything:
            where += " AND duplicate_of IS NULL AND NOT noindex"
            where += f" AND {self._mark} IS NOT 0" if min_score is not None else " AND relevant"
        if only_new:
            where += " AND NOT known"
        values = () if min_score is None else (min_score,)
        best_first = " ORDER BY score DESC, id LIMIT ?"
        return self._pages(where + best_first, *values, _sql_limit(limit))

    def near_misses(
        self, limit: int | None = None, offset: int = 0, *, min_score: float = 0.0
    ) -> list[StoredPage]:
        """Pages below the threshold, best first: neither marked nor asking not to be listed.

        ``min_score`` is a threshold to try: it would take these in.
        """
        where = f"current AND NOT relevant AND score >= ? AND NOT noindex AND {self._mark} IS NULL"
        best_first = " ORDER BY score DESC, id LIMIT ? OFFSET ?"
        return list(self._pages(where + best_first, min_score, _sql_limit(limit), offset))

    def weakest(self, below: float, limit: int | None = None, offset: int = 0) -> list[StoredPage]:
        """Finds with a score ``below`` a threshold to try, best first: it would drop these."""
        where = f"{LISTED} AND score < ? AND {self._mark} IS NULL"
        best_first = " ORDER BY score DESC, id LIMIT ? OFFSET ?"
        return list(self._pages(where + best_first, below, _sql_limit(limit), offset))

    def at_threshold(self, threshold: float) -> ThresholdEffect:
        """How many pages another threshold would take in and drop; quick enough for a slider."""
        misses = "current AND NOT relevant AND score >= ? AND NOT noindex"
        weak = f"{LISTED} AND score < ?"
        joined = self._count(misses, threshold) - self._count_marked(misses, threshold)
        left = self._count(weak, threshold) - self._count_marked(weak, threshold)
        return ThresholdEffect(self._count(LISTED) + joined - left, joined, left)

    def n_finds(self) -> int:
        """How many there are: cheaper than a whole :meth:`summary`, by an index."""
        return self._count(LISTED)

    def _count(self, where: str, *values: float) -> int:
        with RESULTS.explaining(self.path):
            return int(self._connection.execute(_COUNT + where, values).fetchone()[0])

    def _count_marked(self, where: str, *values: float) -> int:
        if self._mark == _NO_MARK:
            return 0
        return self._count(_IS_MARKED + where, *values)

    def _pages(self, where: str, *values: str | float) -> Iterator[StoredPage]:
        with RESULTS.explaining(self.path):
            query = _SELECT.format(mark=self._mark)
            for row in self._connection.execute(query + where, values):
                yield stored_page(row)

    def search(
        self, words: str, limit: int | None = None, *, min_score: float | None = None
    ) -> list[StoredPage]:
        """Relevant pages that hold all ``words``, the best match first, with a fitting snippet."""
        phrase = " ".join('"' + apart(word).replace('"', '""') + '"' for word in words.split())
        if not phrase:
            return []
        index_for_search(self.path)
        with RESULTS.explaining(self.path):
            query = _SEARCH.format(mark=self._mark)
            rows = self._connection.execute(query, (phrase, min_score or 0.0, _sql_limit(limit)))
            return [stored_page(row, snippet=tidied(together(row["passage"]))) for row in rows]

    def events_of(self, url: str) -> list[StoredPage]:
        """All that happened to a URL, asked for or redirected to, in order of time."""
        where = "address = ? OR (url = ? AND url <> address) ORDER BY id"
        return list(self._pages(where, url, url))

    def that_asked_to_log_in(self) -> list[StoredPage]:
        """Pages whose last word was that, each once."""
        found = self._pages("outcome = ? ORDER BY id", Outcome.LOGIN_WANTED)
        last = {page.url: page for page in found}
        return [page for page in last.values() if self.events_of(page.url)[-1] == page]

    def since(self, number: int) -> list[StoredPage]:
        """All that happened after the page with this number, in order of time."""
        return list(self._pages("number > ? ORDER BY id", number))

    def outcomes_until(self, number: int) -> dict[str, bool]:
        """Whether pages were relevant, of those fetched up to a number, by all their addresses."""
        query = "SELECT url, address, relevant FROM event WHERE number <= ? AND outcome = ?"
        found: dict[str, bool] = {}
        with RESULTS.explaining(self.path):
            rows = self._connection.execute(query, (number, Outcome.FETCHED.value))
            for url, address, relevant in rows:
                found[url] = found[address] = bool(relevant)
        return found

    def events_after(self, number: int) -> list[KeptEvent]:
        """What was kept of the pages behind the one with this number, as the crawl told it.

        In the order of their numbers; cheap for a few, as rows are read from the end.
        """
        found: list[KeptEvent] = []
        with RESULTS.explaining(self.path):
            for row in self._connection.execute("SELECT * FROM event ORDER BY id DESC"):
                if row["number"] <= number:
                    break
                found.append(_kept_event(row))
        return sorted(found, key=lambda kept: kept.event.number)

    def event_keys(self) -> Iterator[EventKey]:
        """What other stores know a page by, of all pages."""
        query = "SELECT number, url, address, outcome, status FROM event ORDER BY id"
        with RESULTS.explaining(self.path):
            for row in self._connection.execute(query):
                yield EventKey(row[0], row[1], row[2], Outcome(row[3]), row[4])

    def unarchived(self) -> set[int]:
        """Numbers of pages whose archived content is known to be lost."""
        with RESULTS.explaining(self.path):
            query = "SELECT data FROM state WHERE name = ?"
            row = self._connection.execute(query, (UNARCHIVED,)).fetchone()
        return set(msgspec.msgpack.decode(row[0], type=list[int])) if row else set()

    def unsearchable(self) -> list[tuple[int, StoredPage]]:
        """Relevant pages that no search can find, by the ``id`` of their rows."""
        with RESULTS.explaining(self.path):
            execute = self._connection.execute
            indexed = {row[0] for row in execute("SELECT id FROM found_docsize")}
            if execute(_WAITING).fetchone():
                indexed |= {row[0] for row in execute("SELECT id FROM unindexed")}
            rows = execute(
                "SELECT * FROM event WHERE current AND relevant AND outcome = 'fetched' ORDER BY id"
            )
            return [(row["id"], stored_page(row)) for row in rows if row["id"] not in indexed]

    def stray_texts(self) -> list[int]:
        """Rows of the search index that belong to no page."""
        query = "SELECT id FROM found_docsize EXCEPT SELECT id FROM event"
        with RESULTS.explaining(self.path):
            return [row[0] for row in self._connection.execute(query)]

    def path_to(self, page: StoredPage) -> list[str]:
        """The addresses from a seed to ``page``, each found on the one before."""
        path = [page.address]
        parent = page.parent
        while parent is not None and parent not in path and len(path) < MAX_PATH_PAGES:
            path.append(parent)
            parent = self._parent_of(parent)
        return path[::-1]

    def _read_parent(self, url: str) -> str | None:
        """How it was reached first: a later fetch may have come from further down the path."""
        query = (
            "SELECT parent FROM event WHERE address = ? OR (url = ? AND url <> address) "
            "ORDER BY id LIMIT 1"
        )
        with RESULTS.explaining(self.path):
            row = self._connection.execute(query, (url, url)).fetchone()
        return row[0] if row is not None else None

    def text_of(self, address: str) -> str:
        """What a relevant page says, in one line; empty for others."""
        query = "SELECT id FROM event WHERE address = ? AND current"
        with RESULTS.explaining(self.path):
            execute = self._connection.execute
            row = execute(query, (address,)).fetchone()
            for table, key in (("found", "rowid"), ("unindexed", "id")) if row else ():
                if table == "unindexed" and not execute(_WAITING).fetchone():
                    continue
                text = execute(f"SELECT text FROM {table} WHERE {key} = ?", row[:1]).fetchone()  # noqa: S608
                if text is not None:
                    return str(text[0])
        return ""

    def refusal_of(self, url: str) -> tuple[str, str | None] | None:
        """Why a rule of the crawl's own kept a URL away, and the page that links to it."""
        with RESULTS.explaining(self.path):
            query = "SELECT reason, parent FROM refusal WHERE url = ?"
            row = self._connection.execute(query, (url,)).fetchone()
        return row and tuple(row)

    def summary(self) -> ResultsSummary:
        """Counts over the whole crawl."""
        with RESULTS.explaining(self.path):
            execute = self._connection.execute
            pages, addresses, fetched, requests, started, ended = execute(
                "SELECT count(*), count(nullif(current, 0)), "
                "count(nullif(current AND outcome = 'fetched', 0)), "
                "coalesce(max(requests_total), 0), coalesce(min(at), 0), coalesce(max(at), 0) "
                "FROM event"
            ).fetchone()
            noted = execute("SELECT data FROM state WHERE name = ?", (REQUESTS,)).fetchone()
            relevant, known, duplicates, unlisted = execute(_FINDS).fetchone()
            by_outcome = "SELECT outcome, count(*) FROM event GROUP BY outcome ORDER BY 2 DESC"
            outcomes = dict(execute(by_outcome).fetchall())
        requests = max(requests, int(noted[0]) if noted else 0)
        known += self._count_marked(f"{LISTED} AND NOT known")
        return ResultsSummary(
            pages,
            addresses,
            fetched,
            requests,
            relevant,
            known,
            duplicates,
            unlisted,
            outcomes,
            started,
            ended,
        )

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _kept_event(row: sqlite3.Row) -> KeptEvent:
    told = {**dict(row), "final_url": row["address"]}
    if row["score"] is not None:
        told["relevance"] = {"score": row["score"], "relevant": bool(row["relevant"])}
    event = msgspec.convert(told, PageEvent, strict=False)
    candidate = Candidate(event.url, event.priority, row["memory"], event.parent, event.depth)
    return KeptEvent(event, candidate, row["status"])


def _sql_limit(limit: int | None) -> int:
    return -1 if limit is None else limit


def stored_page(row: sqlite3.Row, **changed: str) -> StoredPage:
    """A row of ``event``."""
    # Not strict: SQLite keeps truth as 0 and 1.
    return msgspec.convert({**dict(row), **changed}, StoredPage, strict=False)
