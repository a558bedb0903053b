"""What a source of backlinks answered, and the pages behind its answers: on disk, asked once."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from trailhound.errors import UNREADABLE, StorageError
from trailhound.records import Page

_TABLES = (
    "CREATE TABLE IF NOT EXISTS answer (source TEXT, url TEXT, links BLOB NOT NULL, "
    "PRIMARY KEY (source, url)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS page (url TEXT PRIMARY KEY, content BLOB)",
)


class KeptAnswers:
    """One file for a topic; answers are kept by the source that gave them."""

    def __init__(self, path: Path, source: str) -> None:
        self._path = path
        self._source = source
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._explained():
            self._connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=5.0
            )
            self._connection.execute("PRAGMA journal_mode = WAL").fetchall()
            self._connection.execute("PRAGMA synchronous = NORMAL")
            for table in _TABLES:
                self._connection.execute(table)

    def answer(self, url: str) -> Sequence[str] | None:
        """What the source said about a page; ``None`` when it was not asked."""
        question = "SELECT links FROM answer WHERE source = ? AND url = ?"
        with self._explained():
            row = self._connection.execute(question, (self._source, url)).fetchone()
            return None if row is None else msgspec.msgpack.decode(row[0], type=list[str])

    def keep_answer(self, url: str, links: Sequence[str]) -> None:
        """Remember an answer."""
        row = (self._source, url, msgspec.msgpack.encode(list(links)))
        with self._explained():
            self._connection.execute("INSERT OR REPLACE INTO answer VALUES (?, ?, ?)", row)

    def has_page(self, url: str) -> bool:
        """Whether a page was asked for, be it in vain."""
        with self._explained():
            question = "SELECT 1 FROM page WHERE url = ?"
            return self._connection.execute(question, (url,)).fetchone() is not None

    def page(self, url: str) -> Page | None:
        """A page that was kept."""
        with self._explained():
            row = self._connection.execute(
                "SELECT content FROM page WHERE url = ?", (url,)
            ).fetchone()
            if row is None or row[0] is None:
                return None
            return msgspec.msgpack.decode(zlib.decompress(row[0]), type=Page)

    def keep_page(self, url: str, page: Page | None) -> None:
        """Remember a page, or that it could not be had."""
        content = None if page is None else zlib.compress(msgspec.msgpack.encode(page))
        with self._explained():
            self._connection.execute("INSERT OR REPLACE INTO page VALUES (?, ?)", (url, content))

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, zlib.error, *UNREADABLE) as error:
            raise _cannot_use(self._path, error) from error


def forget_answers(path: Path, forgotten: Callable[[str], bool], *, dry_run: bool = False) -> int:
    """Take pages out of the file, as questions, answers and contents; how many rows had them."""
    if not path.is_file():
        return 0
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            pages = [url for (url,) in connection.execute("SELECT url FROM page") if forgotten(url)]
            answers = [
                (source, url)
                for source, url, links in connection.execute("SELECT * FROM answer")
                if forgotten(url) or any(map(forgotten, msgspec.msgpack.decode(links)))
            ]
            if not dry_run and (pages or answers):
                connection.execute("PRAGMA secure_delete = ON")
                connection.executemany("DELETE FROM page WHERE url = ?", [(url,) for url in pages])
                connection.executemany("DELETE FROM answer WHERE source = ? AND url = ?", answers)
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return len(pages) + len(answers)
    except (sqlite3.Error, *UNREADABLE) as error:
        raise _cannot_use(path, error) from error


def _cannot_use(path: Path, error: Exception) -> StorageError:
    return StorageError(
        f"The kept backlinks {path} cannot be used ({error}). Free some space or check that you "
        "may write there; the file may also be deleted, and everything is asked again."
    )
