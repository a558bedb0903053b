"""Link elements to :class:`~trailhound.records.Link` records with canonical addresses."""

from __future__ import annotations

from functools import lru_cache

from trailhound.records import Link, LinkKind
from trailhound.text.document_walk import DocumentWalk, HeadingSpan, LinkSpan
from trailhound.text.spans import MAX_SPAN_CHARS, MarkedText, collapse
from trailhound.urls import canonicalize

REMEMBERED_ADDRESSES = 16_384
"""The pages of a site link to the same places in the same words: most are known. 6 MB."""

# What an address below the base's folder begins with; "?" and "#" go on from the page itself.
_FOLDER_STARTS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-~%")
_WHOLE_ADDRESSES = ("http://", "https://")


class LinkResolver:
    """Turns the addresses written in one page into canonical URLs, each spelling once.

    ``page_url`` is the page itself (links to it are dropped), ``base`` what relative addresses
    are relative to.
    """

    def __init__(self, page_url: str, base: str) -> None:
        self._page_url = page_url
        self._base = base
        self._folder = base[: base.partition("?")[0].rfind("/") + 1] or base
        self._site = base[: base.find("/", len("https://")) + 1] or base
        self._known: dict[str, str | None] = {}

    def resolve(self, address: str) -> str | None:
        """The canonical URL; ``None`` for the page itself and for what is not http."""
        if address in self._known:
            return self._known[address]
        url = self._canonical(address.strip())
        if url == self._page_url:
            url = None
        self._known[address] = url
        return url

    def _canonical(self, address: str) -> str | None:
        """With the least of the base that the answer depends on: other pages ask the same."""
        if address.startswith(_WHOLE_ADDRESSES):
            return _known_canonical(address, None)
        if address.startswith("/"):
            return _known_canonical(address, self._site)
        if address[:1] in _FOLDER_STARTS:
            return _known_canonical(address, self._folder)
        return canonicalize(address, self._base)


_known_canonical = lru_cache(maxsize=REMEMBERED_ADDRESSES)(canonicalize)


def build_links(
    walk: DocumentWalk, text: MarkedText, resolver: LinkResolver, page_nofollow: bool
) -> list[Link]:
    """The links that lead to other web pages, in document order."""
    links = []
    headings: dict[int, str] = {}
    for span in walk.links:
        url = resolver.resolve(span.address)
        if url is None:
            continue
        if walk.surroundings:
            heading = _heading_words(span.heading, text, headings)
            around = (text.before(span.start), text.after(span.end), heading)
        else:
            around = ("", "", "")
        links.append(_build(span, url, text, around, page_nofollow))
    return links


def _heading_words(heading: HeadingSpan | None, text: MarkedText, known: dict[int, str]) -> str:
    if heading is None:
        return ""
    if heading.start not in known:
        known[heading.start] = text.words(heading.start, heading.end)
    return known[heading.start]


def _build(
    span: LinkSpan, url: str, text: MarkedText, around: tuple[str, str, str], nofollow: bool
) -> Link:
    """``around`` is what stands before and after the link, and the heading above it."""
    attributes = span.attributes
    rel = attributes.get("rel")
    if rel is not None and not nofollow:
        nofollow = "nofollow" in rel.lower().split()
    return Link(
        url,
        text.words(span.start, span.end),
        _image_words(span) if span.image_alts or len(attributes) > 1 else "",
        *around,
        span.tag_path,
        span.kind,
        nofollow,
    )


def _image_words(span: LinkSpan) -> str:
    """Alternative texts of the link's images, then the link's own ``alt`` and ``title``."""
    texts = span.image_alts
    alt = span.attributes.get("alt") if span.kind is LinkKind.AREA else None
    title = span.attributes.get("title")
    if alt:
        texts = [*texts, alt]
    if title and title not in texts:
        texts = [*texts, title]
    return collapse(" ".join(texts)[:MAX_SPAN_CHARS]) if texts else ""
