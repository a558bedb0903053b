"""Who links to a page, as a topic keeps it on disk: asked of its own crawls, or of a source, once.

The link graph of a topic's crawls is read from their archives. What a source of backlinks answered
is kept beside the pages behind its answers.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from trailhound.errors import UNREADABLE, CorpusError, StorageError
from trailhound.records import Page
from trailhound.text.extract import extract_page
from trailhound.urls import canonicalize
from trailhound.web_archives import Archive, ArchiveDamageError, find_archives, read_captures

Progress = Callable[[int], None]
"""Called with the pages read so far."""

_LINK_TABLES = (
    "CREATE TABLE IF NOT EXISTS page (number INTEGER PRIMARY KEY, url TEXT UNIQUE NOT NULL, "
    "content BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS link (target TEXT, source INTEGER, PRIMARY KEY (target, source)) "
    "WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS been_read (mark TEXT PRIMARY KEY) WITHOUT ROWID",
)


class LinkStore:
    """Grows by whole files of pages; each file is marked when it has been read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._explained():
            self._connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=5.0
            )
            self._connection.execute("PRAGMA journal_mode = WAL").fetchall()
            for table in _LINK_TABLES:
                self._connection.execute(table)

    def add(self, pages: Iterable[Page], mark: str) -> None:
        """Take in the pages of one file, all or none; a page that is known is replaced."""
        with self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                for page in pages:
                    self._add(page)
                self._connection.execute("INSERT OR IGNORE INTO been_read VALUES (?)", (mark,))
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise

    def _add(self, page: Page) -> None:
        content = zlib.compress(msgspec.msgpack.encode(page))
        run = self._connection.execute
        row = run("SELECT number FROM page WHERE url = ?", (page.url,)).fetchone()
        if row is None:
            number = run("INSERT INTO page (url, content) VALUES (?, ?)", (page.url, content))
            source = number.lastrowid
        else:
            (source,) = row
            run("UPDATE page SET content = ? WHERE number = ?", (content, source))
        urls = {link.url for link in page.links} - {page.url}
        self._connection.executemany(
            "INSERT OR IGNORE INTO link VALUES (?, ?)", [(url, source) for url in sorted(urls)]
        )

    def has_read(self, mark: str) -> bool:
        """Whether a file has been taken in."""
        with self._explained():
            question = "SELECT 1 FROM been_read WHERE mark = ?"
            return self._connection.execute(question, (mark,)).fetchone() is not None

    async def linking_to(self, url: str) -> Sequence[str]:
        """Addresses of pages with a link to ``url``, in the order in which they were crawled."""
        question = (
            "SELECT page.url FROM link JOIN page ON page.number = link.source "
            "WHERE link.target = ? ORDER BY link.source"
        )
        with self._explained():
            return [source for (source,) in self._connection.execute(question, (url,))]

    async def page(self, url: str) -> Page | None:
        """A page by its address."""
        question = "SELECT content FROM page WHERE url = ?"
        with self._explained():
            row = self._connection.execute(question, (url,)).fetchone()
        return msgspec.msgpack.decode(zlib.decompress(row[0]), type=Page) if row else None

    def __len__(self) -> int:
        with self._explained():
            return int(self._connection.execute("SELECT count(*) FROM page").fetchone()[0])

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _links_fail(self._path, error) from error


def forget_linked(path: Path, forgotten: Callable[[str], bool], *, dry_run: bool = False) -> int:
    """Remove a store that names a forgotten page; how often it does.

    It goes as a whole, because other pages remember the link: it is made again, when it is asked
    for, from the archives that are left.
    """
    if not path.is_file():
        return 0
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            named = sum(forgotten(url) for (url,) in connection.execute("SELECT url FROM page"))
            named += sum(
                forgotten(url) for (url,) in connection.execute("SELECT DISTINCT target FROM link")
            )
        if named and not dry_run:
            for name in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
                name.unlink(missing_ok=True)
        return named
    except sqlite3.Error as error:
        raise _links_fail(path, error) from error


def _links_fail(path: Path, error: sqlite3.Error) -> StorageError:
    return StorageError(
        f"The links of the topic's crawls {path} cannot be used ({error}). Free some space or "
        "check that you may write there; the file may also be deleted, and is made again."
    )


class ArchivedLinks(LinkStore):
    """Links and pages of all that is in some folders of archives; new files are read at once."""

    def __init__(
        self, store: Path, archives: Iterable[Path], progress: Progress = lambda _: None
    ) -> None:
        super().__init__(store)
        self._progress = progress
        self._pages = 0
        for folder in archives:
            self._read_folder(folder)

    def _read_folder(self, folder: Path) -> None:
        for path in sorted(path for path in folder.iterdir() if ".warc" in path.name):
            state = path.stat()
            # Not by its folder: a crawl that is set aside keeps its files.
            mark = f"{path.name} {state.st_size}"
            if not self.has_read(mark):
                self.add(self._pages_in(path), mark)

    def _pages_in(self, path: Path) -> Iterator[Page]:
        try:
            for archive in find_archives(path):
                yield from self._captured(archive)
        except (ArchiveDamageError, CorpusError):
            return  # cut short: what came before counts

    def _captured(self, archive: Archive) -> Iterator[Page]:
        for capture in read_captures(archive):
            answer = capture.answer
            url = canonicalize(answer.url)
            if url is None or answer.status != 200 or "html" not in answer.content_type.lower():
                continue
            yield extract_page(answer.body, url, answer.content_type)
            self._pages += 1
            self._progress(self._pages)


_ANSWER_TABLES = (
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
            for table in _ANSWER_TABLES:
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
            raise _answers_fail(self._path, error) from error


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
        raise _answers_fail(path, error) from error


def _answers_fail(path: Path, error: Exception) -> StorageError:
    return StorageError(
        f"The kept backlinks {path} cannot be used ({error}). Free some space or check that you "
        "may write there; the file may also be deleted, and everything is asked again."
    )
