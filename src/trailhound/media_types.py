"""What an answer holds: a page, a document, or something that is neither.

``Content-Type`` says so, and the body's first bytes may tell otherwise: servers send PDF files as
HTML, feeds as text and anything as ``application/octet-stream``. An address's ending says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Set
from enum import StrEnum
from importlib.util import find_spec

from trailhound.errors import ConfigError

SNIFFED_BYTES = 512


class DocumentKind(StrEnum):
    """Documents that are read besides HTML, by what it takes to read them."""

    TEXT = "text"
    """Plain text and Markdown."""
    FEEDS = "feeds"
    """RSS, Atom and JSON Feed."""
    PDF = "pdf"
    OFFICE = "office"
    """Packages of XML: docx, pptx, xlsx, odt, odp, ods, epub."""

    @property
    def in_words(self) -> str:
        """``a PDF document``."""
        return _IN_WORDS[self]

    @property
    def is_heavy(self) -> bool:
        """Whether it may be large, and is read in a process that can be stopped only."""
        return self in (DocumentKind.PDF, DocumentKind.OFFICE)


_IN_WORDS = {
    DocumentKind.TEXT: "plain text",
    DocumentKind.FEEDS: "a feed",
    DocumentKind.PDF: "a PDF document",
    DocumentKind.OFFICE: "an office document",
}

Kinds = Set[DocumentKind]
HTML_ONLY: Kinds = frozenset()

# Servers forget the semicolon, send the header twice, and put quotes around it.
_TYPE = re.compile(r"""\s*+["']?([\w!#$&^.+*-]+/[\w!#$&^.+*-]+)(?=[\s;,"']|$)""", re.ASCII)
_HTML_TYPES = frozenset(["text/html", "application/xhtml+xml"])
# What servers send when they do not know; the MIME sniffing standard looks at the body then.
_UNKNOWN_TYPES = frozenset(["", "unknown/unknown", "application/unknown", "*/*"])
# What they send when the file shall be saved; PDF and office documents often are.
_ANY_FILE = frozenset(
    ["application/octet-stream", "binary/octet-stream", "application/force-download",
     "application/download", "application/x-download", "application/zip"]
)  # fmt: skip
_DOCUMENT_TYPES = {
    "text/plain": DocumentKind.TEXT,
    "text/markdown": DocumentKind.TEXT,
    "text/x-markdown": DocumentKind.TEXT,
    "application/rss+xml": DocumentKind.FEEDS,
    "application/atom+xml": DocumentKind.FEEDS,
    "application/rdf+xml": DocumentKind.FEEDS,
    "application/xml": DocumentKind.FEEDS,
    "text/xml": DocumentKind.FEEDS,
    "application/feed+json": DocumentKind.FEEDS,
    "application/json": DocumentKind.FEEDS,
    "application/pdf": DocumentKind.PDF,
    "application/x-pdf": DocumentKind.PDF,
    "application/epub+zip": DocumentKind.OFFICE,
    **{
        f"application/vnd.oasis.opendocument.{kind}": DocumentKind.OFFICE
        for kind in ("text", "presentation", "spreadsheet")
    },
    **{
        f"application/vnd.openxmlformats-officedocument.{kind}": DocumentKind.OFFICE
        for kind in ("wordprocessingml.document", "presentationml.presentation",
                     "spreadsheetml.sheet")
    },
}  # fmt: skip

# How HTML documents begin, after the MIME sniffing standard; XHTML may have an XML declaration.
_HTML_START = re.compile(
    rb"""
    (?:\xef\xbb\xbf)? \s*
    (?:<\?xml[^>]*>\s*)?
    (?: <!-- | <(?:!doctype\s+html|html|head|body|title|meta|script|style|iframe|h1|div|font
                  |table|a|b|br|p)[\s>] )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_USUAL_STARTS = (b"<!doctype html", b"<html")
_FEED_START = re.compile(
    rb"""
    (?:\xef\xbb\xbf)? \s*+
    (?: <(?:\?|!--|!doctype\s+rss)[^>]*+> \s*+ )*+
    <(?:rss|feed|rdf:rdf)[\s>]
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PDF_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*+%PDF-")
# The first file in a package of XML: its media type, or a part with a usual name.
_OFFICE_START = re.compile(
    rb"PK\x03\x04.{26}"
    rb"(?:mimetypeapplication/(?:vnd\.oasis\.opendocument\.(?:text|presentation|spreadsheet)|epub)"
    rb"|\[Content_Types\]\.xml|_rels/|docProps/|word/|xl/|ppt/)",
    re.DOTALL,
)
_ZIP_START = b"PK\x03\x04"

# How files that are often sent under a wrong type begin.
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"RIFF", "a WebP image, a sound or a film"),
    (b"%PDF-", "a PDF document"),
    (b"%!PS-Adobe-", "a PostScript document"),
    (_ZIP_START, "a ZIP archive or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an office document"),
    (b"ID3", "an MP3 sound"),
    (b"OggS", "an Ogg sound or film"),
    (b"\x1a\x45\xdf\xa3", "a WebM film"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"wOF", "a font"),
    (b"{\\rtf", "an RTF document"),
)
_SIGNATURE_STARTS = tuple(signature for signature, _ in _SIGNATURES)
_NO_DOCUMENT = "and the body is no document that is read here"
# UTF-16 and UTF-32 by their marks, or by how "<" looks in them.
_WIDE_START = re.compile(rb"\xff\xfe|\xfe\xff|\0\0\xfe\xff|\s?<\0|\0\s?\0?<|\0\0\0<")


