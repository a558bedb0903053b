"""What counts as a find, changed after the crawl: marks of people, and judges that learned more.

A page is a find when a person has marked it useful, and none when she has marked it not useful;
else the judge decides. The column ``relevant`` holds the outcome, so that lists and searches need
not know why. Every change is a short transaction: a crawl may be writing to the same file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, Self

from trailhound.storage.finds import promote_copy
from trailhound.storage.page_rows import signed, unsigned
from trailhound.storage.results import (
    MARKS,
    MAX_INDEXED_CHARS,
    PATIENCE,
    RESULTS,
    SAVE_STATE,
    UNFOLD,
)
from trailhound.storage.sqlite import transaction
from trailhound.utf8 import storable


class JudgedBy(NamedTuple):
    """Who judged a page."""

    judge: str
    """Another one for another judge, or for one that has learned something else."""
    threshold: float | None
    """The score from which it calls a page relevant; ``None`` when it goes by something else."""


class Span(NamedTuple):
    """Rows that another judge has judged, or the same with another threshold."""

    first: int
    last: int
    """Included."""
    threshold: float | None = None
    """Set when only the threshold is another: rows on the right side of it are right already."""


class PageToJudge(NamedTuple):
    """A row that waits to be judged again."""

    id: int
    address: str
    score: float
    useful: bool | None
    """What a person has marked it."""
    kept_fingerprint: int | None = None
    relevant: bool = False
    """Whether it is a find now."""
    noindex: bool = False
    """Whether it asks not to be listed."""
    words: bytes | None = None
    """What judges look at in it, where that was kept: see
    :func:`~trailhound.storage.page_rows.unpack_words`."""

    @property
    def fingerprint(self) -> int | None:
        """What its copies are told by, if anybody asked."""
        return None if self.kept_fingerprint is None else unsigned(self.kept_fingerprint)


class Ruling(NamedTuple):
    """What is to be written of a page."""

    id: int
    score: float
    relevant: bool
    """The judge's verdict; a mark overrules it."""
    title: str = ""
    text: str = ""
    """For searches, should the page become a find."""
    fingerprint: int | None = None
    duplicate_of: str | None = None
    words: bytes | None = None
    """To be kept for the next time, where none were."""


class Changes(NamedTuple):
    """Pages that joined the results, and that left them."""

    joined: int = 0
    left: int = 0

    def __add__(self, other: object) -> Changes:
        """Both together."""
        if not isinstance(other, Changes):
            return NotImplemented
        return Changes(self.joined + other.joined, self.left + other.left)


