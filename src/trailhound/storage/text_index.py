"""The full-text index of results: how it catches up with a crawl, and what is a word in it.

SQLite takes a run of letters for one word, so that it would not find 蜜蜂 in 蜜蜂の巣箱. In the
index, and in what is searched for, each Chinese or Japanese sign is a word of its own: a blank that
nobody sees stands between them, and several together are searched for as a phrase.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path

from trailhound.errors import StorageError
from trailhound.storage.results import MAX_INDEXED_CHARS, RESULTS
from trailhound.storage.sqlite import transaction
from trailhound.utf8 import storable

INDEX_TOGETHER = 200
INDEX_CHARS_TOGETHER = 300_000
"""Pages, and characters, that are indexed in one transaction, in about a fifth of a second."""
INDEX_PAUSE_SECONDS = 0.12
"""Between two of them: a crawl that waits for the file looks every 0.1 s whether it is free."""

_SIGN = "[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_NEXT_TO_SIGN = re.compile(rf"(?<={_SIGN})(?=\w)|(?<=\w)(?={_SIGN})")
_BETWEEN = "\u200b"
"""A blank without width: no letter to SQLite, and nothing on a page."""


def apart(text: str) -> str:
    """``text`` with its signs apart; again, it stays as it is."""
    return text if text.isascii() else _NEXT_TO_SIGN.sub(_BETWEEN, text)


def together(text: str) -> str:
    """``text`` as it was written."""
    return text if text.isascii() else text.replace(_BETWEEN, "")


def index_texts(path: Path, texts: Iterable[tuple[int, str, str]]) -> None:
    """Let some rows be found by these words: ``(id, title, text)`` each."""
    rows = [
        (row, storable(title), storable(text[:MAX_INDEXED_CHARS])) for row, title, text in texts
    ]
    with (
        RESULTS.explaining(path),
        closing(RESULTS.open(path)) as connection,
        transaction(connection),
    ):
        connection.executemany("DELETE FROM found WHERE rowid = ?", [row[:1] for row in rows])
        connection.executemany("INSERT OR REPLACE INTO unindexed VALUES (?, ?, ?)", rows)


def index_waiting(connection: sqlite3.Connection) -> None:
    """Let the full-text index catch up, in turns with a crawl that may be writing."""
    connection.create_function("apart", 1, apart, deterministic=True)
    last = _last_to_index(connection)
    while last is not None:
        with transaction(connection):
            connection.execute(
                "INSERT INTO found (rowid, title, text) "
                "SELECT id, apart(title), apart(text) FROM unindexed WHERE id <= ?",
                (last,),
            )
            connection.execute("DELETE FROM unindexed WHERE id <= ?", (last,))
        last = _last_to_index(connection)
        if last is not None:
            time.sleep(INDEX_PAUSE_SECONDS)


def _last_to_index(connection: sqlite3.Connection) -> int | None:
    """The number of the last row that is indexed together with the first; none when none waits."""
    some = "SELECT id, length(text) FROM unindexed ORDER BY id LIMIT ?"
    last, chars = None, 0
    for row, length in connection.execute(some, (INDEX_TOGETHER,)).fetchall():
        chars += length
        if last is not None and chars > INDEX_CHARS_TOGETHER:
            break
        last = row
    return last


def index_for_search(path: Path) -> None:
    """The same for a file that is only read: as far as it can be written, also while crawling."""
    if path.is_file():
        with (
            suppress(StorageError),
            RESULTS.explaining(path),
            closing(RESULTS.open(path)) as connection,
        ):
            index_waiting(connection)