def is_html_type(content_type: str) -> bool:
    """Whether a ``Content-Type`` header announces HTML; its parameters do not matter."""
    return _essence(content_type) in _HTML_TYPES


def may_be_html(content_type: str) -> bool:
    """Whether the body is worth a look: announced as HTML, or as nothing in particular."""
    return _essence(content_type) in _HTML_TYPES or _essence(content_type) in _UNKNOWN_TYPES


def may_be_wanted(content_type: str, documents: Kinds) -> bool:
    """The same where such ``documents`` are read as well."""
    essence = _essence(content_type)
    if essence in _HTML_TYPES or essence in _UNKNOWN_TYPES:
        return True
    if essence in _ANY_FILE:
        return any(kind.is_heavy for kind in documents)
    return _DOCUMENT_TYPES.get(essence) in documents


def looks_like_html(body: bytes) -> bool:
    """Whether a body begins as HTML documents do, for answers without a ``Content-Type``."""
    return _HTML_START.match(body) is not None


def document_kind(start: bytes, content_type: str) -> DocumentKind | None:
    """Which kind of document a body with this ``start`` is; ``None`` for HTML and all else."""
    if content_type.startswith("text/html") and start[:14].lower().startswith(_USUAL_STARTS):
        return None  # most answers, at a tenth of the cost
    essence = _essence(content_type)
    announced = _DOCUMENT_TYPES.get(essence)
    start = start[:SNIFFED_BYTES]
    if _PDF_START.match(start) or (announced is DocumentKind.PDF and b"%PDF-" in start):
        return DocumentKind.PDF
    if start.startswith(_ZIP_START):
        is_office = announced is DocumentKind.OFFICE or _OFFICE_START.match(start)
        return DocumentKind.OFFICE if is_office else None
    if announced is None and essence not in _HTML_TYPES and essence not in _UNKNOWN_TYPES:
        return None
    if _FEED_START.match(_narrow(start)) or (
        essence.endswith("json") and b"jsonfeed.org/" in start
    ):
        return DocumentKind.FEEDS
    return announced if announced is DocumentKind.TEXT and not _is_binary(start) else None


def why_not_wanted(start: bytes, content_type: str, documents: Kinds = HTML_ONLY) -> str | None:
    """Why a body with this ``start`` is neither HTML nor one of ``documents``; ``None`` if it is.

    An announced page is believed unless its bytes are another kind of file; an unannounced one
    must begin as pages do. Documents must begin as they do whatever is announced.
    """
    if document_kind(start, content_type) in documents:
        return None
    if not may_be_html(content_type):
        return f"the content type is {content_type}, {_what_it_is(start) or _NO_DOCUMENT}"
    if not is_html_type(content_type):
        announced = f"the content type is {content_type}" if content_type else "no content type"
        return None if looks_like_html(start) else f"{announced}, and the body is not HTML"
    found = _what_it_is(start)
    return f"the content type is {content_type}, {found}" if found else None


def _what_it_is(start: bytes) -> str:
    """``but the body is a PNG image``; empty for what may be text."""
    if start.startswith(_SIGNATURE_STARTS):
        kind = next(kind for signature, kind in _SIGNATURES if start.startswith(signature))
        return f"but the body is {kind}"
    if start[4:8] == b"ftyp":
        return "but the body is a film or an image"
    return "but the body is binary" if _is_binary(start) else ""


def _narrow(start: bytes) -> bytes:
    """How UTF-16 and UTF-32 would begin in ASCII, as far as they can; all else as it is."""
    return start.replace(b"\0", b"").lstrip(b"\xff\xfe") if _WIDE_START.match(start) else start


def _is_binary(start: bytes) -> bool:
    return b"\0" in start and _WIDE_START.match(start) is None


def _essence(content_type: str) -> str:
    """``text/html`` of ``text/html; charset=utf-8``; nothing of what is no media type."""
    found = _TYPE.match(content_type)
    return found[1].lower() if found is not None else ""


def wanted_documents(wish: str) -> Kinds:
    """The kinds that ``fetch.documents`` names; ConfigError when it names another, or one that
    cannot be read here.

    ``auto`` is text and feeds, and PDF and office documents where the extra is installed.
    """
    can_read_pdf = find_spec("pypdfium2") is not None
    if wish == "auto":
        return frozenset(kind for kind in DocumentKind if can_read_pdf or not kind.is_heavy)
    names = [name.strip() for name in wish.split(",")] if wish != "none" else []
    unknown = [name for name in names if name not in set(DocumentKind)]
    if unknown:
        raise ConfigError(
            f"'{unknown[0]}' is no kind of document (fetch.documents = {wish!r}). Write 'auto', "
            f"'none', or some of {', '.join(DocumentKind)} with commas between them."
        )
    if DocumentKind.PDF in names and not can_read_pdf:
        raise ConfigError(
            "Reading PDF documents (fetch.documents) needs the package pypdfium2, which is not "
            "installed. Install it with: pip install 'trailhound[documents]'"
        )
    return frozenset(map(DocumentKind, names))
