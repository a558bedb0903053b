"""What most judges look at in a page, kept small: title, headings, language and counted terms.

Judging a page again takes a tenth of the time that reading it again would.
"""

from __future__ import annotations

import zlib

import msgspec
from isal import isal_zlib

from trailhound.records import Page

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
