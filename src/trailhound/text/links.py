"""What the marks of a walk mean: the words of a page, and its links as records.

Marked text becomes the page's text and the words of any span and around it; link elements become
:class:`~trailhound.records.Link` records with canonical addresses.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate

from trailhound.records import Link, LinkKind
from trailhound.text.document_walk import Attributes, DocumentWalk, HiddenSpan, LinkSpan, Span
from trailhound.urls import canonicalize

CONTEXT_WORDS = 10
# A window that holds ten ordinary words and the blanks that indent them in the source.
CONTEXT_CHARS = 400
# Most often ten words need no more than this.
_SHORT_CONTEXT_CHARS = 120
MAX_SPAN_CHARS = 500

# Control characters but white space, and invisible characters.
_CONTROLS = re.compile(
    "[\x01-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb]"
)

REMEMBERED_ADDRESSES = 16_384
"""The pages of a site link to the same places in the same words: most are known. 6 MB."""
REMEMBERED_CHARS = 500
"""Of an address: a hostile site could fill the memory with longer ones."""

# What an address below the base's folder begins with; "?" and "#" go on from the page itself.
_FOLDER_STARTS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-~%")
_WHOLE_ADDRESSES = ("http://", "https://")


class MarkedText:
    """A page's text, addressed by the marks that the walk put into it.

    ``pieces`` are the walk's pieces of text, ``hidden`` its spans of text that is not shown: such
    text is missing from :attr:`shown`, but spans may lie in it.
    """

    def __init__(self, pieces: list[str], hidden: list[HiddenSpan]) -> None:
        text = "".join(pieces)
        words = _spaced(text)
        if not words.isprintable():
            pieces = [_CONTROLS.sub("", piece) for piece in pieces]
            text = "".join(pieces)
            words = " ".join(text.split())
        self._all = self._shown = text
        # Where in the text each mark stands.
        self._positions = self._shown_positions = _ends(pieces)
        if hidden:
            pieces = _without_hidden(pieces, hidden)
            self._shown, self._shown_positions = "".join(pieces), _ends(pieces)
            words = " ".join(self._shown.split())
        self.shown = words
        """The visible text, white space collapsed."""

    def words(self, start: int, end: int) -> str:
        """The words between two marks, shown or not."""
        first, last = self._positions[start], self._positions[end]
        return " ".join(self._all[first : min(last, first + MAX_SPAN_CHARS)].split())

    def before(self, mark: int) -> str:
        """Up to ten visible words in front of a mark."""
        shown, end = self._shown, self._shown_positions[mark]
        words = shown[max(0, end - _SHORT_CONTEXT_CHARS) : end].rsplit(None, CONTEXT_WORDS)
        if len(words) <= CONTEXT_WORDS:
            start = max(0, end - CONTEXT_CHARS)
            words = shown[start:end].rsplit(None, CONTEXT_WORDS)
            # Not more than ten, and the window cut the first one in two.
            if len(words) <= CONTEXT_WORDS and start and not shown[start - 1].isspace():
                del words[:1]
        return " ".join(words[-CONTEXT_WORDS:])

    def after(self, mark: int) -> str:
        """Up to ten visible words behind a mark."""
        shown, start = self._shown, self._shown_positions[mark]
        words = shown[start : start + _SHORT_CONTEXT_CHARS].split(None, CONTEXT_WORDS)
        if len(words) <= CONTEXT_WORDS:
            end = start + CONTEXT_CHARS
            words = shown[start:end].split(None, CONTEXT_WORDS)
            if len(words) <= CONTEXT_WORDS and shown[end : end + 1].strip():
                del words[-1:]
        return " ".join(words[:CONTEXT_WORDS])


def collapse(text: str) -> str:
    """``text`` with each run of white space as one blank, none at the ends, and no controls.

    Control, direction and zero-width characters would reach terminals and reports; soft hyphens
    would cut words. The joiners of Persian and Indic words stay.
    """
    joined = " ".join(text.split())
    return joined if joined.isprintable() else " ".join(_CONTROLS.sub("", joined).split())


def _spaced(text: str) -> str:
    """``text`` with each run of white space as one blank, if the rest of it is printable.

    In a long text, cutting where two blanks meet takes half the time of cutting at every word.
    """
    plain = text.replace("\n", " ").replace("\t", " ").replace("\xa0", " ")
    return " ".join(filter(None, map(str.strip, plain.split("  "))))


def _ends(pieces: list[str]) -> list[int]:
    """Where in the joined text each piece ends; first of all, where it begins."""
    return list(accumulate(map(len, pieces), initial=0))


def _without_hidden(pieces: list[str], hidden: list[HiddenSpan]) -> list[str]:
    """The pieces, with those inside hidden spans emptied; spans may be nested."""
    shown = pieces.copy()
    end = 0
    for span in hidden:  # in the order of their starts
        start = max(span.start, end)
        end = max(span.end, end)
        shown[start:end] = [""] * (end - start)
    return shown


class LinkResolver:
    """Turns the addresses written in one page into canonical URLs.

    ``page_url`` is the page itself (links to it are dropped), ``base`` what relative addresses
    are relative to.
    """

    def __init__(self, page_url: str, base: str) -> None:
        self._page_url = page_url
        self._base = base
        self._folder = base[: base.partition("?")[0].rfind("/") + 1] or base
        self._site = base[: base.find("/", len("https://")) + 1] or base

    def resolve(self, address: str) -> str | None:
        """The canonical URL; ``None`` for the page itself and for what is not http."""
        url = self._canonical(address.strip())
        return url if url != self._page_url else None

    def _canonical(self, address: str) -> str | None:
        """With the least of the base that the answer depends on: other pages ask the same."""
        if len(address) > REMEMBERED_CHARS:
            return canonicalize(address, self._base)
        if address.startswith(_WHOLE_ADDRESSES):
            return _known_canonical(address, None)
        if address.startswith("/"):
            return _known_canonical(address, self._site)
        if address[:1] in _FOLDER_STARTS:
            return _known_canonical(address, self._folder)
        if address.startswith("#"):
            return self._base
        return canonicalize(address, self._base)


_known_canonical = lru_cache(maxsize=REMEMBERED_ADDRESSES)(canonicalize)


def build_links(
    walk: DocumentWalk, text: MarkedText, resolver: LinkResolver, page_nofollow: bool
) -> list[Link]:
    """The links that lead to other web pages, in document order."""
    links = []
    headings: dict[int, str] = {}
    before = after = heading = ""
    for span in walk.links:
        url = resolver.resolve(span.address)
        if url is None:
            continue
        if walk.surroundings:
            before, after = text.before(span.start), text.after(span.end)
            heading = _heading_words(span.heading, text, headings)
        attributes = span.attributes
        has_more = len(attributes) > 1
        links.append(
            Link(
                url,
                text.words(span.start, span.end),
                _image_words(span) if has_more or span.image_alts else "",
                before,
                after,
                heading,
                span.tag_path,
                span.kind,
                page_nofollow or (has_more and _is_nofollow(attributes)),
            )
        )
    return links


def _heading_words(heading: Span | None, text: MarkedText, known: dict[int, str]) -> str:
    if heading is None:
        return ""
    if heading.start not in known:
        known[heading.start] = text.words(heading.start, heading.end)
    return known[heading.start]


def _is_nofollow(attributes: Attributes) -> bool:
    rel = attributes.get("rel")
    return rel is not None and "nofollow" in rel.lower().split()


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
