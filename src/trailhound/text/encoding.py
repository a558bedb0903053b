"""Bytes to characters: byte-order mark, HTTP header, ``<meta>``, and only then detection.

Labels mean what browsers take them to mean (the WHATWG Encoding rules): ``iso-8859-1`` is
windows-1252, ``gb2312`` is gb18030, and labels of no text encoding at all (``base64``, ``utf-7``)
are ignored. Labels are often wrong, so two plain lies are caught: UTF-8 that does not decode, and
windows-1252 that is valid UTF-8.
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import cchardet

FALLBACK = "windows-1252"

# The web's names of encodings, and the codec that reads them.
_CODECS = {
    "utf-8": "utf-8",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "windows-1252": "cp1252",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp_2",
    "euc-kr": "cp949",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "ibm866": "cp866",
    "windows-874": "cp874",
    **{f"windows-{page}": f"cp{page}" for page in (1250, 1251, *range(1253, 1259))},
    **{f"iso-8859-{part}": f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
}
_WEB_NAMES = {codec: name for name, codec in _CODECS.items()}

# Codecs that pages name but that browsers read as a wider one.
_READ_AS = {
    "ascii": "windows-1252",
    "iso8859-1": "windows-1252",
    "iso8859-9": "windows-1254",
    "iso8859-11": "windows-874",
    "tis-620": "windows-874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "hz": "gb18030",
    "big5": "big5",
    "cp950": "big5",
    "shift_jis": "shift_jis",
    "shift_jisx0213": "shift_jis",
    "iso2022_jp": "iso-2022-jp",
    "euc_kr": "euc-kr",
    "johab": "euc-kr",
    "utf-16": "utf-16le",
    "utf-8-sig": "utf-8",
}
# Labels that browsers know and Python's codec registry does not.
_EXTRA_LABELS = {
    "windows-31j": "shift_jis",
    "mac": "macintosh",
    "windows-874": "windows-874",
    "dos-874": "windows-874",
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-8-e": "iso-8859-8",
    "logical": "iso-8859-8",
    "visual": "iso-8859-8",
    "unicode-1-1-utf-8": "utf-8",
    "x-unicode20utf8": "utf-8",
    "x-user-defined": "windows-1252",
    "x-x-big5": "big5",
    "unicode": "utf-16le",
}

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
# How EUC-JP is read where Python's codec gives up.
_VENDORS = "trailhound.euc-jp"
# With more that is no character at all, a body is not worth the time.
_MAX_UNKNOWN = 50_000
# To one good character of an encoding other than UTF-8.
_MOST_STRAY = 0.05
# Possessive: a header may be a megabyte of blanks.
_LABEL = r"""\s*+["']?+\s*+([A-Za-z0-9_.:()+-]{2,40})"""
_HEADER_CHARSET = re.compile(rf"charset\s*+={_LABEL}", re.IGNORECASE)
_META_CHARSET = re.compile(rf"<meta\b[^>]{{0,500}}?\bcharset\s*+={_LABEL}".encode(), re.IGNORECASE)
_XML_ENCODING = re.compile(rf"^\s*<\?xml\b[^>]{{0,200}}?\bencoding\s*+={_LABEL}".encode())
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)

# Browsers look for <meta> in the first 1,024 bytes; long comments push it further down.
_PRESCAN_BYTES = 4096
# The detector needs 4 ms per MB; what it has not understood by then it does not later.
_DETECTION_BYTES = 100_000


class Decoded(NamedTuple):
    """A body as characters, and the web's name of the encoding that gave them."""

    text: str
    encoding: str


def decode(body: bytes, content_type: str = "", *, is_xml: bool = False) -> Decoded:
    """``body`` as text. Bytes that mean nothing become U+FFFD; never raises.

    In XML, a ``<meta>`` is part of what is said: the HTML in a feed, say. Its declaration counts
    before the header.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return Decoded(_read(body[len(mark) :], name), name)
    declared = _declared(body, content_type, is_xml)
    if declared is None:
        return _detected(body)
    if declared == "utf-8":
        return _as_claimed_utf8(body)
    if declared == FALLBACK:
        return _utf8_or(body, FALLBACK)
    return Decoded(_read(body, declared), declared)


@lru_cache(maxsize=1024)
def encoding_of_label(label: str) -> str | None:
    """The web's name for what ``label`` means, or ``None`` when it is no text encoding."""
    plain = label.strip().lower()
    if plain in _EXTRA_LABELS:
        return _EXTRA_LABELS[plain]
    for spelling in (plain, plain.removeprefix("x-"), plain.replace("windows-", "cp")):
        try:
            codec = codecs.lookup(spelling).name
        except (LookupError, ValueError):  # ValueError: characters no codec name may hold
            continue
        return _READ_AS.get(codec) or _WEB_NAMES.get(codec)
    return None


