"""Pages as their crawl archived them: what is told of them, and their content, read again."""

from __future__ import annotations

import io
import logging
from dataclasses import dataclass

import msgspec

from trailhound.records import FetchResult, Outcome, Page, PageEvent
from trailhound.storage.archive_reading import ArchivedAnswer, ArchivedFetch
from trailhound.storage.event_log import LoggedPage
from trailhound.storage.warc_records import CaptureNotes
from trailhound.text.extract import extract_page
from trailhound.web_archives import Archive, ArchiveDamageError, read_captures

_log = logging.getLogger(__name__)


@dataclass
class LostPage:
    """What log and archive say of a page that the results lack: one of them, or both."""

    logged: LoggedPage | None = None
    fetch: ArchivedFetch | None = None

    def event(self, number: int, requests: int) -> PageEvent:
        """The page's story. The archive's is that of page ``number``, after ``requests``."""
        if self.logged is not None:
            return self.logged.event
        if self.fetch is None:
            raise ValueError(f"nothing is known of page {number}")
        notes, last = self.fetch.notes or CaptureNotes(), self.fetch.last
        return PageEvent(
            number=number,
            url=self.fetch.url,
            final_url=last.url,
            outcome=notes.outcome or _outcome_of(last),
            parent=notes.parent,
            depth=notes.depth,
            priority=notes.priority,
            requests=len(self.fetch.answers),
            requests_total=requests + len(self.fetch.answers),
            relevance=notes.relevance,
            why=notes.detail,
            at=last.at,
        )

    def result(self, event: PageEvent) -> FetchResult:
        """What came back, without the content."""
        last = self.fetch.last if self.fetch is not None else None
        status = last.status if last is not None else None
        return FetchResult(
            event.url,
            event.outcome,
            event.final_url,
            event.requests,
            self.logged.status if self.logged is not None else status,
            headers=last.headers if last is not None else (),
        )


def with_content(event: PageEvent, page: Page, duplicate_of: str | None) -> PageEvent:
    """A story with what only the content tells."""
    return msgspec.structs.replace(
        event,
        title=page.title,
        links_found=len(page.links),
        noindex=page.noindex,
        duplicate_of=duplicate_of,
    )


def _outcome_of(answer: ArchivedAnswer) -> Outcome:
    if answer.is_revisit:
        return Outcome.NOT_MODIFIED
    if 200 <= answer.status < 300:
        return Outcome.FETCHED
    if answer.status in (404, 410):
        return Outcome.NOT_FOUND
    return Outcome.CLIENT_ERROR if 400 <= answer.status < 500 else Outcome.SERVER_ERROR


def page_of(fetch: ArchivedFetch | None) -> Page | None:
    """The page as it was archived; ``None`` when it was not, or cannot be read any more."""
    if fetch is None or fetch.last.is_revisit:
        return None
    record = fetch.last.record()
    try:
        for capture in read_captures(Archive("archive", lambda: io.BytesIO(record))):
            answer = capture.answer
            return extract_page(answer.body, fetch.last.url, answer.content_type)
    except ArchiveDamageError:
        pass
    except Exception:  # an error of ours costs that page
        _log.exception("Page %s could not be read again", fetch.last.url)
    return None
