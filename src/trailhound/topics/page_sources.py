"""HTML of archived answers: as it was sent, or made of a document, whose reader may be lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import msgspec

from trailhound.crawling.limited_process import LimitedProcess, TooCostlyError, WorkFailedError
from trailhound.media_types import document_kind
from trailhound.records import Page
from trailhound.text.documents import UnreadableDocumentError, read_document
from trailhound.text.encoding import decode
from trailhound.text.extract import extract_page
from trailhound.text.main_content import PageSource
from trailhound.web_archives import ServerAnswer

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