def _declared(body: bytes, content_type: str, is_xml: bool) -> str | None:
    """The encoding that the header or the document names, if it names a real one."""
    header = _HEADER_CHARSET.search(content_type)
    outside = encoding_of_label(header[1]) if header is not None else None
    if outside is not None and not is_xml:
        return outside
    # Two bytes per character: no ASCII pattern could match below.
    if body[:2] in (b"<\0", b"\0<"):
        return "utf-16le" if body[1] == 0 else "utf-16be"
    inside = _declared_inside(body[:_PRESCAN_BYTES], is_xml)
    if outside is None or inside is None:
        return outside or inside
    return _right_one(body, inside, outside)


def _right_one(body: bytes, inside: str, outside: str) -> str | None:
    """Of the encodings that XML and its server name, the one that can be; XML knows better.

    Servers often name one charset for all their files.
    """
    if outside == "utf-8" and _utf8_or(body, inside).encoding == "utf-8":
        return outside
    return next((name for name in (inside, outside) if _is_text(_read(body, name), name)), None)


def _declared_inside(head: bytes, is_xml: bool) -> str | None:
    if b"<!--" in head:
        head = _COMMENT.sub(b"", head)
    found = (None if is_xml else _META_CHARSET.search(head)) or _XML_ENCODING.search(head)
    name = encoding_of_label(found[1].decode("ascii")) if found is not None else None
    # An ASCII-readable declaration proves that the document is not UTF-16.
    return "utf-8" if name in ("utf-16le", "utf-16be") else name


def _as_claimed_utf8(body: bytes) -> Decoded:
    """UTF-8 with stray bytes stays UTF-8; with more stray than good characters it never was."""
    text = _read(body, "utf-8")
    return Decoded(text, "utf-8") if _is_text(text, "utf-8") else _detected(body)


def _is_text(read: str, name: str) -> bool:
    """Whether what was read as ``name`` has few stray characters beyond ASCII among good ones."""
    bad = read.count("\ufffd") if "\ufffd" in read else 0  # looking is faster than counting
    if not bad:
        return True
    good = len(read) - len(read.encode("ascii", "ignore")) - bad
    # Other text is hardly ever UTF-8; most of it means something, though nonsense, elsewhere.
    return bad <= (good if name == "utf-8" else good * _MOST_STRAY)


def _utf8_or(body: bytes, name: str) -> Decoded:
    """UTF-8 when the bytes are valid UTF-8 beyond ASCII, which other text hardly ever is."""
    if not body.isascii():
        try:
            return Decoded(body.decode("utf-8"), "utf-8")
        except UnicodeDecodeError:
            pass
    return Decoded(_read(body, name), name)


def _detected(body: bytes) -> Decoded:
    """A body that declares nothing: ASCII and UTF-8 prove themselves, the rest is guessed."""
    if body.isascii() and b"\x1b" not in body:
        return Decoded(body.decode("ascii"), "utf-8")
    as_utf8 = _utf8_or(body, FALLBACK)
    if as_utf8.encoding == "utf-8":
        return as_utf8
    guess = cchardet.detect(body[:_DETECTION_BYTES])["encoding"]
    name = encoding_of_label(guess) if guess else None
    if name is None or name == "utf-8":
        return as_utf8
    return Decoded(_read(body, name), name)


def _read(body: bytes, name: str) -> str:
    text = body.decode(_CODECS[name], errors="replace")
    if name == "euc-jp" and 0 < text.count("\ufffd") <= _MAX_UNKNOWN:
        return body.decode(_CODECS[name], errors=_VENDORS)
    return text


def _vendor_characters() -> dict[bytes, str]:
    """What vendors added to EUC-JP, as Shift_JIS has it: ①, ㈱ and 髙, say."""
    found = {}
    for row, cell in product((0xAD, 0xF9, 0xFA, 0xFB, 0xFC), range(0xA1, 0xFF)):
        # Shift_JIS has two rows of 94 to each first byte.
        half, is_second = divmod(row - 0xA1, 2)
        first = half + (0x81 if half < 31 else 0xC1)
        second = cell - 0xA1 + (0x9F if is_second else 0x40 + (cell >= 0xE0))
        with suppress(UnicodeDecodeError):
            found[bytes((row, cell))] = bytes((first, second)).decode("cp932")
    return found


_VENDOR_CHARACTERS = _vendor_characters()


def _as_vendors_meant(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    start = error.start
    found = _VENDOR_CHARACTERS.get(error.object[start : start + 2])
    return (found, start + 2) if found else ("\ufffd", error.end)


codecs.register_error(_VENDORS, _as_vendors_meant)
