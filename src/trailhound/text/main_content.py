"""A page's main content, without menus, banners and comments; needs trafilatura.

Its parser and its rules were not made for pages that do harm: call it where it can be stopped
(:mod:`trailhound.topics.finds.exporting`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Literal

import msgspec

from trailhound.errors import UsageError
from trailhound.media_types import DocumentKind, document_kind
from trailhound.text.documents import read_document
from trailhound.text.encoding import decode
from trailhound.text.extract import MAX_BODY_BYTES, extract_page
from trailhound.text.parse_guard import BEARABLE, ParseLimits, harmless_start

TextForm = Literal["markdown", "text"]


class PageSource(msgspec.Struct, array_like=True, frozen=True):
    """A page as a server sent it."""

    body: bytes
    url: str
    content_type: str


_FORMATS: dict[TextForm, Literal["markdown", "txt"]] = {"markdown": "markdown", "text": "txt"}
_SOME_PAGE = PageSource(
    b"<body><article>" + b"<p>What is read at need is read now, a word or two.</p>" * 9,
    "",
    "text/html",
)
_TAG_START = re.compile("<(?!/?su[bp]>)(?=[A-Za-z/!?])")
_LINK_START = re.compile(r"\](?=\(|:)(?!\(https?://)")


def require_extractor() -> None:
    """UsageError names what to install when the extractor is missing."""
    if find_spec("trafilatura") is None:
        raise UsageError(
            "The main text of pages needs the package trafilatura, which is not installed. Install "
            "it with: pip install 'trailhound[text]'"
        )


def extractor(form: TextForm) -> Callable[[bytes], bytes]:
    """Reads pages, for a process of its own: takes a :class:`PageSource` as MessagePack.

    The answer is the main content, or, behind a zero byte, all that is shown where there is none.
    """
    # macOS and Windows cannot limit the memory of a process: pages are cut there.
    limits = None if sys.platform == "linux" else BEARABLE
    # What is read from disk at need is read now: the first page has to be in time as well.
    main_content(_SOME_PAGE, form)

    def work(message: bytes) -> bytes:
        page = msgspec.msgpack.decode(message, type=PageSource)
        text = main_content(page, form, limits)
        whole = "" if text else extract_page(page.body, page.url, page.content_type).text
        return b"\0".join(each.encode("utf-8", "replace") for each in (text, whole))

    return work


def main_content(page: PageSource, form: TextForm, limits: ParseLimits | None = None) -> str:
    """What a page is about, in paragraphs; empty when there is no such thing.

    A page that could cost its parser more than the ``limits`` is cut. Plain text stays as it is;
    other documents are all content, and may raise UnreadableDocumentError.
    """
    kind = document_kind(page.body, page.content_type)
    if kind is None or kind is DocumentKind.TEXT:
        text = decode(page.body[:MAX_BODY_BYTES], page.content_type).text.replace("\0", "")
        if kind is None:
            html = text if limits is None else harmless_start(text, limits)
            text = _extracted(html, page.url, form)
    else:
        document = read_document(page.body, page.url, page.content_type, kind)
        text = document.markdown(page.url) if form == "markdown" else document.text()
    return (harmless_markdown(text) if form == "markdown" else text).strip()


def _extracted(html: str, url: str, form: TextForm) -> str:
    import trafilatura

    found = trafilatura.extract(
        html, url=url, output_format=_FORMATS[form], include_comments=False, include_tables=True
    )
    return found or ""


def harmless_markdown(text: str) -> str:
    """Markdown in which nothing but high and low signs is HTML, and all links lead to the web.

    Viewers run what a page says of ``<script>`` or ``[here](javascript:…)`` in its text.
    """
    return _LINK_START.sub(r"]\\", _TAG_START.sub("&lt;", text))