class Verdicts:
    """The finds of one file of results. Close it, or use it in a ``with`` statement."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = RESULTS.open(path)
        self._connection.execute(PATIENCE)
        self._promoted: set[str] = set()
        """Copies that took the place of a page that left, since this was opened."""

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Judging again

    def waiting(self, by: JudgedBy) -> list[Span]:
        """Rows that ``by`` has not judged, in order."""
        with RESULTS.explaining(self.path):
            noted = self._noted()
            (last,) = self._connection.execute("SELECT max(id) FROM event").fetchone()
        ends = [first - 1 for first, _ in noted[1:]] + [last or 0]
        return [
            Span(first, end, by.threshold if who.judge == by.judge else None)
            for (first, who), end in zip(noted, ends, strict=True)
            if who != by and first <= end
        ]

    def _noted(self) -> list[tuple[int, JudgedBy]]:
        """Where each judge begins, from row 1 on."""
        rows = self._connection.execute("SELECT * FROM judged ORDER BY first")
        return [(1, JudgedBy("", None)), *((row[0], JudgedBy(*row[1:])) for row in rows)]

    def count(self, span: Span) -> int:
        """Pages of a span that are to be judged."""
        query = f"SELECT count(*) {_TO_JUDGE}"
        with RESULTS.explaining(self.path):
            (found,) = self._connection.execute(query, _asked(span)).fetchone()
        return int(found)

    def pages(self, span: Span, limit: int) -> list[PageToJudge]:
        """The first pages of a span, in the order of the crawl, which is that of its archive."""
        columns = "event.id, event.address, score, useful, fingerprint, relevant, noindex, data"
        query = f"SELECT {columns} {_TO_JUDGE_WITH_WORDS} ORDER BY event.id LIMIT :limit"
        with RESULTS.explaining(self.path):
            rows = self._connection.execute(query, _asked(span) | {"limit": limit}).fetchall()
        return [PageToJudge(*row) for row in rows]

    def write(self, rulings: Iterable[Ruling], judged: Span, by: JudgedBy) -> Changes:
        """Let rulings hold, and note that ``by`` has judged all rows of ``judged``."""
        changes = Changes()
        with RESULTS.explaining(self.path), transaction(self._connection):
            for ruling in rulings:
                changes += self._rule(ruling)
            self._note(judged, by)
        return changes

    def _note(self, judged: Span, by: JudgedBy) -> None:
        noted = dict(self._noted())
        after = max(first for first in noted if first <= judged.last + 1)
        noted.setdefault(judged.last + 1, noted[after])
        kept = {f: who for f, who in noted.items() if not judged.first <= f <= judged.last}
        kept[judged.first] = by
        self._connection.execute("DELETE FROM judged")
        insert = "INSERT INTO judged VALUES (?, ?, ?)"
        self._connection.executemany(insert, [(first, *who) for first, who in _joined(kept)])

    def _rule(self, ruling: Ruling) -> Changes:
        """A page that was fetched anew meanwhile, or forgotten, is left alone."""
        row = self._row("event.id = ?", ruling.id)
        if row is None:
            return Changes()
        if row.useful is not None:
            update = "UPDATE marked SET judged = ? WHERE address = ?"
            self._connection.execute(update, (ruling.relevant, row.address))
        relevant = ruling.relevant if row.useful is None else row.useful
        copied = None if row.useful else ruling.duplicate_of
        update = "UPDATE event SET score = ?, fingerprint = ? WHERE id = ?"
        self._connection.execute(update, (ruling.score, signed(ruling.fingerprint), row.id))
        if ruling.words is not None:
            insert = "INSERT OR REPLACE INTO words VALUES (?, ?)"
            self._connection.execute(insert, (row.id, ruling.words))
        return self._list(row, relevant, copied, (ruling.title, ruling.text))

    def _row(self, where: str, *values: object) -> _Row | None:
        columns = "event.id, event.address, relevant, duplicate_of, noindex, useful"
        query = f"SELECT {columns} {_WITH_MARKS} WHERE {where} AND current AND outcome = 'fetched'"
        row = self._connection.execute(query, values).fetchone()
        return None if row is None else _Row(*row)

    def _list(
        self, row: _Row, relevant: bool, duplicate_of: str | None, words: tuple[str, str]
    ) -> Changes:
        """Make a page a find, or none; what is searched follows."""
        execute = self._connection.execute
        update = "UPDATE event SET relevant = ?, duplicate_of = ? WHERE id = ?"
        execute(update, (relevant, duplicate_of, row.id))
        if relevant and not row.relevant:
            title, text = words
            found = (row.id, storable(title), storable(text[:MAX_INDEXED_CHARS]))
            execute("INSERT OR REPLACE INTO unindexed VALUES (?, ?, ?)", found)
        if row.relevant and not relevant:
            execute("DELETE FROM found WHERE rowid = ?", (row.id,))
            execute("DELETE FROM unindexed WHERE id = ?", (row.id,))
        is_listed = relevant and duplicate_of is None and not row.noindex
        if row.is_listed and not is_listed:
            # One that had only just joined was in the results neither before nor after.
            passed = row.address in self._promoted
            self._promoted.discard(row.address)
            joined = self._promote_copy(row.address) if row.useful is None else 0
            return Changes(joined - passed, 1 - passed)
        return Changes(is_listed and not row.is_listed, 0)

    def _promote_copy(self, address: str) -> int:
        """A copy takes the place of a page that left; whether there was one."""
        first = promote_copy(self._connection, address)
        if first is None:
            return 0
        self._promoted.add(first)
        return 1

    def fingerprints(self, to_judge: Sequence[Span]) -> Iterator[tuple[str, int]]:
        """Addresses and fingerprints of pages that keep theirs: those outside of ``to_judge``."""
        query = (
            "SELECT id, address, fingerprint, score FROM event "
            "WHERE fingerprint IS NOT NULL AND current AND NOT noindex ORDER BY id"
        )
        with RESULTS.explaining(self.path):
            for row, address, fingerprint, score in self._connection.execute(query):
                if not any(_is_open(row, score, span) for span in to_judge):
                    yield address, unsigned(fingerprint)

    # Marks

    def address_of(self, url: str) -> str | None:
        """Where the page is that was fetched under a URL."""
        with RESULTS.explaining(self.path):
            row = self._row("event.address = ?", url)
            row = row or self._row("event.url = ? AND event.url <> event.address", url)
        return None if row is None else row.address

    def lacking_words(self, marks: Mapping[str, bool]) -> list[str]:
        """Addresses that ``marks`` would make finds, and that no search knows yet."""
        return [
            address
            for address, useful in self._changed(marks).items()
            if (row := self._row("event.address = ?", address)) and not row.relevant
            if (self._judged(address) if useful is None else useful)
        ]

    def mark(
        self, marks: Mapping[str, bool], words: Mapping[str, tuple[str, str]], taken_from: bytes
    ) -> Changes:
        """Let these marks count, all there are, by address, and no others.

        ``words`` are title and text of the pages that searches do not know yet.
        """
        changes = Changes()
        with RESULTS.explaining(self.path), transaction(self._connection):
            for address, useful in self._changed(marks).items():
                changes += self._mark(address, useful, words.get(address))
            self._connection.execute(SAVE_STATE, (MARKS, taken_from))
        return changes

    def _changed(self, marks: Mapping[str, bool]) -> dict[str, bool | None]:
        """What is marked in another way than here, and what is not marked any more."""
        rows = self._connection.execute("SELECT address, useful FROM marked")
        before = {address: bool(useful) for address, useful in rows}
        changed: dict[str, bool | None] = {
            address: useful for address, useful in marks.items() if before.get(address) != useful
        }
        return changed | dict.fromkeys(before.keys() - marks.keys())

    def _mark(self, address: str, useful: bool | None, words: tuple[str, str] | None) -> Changes:
        row = self._row("event.address = ?", address)
        judged = self._judged(address)
        if useful is None:
            self._connection.execute("DELETE FROM marked WHERE address = ?", (address,))
        else:
            if row is not None and row.useful is None:
                judged = row.relevant
            mark = "INSERT OR REPLACE INTO marked VALUES (?, ?, ?)"
            self._connection.execute(mark, (address, useful, judged))
        if row is None:
            return Changes()
        relevant = judged if useful is None else useful
        # Copies of what is not useful stay folded below it: they say the same.
        row = row._replace(useful=row.useful if useful is None else useful)
        if useful and row.duplicate_of is not None:
            self._connection.execute(UNFOLD, (address, row.duplicate_of))
        copied = None if useful else row.duplicate_of or self._fold(address)
        return self._list(row, relevant, copied, words or (self._title(row.id), ""))

    def _fold(self, address: str) -> str | None:
        """What a page is a copy of that only its mark has listed, if that is still listed."""
        find = "SELECT duplicate_of FROM unfolded WHERE address = ?"
        found = self._connection.execute(find, (address,)).fetchone()
        self._connection.execute("DELETE FROM unfolded WHERE address = ?", (address,))
        original = self._row("event.address = ?", found[0]) if found else None
        return original.address if original is not None and original.is_listed else None

    def _judged(self, address: str) -> bool:
        """What the judge had said of a marked page."""
        query = "SELECT judged FROM marked WHERE address = ?"
        row = self._connection.execute(query, (address,)).fetchone()
        return bool(row and row[0])

    def _title(self, row: int) -> str:
        (title,) = self._connection.execute(
            "SELECT title FROM event WHERE id = ?", (row,)
        ).fetchone()
        return str(title)


class _Row(NamedTuple):
    id: int
    address: str
    relevant: bool
    duplicate_of: str | None
    noindex: bool
    useful: bool | None

    @property
    def is_listed(self) -> bool:
        return bool(self.relevant and self.duplicate_of is None and not self.noindex)


_WITH_MARKS = "FROM event LEFT JOIN marked ON marked.address = event.address"
_WAITS = """
    WHERE event.id BETWEEN :first AND :last AND current AND score IS NOT NULL
        AND (:threshold IS NULL OR coalesce(judged, relevant) <> (score >= :threshold))
