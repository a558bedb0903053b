"""Office documents and e-books: packages of XML, read part by part.

docx, pptx and xlsx (Office Open XML), odt, odp and ods (OpenDocument), epub. No library: text is in
a few kinds of elements, and links are attributes or named in a part beside. A package may not hold
more parts, nor unpack to more, than any honest one does.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from posixpath import dirname, join, normpath
from typing import NamedTuple
from urllib.parse import unquote

from trailhound.text.documents.blocks import MAX_CHARS, Document, Run, UnreadableDocumentError
from trailhound.text.documents.xml_reading import (
    Attributes,
    EnoughError,
    XmlWalk,
    attribute,
    tolerable_xml,
    walk_xml,
)

MAX_PARTS = 10_000
MAX_UNPACKED_BYTES = 50_000_000
"""Of all parts that are read."""
_HARMLESS_BYTES = 2_000_000
_MAX_UNPACKING = 200
"""How much smaller a part may be packed; XML deflates to a tenth as a rule."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError, OverflowError,
)  # fmt: skip

_WORD = re.compile(r"word/document\d*\.xml\Z")
_SLIDE = re.compile(r"ppt/slides/slide(\d{1,9})\.xml\Z")
# Most programs keep the strings of all cells in one part; without it, they are in the cells.
_STRINGS = "xl/sharedStrings.xml"
_SHEET = re.compile(r"xl/worksheets/sheet\d{0,9}\.xml\Z")
_SHEET_LINKS = re.compile(r"xl/worksheets/_rels/[^/]+\.rels\Z")

_LEVELS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset([
    "p", "h", "li", "si", "is", "tr", "div", "blockquote", "dt", "dd", "pre", *_LEVELS,
])  # fmt: skip
_BLANKS = frozenset(["tab", "br", "line-break", "cr", "s", "td", "table-cell"])
_UNSEEN = frozenset(["script", "style", "head", "tracked-changes", "annotation", "delText"])
_HEADING_STYLE = re.compile(r"(?:heading|berschrift|titre|titulo|kop)\s*([1-6])|(title)\Z", re.I)
_FIELD_LINK = re.compile(r'HYPERLINK\s{1,9}"([^"]{1,2000})"')


def read_office(body: bytes) -> Document:
    """What a package says; UnreadableDocumentError when it is damaged, locked or a bomb."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as opened:
            return _read(_Package(opened))
    except _DAMAGE as error:
        why = " ".join(str(error).split())[:200]
        raise UnreadableDocumentError(f"an office document that is damaged: {why}") from error


class _Package:
    """The parts of a package, unpacked within limits."""

    def __init__(self, opened: zipfile.ZipFile) -> None:
        self._opened = opened
        self._room = MAX_UNPACKED_BYTES
        infos = opened.infolist()
        if len(infos) > MAX_PARTS:
            raise UnreadableDocumentError(f"a package of {len(infos):,} parts, more than is read")
        self._infos = {info.filename: info for info in infos}
        self.names = list(self._infos)

    def has(self, name: str) -> bool:
        """Whether there is such a part."""
        return name in self._infos

    def part(self, name: str) -> bytes:
        """The content of a part; empty when there is none."""
        info = self._infos.get(name)
        if info is None:
            return b""
        if info.flag_bits & 1:
            raise UnreadableDocumentError("an office document that needs a password")
        most = max(_HARMLESS_BYTES, _MAX_UNPACKING * info.compress_size)
        if info.compress_type not in _METHODS or info.file_size > min(most, self._room):
            raise UnreadableDocumentError(
                f"an office document that unpacks to more than is read ({info.file_size:,} bytes "
                f"in one part)"
            )
        with self._opened.open(info) as part:
            content = part.read(self._room)
        self._room -= len(content)
        return content


class _Content(NamedTuple):
    """Where the words of a package are, and what its links are called."""

    parts: list[str]
    links: Callable[[str], dict[str, str]]
    about: str
    """The part with title and language."""
    is_book: bool = False


def _read(package: _Package) -> Document:
    content = _content(package)
    document = Document()
    failures = []
    for part in content.parts:
        walk = _Walk(document, content.links(part), content.is_book)
        xml = package.part(part)
        failures.append(walk_xml(tolerable_xml(xml) if content.is_book else xml, walk))
        walk.flush()
        if document.is_full:
            break
    for name in sorted(filter(_SHEET_LINKS.match, package.names)):
        for url in _targets(package, name).values():
            document.add([Run(url, url)])
    if not document.blocks and any(failures):
        reason = next(filter(None, failures))
        raise UnreadableDocumentError(f"an office document that is damaged: {reason}")
    about = _About()
    walk_xml(package.part(content.about), about)
    document.language = about.found.get("language", "")
    document.settle_title(about.found.get("title", ""))
    return document


def _content(package: _Package) -> _Content:
    names = package.names

    def named_beside(part: str) -> dict[str, str]:
        folder, _, name = part.rpartition("/")
        return _targets(package, f"{folder}/_rels/{name}.rels")

    for pattern in (_WORD, _SLIDE):
        found = [name for name in names if pattern.match(name)]
        if found:
            return _Content(sorted(found, key=_number), named_beside, "docProps/core.xml")
    if "xl/workbook.xml" in names:
        strings = (
            [_STRINGS] if _STRINGS in names else sorted(filter(_SHEET.match, names), key=_number)
        )
        return _Content(strings, lambda _: {}, "docProps/core.xml")
    if "content.xml" in names:
        return _Content(["content.xml"], lambda _: {}, "meta.xml")
    if "META-INF/container.xml" in names:
        return _book(package)
    raise UnreadableDocumentError("a package that is no office document: it has no known parts")


def _number(name: str) -> tuple[int, str]:
    digits = re.search(r"(\d{1,9})\.xml\Z", name)
    return int(digits[1]) if digits else 0, name


def _targets(package: _Package, name: str) -> dict[str, str]:
    """Addresses outside the package by the names that a part gives them."""
    walk = _Elements("Relationship")
    walk_xml(package.part(name), walk)
    return {
        each.get("Id", ""): each.get("Target", "")
        for each in walk.found
        if each.get("TargetMode") == "External"
    }


def _book(package: _Package) -> _Content:
    """An epub: a package within the package says what is read in which order."""
    roots = _Elements("rootfile")
    walk_xml(package.part("META-INF/container.xml"), roots)
    about = next((root.get("full-path", "") for root in roots.found), "")
    contents = _Elements("item", "itemref")
    walk_xml(package.part(about), contents)
    files = {each["id"]: each["href"] for each in contents.found if "href" in each and "id" in each}
    order = [files[each["idref"]] for each in contents.found if each.get("idref") in files]
    parts = [_part_at(package, dirname(about), href) for href in order]
    return _Content(parts, lambda _: {}, about, is_book=True)


def _part_at(package: _Package, folder: str, href: str) -> str:
    """The name of the part that an address leads to; some write the name as it is."""
    written = normpath(join(folder, href))
    return written if package.has(written) else normpath(join(folder, unquote(href)))


class _Elements(XmlWalk):
    """Gathers the attributes of some elements."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.found: list[dict[str, str]] = []
        self._names = names

    def enter(self, name: str, attributes: Attributes) -> None:
        if name in self._names:
            self.found.append(dict(attributes))
            if len(self.found) >= MAX_PARTS:
                raise EnoughError


