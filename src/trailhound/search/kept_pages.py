"""The relevant pages that a crawl has kept, searched in the results themselves.

Nothing is built: the crawl indexes what it keeps, and a page that is forgotten is gone from here
as well.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from trailhound.errors import SourceError, StorageError
from trailhound.records import Page
from trailhound.search.page_index import any_word_of
from trailhound.sources import SearchHit
from trailhound.storage.faults import explaining_sqlite
from trailhound.storage.result_schema import open_for_reading

_RANKED = """
    SELECT event.id FROM event JOIN found ON found.rowid = event.id
    WHERE found MATCH ? AND current AND relevant AND duplicate_of IS NULL AND NOT noindex
    ORDER BY bm25(found, 4.0, 1.0), event.id LIMIT ?
"""
# Apart from the ranking: a snippet costs more than a rank, and most are never looked at.
_SHOWN = """
    SELECT address, event.title, snippet(found, 1, '', '', '…', 32)
    FROM event JOIN found ON found.rowid = event.id
    WHERE found MATCH ? AND found.rowid = ?
"""


class KeptPagesSearch:
    """Searches the results at ``path``, also while the crawl writes to them."""

    def __init__(
        self, path: Path, read_page: Callable[[str], Page | None] = lambda _url: None
    ) -> None:
        self._path = path
        self._read_page = read_page

    def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """Relevant pages with any of the words, by BM25; SourceError when there are no results."""
        words = any_word_of(query)
        if not words or limit < 1:
            return []
        try:
            with (
                explaining_sqlite(self._path),
                closing(open_for_reading(self._path)) as connection,
            ):
                return _hits(connection, words, limit)
        except StorageError as error:
            raise SourceError(f"The crawl's own pages cannot be searched: {error}") from error

    def page(self, url: str) -> Page | None:
        """The page as it was archived, if it was."""
        return self._read_page(url)


def _hits(connection: sqlite3.Connection, words: str, limit: int) -> list[SearchHit]:
    ranked = connection.execute(_RANKED, (words, limit)).fetchall()
    return [
        SearchHit(*connection.execute(_SHOWN, (words, number)).fetchone()) for (number,) in ranked
    ]
