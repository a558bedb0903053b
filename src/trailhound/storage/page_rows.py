"""A page of a crawl as a row of its results: what SQLite can hold of it.

Besides the event, that is a snippet, the few words that stand for the page in a list; and what most
judges look at, kept small: title, headings, language and counted terms. Judging a page again takes
a tenth of the time that reading it again would.
"""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Iterator

import msgspec
from isal import isal_zlib

from trailhound.records import FinishedPage, Page
from trailhound.utf8 import storable

SNIPPET_CHARS = 280

_PROSE_CHARS = 80
"""Less of a page's own words between two menus is a caption or a date."""
_SEARCHED_CHARS = 10_000
_NEXT_LINK_CHARS = 3_000
"""Words found farther from the link before are another's: not every link can be seen."""
_TRIES = 50
"""Places within other words that are passed over: "a" is in every second one."""
_SEPARATORS = " ,;:.|»›)–-"
_MARKS = "¶\N{LINK SYMBOL}\uf0c1"
_HEADING_MARKS = str.maketrans("", "", _MARKS)
"""Signs with which generated pages link to their own headings."""
_LETTER = re.compile(r"\w")
# No end: the point of "Dr.", "e.g." or "J. Smith".
_SENTENCE_END = re.compile(r"(?:\w{3}[)\]\"'”’]*[.!?][)\]\"'”’]*(?=\s|$))|[。！？]")


def snippet_of(page: Page) -> str:
    """The page's own description, else its first prose, links in it included, else how it begins.

    At most :data:`SNIPPET_CHARS` characters; whole sentences where there are any.
    """
    if page.description:
        return _shortened(page.description)
    stretches = _stretches(page)
    prose = (text for text, linked in stretches if len(text) - linked >= max(_PROSE_CHARS, linked))
    return _shortened(_without_headings(next(prose, page.text), page))


def tidied(passage: str) -> str:
    """A passage in one line, without signs that link to headings."""
    if any(mark in passage for mark in _MARKS):
        passage = passage.translate(_HEADING_MARKS)
    return " ".join(passage.split())