class _About(XmlWalk):
    """Title and language, the first of each."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}

    def data(self, text: str) -> None:
        name = self.path[-1]
        if name in ("title", "language") and len(self.found.get(name, "")) < 500:
            self.found[name] = self.found.get(name, "") + text[:500]

    def leave(self, name: str) -> None:
        if len(self.found) == 2 or name == "metadata":
            raise EnoughError


class _Walk(XmlWalk):
    """Words and links of one part, in any of the formats: their elements do not collide."""

    def __init__(self, document: Document, targets: dict[str, str], is_book: bool) -> None:
        super().__init__()
        self._document = document
        self._targets = targets
        self._is_book = is_book
        self._runs: list[Run] = []
        self._level = 0
        self._shape_level = 0
        self._address = ""
        self._link_end = ""
        self._unseen = 0
        self._chars = 0

    def enter(self, name: str, attributes: Attributes) -> None:
        if name in _UNSEEN:
            self._unseen += 1
        elif name in _BLOCKS:
            self._end_block()
            self._level = _LEVELS.get(name, self._shape_level)
            if name == "h":
                self._level = _digit(attribute(attributes, "outline-level")) or 2
        elif name in _BLANKS:
            self._runs.append(Run(" "))
        elif name == "pStyle":
            style = _HEADING_STYLE.search(attribute(attributes, "val"))
            self._level = (_digit(style[1] or "") or 1) if style else self._level
        elif name == "ph":  # the placeholder for a slide's title
            self._shape_level = 2 if attributes.get("type") in ("title", "ctrTitle") else 0
        else:
            self._enter_link(name, attributes)

    def _enter_link(self, name: str, attributes: Attributes) -> None:
        if name in ("hyperlink", "hlinkClick"):
            self._address = self._targets.get(attribute(attributes, "id"), "")
            self._link_end = "hyperlink" if name == "hyperlink" else "r"
        elif name == "a" and (address := attribute(attributes, "href")):
            is_outside = not self._is_book or address.startswith(("http://", "https://"))
            self._address, self._link_end = address if is_outside else "", "a"
        elif name == "fldChar" and attribute(attributes, "fldCharType") == "end":
            self._address = self._link_end = ""

    def data(self, text: str) -> None:
        if self._unseen:
            return
        name = self.path[-1]
        if name == "instrText":  # the older way to write a link in docx
            found = _FIELD_LINK.search(text)
            if found is not None:
                self._address, self._link_end = found[1], ""
        elif name == "t" or not self._is_packed():
            self._runs.append(Run(text, self._address))
            self._chars += len(text)
            if self._chars > MAX_CHARS:
                self._end_block()

    def _is_packed(self) -> bool:
        """Whether only ``t`` elements hold words: in Office Open XML, where other things do not."""
        return self.path[0] in ("document", "sld", "sst", "worksheet")

    def leave(self, name: str) -> None:
        if name in _UNSEEN:
            self._unseen -= 1
        elif name in _BLOCKS:
            self._end_block()
            self._level = self._shape_level
        elif name == "sp":
            self._shape_level = 0
        if name == self._link_end:
            self._address = self._link_end = ""

    def flush(self) -> None:
        """What was gathered so far stands by itself."""
        self._document.add(_joined(self._runs), self._level)
        self._runs, self._chars = [], 0

    def _end_block(self) -> None:
        self.flush()
        if self._document.is_full:
            raise EnoughError


def _joined(runs: list[Run]) -> Iterator[Run]:
    """Words that lead to the same place are one link, however they are styled."""
    words: list[str] = []
    address = ""
    for run in runs:
        if run.address != address:
            yield Run("".join(words), address)
            words, address = [], run.address
        words.append(run.text)
    yield Run("".join(words), address)


def _digit(text: str) -> int:
    return int(text[0]) if text[:1].isdecimal() and text[0].isascii() else 0
