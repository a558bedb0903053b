"""The XML of sitemaps and feeds: a safe parser, and a reader that gathers entries as it goes.

``defusedxml`` refuses entity declarations (and with them every entity bomb) and never loads
anything from outside. Entries that were complete before an error are kept.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

MAX_FIELD_CHARS = 8_000
_PIECE_BYTES = 64 * 1024


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


_KINDS = {
    "urlset": SourceKind.SITEMAP,
    "sitemapindex": SourceKind.SITEMAP_INDEX,
    "rss": SourceKind.FEED,
    "feed": SourceKind.FEED,
    "rdf": SourceKind.FEED,
}
_ENTRIES = frozenset(["url", "sitemap", "item", "entry"])
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


class _Reader:
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
        if not self._path:
            self.root = name
            self.kind = _KINDS.get(name, SourceKind.UNKNOWN)
        self._path.append(name)
        if name in _ENTRIES:
            self._entry = _Entry()
        elif self._entry is not None and self._path[-2] in _ENTRIES:
            if name == "link" and "href" in attributes:
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
            if found is not None:
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


class XmlListing(NamedTuple):
    """What an XML document lists."""

    kind: SourceKind
    found: list[tuple[str, str]]
    """Addresses and dates, as written."""
    notes: list[str]


def read_listing(content: bytes, max_entries: int) -> XmlListing:
    """Read a sitemap, a sitemap index or a feed, up to a few more than ``max_entries``."""
    reader = _Reader()
    notes: list[str] = []
    parser = DefusedXMLParser(target=reader)
    try:
        for start in range(0, len(content), _PIECE_BYTES):
            parser.feed(content[start : start + _PIECE_BYTES])
            if len(reader.found) > max_entries:
                break
        else:
            parser.close()
    except DefusedXmlException:
        notes.append("it declares XML entities, which are refused")
    except (ParseError, ValueError, LookupError) as error:  # LookupError: an unknown encoding
        notes.append(f"its XML is malformed ({error})")
    if reader.kind is SourceKind.UNKNOWN:
        root = f" (it is <{reader.root[:40]}>)" if reader.root else ""
        notes.append(f"it is neither a sitemap nor a feed{root}")
        reader.found.clear()
    return XmlListing(reader.kind, reader.found, notes)
