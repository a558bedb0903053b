"""What a crawl leaves behind: each page goes to the sinks before it counts as done."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Sequence
from inspect import isawaitable
from typing import Protocol

from trailhound.errors import TrailhoundError
from trailhound.records import FinishedPage
from trailhound.storage.warc import ArchiveWriter
from trailhound.storage.warc_records import CaptureNotes

MAX_FAILURES = 10
"""Pages in a row that a sink may fail on before it is let be."""

_log = logging.getLogger(__name__)


class Sink(Protocol):
    """Stores pages: an archive, a list of results, a log, a queue of somebody else's.

    ``keep`` is called once for each candidate that was dealt with, in the order of the crawl, and
    before the frontier forgets the lease: after a crash a page may come twice, but never not at
    all. Either method may be a coroutine function; the crawl waits for it.

    A :class:`~trailhound.errors.TrailhoundError` (the disk is full, say) ends the crawl, which can
    be resumed. Any other exception costs the sink that page; after ``MAX_FAILURES`` in a row it is
    let be, and the crawl goes on without it.
    """

    def keep(self, finished: FinishedPage) -> Awaitable[None] | None:
        """Take one page."""
        ...

    def close(self) -> Awaitable[None] | None:
        """Finish what has been written."""
        ...


class SinkChain:
    """Hands pages to sinks, in order, under their error policy."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = list(sinks)
        self._in_a_row = dict.fromkeys(map(id, sinks), 0)
        self.failures: dict[str, int] = {}
        """Pages that each kind of sink has failed on."""

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
                    await kept
                self._in_a_row[id(sink)] = 0
            except TrailhoundError:
                raise
            except Exception:
                self._note_failure(sink, finished.event.final_url)

    def _note_failure(self, sink: Sink, url: str) -> None:
        name = type(sink).__name__
        self.failures[name] = self.failures.get(name, 0) + 1
        self._in_a_row[id(sink)] += 1
        if self.failures[name] == 1:
            _log.exception("The sink %s failed on %s", name, url)
        if self._in_a_row[id(sink)] >= MAX_FAILURES:
            _log.error("The sink %s failed on %d pages in a row: let be", name, MAX_FAILURES)
            self._sinks.remove(sink)

    async def close(self) -> None:
        """Close all; an error of one is logged and keeps no other open."""
        for sink in self._sinks:
            try:
                closed = sink.close()
                if isawaitable(closed):
                    await closed
            except TrailhoundError:
                raise
            except Exception:
                _log.exception("The sink %s could not be closed", type(sink).__name__)


class ArchiveSink:
    """Writes what was fetched to WARC files, with what the crawl thought of it."""

    def __init__(self, writer: ArchiveWriter) -> None:
        self._writer = writer

    def keep(self, finished: FinishedPage) -> None:
        """Archive every exchange of one fetch."""
        event = finished.event
        notes = CaptureNotes(
            event.parent, event.depth, event.priority, event.relevance, event.outcome, event.why
        )
        self._writer.write(finished.result.exchanges, notes)

    def close(self) -> None:
        """Complete the last file and the index."""
        self._writer.close()
