"""RSS, Atom and JSON Feed: entries as links, titles as their words, summaries around them.

Whatever can be read of a damaged feed is read. What an entry links to is its page; enclosures,
images and links inside summaries are not followed from here.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import urljoin

import msgspec

from trailhound.errors import UNREADABLE
from trailhound.text.documents.blocks import Document, Run, UnreadableDocumentError
from trailhound.text.documents.xml_reading import (
    Attributes,
    EnoughError,
    XmlWalk,
    tolerable_xml,
    walk_xml,
)

MAX_BYTES = 8_000_000
MAX_ENTRIES = 1_000
MAX_SUMMARY_CHARS = 2_000
_MAX_FIELD_CHARS = 8_000
# Each relative address of an entry repeats it.
_MAX_BASE_CHARS = 2_000

_ROOTS = frozenset(["rss", "feed", "RDF", "rdf"])
_ENTRIES = frozenset(["item", "entry"])
_PARENTS = _ENTRIES | {"channel", "feed"}
_SUMMARIES = frozenset(["description", "summary", "content", "encoded"])
_IDENTITIES = frozenset(["guid", "id"])
_FIELDS = _SUMMARIES | _IDENTITIES | {"title", "link", "language", "subtitle"}
_TAG = re.compile(r"<[^<>]*>")


def read_feed(body: bytes, content_type: str = "") -> Document:
    """A feed as a document; UnreadableDocumentError when it is none."""
    start = body[:200].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"{"):
        return _read_json(body)
    walk = _FeedWalk()
    failure = walk_xml(tolerable_xml(body[:MAX_BYTES], content_type), walk)
    if not walk.is_feed:
        why = failure or "it is neither RSS nor Atom"
        raise UnreadableDocumentError(f"XML that is no feed: {why}")
    return walk.finished()


class _FeedWalk(XmlWalk):
    def __init__(self) -> None:
        super().__init__()
        self.is_feed = False
        self._document = Document()
        self._entries = 0
        self._head: dict[str, str] = {}
        self._entry: dict[str, str] | None = None
        self._text: list[str] | None = None
        self._room = 0
        self._bases = [""]
        """What addresses are relative to, in each open element; empty for the feed itself."""

    def finished(self) -> Document:
        return _with_head(self._document, self._head)

    def enter(self, name: str, attributes: Attributes) -> None:
        path = self.path
        self._bases.append(self._base_in(attributes))
        if len(path) == 1:
            self.is_feed = name in _ROOTS
            self._head["language"] = attributes.get(_XML_LANG, "")
        if name in _ENTRIES:
            self._entry = {}
        elif len(path) > 1 and name in _FIELDS and path[-2] in _PARENTS:
            if name == "link" and "href" in attributes:
                self._keep_address(attributes)
            else:
                self._text, self._room = [], _MAX_FIELD_CHARS

    def data(self, text: str) -> None:
        if self._text is not None and self._room > 0:
            self._text.append(text[: self._room])
            self._room -= len(text)

    def leave(self, name: str) -> None:
        if name in _ENTRIES and self._entry is not None:
            _add_entry(self._document, self._entry)
            self._entry = None
            self._entries += 1
            if self._entries >= MAX_ENTRIES or self._document.is_full:
                raise EnoughError
        elif self._text is not None and name in _FIELDS and self.path[-2] in _PARENTS:
            self._keep(name, "".join(self._text).strip())
            self._text = None
        self._bases.pop()

    def _fields(self) -> dict[str, str]:
        return self._head if self._entry is None else self._entry

    def _keep_address(self, attributes: Attributes) -> None:
        """Atom's: the page itself, not its editing, its enclosures or its comments."""
        if attributes.get("rel", "alternate") == "alternate":
            self._fields().setdefault("link", self._resolved(attributes["href"]))

    def _resolved(self, address: str) -> str:
        return _joined(self._bases[-1], address, otherwise=address)

    def _base_in(self, attributes: Attributes) -> str:
        """What addresses inside an element are relative to."""
        declared, outer = attributes.get(_XML_BASE, ""), self._bases[-1]
        if not declared or len(declared) > _MAX_BASE_CHARS:
            return outer
        return _joined(outer, declared, otherwise=outer)

    def _keep(self, name: str, text: str) -> None:
        fields = self._fields()
        if name in _SUMMARIES:  # the longest of them says most
            if len(text) > len(fields.get("summary", "")):
                fields["summary"] = text
        elif name in _IDENTITIES:  # usually, and sometimes only, the address
            if text.startswith(("http://", "https://")):
                fields.setdefault("identity", text)
        elif text:
            fields.setdefault(name, self._resolved(text) if name == "link" else text)


_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"


def _joined(base: str, address: str, *, otherwise: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:  # one of them is no address
        return otherwise


def _add_entry(document: Document, fields: dict[str, str]) -> None:
    address = fields.get("link") or fields.get("identity", "")
    title = _words(fields.get("title", ""))
    summary = _words(fields.get("summary", ""))[:MAX_SUMMARY_CHARS]
    if address or title:
        document.add([Run(title or summary[:100], address)], level=2)
    document.add([Run(summary)])


def _with_head(document: Document, fields: dict[str, str]) -> Document:
    document.language = fields.get("language", "")
    document.title = _words(fields.get("title", ""))[:500]
    about = _words(fields.get("summary") or fields.get("subtitle", ""))[:MAX_SUMMARY_CHARS]
    head = Document()
    head.add([Run(document.title, fields.get("link", ""))], level=1)
    head.add([Run(about)])
    document.blocks[:0] = head.blocks
    return document


def _words(markup: str) -> str:
    """The words of HTML in a field, escaped once or twice."""
    text = _TAG.sub(" ", unescape(markup)) if "&" in markup else _TAG.sub(" ", markup)
    return " ".join(unescape(text).split())


def _read_json(body: bytes) -> Document:
    try:
        feed = msgspec.json.decode(body)
    except UNREADABLE as error:
        raise UnreadableDocumentError(f"a JSON feed that is damaged: {error}") from error
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list):
        raise UnreadableDocumentError("JSON that is no feed: it has no list of items")
    document = Document()
    for item in items[:MAX_ENTRIES]:
        if isinstance(item, dict):
            _add_entry(document, _json_fields(item))
    head = _json_fields(feed) | {"link": _text(feed, "home_page_url")}
    return _with_head(document, head)


def _json_fields(item: dict[str, Any]) -> dict[str, str]:
    identity = _text(item, "id")
    summaries = ("content_text", "content_html", "summary", "description")
    return {
        "link": _text(item, "url") or _text(item, "external_url"),
        "identity": identity if identity.startswith(("http://", "https://")) else "",
        "title": _text(item, "title"),
        "summary": next(filter(None, (_text(item, name) for name in summaries)), ""),
        "language": _text(item, "language"),
    }


def _text(item: dict[str, Any], name: str) -> str:
    value = item.get(name)
    return value[:_MAX_FIELD_CHARS] if isinstance(value, str) else ""
