"""What the headers of an answer say: is it HTML, what does it ask of robots, when to come back.

``Content-Type`` is checked against the body's first bytes, which may tell otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

SNIFFED_BYTES = 512

_HTML_TYPES = frozenset(["text/html", "application/xhtml+xml"])
# What servers send when they do not know; the MIME sniffing standard looks at the body then.
_UNKNOWN_TYPES = frozenset(["", "unknown/unknown", "application/unknown", "*/*"])

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

# How files that are often sent under a wrong type begin.
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"RIFF", "a WebP image, a sound or a film"),
    (b"%PDF-", "a PDF document"),
    (b"%!PS-Adobe-", "a PostScript document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
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
# UTF-16 and UTF-32 by their marks, or by how "<" looks in them.
_WIDE_START = re.compile(rb"\xff\xfe|\xfe\xff|\0\0\xfe\xff|\s?<\0|\0\s?\0?<|\0\0\0<")


def is_html_type(content_type: str) -> bool:
    """Whether a ``Content-Type`` header announces HTML; its parameters do not matter."""
    return _essence(content_type) in _HTML_TYPES


def may_be_html(content_type: str) -> bool:
    """Whether the body is worth a look: announced as HTML, or as nothing in particular."""
    return _essence(content_type) in _HTML_TYPES or _essence(content_type) in _UNKNOWN_TYPES


def looks_like_html(body: bytes) -> bool:
    """Whether a body begins as HTML documents do, for answers without a ``Content-Type``."""
    return _HTML_START.match(body) is not None


def why_not_html(start: bytes, content_type: str) -> str | None:
    """Why a body with this ``start`` is no HTML page; ``None`` when it may be one.

    An announced page is believed unless its bytes are another kind of file; an unannounced one
    must begin as pages do.
    """
    if not is_html_type(content_type):
        return None if looks_like_html(start) else "no content type, and the body is not HTML"
    if start.startswith(_SIGNATURE_STARTS):
        kind = next(kind for signature, kind in _SIGNATURES if start.startswith(signature))
        return f"the content type is {content_type}, but the body is {kind}"
    if start[4:8] == b"ftyp":
        return f"the content type is {content_type}, but the body is a film or an image"
    if b"\0" in start and _WIDE_START.match(start) is None:
        return f"the content type is {content_type}, but the body is binary"
    return None


def _essence(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


# Directives that take a value after a colon; before any other colon stands a robot's name.
_WITH_VALUE = frozenset(
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"]
)


@dataclass(frozen=True, slots=True)
class RobotsTags:
    """The two wishes that concern a crawl."""

    noindex: bool = False
    nofollow: bool = False


def read_robots_tags(headers: Iterable[str], product: str) -> RobotsTags:
    """The wishes addressed to all robots or to ``product``; they add up.

    ``noindex``, ``nofollow`` and ``none`` (both) are known; a name before a colon limits the rest
    of its header to that robot.
    """
    words: set[str] = set()
    for header in headers:
        words |= _words_for(header.lower(), product.lower())
    return RobotsTags(
        noindex=not words.isdisjoint(("noindex", "none")),
        nofollow=not words.isdisjoint(("nofollow", "none")),
    )


def _words_for(header: str, product: str) -> set[str]:
    name, colon, rest = header.partition(":")
    name = name.strip()
    named = colon and "," not in name and " " not in name and name not in _WITH_VALUE
    if named and name not in (product, "*"):
        return set()
    return {word.strip() for word in (rest if named else header).split(",")}


MAX_RETRY_SECONDS = 24 * 3600.0
"""More than a day is a mistake, or no way to run a crawl: then a day it is."""


def retry_after_seconds(header: str, now: float) -> float | None:
    """Seconds to wait by ``header``: a number of them, or a date; ``None`` if it says neither.

    ``now`` is in seconds since 1970. Dates in the past mean no wait.
    """
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:12]), MAX_RETRY_SECONDS)
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        seconds = date.timestamp() - now
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return min(max(seconds, 0.0), MAX_RETRY_SECONDS)
