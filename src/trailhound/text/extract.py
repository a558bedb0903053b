"""Bytes to a :class:`~trailhound.records.Page`: the stage between fetching and judging.

1. :mod:`~trailhound.text.encoding` finds the characters, :mod:`~trailhound.text.parse_guard` finds
   what would overwhelm the parser, lexbor builds the tree.
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
* terms come from title and text, not from the description, which readers do not see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, SelectolaxError

from trailhound.records import Link, Page
from trailhound.text.document_walk import MAX_TEXT_CHARS, Attributes, DocumentWalk
from trailhound.text.encoding import decode
from trailhound.text.language import declared_language, detect_language
from trailhound.text.links import LinkResolver, MarkedText, build_links, collapse
from trailhound.text.parse_guard import BEARABLE, ParseLimits, harmless_start, is_harmless
from trailhound.text.tokens import count_terms
from trailhound.urls import canonicalize

EXTRACTION_VERSION = 1
"""Rises when the same bytes give another page; corpora store it."""

MAX_BODY_BYTES = 8_000_000
MAX_TITLE_CHARS = 500
MAX_DESCRIPTION_CHARS = 2_000
MAX_NOFRAMES = 3
# Each relative link repeats the address that it is relative to.
MAX_BASE_CHARS = 2_000

_MAYBE_HIDDEN = '[hidden],[style*="none" i],[style*="hidden" i]'
_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
# Possessive (``*+``), as blanks that may be shared out in many ways would be: 1,000 of them took
# two seconds.
_REFRESH = re.compile(
    r"""\s*+[0-9.]*+\s*+[;,]?+\s*+url\s*+=\s*+["']?+\s*+([^"'>]+)""", re.IGNORECASE
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
    ``limits`` is cut. Nothing is raised; without limits a MemoryError may be.
    """
    html, encoding = _characters(body, content_type)
    if not _is_plain(content_type) and limits is not None:
        html = harmless_start(html, limits)
    return _read(html, url, content_type, encoding, surroundings)


def extract_harmless(
    body: bytes, url: str, content_type: str = "", *, surroundings: bool = True
) -> Page | None:
    """The same at once; ``None`` when the page could take its parser too long to wait for it."""
    html, encoding = _characters(body, content_type)
    if not _is_plain(content_type) and not is_harmless(html):
        return None
    return _read(html, url, content_type, encoding, surroundings)


def _characters(body: bytes, content_type: str) -> tuple[str, str]:
    html, encoding = decode(body[:MAX_BODY_BYTES], content_type)
    if "\0" in html:  # it means nothing in HTML, and marks places in our text
        html = html.replace("\0", "")
    return html, encoding


def _is_plain(content_type: str) -> bool:
    return content_type.strip().lower().startswith("text/plain")


def _read(html: str, url: str, content_type: str, encoding: str, surroundings: bool) -> Page:
    page_url = canonicalize(url) or url
    if _is_plain(content_type):
        return _plain_page(page_url, html, encoding)
    tree = _parse(html)
    walk = _walk(tree, surroundings)
    return _build_page(page_url, walk, _declared_on_root(tree), encoding)


def _plain_page(url: str, text: str, encoding: str) -> Page:
    text = collapse(text[:MAX_TEXT_CHARS])
    language = detect_language(text)
    terms = count_terms(text, language)
    return Page(url=url, text=text, language=language, terms=terms, encoding=encoding)


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


def _build_page(url: str, walk: DocumentWalk, root_languages: list[str], encoding: str) -> Page:
    text = MarkedText(walk.pieces, walk.hidden)
    metadata = read_metadata(walk.metadata)
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
        links=_links(url, walk, text, metadata),
        canonical_url=canonicalize(metadata.canonical, url) if metadata.canonical else None,
        is_frameset=walk.is_frameset,
        noindex=metadata.noindex,
        nofollow=metadata.nofollow,
        encoding=encoding,
    )


def _headings(walk: DocumentWalk, text: MarkedText) -> tuple[str, ...]:
    words = (text.words(heading.start, heading.end) for heading in walk.headings)
    return tuple(filter(None, words))


def _links(url: str, walk: DocumentWalk, text: MarkedText, metadata: Metadata) -> tuple[Link, ...]:
    written = metadata.base if len(metadata.base) <= MAX_BASE_CHARS else ""
    base = canonicalize(written, url) if written else None
    resolver = LinkResolver(url, base or url)
    links = build_links(walk, text, resolver, metadata.nofollow)
    target = resolver.resolve(metadata.refresh) if metadata.refresh else None
    if target is not None:
        links.insert(0, Link(url=target, tag_path="meta", nofollow=metadata.nofollow))
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
    if "canonical" in (attributes.get("rel") or "").lower().split():
        found.canonical = found.canonical or attributes.get("href") or ""


def _read_meta(found: Metadata, name: str, content: str, http_equiv: str | None) -> None:
    if name == "description":
        found.description = found.description or content
    elif name == "robots":
        _read_robots(found, content)
    directive = (http_equiv or "").strip().lower()
    if directive == "content-language":
        found.language = found.language or content
    elif directive == "refresh":
        target = _REFRESH.match(content[:10_000])
        if target is not None:
            found.refresh = found.refresh or target[1].strip()


def _read_robots(found: Metadata, content: str) -> None:
    """Several robots elements add up: the strictest word wins."""
    words = set(content.lower().replace(",", " ").split())
    found.noindex = found.noindex or not words.isdisjoint(("noindex", "none"))
    found.nofollow = found.nofollow or not words.isdisjoint(("nofollow", "none"))
