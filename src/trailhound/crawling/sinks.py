"""What a crawl leaves behind: each page goes to the sinks before it counts as done."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Awaitable, Iterable, Sequence
from inspect import isawaitable
from pathlib import Path
from typing import ClassVar, Protocol, Self

import msgspec

from trailhound.crawling.answers import Troubles, answered
from trailhound.errors import UNREADABLE, StorageError, TrailhoundError, plugin_faults
from trailhound.records import FinishedPage, Outcome, PageEvent
from trailhound.storage.files import explaining
from trailhound.storage.warc import ArchiveWriter
from trailhound.storage.warc_records import CaptureNotes

MAX_FAILURES = 10
"""Pages in a row, or relevant pages in a row, that a sink may fail on before it is let be."""
_OUR_LINE = b'{"url":'
"""How a line of :class:`JsonLinesSink` begins."""


class Sink(Protocol):
    """Stores pages: an archive, a list of results, a log, a queue of somebody else's.

    ``keep`` is called once for each candidate that was dealt with, in the order of the crawl, and
    before the frontier forgets the lease: after a crash a page may come twice, but never not at
    all. Either method may be a coroutine function; the crawl waits for it, up to the setting
    ``plugin_seconds``.

    A :class:`~trailhound.errors.TrailhoundError` (the disk is full, say) ends the crawl, which can
    be resumed. Any other exception costs the sink that page; after ``MAX_FAILURES`` in a row it is
    let be, and the crawl goes on without it, unless it ``is_vital``, as the crawl's own are: then
    the crawl ends. Relevant pages are counted by themselves as well: a
    sink that wants only those does well on others by doing nothing. ``close`` is called once,
    however the crawl ends and in the same event loop as ``keep``.
    """

    def keep(self, finished: FinishedPage) -> Awaitable[None] | None:
        """Take one page."""
        ...

    def close(self) -> Awaitable[None] | None:
        """Finish what has been written."""
        ...


class SinkKind(Protocol):
    """What a plug-in in the entry-point group ``trailhound.sinks`` names: the class of a sink.

    It has one line of ``summary`` for ``trailhound plugins``. Further arguments of ``open`` that
    are keyword-only are its options; one without a default must be given.
    """

    summary: ClassVar[str]

    @classmethod
    def open(cls, topic: str, folder: Path | None) -> Sink:
        """The sink of one crawl of ``topic``, called before anything is fetched.

        ``folder`` is where the crawl keeps its files; ``None`` when it keeps none. A resumed crawl
        opens its sinks again: what they hold should be added to.
        """
        ...


class SinkChain:
    """Hands pages to sinks, in order, under their error policy.

    One that takes longer than ``seconds`` with a page has failed on it.
    """

    def __init__(
        self,
        sinks: Sequence[Sink],
        troubles: Troubles | None = None,
        seconds: float | None = None,
    ) -> None:
        self._sinks = list(sinks)
        self._seconds = seconds
        self._in_a_row: Counter[tuple[int, str]] = Counter()
        """Failures by sink and kind of page."""
        self._troubles = troubles or Troubles()
        self._useless: dict[int, str] = {}
        self._useful: set[int] = set()

    @property
    def useless(self) -> list[str]:
        """Sinks that failed on every page that they were given."""
        return [who for key, who in self._useless.items() if key not in self._useful]

    @property
    def sinks(self) -> Sequence[Sink]:
        """Those that are still in use."""
        return tuple(self._sinks)

    async def keep(self, finished: FinishedPage) -> None:
        """Give one page to all."""
        for sink in tuple(self._sinks):
            try:
                kept = sink.keep(finished)
                if isawaitable(kept):
                    await answered(kept, self._seconds)
                for kind in _kinds(finished.event):
                    self._in_a_row[id(sink), kind] = 0
                self._useful.add(id(sink))
            except TrailhoundError:
                raise
            except plugin_faults() as error:
                self._note_failure(sink, error, finished.event)

    def _note_failure(self, sink: Sink, error: BaseException, event: PageEvent) -> None:
        who = _name(sink)
        self._troubles.note(who, error, f" on {event.final_url}")
        self._useless[id(sink)] = who
        kinds = _kinds(event)
        self._in_a_row.update((id(sink), kind) for kind in kinds)
        spent = [kind for kind in kinds if self._in_a_row[id(sink), kind] >= MAX_FAILURES]
        if spent and getattr(sink, "is_vital", False):
            raise StorageError(
                f"{MAX_FAILURES} pages in a row could not be kept, so that the crawl ends here: "
                f"{type(error).__name__}: {error}. Most likely a plug-in gave what cannot be "
                "stored; without it, resume the crawl."
            ) from error
        if spent:
            what = f"{MAX_FAILURES} {spent[0]}"
            self._troubles.note_end(who, f"failed on {what} in a row and is let be.")
            self._sinks.remove(sink)


def _kinds(event: PageEvent) -> tuple[str, ...]:
    """As what a page counts."""
    is_relevant = event.relevance is not None and event.relevance.relevant
    return ("pages", "relevant pages") if is_relevant else ("pages",)


async def close_sinks(
    sinks: Iterable[Sink], troubles: Troubles, seconds: float | None = None
) -> None:
    """Close all, those that were let be as well; what one does wrong keeps no other open.

    Each has so many ``seconds`` for it.
    """
    for sink in sinks:
        try:
            closed = sink.close()
            if isawaitable(closed):
                await answered(closed, seconds)
        except plugin_faults() as error:
            troubles.note(f"{_name(sink)}, being closed,", error)


def _name(sink: Sink) -> str:
    return f"The sink {type(sink).__name__}"


class ArchiveSink:
    """Writes what was fetched to WARC files, with what the crawl thought of it."""

    is_vital: ClassVar[bool] = True

    def __init__(self, writer: ArchiveWriter) -> None:
        self._writer = writer

    def keep(self, finished: FinishedPage) -> None:
        """Archive every exchange of one fetch."""
        event = finished.event
        notes = CaptureNotes(
            event.parent,
            event.depth,
            event.priority,
            event.relevance,
            event.outcome,
            event.why,
            event.number,
        )
        result = finished.result
        self._writer.write(result.exchanges, notes, result.body if result.rendered else None)

    def close(self) -> None:
        """Complete the last file and the index."""
        self._writer.close()


class JsonLinesSink:
    """Relevant pages as they are found, one JSON object in a line: ``--sink jsonl:path=FILE``.

    What ``trailhound results`` would count: no copies of earlier pages, none that ask not to be
    listed. The file is added to; a page that a killed crawl fetches again is in it twice.
    """

    summary: ClassVar[str] = "relevant pages with their texts, as JSON lines"

    def __init__(self, path: Path) -> None:
        self._path = path
        with explaining(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            _drop_torn_line(path)
            self._file = path.open("ab")

    @classmethod
    def open(cls, topic: str, folder: Path | None, *, path: Path | None = None) -> Self:
        """Without a ``path`` it is ``finds.jsonl`` in the crawl's own folder."""
        del topic
        return cls(path or (folder or Path()) / "finds.jsonl")

    def keep(self, finished: FinishedPage) -> None:
        """A line for a relevant page; nothing for any other."""
        event, page = finished.event, finished.page
        relevance = event.relevance
        if page is None or relevance is None or event.outcome is not Outcome.FETCHED:
            return
        if not event.is_find:
            return
        found = {
            "url": event.final_url,
            "title": page.title,
            "score": relevance.score,
            "language": page.language,
            "found_at": event.at,
            "parent": event.parent,
            "text": page.text,
        }
        with explaining(self._path):
            self._file.write(msgspec.json.encode(found) + b"\n")
            self._file.flush()

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


def _drop_torn_line(path: Path) -> None:
    """A killed process or a full disk may have left half a line of ours; all else stays."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        last = b"".join(deque(file, maxlen=1))
        if not last or last.endswith(b"\n"):
            return
        if last.startswith(_OUR_LINE) and not _is_json(last):
            file.truncate(file.tell() - len(last))
        else:
            file.write(b"\n")


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except UNREADABLE:
        return False
    return True
