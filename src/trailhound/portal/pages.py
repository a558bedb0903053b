"""The portal's pages and feeds, for whoever serves them: nothing here knows HTTP.

A page's links are relative to the folder it is served from, so the address of the search page must
end in a slash::

    …/            search_page(q, page, {"host": …, "language": …, "year": …}, order)
    …/about       about_page()
    …/feed.rss    feed("rss", site_url)
    …/feed.atom   feed("atom", site_url)
    …/NAME        asset(NAME)

No page has a script or a style inside: :data:`CONTENT_SECURITY_POLICY` can be as strict as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree

from jinja2 import Environment, PackageLoader, StrictUndefined

from trailhound.counting import counted
from trailhound.errors import UsageError
from trailhound.portal.listing import FreshListing, Listing, language_name
from trailhound.portal.searching import Answer, Hit, Order, Segment, only_leaves_out, search_listing
from trailhound.topics.crawls.folder import CrawlFolder

FeedKind = Literal["rss", "atom"]

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


CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
FEED_ENTRIES = 50
FACET_TITLES = {"host": "Site", "language": "Language", "year": "Found in"}

_MEDIA_TYPES = {
    "portal.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "search.js": "text/javascript; charset=utf-8",
}


class Asset(NamedTuple):
    """A file that pages refer to."""

    content: bytes
    media_type: str


class Links(NamedTuple):
    """Where the parts of a portal are, seen from its pages."""

    search: str = "./"
    about: str = "about"
    rss: str = "feed.rss"
    atom: str = "feed.atom"


class Portal:
    """One topic, published. ``title`` is its name unless given; threads may share it.

    Call :meth:`refresh` in a thread before the first reader comes: of a large crawl that has never
    been searched it takes minutes. Later calls look after themselves.
    """

    def __init__(self, folder: CrawlFolder, title: str = "", description: str = "") -> None:
        self.folder = folder.require()
        self.title = title or folder.topic.name
        self.description = description or f"Pages about {self.title}, found by Trailhound."
        self._listing = FreshListing(folder)

    def refresh(self) -> None:
        """Catch up with the crawl, unless that was done lately."""
        self._listing.get()

    def search(
        self,
        query: str = "",
        page: int = 1,
        facets: Mapping[str, str] | None = None,
        order: Order = "best",
    ) -> Answer:
        """One page of results as data; UsageError when the search takes too long."""
        listing, results = self.listing, self.folder.results
        return search_listing(listing, results, query, page=page, facets=facets, order=order)

    def search_page(
        self,
        query: str = "",
        page: int = 1,
        facets: Mapping[str, str] | None = None,
        order: Order = "best",
    ) -> str:
        """The same for people. ``facets`` are ``host``, ``language`` and ``year``; others are
        passed over, so that all parameters of an address may be given.
        """
        try:
            answer, trouble = self.search(query, page, facets, order), ""
        except UsageError as error:
            answer, trouble = self.search(), str(error)
        return self._rendered("search.html.j2", answer=answer, query=query, trouble=trouble)

    @property
    def listing(self) -> Listing:
        """All pages, as they are now."""
        return self._listing.get()

    def about_page(self, listing: Listing | None = None, **shared: Any) -> str:
        """What this is, and how it came to be; ``shared`` are values for a static site.

        It tells of all pages, unless a ``listing`` of some is given.
        """
        listing = self.listing if listing is None else listing
        latest = float(listing.found_at.max()) if len(listing) else None
        hosts = len(set(listing.facets["host"].codes.tolist()))
        counts = {"pages": len(listing), "hosts": hosts, "latest": latest}
        return self._rendered("about.html.j2", **counts, **shared)

    def feed(
        self, kind: FeedKind = "rss", site_url: str = "./", listing: Listing | None = None
    ) -> bytes:
        """The latest finds; ``site_url`` is the address of the portal, for readers of the feed."""
        write = rss_feed if kind == "rss" else atom_feed
        return write(self.title, self.description, site_url, self.latest(listing))

    def latest(self, listing: Listing | None = None) -> tuple[Hit, ...]:
        """What was found last, newest first; of all pages, or of those of a ``listing``."""
        listing = self.listing if listing is None else listing
        return search_listing(
            listing, self.folder.results, order="newest", page_size=FEED_ENTRIES
        ).hits

    @property
    def stylesheet(self) -> str:
        """``portal.css``."""
        return _assets()["portal.css"].content.decode()

    def asset(self, name: str) -> Asset | None:
        """A file of the portal; ``None`` for every other name."""
        return asset_named(name)

    def _rendered(self, template: str, **values: Any) -> str:
        return render(template, title=self.title, description=self.description, **values)


def render(template: str, **values: Any) -> str:
    """One of our templates; all values are escaped."""
    return environment().get_template(template).render(**values)


def asset_named(name: str) -> Asset | None:
    """A file that pages refer to; ``None`` for every other name."""
    return _assets().get(name)


@cache
def _assets() -> dict[str, Asset]:
    folder = resources.files("trailhound.portal") / "assets"
    return {name: Asset((folder / name).read_bytes(), kind) for name, kind in _MEDIA_TYPES.items()}


@cache
def environment() -> Environment:
    """The templates. Text is escaped."""
    made = Environment(
        loader=PackageLoader("trailhound.portal"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        counted=counted,
        links=Links(),
        root="",
        policy="",
        is_static=False,
        facet_titles=FACET_TITLES,
        address_of=_address_of,
        only_leaves_out=only_leaves_out,
    )
    made.filters.update(day=day, facet_name=_facet_name)
    return made


def day(seconds: float) -> str:
    """``1 March 2026``."""
    found = datetime.fromtimestamp(seconds, UTC)
    return f"{found.day} {found:%B %Y}"


@lru_cache(maxsize=1024)
def _facet_name(value: str, facet: str) -> str:
    return language_name(value) if facet == "language" else value


def _address_of(answer: Answer, **changed: str | int | None) -> str:
    """The same search with other settings; ``None`` takes one away."""
    kept: dict[str, str | int | None] = {"q": answer.query, **answer.chosen}
    if answer.order != "best":
        kept["order"] = answer.order
    kept |= changed
    return "./?" + urlencode({name: value for name, value in kept.items() if value})
