"""Sitemaps and feeds as sources of URLs: XML sitemaps, their indexes, text lists, RSS and Atom.

Pure parsing; fetching is the caller's. Whatever can be read is given, with a note on what could
not: these files are written by programs, and often badly. ``defusedxml`` refuses entity
declarations (and with them every entity bomb) and never loads anything from outside.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import NamedTuple
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from trailhound.counting import counted
from trailhound.fetching.content_coding import CodingError, GzipDecoder
from trailhound.urls import canonicalize

MAX_BYTES = 50 * 1024 * 1024
"""Decompressed; the limit that the sitemap protocol sets."""
MAX_ENTRIES = 50_000
"""Likewise."""
MAX_FIELD_CHARS = 8_000
MAX_DEPTH = 100
"""Of elements within elements; the parser keeps 70 bytes of each for one that was sent."""

_GZIP_MAGIC = b"\x1f\x8b"
_XML_STARTS = (b"<", b"\xef\xbb\xbf<", b"\xff\xfe", b"\xfe\xff")
_XML_PIECE_BYTES = 64 * 1024
_GZIP_PIECE_BYTES = 4 * 1024  # which unpack to 4 MB at most
_BLANKS = re.compile(rb"(?:\xef\xbb\xbf)?\s++")
_ENCODING = re.compile(rb"""<\?xml\b[^>]{0,200}?\bencoding\s{0,9}=\s{0,9}["']([\w.:-]{2,40})["']""")
# Encodings that the parser does not know, and the codec that reads them as browsers do.
_READ_AS = {
    **dict.fromkeys(["gb2312", "gbk", "gb18030"], "gb18030"),
    **dict.fromkeys(["big5", "big5hkscs", "cp950"], "big5hkscs"),
    **dict.fromkeys(["shift_jis", "cp932"], "cp932"),
    **dict.fromkeys(["euc_kr", "cp949"], "cp949"),
    "euc_jp": "euc_jp",
    "iso2022_jp": "iso2022_jp_2",
}


class SourceKind(StrEnum):
    """What a document lists."""

    SITEMAP = "sitemap"
    """Pages."""
    SITEMAP_INDEX = "sitemap-index"
    """Further sitemaps, to be fetched in turn."""
    FEED = "feed"
    """New pages, newest first as a rule."""
    TEXT_LIST = "text-list"
    """Pages, one in each line."""
    UNKNOWN = "unknown"
    """Nothing that could be read."""


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
    found: Iterable[tuple[str, str]]
    before = _BLANKS.match(content)
    start = before.end() if before is not None else 0
    if content.startswith(_XML_STARTS, start):
        # The parser takes no blanks before an XML declaration; many servers send some.
        kind, found = _read_xml(content[start:] if before is not None else content, notes)
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
    """As much as can be unpacked, and little above the cap at most."""
    content = bytearray()
    decoder = GzipDecoder(content.extend)
    start = 0
    try:
        while start < len(body) and len(content) <= MAX_BYTES:
            decoder.feed(body[start : start + _GZIP_PIECE_BYTES])
            start += _GZIP_PIECE_BYTES
    except CodingError as error:
        notes.append(f"its compressed data are damaged ({error})")
        return bytes(content)
    try:
        if start >= len(body):
            decoder.finish()
    except CodingError:
        notes.append("its compressed data end too soon")
    return bytes(content)


_KINDS = {
    "urlset": SourceKind.SITEMAP,
    "sitemapindex": SourceKind.SITEMAP_INDEX,
    "rss": SourceKind.FEED,
    "feed": SourceKind.FEED,
    "rdf": SourceKind.FEED,
}
_MAP_ENTRIES = frozenset(["url", "sitemap"])
_ENTRIES = _MAP_ENTRIES | {"item", "entry"}
_ADDRESSES = frozenset(["loc", "link"])
_FALLBACKS = frozenset(["guid", "id"])
_BETTER_DATES = frozenset(["lastmod", "updated"])
_FIELDS = _ADDRESSES | _FALLBACKS | _BETTER_DATES | {"pubdate", "published", "date"}


class _Entry:
    """The fields of one entry while it is being read."""

    def __init__(self) -> None:
        self.address = ""
        self.fallback = ""
        self.date = ""

    @property
    def found(self) -> tuple[str, str] | None:
        """Address and date; ``None`` without an address."""
        address = self.address or self.fallback
        return (address, self.date) if address else None


class _XmlReader:
    """Gathers entries while the parser walks through the document.

    Elements are told by their local names, as real documents get name spaces wrong; only children
    of an entry count, so that ``image:loc`` within an ``image`` does not.
    """

    def __init__(self) -> None:
        self.kind = SourceKind.UNKNOWN
        self.found: list[tuple[str, str]] = []
        self.root = ""
        self._path: list[str] = []
        self._entry: _Entry | None = None
        self._text: list[str] | None = None
        self._chars = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        name = tag.rpartition("}")[2].lower()
        if len(self._path) >= MAX_DEPTH:
            raise ValueError("its elements are nested too deeply")
        if not self._path:
            self.root = name
            self.kind = _KINDS.get(name, SourceKind.UNKNOWN)
        self._path.append(name)
        if name in _ENTRIES:
            self._entry = _Entry()
        elif self._entry is not None and self._path[-2] in _ENTRIES:
            if name == "link" and self._path[-2] in _MAP_ENTRIES:
                pass  # xhtml:link: the page in another language
            elif name == "link" and "href" in attributes:
                self._add_atom_link(attributes)
            elif name in _FIELDS:
                self._text = []
                self._chars = 0

    def data(self, text: str) -> None:
        """Characters."""
        if self._text is not None and self._chars < MAX_FIELD_CHARS:
            self._text.append(text)
            self._chars += len(text)

    def end(self, _tag: str) -> None:
        """An element ends."""
        name = self._path.pop()
        if name in _ENTRIES and self._entry is not None:
            found = self._entry.found
            if found is not None and len(self.found) <= MAX_ENTRIES:
                self.found.append(found)
            self._entry = None
        elif self._text is not None and self._entry is not None and name in _FIELDS:
            self._set_field(self._entry, name, "".join(self._text).strip())
            self._text = None

    def close(self) -> None:
        """The document ends."""

    def _add_atom_link(self, attributes: dict[str, str]) -> None:
        entry = self._entry
        if entry is None:
            return
        relation = attributes.get("rel", "alternate")
        if relation == "alternate" and not entry.address:
            entry.address = attributes["href"]

    def _set_field(self, entry: _Entry, name: str, text: str) -> None:
        if name in _ADDRESSES:
            entry.address = entry.address or text
        elif name in _FALLBACKS:
            # Feeds give pages an identity that is usually, and sometimes only, their address.
            entry.fallback = text if text.startswith(("http://", "https://")) else ""
        elif not entry.date or name in _BETTER_DATES:
            entry.date = text


def _read_xml(content: bytes, notes: list[str]) -> tuple[SourceKind, list[tuple[str, str]]]:
    """Read a sitemap, a sitemap index or a feed, up to a few more than ``MAX_ENTRIES``.

    Addresses and dates come as written; those that were complete before an error are kept.
    """
    reader = _XmlReader()
    content, encoding = _parsable(content)
    parser = DefusedXMLParser(target=reader, encoding=encoding)
    try:
        start = 0
        while start < len(content) and len(reader.found) <= MAX_ENTRIES:
            # Ever longer pieces: with each one the parser reads an unfinished tag from its start.
            end = max(2 * start, _XML_PIECE_BYTES)
            parser.feed(content[start:end])
            start = end
        if start >= len(content):
            parser.close()
    except DefusedXmlException:
        notes.append("it declares XML entities, which are refused")
    except (ParseError, ValueError, LookupError) as error:  # LookupError: an unknown encoding
        notes.append(f"its XML is malformed ({error})")
    if reader.kind is SourceKind.UNKNOWN:
        root = f" (it is <{reader.root[:40]}>)" if reader.root else ""
        notes.append(f"it is neither a sitemap nor a feed{root}")
        reader.found.clear()
    return reader.kind, reader.found


def _parsable(content: bytes) -> tuple[bytes, str | None]:
    """The same in an encoding that the parser knows, and which; ``None``: as it says itself."""
    declared = _ENCODING.match(content)
    try:
        name = codecs.lookup(declared[1].decode("ascii")).name if declared is not None else ""
    except (LookupError, UnicodeError):
        return content, None
    codec = _READ_AS.get(name)
    if codec is None:
        return content, None
    return content.decode(codec, "replace").encode(), "utf-8"


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
