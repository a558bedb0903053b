"""Pages as their crawl archived them: what is told of them, and their content, read again.

HTML is as it was sent, or made of a document, whose reader may be lost.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec

from trailhound.crawling.processes import LimitedProcess, TooCostlyError, WorkFailedError
from trailhound.fetching.headers import robots_tags_of
from trailhound.media_types import document_kind
from trailhound.records import FetchResult, Outcome, Page, PageEvent
from trailhound.storage.archive_reading import ArchivedAnswer, ArchivedAnswers, ArchivedFetch
from trailhound.storage.event_log import LoggedPage
from trailhound.storage.warc_records import CaptureNotes
from trailhound.text.documents import UnreadableDocumentError, read_document
from trailhound.text.encoding import decode
from trailhound.text.extract import extract_page
from trailhound.text.main_content import PageSource
from trailhound.urls import canonicalize
from trailhound.web_archives import Archive, ArchiveDamageError, ServerAnswer, read_captures

_HTML = "text/html; charset=utf-8"


def document_reader() -> Callable[[bytes], bytes]:
    """Reads documents, for a process of its own: a :class:`PageSource` becomes HTML."""

    def work(message: bytes) -> bytes:
        page = msgspec.msgpack.decode(message, type=PageSource)
        return _html_of(page).encode("utf-8", "replace")

    return work


def _html_of(page: PageSource) -> str:
    kind = document_kind(page.body, page.content_type)
    if kind is None:
        raise UnreadableDocumentError("no document")
    return read_document(page.body, page.url, page.content_type, kind).html()


class PageSources:
    """Reads what was archived. PDF and office documents go to a process that can be stopped, which
    the first of them starts; close it, or use this in a ``with`` statement, more than once if need
    be.
    """

    def __init__(self) -> None:
        self._process = LimitedProcess(document_reader)

    def html(self, answer: ServerAnswer, url: str) -> str | None:
        """The source of a page; ``None`` for what is neither a page nor a readable document."""
        kind = document_kind(answer.body, answer.content_type)
        if kind is None:
            return decode(answer.body, answer.content_type).text if answer.is_page else None
        source = PageSource(answer.body, url, answer.content_type)
        try:
            if not kind.is_heavy:
                return _html_of(source)
            return self._process.ask(msgspec.msgpack.encode(source)).decode()
        except (UnreadableDocumentError, TooCostlyError, WorkFailedError):
            return None

    def page(self, answer: ServerAnswer, url: str) -> Page:
        """The page; of one that could cost too much, its beginning; of a document that cannot be
        read any more, nothing but its address.
        """
        kind = document_kind(answer.body, answer.content_type)
        if kind is None or not kind.is_heavy:
            return extract_page(answer.body, url, answer.content_type)
        html = self.html(answer, url) or ""
        return extract_page(html.encode("utf-8", "replace"), url, _HTML)

    def close(self) -> None:
        """End the process, if one was needed."""
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
    return Outcome.of_status(answer.status)


def page_of(fetch: ArchivedFetch | None, sources: PageSources, product: str) -> Page | None:
    """The page as it was archived; ``None`` when it was not, or cannot be read any more.

    What headers ask of all robots, or of ``product``, is asked by the page.
    """
    if fetch is None or fetch.last.is_revisit:
        return None
    answer = _answer_in(fetch.record())
    page = None if answer is None else _extracted(answer, fetch.last.url, sources)
    if page is None:
        return None
    asked = robots_tags_of(fetch.last.headers, product)
    return msgspec.structs.replace(
        page, noindex=page.noindex or asked.noindex, nofollow=page.nofollow or asked.nofollow
    )


def _answer_in(record: bytes) -> ServerAnswer | None:
    """What a record holds; ``None`` when it is damaged."""
    with suppress(ArchiveDamageError):
        for capture in read_captures(Archive("archive", lambda: io.BytesIO(record))):
            return capture.answer
    return None


def _extracted(answer: ServerAnswer, url: str, sources: PageSources) -> Page | None:
    try:
        return sources.page(answer, url)
    except Exception:  # an error of ours costs that page
        _log.exception("Page %s could not be read again", url)
        return None


class ArchivedContent:
    """What was fetched last from each address. Close it, or use it in a ``with`` statement.

    Nothing is found where there is no archive. ``wanted`` are the only addresses to be asked for.
    """

    def __init__(self, archive: Path, wanted: Iterable[str] | None = None) -> None:
        self._answers = ArchivedAnswers(archive, wanted)
        self._sources = PageSources()

    def answer(self, address: str) -> ServerAnswer | None:
        """As it was archived; ``None`` when it was not, or cannot be read any more."""
        record = self._answers.record(address)
        answer = None if record is None else _answer_in(record)
        # An archive from which pages are taken out meanwhile has others in their place.
        is_its_own = answer is not None and (canonicalize(answer.url) or answer.url) == address
        return answer if is_its_own else None

    def content_type(self, address: str) -> str:
        """The media type that the server stated, without parameters; empty when unknown."""
        return self._answers.content_type(address)

    def __contains__(self, address: str) -> bool:
        """Whether there is something of the page, readable or not."""
        return address in self._answers

    def page(self, address: str) -> Page | None:
        """The same, read; of a page that could cost too much, its beginning."""
        answer = self.answer(address)
        return None if answer is None else _extracted(answer, address, self._sources)

    def close(self) -> None:
        """Let the archive go."""
        self._answers.close()
        self._sources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
