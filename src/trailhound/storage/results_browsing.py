"""Results as a person leafs through them: filtered, best first, some at a time.

A page of results begins behind the last one that was shown, by score and id, and never counts how
many came before: the thousandth page is as quick as the first. Where a filter leaves few, those few
are looked up; where it leaves many, the best are read until there are enough.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple, Self

import msgspec

from trailhound.errors import UsageError
from trailhound.storage.results import LISTED, RESULTS
from trailhound.storage.results_reading import StoredPage, stored_page

SEARCH_SECONDS = 10.0
MAX_WEIGHED = 10_000
"""Pages that match a search and are ordered by how well; of more, by score."""
MAX_FACETS = 100
MAX_COPIES = 20
_FEW = 5_000
"""Pages of one host, or changed ones, that are looked up rather than met going down the scores."""
_STEPS_BETWEEN_LOOKS = 20_000

Kind = Literal["all", "new", "changed", "useful", "rejected", "missed"]

_MARK = "(SELECT useful FROM marked WHERE marked.address = event.address)"
_CHANGED = "(SELECT changed_at FROM visit WHERE visit.address = event.address)"
_BY_MARK = "marked CROSS JOIN event ON event.address = marked.address"
_BY_VISIT = "visit CROSS JOIN event ON event.address = visit.address"
_ANY_CHANGED = "SELECT 1 FROM visit WHERE changed_at IS NOT NULL"
_IN_ORDER = "event NOT INDEXED"
"""Reading all rows as they lie takes a fifth of the time of reading them by their scores."""
_MATCHING = "(SELECT rowid AS row, bm25(found, 4.0, 1.0) AS fit FROM found WHERE found MATCH ?)"
_MATCHED = "SELECT count(*) FROM (SELECT 1 FROM found WHERE found MATCH ? LIMIT ?)"
_HOST = "substr(address, instr(address, '//') + 2)"
_HOST = f"substr({_HOST}, 1, instr({_HOST} || '/', '/') - 1)"


_FACETS = f"SELECT {_HOST}, language, count(*) FROM {_IN_ORDER} WHERE {LISTED} GROUP BY 1, 2"  # noqa: S608


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which results are wanted."""

    kind: Kind = "all"
    """``all`` that are relevant; the ``new`` ones, which were neither visited nor marked; those
    that have ``changed``; those marked ``useful`` or not (``rejected``); near misses (``missed``).
    """
    expression: str = ""
    """What their words match, for FTS5. Only relevant pages can be searched."""
    host: str = ""
    language: str = ""
    since: float | None = None
    """Fetched at that moment or later, in seconds since 1970."""
    until: float | None = None
    """Fetched before."""
    min_score: float | None = None
    max_score: float | None = None
    """Below this score."""

    @property
    def is_scattered(self) -> bool:
        """Whether those that fit may be anywhere among the scores."""
        return bool(self.language) or self.since is not None or self.until is not None


class Place(NamedTuple):
    """Where a page of results ended."""

    value: float
    """The last one's score; in a search, how well it fits."""
    id: int


class Listed(NamedTuple):
    """A page in a list."""

    id: int
    page: StoredPage
    changed_at: float | None
    place: Place


class Facets(NamedTuple):
    """Values that results may be filtered by, the most frequent first, and how many have each."""

    hosts: list[tuple[str, int]]
    languages: list[tuple[str, int]]


class _Query(NamedTuple):
    tables: str
    where: str
    values: list[object]
    by_fit: bool = False


