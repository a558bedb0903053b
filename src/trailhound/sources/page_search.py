"""Searches over pages one has, by their words: an archive's, a crawl's, or any others.

All of them are SQLite's FTS5, ranked by BM25. With f the weighted count of a word in a page (a
title counts four times), D the page's length and D̄ the mean length, both in words, n the pages that
hold the word and N all pages::

    score = Σ over words of  idf · f (k + 1) / (f + k (1 - b + b D / D̄))
    idf   = log((N - n + ½) / (n + ½)), and next to nothing for words in half of the pages or more

with k = 1.2 and b = 0.75. A page that holds any of the words is a result.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from trailhound.errors import CorpusError, SourceError, StorageError, UsageError
from trailhound.records import Page
from trailhound.sources import SearchHit
from trailhound.storage.results import LISTED, RESULTS
from trailhound.storage.text_index import apart, index_for_search, together
from trailhound.text.extract import extract_page
from trailhound.urls import canonicalize
from trailhound.utf8 import storable
from trailhound.web_archives import ArchiveDamageError, find_archives, read_captures

MAX_INDEXED_CHARS = 200_000
"""Of a page's text."""
MAX_WORDS = 32
"""Of a query."""
_WORD = re.compile(r"\w+")
# The numbers are the weights of address, title and text.
_RANKED = "SELECT rowid FROM page WHERE page MATCH ? ORDER BY bm25(page, 0.0, 4.0, 1.0), rowid"
# Apart from the ranking: a snippet costs more than a rank, and most are never looked at.
_SHOWN = """
    SELECT url, title, snippet(page, 2, '', '', '…', 32) FROM page
    WHERE page MATCH ? AND rowid = ?
"""


_KEPT_RANKED = f"""
    SELECT event.id FROM event JOIN found ON found.rowid = event.id
    WHERE found MATCH ? AND {LISTED}
    ORDER BY bm25(found, 4.0, 1.0), event.id LIMIT ?
"""  # noqa: S608
_KEPT_SHOWN = """
    SELECT address, event.title, snippet(found, 1, '', '', '…', 32)
    FROM event JOIN found ON found.rowid = event.id
    WHERE found MATCH ? AND found.rowid = ?
"""


class IndexedPage(NamedTuple):
    """What is known of a page by its words."""

    url: str
    title: str
    text: str


class PageIndex:
    """Pages by their words. It lives in memory and, when large, in a file that nobody sees."""

    def __init__(self, pages: Iterable[IndexedPage] = ()) -> None:
        # An empty name: a private file, made when memory is short and gone with the connection.
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._connection.execute(
            "CREATE VIRTUAL TABLE page USING fts5 (url UNINDEXED, title, text, "
            "tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        self.add(pages)

    def add(self, pages: Iterable[IndexedPage]) -> None:
        """Take pages in."""
        rows = (
            (url, apart(storable(title)), apart(storable(text[:MAX_INDEXED_CHARS])))
            for url, title, text in pages
        )
        self._connection.execute("BEGIN")
        try:
            self._connection.executemany("INSERT INTO page VALUES (?, ?, ?)", rows)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def __len__(self) -> int:
        """Pages in the index."""
        return int(self._connection.execute("SELECT count(*) FROM page").fetchone()[0])

    def ranked(self, query: str) -> Iterator[SearchHit]:
        """All pages with a word of the query, best first; equals in the order they came in."""
        words = any_word_of(query)
        if not words:
            return
        for (number,) in self._connection.execute(_RANKED, (words,)).fetchall():
            shown = self._connection.execute(_SHOWN, (words, number)).fetchone()
            yield SearchHit(*map(together, shown))

    def close(self) -> None:
        """Let it go."""
        self._connection.close()


def any_word_of(query: str) -> str:
    """The query in FTS5's language: pages that hold any of the words; empty without a word."""
    words = dict.fromkeys(_WORD.findall(query.lower()))
    return " OR ".join(f'"{apart(word)}"' for word in list(words)[:MAX_WORDS])


class ArchivedPagesSearch:
    """Searches a WARC or WACZ file, or a folder of them; of several captures the last counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pages: dict[str, Page] = {}

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """Archived pages with any of the words, by BM25."""
        return list(islice(self._index.ranked(query), max(0, limit)))

    async def page(self, url: str) -> Page | None:
        """The archived page."""
        _ = self._index
        return self._pages.get(url)

    @cached_property
    def _index(self) -> PageIndex:
        try:
            self._pages = {page.url: page for page in self._archived()}
        except (CorpusError, UsageError) as error:
            raise SourceError(f"The archive cannot be searched: {error}") from error
        if not self._pages:
            raise SourceError(f"{self._path} holds no page to search in. Name another archive.")
        return PageIndex(
            IndexedPage(page.url, page.title, page.text) for page in self._pages.values()
        )

    def _archived(self) -> Iterator[Page]:
        for archive in find_archives(self._path):
            try:
                for capture in read_captures(archive):
                    answer = capture.answer
                    url = canonicalize(answer.url) if answer.is_page and answer.body else None
                    if url is not None:
                        yield extract_page(answer.body, url, answer.content_type)
            except ArchiveDamageError:
                continue  # what came before the damage is worth having


class KeptPagesSearch:
    """Searches the results at ``path``, also while the crawl writes to them.

    Nothing is built: the crawl indexes what it keeps, and a page that is forgotten is gone from
    here as well.
    """

    def __init__(
        self, path: Path, read_page: Callable[[str], Page | None] = lambda _url: None
    ) -> None:
        self._path = path
        self._read_page = read_page

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """Relevant pages with any of the words, by BM25; SourceError when there are no results."""
        words = any_word_of(query)
        if not words or limit < 1:
            return []
        await asyncio.to_thread(index_for_search, self._path)  # the crawl may write meanwhile
        try:
            with (
                RESULTS.explaining(self._path),
                closing(RESULTS.open_for_reading(self._path)) as connection,
            ):
                return _hits(connection, words, limit)
        except StorageError as error:
            raise SourceError(f"The crawl's own pages cannot be searched: {error}") from error

    async def page(self, url: str) -> Page | None:
        """The page as it was archived, if it was."""
        return self._read_page(url)


def _hits(connection: sqlite3.Connection, words: str, limit: int) -> list[SearchHit]:
    ranked = connection.execute(_KEPT_RANKED, (words, limit)).fetchall()
    return [
        SearchHit(*map(together, connection.execute(_KEPT_SHOWN, (words, number)).fetchone()))
        for (number,) in ranked
    ]
