"""Bytes to a :class:`~trailhound.records.Page`: the stage between fetching and judging.

1. :mod:`~trailhound.text.encoding` finds the characters, :mod:`~trailhound.text.parse_guard` finds
   what would overwhelm the parser, lexbor builds the tree. What is no HTML becomes HTML first
   (:mod:`~trailhound.text.documents`).
2. :mod:`~trailhound.text.document_walk` passes over it once; :mod:`~trailhound.text.links` and
   :func:`read_metadata` read what it gathered.
3. :mod:`~trailhound.text.language` and :mod:`~trailhound.text.tokens` turn the text into terms.

Choices a caller may want to know:

* text that is not shown (``hidden``, ``display: none``) is not part of the page's text, but links
  in it are links: menus unfold;
* ``rel=nofollow`` marks a link, a robots ``nofollow`` all of the page's; none is left out;
* an address that the page refreshes to is its first link;
* a frameset's frames are its links, and so are those in its ``noframes`` part, whose text is the
  page's text;
* the first feed that a page names is a link, if the caller wants feeds;
* terms come from title and text, not from the description, which readers do not see.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, SelectolaxError

from trailhound.media_types import DocumentKind, document_kind
from trailhound.records import Link, Page
from trailhound.text.document_walk import Attributes, DocumentWalk
from trailhound.text.documents import UnreadableDocumentError, read_document
from trailhound.text.encoding import decode
from trailhound.text.language import declared_language, detect_language
from trailhound.text.links import LinkResolver, MarkedText, build_links, collapse
from trailhound.text.parse_guard import (
    BEARABLE,
    ParseLimits,
    harmless_start,
    is_harmless,
)
from trailhound.text.tokens import count_terms
from trailhound.urls import canonicalize

EXTRACTION_VERSION = 1
"""Rises when the same bytes give another page; corpora store it."""

MAX_BODY_BYTES = 8_000_000
MAX_TEXT_BYTES_AT_ONCE = 100_000
"""Of a text or a feed: 0.3 s if it is nothing but headings."""
MAX_TITLE_CHARS = 500
MAX_DESCRIPTION_CHARS = 2_000
MAX_NOFRAMES = 3
# Each relative link repeats the address that it is relative to.
MAX_BASE_CHARS = 2_000

_MAYBE_HIDDEN = '[hidden],[style*="none" i],[style*="hidden" i]'
_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/feed+json")
# The steps of the HTML standard: a time, a sign or blanks, and an address, with or without "url="
# and a quotation mark before it. Possessive (``*+``), as blanks that may be shared out in many ways
# would be: 1,000 of them took two seconds.
_REFRESH = re.compile(
    r"""\s*+(?:[0-9]|\.)[0-9.]*+(?:\s++[;,]?+|[;,])\s*+(?:url\s*+=\s*+)?+(["']?+)(.*+)""",
    re.IGNORECASE | re.DOTALL,
)


def extract_page(
    body: bytes,
    url: str,
    content_type: str = "",
    *,
    surroundings: bool = True,
    limits: ParseLimits | None = BEARABLE,
) -> Page:
    """Read ``body`` as the page at ``url``. Any bytes give a page.

    Without ``surroundings``, links have their own words only: not those around them, nor heading
    and tag path. That saves a sixth of the time. A page that could cost its parser more than the
    ``limits`` is cut. PDF and office documents, which might harm this process, and documents that
    cannot be read give empty pages. Nothing is raised; without limits a MemoryError may be.
    """
    kind = document_kind(body, content_type)
    if kind is None or not kind.is_heavy:
        with suppress(UnreadableDocumentError):
            return extract_apart(body, url, content_type, surroundings=surroundings, limits=limits)
    return Page(url=canonicalize(url) or url)


def extract_harmless(
    body: bytes,
    url: str,
    content_type: str = "",
    *,
    surroundings: bool = True,
    feeds: bool = False,
) -> Page | None:
    """The same at once; ``None`` when the page could take its parser too long to wait for it.

    UnreadableDocumentError says why a document gives none. ``feeds`` says whether a page's feed is
    one of its links.
    """
    kind = document_kind(body, content_type)
    if kind is not None:
        if kind.is_heavy or len(body) > MAX_TEXT_BYTES_AT_ONCE:
            return None
        return _read_document(body, url, content_type, kind, surroundings)
    html, encoding = _characters(body, content_type)
    return _read(html, url, encoding, surroundings, feeds) if is_harmless(html) else None


def extract_apart(
    body: bytes,
    url: str,
    content_type: str = "",
    *,
    surroundings: bool = True,
    limits: ParseLimits | None = None,
    feeds: bool = False,
) -> Page:
    """The same of any page and document, where the process may be lost."""
    kind = document_kind(body, content_type)
    if kind is not None:
        return _read_document(body, url, content_type, kind, surroundings)
    html, encoding = _characters(body, content_type)
    if limits is not None:
        html = harmless_start(html, limits)
    return _read(html, url, encoding, surroundings, feeds)


def _read_document(
    body: bytes, url: str, content_type: str, kind: DocumentKind, surroundings: bool
) -> Page:
    html = read_document(body, url, content_type, kind).html()
    encoding = decode(body, content_type).encoding if kind is DocumentKind.TEXT else ""
    return _read(html, url, encoding, surroundings)


def _characters(body: bytes, content_type: str) -> tuple[str, str]:
    html, encoding = decode(body[:MAX_BODY_BYTES], content_type)
    if "\0" in html:  # it means nothing in HTML, and marks places in our text
        html = html.replace("\0", "")
    return html, encoding


def _read(html: str, url: str, encoding: str, surroundings: bool, feeds: bool = False) -> Page:
    page_url = canonicalize(url) or url
    tree = _parse(html)
    walk = _walk(tree, surroundings)
    return _build_page(page_url, walk, _declared_on_root(tree), encoding, feeds)


def _parse(html: str) -> LexborHTMLParser:
    """The tree as a browser with scripts would see it before any ran."""
    try:
        return LexborHTMLParser(html, scripting=True, options=LexborDocumentOptions.WO_EVENTS)
    except SelectolaxError as error:  # there is no other reason
        raise MemoryError("too little memory to parse the page") from error


def _walk(tree: LexborHTMLParser, surroundings: bool) -> DocumentWalk:
    walk = DocumentWalk(surroundings)
    if tree.root is not None:
        walk.run(tree.root, _hidden_elements(tree))
    if walk.is_frameset:
        for markup in walk.noframes[:MAX_NOFRAMES]:
            inner = _parse(markup)
            if inner.body is not None:
                walk.run(inner.body, _hidden_elements(inner))
    return walk


def _hidden_elements(tree: LexborHTMLParser) -> frozenset[int]:
    """Ids of the elements that their own attributes hide."""
    found = tree.css(_MAYBE_HIDDEN)
    return frozenset([node.mem_id for node in found if _hides(node.attributes)])


def _hides(attributes: Attributes) -> bool:
    if "hidden" in attributes:
        return True
    style = attributes.get("style")
    return style is not None and _HIDING_STYLE.search(style) is not None


def _build_page(
    url: str, walk: DocumentWalk, root_languages: list[str], encoding: str, feeds: bool
) -> Page:
    text = MarkedText(walk.pieces, walk.hidden)
    metadata = read_metadata(walk.metadata)
    base = _base(url, metadata)
    title = collapse(walk.title[:MAX_TITLE_CHARS])
    language = declared_language(*root_languages, metadata.language) or detect_language(text.shown)
    return Page(
        url=url,
        title=title,
        description=metadata.description,
        headings=_headings(walk, text),
        text=text.shown,
        language=language,
        terms=count_terms(f"{title}\n{text.shown}", language),
        links=_links(LinkResolver(url, base), walk, text, metadata, feeds),
        canonical_url=canonicalize(metadata.canonical, base) if metadata.canonical else None,
        is_frameset=walk.is_frameset,
        noindex=metadata.noindex,
        nofollow=metadata.nofollow,
        encoding=encoding,
    )


def _headings(walk: DocumentWalk, text: MarkedText) -> tuple[str, ...]:
    words = (text.words(heading.start, heading.end) for heading in walk.headings)
    return tuple(filter(None, words))


def _base(url: str, metadata: Metadata) -> str:
    """What the addresses in a page are relative to."""
    written = metadata.base if len(metadata.base) <= MAX_BASE_CHARS else ""
    return (canonicalize(written, url) if written else None) or url


def _links(
    resolver: LinkResolver, walk: DocumentWalk, text: MarkedText, metadata: Metadata, feeds: bool
) -> tuple[Link, ...]:
    links = build_links(walk, text, resolver, metadata.nofollow)
    target = resolver.resolve(metadata.refresh) if metadata.refresh else None
    if target is not None:
        links.insert(0, Link(url=target, tag_path="meta", nofollow=metadata.nofollow))
    feed = resolver.resolve(metadata.feed) if feeds and metadata.feed else None
    if feed is not None:
        words = collapse(metadata.feed_title[:MAX_TITLE_CHARS])
        links.append(Link(feed, words, tag_path="link", nofollow=metadata.nofollow))
    return tuple(links)


def _declared_on_root(tree: LexborHTMLParser) -> list[str]:
    attributes = tree.root.attributes if tree.root is not None else {}
    return [attributes.get(name) or "" for name in ("lang", "xml:lang")]


@dataclass(slots=True)
class Metadata:
    """The declarations that concern a crawl; the first of each kind counts."""

    description: str = ""
    base: str = ""
    """Raw ``href`` of ``base``."""
    canonical: str = ""
    """Raw ``href`` of ``rel=canonical``."""
    refresh: str = ""
    """Raw address that the page sends its readers on to."""
    feed: str = ""
    """Raw ``href`` of the first feed; others are of comments, or say the same in another form."""
    feed_title: str = ""
    language: str = ""
    """``content-language``, as written."""
    noindex: bool = False
    nofollow: bool = False


def read_metadata(elements: list[tuple[str, Attributes]]) -> Metadata:
    """Gather the declarations of a page's ``meta``, ``link`` and ``base`` elements."""
    found = Metadata()
    social_description = ""
    for tag, attributes in elements:
        if tag == "base":
            found.base = found.base or attributes.get("href") or ""
        elif tag == "link":
            _read_link(found, attributes)
        else:
            name = (attributes.get("name") or attributes.get("property") or "").strip().lower()
            content = attributes.get("content") or ""
            if name == "og:description":
                social_description = social_description or content
            _read_meta(found, name, content, attributes.get("http-equiv"))
    description = found.description or social_description
    found.description = collapse(description[:MAX_DESCRIPTION_CHARS])
    return found


def _read_link(found: Metadata, attributes: Attributes) -> None:
    relations = (attributes.get("rel") or "").lower().split()
    if "canonical" in relations:
        found.canonical = found.canonical or attributes.get("href") or ""
    elif not found.feed and "alternate" in relations and attributes.get("type") in _FEED_TYPES:
        found.feed = attributes.get("href") or ""
        found.feed_title = attributes.get("title") or ""


def _read_meta(found: Metadata, name: str, content: str, http_equiv: str | None) -> None:
    if name == "description":
        found.description = found.description or content
    elif name == "robots":
        _read_robots(found, content)
    directive = (http_equiv or "").strip().lower()
    if directive == "content-language":
        found.language = found.language or content
    elif directive == "refresh":
        found.refresh = found.refresh or _refresh_target(content[:10_000])


def _refresh_target(content: str) -> str:
    refresh = _REFRESH.match(content)
    if refresh is None:
        return ""
    quote, address = refresh.groups()
    return (address.partition(quote)[0] if quote else address).strip()


def _read_robots(found: Metadata, content: str) -> None:
    """Several robots elements add up: the strictest word wins."""
    words = set(content.lower().replace(",", " ").split())
    found.noindex = found.noindex or not words.isdisjoint(("noindex", "none"))
    found.nofollow = found.nofollow or not words.isdisjoint(("nofollow", "none"))
