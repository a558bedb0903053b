"""The keepers of a live crawl that need more than one part: the archive, and what was refused."""

from __future__ import annotations

from trailhound.crawling.gate import LinkGate
from trailhound.records import Candidate, FetchResult, Page, PageEvent
from trailhound.storage.results import ResultsStore
from trailhound.storage.warc import ArchiveWriter
from trailhound.storage.warc_records import CaptureNotes


class ArchiveKeeper:
    """Writes what was fetched to WARC files, with what the crawl thought of it."""

    def __init__(self, writer: ArchiveWriter) -> None:
        self._writer = writer

    def keep(
        self, event: PageEvent, candidate: Candidate, result: FetchResult, page: Page | None
    ) -> None:
        """Archive every exchange of one fetch."""
        del candidate, page
        notes = CaptureNotes(
            event.parent, event.depth, event.priority, event.relevance, event.outcome, event.why
        )
        self._writer.write(result.exchanges, notes)

    def close(self) -> None:
        """Complete the last file and the index."""
        self._writer.close()


class RefusalKeeper:
    """Writes down what the gate has refused since the last page."""

    def __init__(self, gate: LinkGate, results: ResultsStore) -> None:
        self._gate = gate
        self._results = results

    def keep(
        self, event: PageEvent, candidate: Candidate, result: FetchResult, page: Page | None
    ) -> None:
        """The refusals of the page's links."""
        del event, candidate, result, page
        self._write()

    def close(self) -> None:
        """The last ones."""
        self._write()

    def _write(self) -> None:
        refused = self._gate.take_refusals()
        self._results.note_refusals((each.url, each.reason, each.parent) for each in refused)
