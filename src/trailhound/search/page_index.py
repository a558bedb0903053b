"""A full-text index over pages one has: SQLite's FTS5, ranked by BM25.

With f the weighted count of a word in a page (a title counts four times), D the page's length and D̄
the mean length, both in words, n the pages that hold the word and N all pages::

    score = Σ over words of  idf · f (k + 1) / (f + k (1 - b + b D / D̄))
    idf   = log((N - n + ½) / (n + ½)), and next to nothing for words in half of the pages or more

with k = 1.2 and b = 0.75. A page that holds any of the words is a result.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trailhound.sources import SearchHit

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
        rows = ((url, _utf8(title), _utf8(text[:MAX_INDEXED_CHARS])) for url, title, text in pages)
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
            yield SearchHit(*shown)

    def close(self) -> None:
        """Let it go."""
        self._connection.close()


def any_word_of(query: str) -> str:
    """The query in FTS5's language: pages that hold any of the words; empty without a word."""
    words = dict.fromkeys(_WORD.findall(query.lower()))
    return " OR ".join(f'"{word}"' for word in list(words)[:MAX_WORDS])


def _utf8(text: str) -> str:
    """Text without lone surrogates, which SQLite cannot carry."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
