"""Sitemaps and feeds as sources of URLs: XML sitemaps, their indexes, text lists, RSS and Atom.

Pure parsing; fetching is the caller's. Whatever can be read is given, with a note on what could
not: these files are written by programs, and often badly.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from trailhound.counting import counted
from trailhound.fetching.sitemap_xml import MAX_FIELD_CHARS, SourceKind, read_listing
from trailhound.urls import canonicalize

MAX_BYTES = 50 * 1024 * 1024
"""Decompressed; the limit that the sitemap protocol sets."""
MAX_ENTRIES = 50_000
"""Likewise."""

_PIECE_BYTES = 1024 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP = 16 + zlib.MAX_WBITS
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class ListedUrl(NamedTuple):
    """One entry."""

    url: str
    """Canonical."""
    modified_at: float | None = None
    """When it last changed, in seconds since 1970, as far as the document says."""


class UrlSource(NamedTuple):
    """What a document gave."""

    kind: SourceKind
    entries: tuple[ListedUrl, ...] = ()
    """In document order, each URL once."""
    notes: tuple[str, ...] = ()
    """What could not be read, for a person."""


def parse_url_source(body: bytes, url: str) -> UrlSource:
    """Read the document at ``url``, which may be gzip-compressed. Never raises on bad content."""
    notes: list[str] = []
    content = _decompressed(body, notes) if body.startswith(_GZIP_MAGIC) else body
    if len(content) > MAX_BYTES:
        notes.append(f"only its first {MAX_BYTES} bytes were read")
        content = content[:MAX_BYTES]
    start = content[:200].removeprefix(b"\xef\xbb\xbf").lstrip()
    found: Iterable[tuple[str, str]]
    if start.startswith((b"<", *_UTF16_MARKS)):
        kind, found, problems = read_listing(content, MAX_ENTRIES)
        notes += problems
    else:
        kind, found = SourceKind.TEXT_LIST, _from_lines(content)
    entries = _canonical(found, url, notes)
    if kind is SourceKind.TEXT_LIST and not entries:
        kind = SourceKind.UNKNOWN
        notes.append("it is neither XML nor a list of URLs")
    return UrlSource(kind, entries, tuple(notes))


def parse_date(text: str) -> float | None:
    """A date as sitemaps (``2026-03-01``, with or without a time) and feeds (``Sun, 01 Mar 2026
    12:00:00 GMT``) write it; without a zone it is UTC.
    """
    text = text.strip()
    if len(text) in (4, 7) and text[:4].isdecimal():  # 2026, 2026-03
        text = (text + "-01-01")[:10]
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            continue
    return None


def _decompressed(body: bytes, notes: list[str]) -> bytes:
    """As much as can be unpacked, and one byte above the cap at most."""
    inflating = zlib.decompressobj(_GZIP)
    content = bytearray()
    rest = body
    try:
        while rest and not inflating.eof and len(content) <= MAX_BYTES:
            room = MAX_BYTES + 1 - len(content)
            content += inflating.decompress(rest, min(room, _PIECE_BYTES))
            rest = inflating.unconsumed_tail
        if not inflating.eof and len(content) <= MAX_BYTES:
            notes.append("its compressed data end too soon")
    except zlib.error as error:
        notes.append(f"its compressed data are damaged ({error})")
    return bytes(content)


def _from_lines(content: bytes) -> Iterator[tuple[str, str]]:
    for line in content.decode("utf-8-sig", "replace").splitlines():
        address = line.strip()
        if address.startswith(("http://", "https://")) and len(address) <= MAX_FIELD_CHARS:
            yield address, ""


def _canonical(
    found: Iterable[tuple[str, str]], base: str, notes: list[str]
) -> tuple[ListedUrl, ...]:
    entries: dict[str, ListedUrl] = {}
    unusable = 0
    for address, date in found:
        url = canonicalize(address, base)
        if url is None:
            unusable += 1
        elif url not in entries:
            if len(entries) >= MAX_ENTRIES:
                notes.append(f"only its first {MAX_ENTRIES} entries were taken")
                break
            entries[url] = ListedUrl(url, parse_date(date) if date else None)
    if unusable:
        notes.append(f"{counted(unusable, 'entry')} without a web address")
    return tuple(entries.values())