"""
_TO_JUDGE = f"{_WITH_MARKS} {_WAITS}"
_TO_JUDGE_WITH_WORDS = f"{_WITH_MARKS} LEFT JOIN words ON words.id = event.id {_WAITS}"


def _asked(span: Span) -> dict[str, float | None]:
    return {"first": span.first, "last": span.last, "threshold": span.threshold}


def _is_open(row: int, score: float, span: Span) -> bool:
    """Whether a row with a fingerprint may lose it: with the same judge, if it scores too low."""
    is_inside = span.first <= row <= span.last
    return is_inside and (span.threshold is None or score < span.threshold)


def _joined(noted: Mapping[int, JudgedBy]) -> Iterator[tuple[int, JudgedBy]]:
    """In order, without those that go on with the judge before."""
    before = JudgedBy("", None)
    for first, who in sorted(noted.items()):
        if who != before:
            yield first, who
        before = who


def marks_are_from(path: Path, checksum: bytes) -> bool:
    """Whether the marks in a file of results are those of these session files; only read."""
    with RESULTS.explaining(path), closing(RESULTS.open_for_reading(path)) as connection:
        query = "SELECT data FROM state WHERE name = ?"
        row = connection.execute(query, (MARKS,)).fetchone()
    return row is not None and bytes(row[0]) == checksum
