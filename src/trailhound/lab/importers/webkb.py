"""WebKB: pages of computer science departments in 1997, labelled by what they are.

A page's class becomes its label, its university its group.
"""

from __future__ import annotations

import re

import msgspec

from trailhound.lab.corpora.writer import CorpusWriter
from trailhound.lab.importers import CorpusKind, ImportRequest
from trailhound.lab.importers.packs import Pack, read_json_lines
from trailhound.urls import canonicalize

_NOTES = (
    "Origin: CMU World Wide Knowledge Base project, 4 Universities data set, pages of November "
    "1996 to January 1997.",
    "Licence: none stated; distributed for research, copyright with the pages' authors. Holds "
    "personal home pages: research only.",
)

_CONTENT_TYPE = re.compile(r"^content-type:[ \t]*([^\r\n]+)", re.IGNORECASE | re.MULTILINE)
# What servers of the time gave for a folder's address.
_FOLDER_PAGE = re.compile(r"(/index\.html?|/)$", re.IGNORECASE)


class PageLine(msgspec.Struct):
    """One line of ``pages.jsonl``."""

    url: str
    html: str
    """The body's bytes, each as the character with that number (Latin-1)."""
    label: str = ""
    univ: str = ""
    headers: str = ""
    """The HTTP header block; empty for some pages."""


def record_webkb(request: ImportRequest, writer: CorpusWriter) -> None:
    """Read the pack in ``request.source``."""
    path = Pack(request.source, "pages.jsonl.xz").required("pages.jsonl")
    addresses = []
    for number, line in enumerate(read_json_lines(path, PageLine), start=1):
        if canonicalize(line.url) not in writer:  # one that comes again brings a second label
            told = _CONTENT_TYPE.search(line.headers)
            writer.add_page(line.url, _body(line.html), told[1].strip() if told else "text/html")
        if line.label:
            writer.add_label(line.url, line.label)
        if line.univ:
            writer.set_group(line.url, line.univ)
        addresses.append(line.url)
        request.progress(number, None, "pages")
    _record_spellings(addresses, writer)
    for note in _NOTES:
        writer.note(note)


def _body(html: str) -> bytes:
    try:
        return html.encode("latin-1")
    except UnicodeEncodeError:  # a line that was not made from bytes
        return html.encode("utf-8", errors="replace")


def _record_spellings(addresses: list[str], writer: CorpusWriter) -> None:
    """Let links with or without ``/`` or ``/index.html`` at the end find the page they meant.

    The set holds each page under one address only; its servers gave it under all of them.
    """
    pages: dict[str, str] = {}
    for url in filter(None, map(canonicalize, addresses)):
        pages.setdefault(_folder(url), url)
    for link in list(writer.unrecorded_links()):
        if page := pages.get(_folder(link)):
            writer.add_alias(link, page)


def _folder(url: str) -> str:
    return _FOLDER_PAGE.sub("", url)


WEBKB = CorpusKind(
    name="webkb",
    summary="university pages labelled course, faculty, student … and grouped by university",
    record=record_webkb,
)