class ResultsBrowser:
    """One reader of a results file. Close it, or use it in a ``with`` statement."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = RESULTS.open_for_reading(path)
        self._connection.row_factory = sqlite3.Row
        ends_at = time.monotonic() + SEARCH_SECONDS
        self._connection.set_progress_handler(
            lambda: time.monotonic() > ends_at, _STEPS_BETWEEN_LOOKS
        )
        names = self._rows("SELECT name FROM sqlite_schema")
        tables = {row["name"] for row in names}
        # A file that nobody has written to since there are marks and visits has none.
        self._mark = _MARK if "marked" in tables else "NULL"
        self._changed = _CHANGED if "visit" in tables else "NULL"

    def page(self, wanted: Filter, limit: int, after: Place | None = None) -> list[Listed]:
        """The next results, best first."""
        query = self._query(wanted)
        if query is None:
            return []
        value = "fit" if query.by_fit else "score"
        where, values = query.where, query.values
        if after is not None:
            is_behind = "fit >= ? AND (fit > ? OR id > ?)"
            if not query.by_fit:
                is_behind = "score <= ? AND (score < ? OR id > ?)"
            where, values = f"{where} AND {is_behind}", [*values, after.value, *after]
        order = "fit, id" if query.by_fit else "score DESC, id"
        rows = self._rows(
            f"SELECT event.*, {value} AS place, {self._mark} AS marked, "  # noqa: S608
            f"{self._changed} AS changed_at FROM {query.tables} WHERE {where} "
            f"ORDER BY {order} LIMIT ?",
            *values,
            limit,
        )
        return [_listed(row) for row in rows]

    def count(self, wanted: Filter) -> int:
        """How many there are in all."""
        query = self._query(wanted)
        if query is None:
            return 0
        rows = self._rows(
            f"SELECT count(*) FROM {query.tables} WHERE {query.where}",  # noqa: S608
            *query.values,
        )
        return int(rows[0][0])

    def facets(self) -> Facets:
        """Of all finds."""
        hosts, languages = Counter[str](), Counter[str]()
        for host, language, pages in self._rows(_FACETS):
            hosts[host] += pages
            languages[language] += pages
        return Facets(_most(hosts), _most(languages))

    def copies(self, addresses: Iterable[str]) -> dict[str, list[str]]:
        """Pages that say what one of these says, by its address."""
        query = "SELECT address FROM event WHERE duplicate_of = ? AND current ORDER BY id LIMIT ?"
        return {
            address: [row[0] for row in self._rows(query, address, MAX_COPIES)]
            for address in addresses
        }

    def unsearchable(self) -> int:
        """Finds whose words wait to be indexed."""
        made = "SELECT count(*) FROM sqlite_schema WHERE name = 'unindexed'"
        if not self._rows(made)[0][0]:
            return 0
        return int(self._rows("SELECT count(*) FROM unindexed")[0][0])

    def _query(self, wanted: Filter) -> _Query | None:
        """``None`` when nothing can match."""
        if self._mark == "NULL" and wanted.kind in ("useful", "rejected"):
            return None
        tables, kind, values = self._kind(wanted.kind)
        where = [kind]
        is_few = bool(wanted.host) and self._is_few(wanted.host)
        if is_few:
            # A sign before a name keeps SQLite from going down the scores.
            where = [kind.replace("current AND ", "+current AND +", 1)]
        if wanted.host:
            where.append(f"({_IN_HOST} OR {_IN_HOST})")
            values += _host_ranges(wanted.host)
        for name, value in _comparisons(wanted):
            where.append(name)
            values.append(value)
        if wanted.expression:
            return self._searched(wanted.expression, tables, where, values)
        if tables == "event" and not is_few and wanted.is_scattered:
            tables = _IN_ORDER
        return _Query(tables, " AND ".join([*where, "score IS NOT NULL"]), values)

    def _kind(self, kind: Kind) -> tuple[str, str, list[object]]:
        """Tables, a condition that begins with ``current``, and its values."""
        match kind:
            case "new":
                return "event", f"{LISTED} AND NOT known AND {self._mark} IS NULL", []
            case "changed":
                if self._changed != "NULL" and self._is_rare(_ANY_CHANGED):
                    return _BY_VISIT, f"{LISTED} AND visit.changed_at IS NOT NULL", []
                return "event", f"{LISTED} AND {self._changed} IS NOT NULL", []
            case "missed":
                missed = f"current AND NOT relevant AND NOT noindex AND {self._mark} IS NULL"
                return "event", missed, []
            case "useful" | "rejected":
                return _BY_MARK, "current AND useful = ?", [kind == "useful"]
            case _:
                return "event", LISTED, []

    def _searched(
        self, expression: str, tables: str, where: list[str], values: list[object]
    ) -> _Query:
        (matched,) = self._rows(_MATCHED, expression, MAX_WEIGHED + 1)[0]
        if matched <= MAX_WEIGHED:
            joined = f"{_MATCHING} CROSS JOIN event ON event.id = row"
            if tables != "event":
                joined += f" JOIN {tables.replace(' CROSS JOIN event', '')}"
            return _Query(joined, " AND ".join(where), [expression, *values], by_fit=True)
        where = [*where, "id IN (SELECT rowid FROM found WHERE found MATCH ?)"]
        return _Query(tables, " AND ".join(where), [*values, expression])

    def _is_few(self, host: str) -> bool:
        pages = f"SELECT 1 FROM event WHERE {_IN_HOST} OR {_IN_HOST}"  # noqa: S608
        return self._is_rare(pages, *_host_ranges(host))

    def _is_rare(self, query: str, *values: object) -> bool:
        count = f"SELECT count(*) FROM ({query} LIMIT ?)"  # noqa: S608
        return bool(self._rows(count, *values, _FEW + 1)[0][0] <= _FEW)

    def _rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        with RESULTS.explaining(self.path):
            try:
                return self._connection.execute(query, values).fetchall()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                    raise UsageError(
                        "This took too long. Take fewer filters, or longer or rarer words."
                    ) from None
                raise

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_IN_HOST = "(event.address >= ? AND event.address < ?)"


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    del counts[""]
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:MAX_FACETS]


def _host_ranges(host: str) -> list[str]:
    """Between two of these lie all addresses of a host: ``0`` comes behind the slash."""
    return [f"{scheme}://{host}{end}" for scheme in ("http", "https") for end in "/0"]


def _comparisons(wanted: Filter) -> Iterable[tuple[str, object]]:
    compared: tuple[tuple[str, object], ...] = (
        ("language = ?", wanted.language or None),
        ("at >= ?", wanted.since),
        ("at < ?", wanted.until),
        ("score >= ?", wanted.min_score),
        ("score < ?", wanted.max_score),
    )
    return [(name, value) for name, value in compared if value is not None]


def _listed(row: sqlite3.Row) -> Listed:
    place = Place(row["place"], row["id"])
    return Listed(row["id"], stored_page(row), row["changed_at"], place)
