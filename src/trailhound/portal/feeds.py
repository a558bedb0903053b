"""RSS 2.0 and Atom of new finds, newest first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Literal
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree

from trailhound.portal.searching import Hit, Segment

FeedKind = Literal["rss", "atom"]
FEED_TYPES: dict[FeedKind, str] = {
    "rss": "application/rss+xml; charset=utf-8",
    "atom": "application/atom+xml; charset=utf-8",
}
"""How each is to be served."""

_DAY = 86_400
_ATOM = "http://www.w3.org/2005/Atom"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def rss_feed(title: str, description: str, site_url: str, hits: Iterable[Hit]) -> bytes:
    """Of pages that may be followed; ``site_url`` is where people read the portal."""
    root = ElementTree.Element("rss", version="2.0")
    channel = ElementTree.SubElement(root, "channel")
    _add(channel, "title", title)
    _add(channel, "link", site_url)
    _add(channel, "description", description)
    for hit in hits:
        if hit.link is None:
            continue
        item = ElementTree.SubElement(channel, "item")
        _add(item, "title", _text(hit.title))
        _add(item, "link", hit.link)
        _add(item, "guid", _name_of(hit.link), isPermaLink="false")
        _add(item, "pubDate", format_datetime(_time(hit), usegmt=True))
        _add(item, "description", _escaped(_text(hit.snippet)))
    return _written(root)


def atom_feed(title: str, description: str, site_url: str, hits: Iterable[Hit]) -> bytes:
    """The same as Atom."""
    entries = [hit for hit in hits if hit.link is not None]
    latest = max((_time(hit) for hit in entries), default=datetime.fromtimestamp(0, UTC))
    root = ElementTree.Element("feed", xmlns=_ATOM)
    _add(root, "title", title)
    _add(root, "subtitle", description)
    _add(root, "id", _name_of(f"{site_url} {title}"))
    _add(root, "link", "", href=site_url)
    _add(root, "updated", latest.isoformat())
    _add(ElementTree.SubElement(root, "author"), "name", "Trailhound")
    for hit in entries:
        entry = ElementTree.SubElement(root, "entry")
        _add(entry, "title", _text(hit.title))
        _add(entry, "link", "", href=hit.link or "")
        _add(entry, "id", _name_of(hit.link or ""))
        _add(entry, "updated", _time(hit).isoformat())
        _add(entry, "summary", _text(hit.snippet))
    return _written(root)


def _add(parent: ElementTree.Element, name: str, text: str, **attributes: str) -> None:
    kept = {key: _NOT_IN_XML.sub("", value) for key, value in attributes.items()}
    ElementTree.SubElement(parent, name, kept).text = _NOT_IN_XML.sub("", text) or None


def _text(segments: Iterable[Segment]) -> str:
    return "".join(segment.text for segment in segments)


def _escaped(text: str) -> str:
    """Readers take an RSS description for HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _time(hit: Hit) -> datetime:
    """The day, as on the pages: the second would tell when its owner crawls."""
    return datetime.fromtimestamp(hit.found_at // _DAY * _DAY, UTC)


def _name_of(address: str) -> str:
    """The same for the same address, wherever the portal is read."""
    return uuid5(NAMESPACE_URL, address).urn


def _written(root: ElementTree.Element) -> bytes:
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, "utf-8", xml_declaration=True))