def _shortened(text: str) -> str:
    tidy = tidied(text[: 4 * SNIPPET_CHARS]).lstrip(_SEPARATORS)
    if len(tidy) <= SNIPPET_CHARS:
        return tidy
    ends = [end.end() for end in _SENTENCE_END.finditer(tidy[: SNIPPET_CHARS + 1])]
    if ends and _PROSE_CHARS <= ends[-1] <= SNIPPET_CHARS:
        return tidy[: ends[-1]]
    cut = tidy[: SNIPPET_CHARS - 1]
    blank = cut.rfind(" ", SNIPPET_CHARS // 2)
    return (cut[:blank] if blank > 0 else cut).rstrip(" ,;:-") + "…"


def _stretches(page: Page) -> Iterator[tuple[str, int]]:
    """The text between menus, and how many characters of it are words of links.

    A menu is where nothing can be read between one link and the next.
    """
    text = page.text[:_SEARCHED_CHARS]
    start = linked = 0
    last_start, last_end = 0, 0
    for first, end in _places_of_links(page, text):
        if last_end and not _LETTER.search(text, last_end, first):
            yield text[start:last_start].strip(), linked
            start, linked = end, 0
        else:
            linked += last_end - last_start if last_start >= start else 0
        last_start, last_end = first, end
    linked += last_end - last_start if last_start >= start else 0
    yield text[start:].strip(), linked


def _places_of_links(page: Page, text: str) -> Iterator[tuple[int, int]]:
    """Where the words of links begin and end in ``text``."""
    position = 0
    for link in page.links:
        found = _find_words(text, link.anchor, position) if link.anchor else -1
        if found >= 0:
            position = found + len(link.anchor)
            yield found, position


def _find_words(text: str, words: str, position: int) -> int:
    """Where whole ``words`` begin at or a little behind ``position``; -1 when nowhere."""
    limit = position + _NEXT_LINK_CHARS
    found = position - 1
    for _ in range(_TRIES):
        found = text.find(words, found + 1, limit)
        end = found + len(words)
        if found < 0 or not (text[found - 1 : found].isalnum() or text[end : end + 1].isalnum()):
            return found
    return -1


def _without_headings(text: str, page: Page) -> str:
    """The text behind the headings it begins with: the title is shown anyway."""
    for heading in page.headings[:3]:
        text = text.removeprefix(heading).lstrip()
    return text or page.text


MAX_TERMS = 20_000
"""Different ones on a page whose words are kept: no page that a person wrote has more."""
MAX_HEADING_CHARS = 20_000
"""Of all headings of such a page."""
_LEVEL = 1

_encode = msgspec.msgpack.Encoder().encode


class _Words(msgspec.Struct, array_like=True):
    version: int
    title: str
    headings: tuple[str, ...]
    language: str
    terms: dict[str, int]


_decode = msgspec.msgpack.Decoder(_Words).decode


def pack_words(page: Page, version: int) -> bytes | None:
    """The words of a page, as this version of the extractor saw it.

    ``None`` for a page with too many, or with none, which may stand for one whose content is lost.
    """
    if not 0 < len(page.terms) <= MAX_TERMS or sum(map(len, page.headings)) > MAX_HEADING_CHARS:
        return None
    words = _Words(version, page.title, page.headings, page.language, page.terms)
    try:
        packed: bytes = isal_zlib.compress(_encode(words), _LEVEL)
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 cannot carry
        return None
    return packed


def unpack_words(packed: bytes, address: str, version: int) -> Page | None:
    """A page with these words, and without text and links.

    ``None`` when another version of the extractor saw it, or the bytes are damaged.
    """
    try:
        words = _decode(zlib.decompress(packed))
    except (msgspec.DecodeError, UnicodeDecodeError, zlib.error):
        return None
    if words.version != version:
        return None
    return Page(
        address,
        title=words.title,
        headings=words.headings,
        language=words.language,
        terms=words.terms,
    )


INSERT_EVENT = """
    INSERT INTO event VALUES (
        NULL, :number, :url, :address, :outcome, :parent, :depth, :priority, :memory, :requests,
        :requests_total, :score, :relevant, :links_found, :links_added, :links_outside, :why,
        :title, :snippet, :language, :duplicate_of, :noindex, :at, :status, :etag, :last_modified,
        :known, :fingerprint, :current
    )
"""


def event_row(finished: FinishedPage) -> dict[str, object]:
    """The columns by name, and fields of the event that are no column."""
    event, result, page = finished.event, finished.result, finished.page
    relevance, fingerprint = event.relevance, finished.fingerprint
    return msgspec.structs.asdict(event) | {
        "address": event.final_url,
        "memory": finished.candidate.memory,
        "score": min(relevance.score, 1.0) if relevance else None,  # rounding may exceed 1
        "relevant": bool(relevance and relevance.relevant),
        "why": storable(event.why),
        "title": storable(event.title),
        "snippet": storable(snippet_of(page)) if page is not None else "",
        "language": page.language if page is not None else "",
        "status": result.status,
        "etag": storable(result.header("ETag")),
        "last_modified": storable(result.header("Last-Modified")),
        "fingerprint": signed(fingerprint),
    }


def signed(fingerprint: int | None) -> int | None:
    """As SQLite keeps it: its integers have a sign."""
    return fingerprint and fingerprint - (fingerprint >> 63 << 64)


def unsigned(kept: int) -> int:
    """A fingerprint that SQLite kept."""
    return kept % (1 << 64)


def kept_fingerprints(connection: sqlite3.Connection) -> Iterator[tuple[str, int]]:
    """Addresses and fingerprints of all pages in results that others may be copies of."""
    query = (
        "SELECT address, fingerprint FROM event "
        "WHERE fingerprint IS NOT NULL AND current AND NOT noindex "
        "ORDER BY duplicate_of IS NOT NULL, id"  # one that was fetched again is no copy of its copy
    )
    for address, fingerprint in connection.execute(query):
        yield address, unsigned(fingerprint)
