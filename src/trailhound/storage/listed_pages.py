"""The pages of a crawl that may be shown to anybody, and full-text search over them.

Relevant, no copy of another one, and none that asks not to be listed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Self

from trailhound.errors import UsageError
from trailhound.storage.results import LISTED, RESULTS, SEARCHABLE
from trailhound.storage.results_reading import StoredPage, stored_page
from trailhound.storage.text_index import together

MATCH_STARTS, MATCH_ENDS = "\x02", "\x03"
"""Around words that were searched for. A page that holds them too has the wrong words marked."""

SEARCH_SECONDS = 5.0
"""No search takes longer: strangers may ask for anything."""
_STEPS_BETWEEN_LOOKS = 20_000

_FACTS = f"SELECT id, address, language, at, coalesce(score, 0.0) FROM event WHERE {LISTED}"  # noqa: S608
_PASSAGES = """
    SELECT rowid, highlight(found, 0, char(2), char(3)),
        snippet(found, 1, char(2), char(3), '…', 40)
    FROM found WHERE found MATCH ?
"""
_SHOWN_CHARS = 60_000
"""Of a page's text, in which a passage is looked for."""


class ListedFacts(NamedTuple):
    """What pages are counted, filtered and ordered by."""

    id: int
    """Of the page's row: rises with time."""
    address: str
    language: str
    at: float
    """When it was found, in seconds since 1970."""
    score: float


class Passage(NamedTuple):
    """Title and the place in the text that fits a search best, with the matches marked."""

    title: str
    text: str


class ListedPages:
    """One reader of a results file. Close it, or use it in a ``with`` statement."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = RESULTS.open_for_reading(path)

    def facts(self) -> Iterator[ListedFacts]:
        """Of every page, in no particular order."""
        with RESULTS.explaining(self.path):
            yield from map(ListedFacts._make, self._connection.execute(_FACTS))

    def matching(self, expression: str) -> list[int]:
        """Ids of all pages, listed or not, that an FTS5 expression matches, ascending."""
        query = "SELECT rowid FROM found WHERE found MATCH ? ORDER BY rowid"
        return [row for (row,) in self._search(query, expression)]

    def weights(self, expression: str) -> dict[int, float]:
        """How well each page matches, by id: larger is better; the title counts fourfold."""
        query = "SELECT rowid, -bm25(found, 4.0, 1.0) FROM found WHERE found MATCH ?"
        return dict(self._search(query, expression))

    def passages(self, expression: str, ids: Sequence[int]) -> dict[int, Passage]:
        """What to show of some pages that were searched for, by id.

        They get a small index of their own: that a word's beginning has thousands of endings is
        then paid for once, and not page by page.
        """
        rows = zip(ids, self._indexed(ids), strict=True)
        with RESULTS.explaining(self.path), closing(sqlite3.connect(":memory:")) as few:
            few.execute(SEARCHABLE)
            kept = ((each, title, text[:_SHOWN_CHARS]) for each, (title, text) in rows)
            few.executemany("INSERT INTO found (rowid, title, text) VALUES (?, ?, ?)", kept)
            found = few.execute(_PASSAGES, (expression,))
            return {row: Passage(together(title), together(text)) for row, title, text in found}

    def _search(self, query: str, expression: str) -> list[Any]:
        ends_at = time.monotonic() + SEARCH_SECONDS
        watch = self._connection.set_progress_handler
        watch(lambda: time.monotonic() > ends_at, _STEPS_BETWEEN_LOOKS)
        with RESULTS.explaining(self.path):
            try:
                return self._connection.execute(query, (expression,)).fetchall()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                    raise UsageError(
                        "The search took too long. Take longer or rarer words."
                    ) from None
                raise
            finally:
                watch(None, 0)

    def pages(self, ids: Sequence[int]) -> dict[int, StoredPage]:
        """Pages by id, as far as they are still there."""
        query = "SELECT * FROM event WHERE id = ?"
        cursor = self._connection.cursor()
        cursor.row_factory = sqlite3.Row
        with RESULTS.explaining(self.path):
            rows = (cursor.execute(query, (each,)).fetchone() for each in ids)
            return {row["id"]: stored_page(row) for row in rows if row is not None}

    def texts(self, ids: Iterable[int]) -> Iterator[str]:
        """What each page says, as far as it is searchable; empty else."""
        return (together(text) for _, text in self._indexed(ids))

    def _indexed(self, ids: Iterable[int]) -> Iterator[tuple[str, str]]:
        """Title and text of each page, as the full-text index has them."""
        query = "SELECT title, text FROM found WHERE rowid = ?"
        with RESULTS.explaining(self.path):
            for each in ids:
                yield self._connection.execute(query, (each,)).fetchone() or ("", "")

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
