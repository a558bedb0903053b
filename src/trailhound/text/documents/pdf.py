"""PDF documents, by PDFium; the extra ``trailhound[documents]`` brings it.

Each line of a page's text belongs to a paragraph; link annotations get the words that they lie
over. The title is the declared one, if it says something, or the first page's largest line. The
outline's entries become headings where the page says them.
"""

from __future__ import annotations

import ctypes
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from trailhound.text.documents.blocks import Document, Run, UnreadableDocumentError, linked

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

MAX_PAGES = 300
MAX_LINKS = 200
"""Of one page; a document's own are limited with all others."""
MAX_HEADINGS = 500
_MAX_PAGE_CHARS = 100_000
_TITLE_CHARS = 1_500
"""Of the first page that are measured for a title."""
_PASSWORD = 4
_NEEDS_LIBRARY = (
    "a PDF document, which needs the package pypdfium2 to be read; install it with: "
    "pip install 'trailhound[documents]'"
)

# Titles that programs set without being told: "Microsoft Word - draft3.doc", "untitled", "a.dvi".
_NO_TITLE = re.compile(
    r"(?:microsoft \w++ - .*+|untitled.{0,9}"
    r"|.{0,80}\.(?:docx?|dvi|tex|indd|qxd|pptx?|pdf|rtf)|\W*+)\Z",
    re.IGNORECASE,
)
# A hyphen at the end of a line, which PDFium marks: U+FFFE in earlier releases.
_HYPHEN = re.compile(r"[\x02\ufffe]\s*+|(?<=\w)\xad\s*+")
_ADDRESS = re.compile(
    r"(?<![a-z0-9])(?:https?://|www\.)(?:[^\s\x02\ufffe]++|[\x02\ufffe]\s*+)++", re.IGNORECASE
)
# A line that ends a sentence before a line that begins one, or a blank line.
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*+\n\s*+|(?<=[.!?:])\n(?=[A-Z\d•–-])")


def read_pdf(body: bytes) -> Document:
    """The first pages of a document; UnreadableDocumentError when it is locked or damaged."""
    try:
        import pypdfium2
    except ImportError as error:
        raise UnreadableDocumentError(_NEEDS_LIBRARY) from error
    logging.getLogger("pypdfium2").setLevel(logging.CRITICAL)  # oddities are no news to the user
    try:
        pdf = pypdfium2.PdfDocument(body)
        n_pages = len(pdf)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", 0) == _PASSWORD:
            raise UnreadableDocumentError("a PDF document that needs a password") from error
        raise UnreadableDocumentError("a PDF document that is damaged or cut off") from error
    if not n_pages:
        raise UnreadableDocumentError("a PDF document without pages")
    try:
        return _read(pdf, min(n_pages, MAX_PAGES))
    finally:
        pdf.close()


def _read(pdf: PdfDocument, n_pages: int) -> Document:
    from pypdfium2 import PdfiumError

    document, outline, largest, readable = Document(), _outline(pdf), "", 0
    for number in range(n_pages):
        try:
            page = pdf.get_page(number)
            text = page.get_textpage()
        except PdfiumError:  # others may be sound
            continue
        if not readable:
            largest = _largest_line(text)
        readable += 1
        for level, runs in _blocks(page, text, outline[number]):
            document.add(runs, level)
        text.close()
        page.close()
        if document.is_full:
            break
    if not readable:
        raise UnreadableDocumentError("a PDF document without a page that can be read")
    declared = _decodable(lambda: pdf.get_metadata_value("Title")).strip()
    document.settle_title(largest if _NO_TITLE.match(declared) else declared)
    document.language = _declared_language(pdf)
    return document


def _declared_language(pdf: PdfDocument) -> str:
    """By the catalogue; documents of one language that have none are many."""
    import pypdfium2.raw as pdfium

    buffer = ctypes.create_string_buffer(64)
    size = pdfium.FPDFCatalog_GetLanguage(pdf.raw, _wide(buffer), len(buffer))
    return _utf16(buffer, size) if 0 < size <= len(buffer) else ""


def _wide(buffer: Any) -> Any:
    return ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))


def _utf16(buffer: Any, size: int) -> str:
    raw: bytes = buffer.raw
    return raw[: max(0, size - 2)].decode("utf-16-le", "replace")


def _outline(pdf: PdfDocument) -> dict[int, list[str]]:
    """Titles of the outline's entries by their pages."""
    found: dict[int, list[str]] = defaultdict(list)
    for entry in islice(pdf.get_toc(max_depth=3), MAX_HEADINGS):
        place = entry.get_dest()
        index = place.get_index() if place is not None else None
        if index is not None:
            found[index].append(_decodable(entry.get_title))
    return found


def _decodable(ask: Callable[[], str]) -> str:
    """PDFium's answer; nothing when it is no text, as with half of a pair of surrogates."""
    try:
        return ask()
    except UnicodeDecodeError:
        return ""


def _largest_line(text: PdfTextPage) -> str:
    """The first page's largest letters that make some words, in reading order."""
    n_chars = min(text.count_chars(), _TITLE_CHARS)
    heights: list[float] = []
    for index in range(n_chars):
        left, bottom, right, top = text.get_charbox(index, loose=True)
        heights.append(round(abs(top - bottom), 1) if right > left else 0.0)
    for height in sorted(set(heights), reverse=True)[:3]:
        near = [index for index in range(n_chars) if heights[index] >= 0.95 * height > 0]
        if near:
            first, last = near[0], _end_of_run(near)
            words = " ".join(_tidy(text.get_text_range(first, last - first + 1)).split())
            if 8 <= len(words) <= 300:
                return words
    return ""


def _end_of_run(indices: list[int]) -> int:
    """The last of the numbers that follow the first, with small gaps: blanks, ends of lines."""
    last = indices[0]
    for index in indices:
        if index - last > 4:
            break
        last = index
    return last


def _blocks(
    page: PdfPage, text: PdfTextPage, headings: list[str]
) -> Iterator[tuple[int, list[Run]]]:
    """The paragraphs of a page, with its links where their words are."""
    is_usual = text.count_chars() <= _MAX_PAGE_CHARS
    whole = _tidy(text.get_text_bounded() if is_usual else text.get_text_range(0, _MAX_PAGE_CHARS))
    links = _Links(_links(page, text))
    wanted = {_key(heading) for heading in headings} - {""}
    for paragraph in _PARAGRAPH_END.split(whole):
        for is_heading, lines in groupby(paragraph.split("\n"), lambda line: _key(line) in wanted):
            yield 2 * is_heading, links.runs("\n".join(lines))
    yield 0, links.rest()


def _tidy(text: str) -> str:
    """With words joined that go on in the next line; the hyphens of an address are its own."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _HYPHEN.sub("", _ADDRESS.sub(lambda found: _HYPHEN.sub("-", found[0]), text))


def _key(text: str) -> str:
    """What a heading is told by: outlines spell it without its number, or with other blanks."""
    return "".join(filter(str.isalnum, text[:300])).lower().lstrip("0123456789")


class _Links:
    """The links of a page, each put where its words are found."""

    def __init__(self, links: Iterator[Run]) -> None:
        self._waiting = list(dict.fromkeys(links))

    def runs(self, text: str) -> list[Run]:
        """A paragraph with the links in it, in order; addresses that are written out as well."""
        runs: list[Run] = []
        end = 0
        left = []
        for link in self._waiting:
            start = text.find(link.text, end) if link.text else -1
            if start < 0:
                left.append(link)
                continue
            runs += [*linked(text[end:start]), link]
            end = start + len(link.text)
        self._waiting = left
        return [*runs, *linked(text[end:])]

    def rest(self) -> list[Run]:
        """Links whose words are not in the text as they are: over pictures, say."""
        return [each for link in self._waiting for each in (link, Run(" "))]


def _links(page: PdfPage, text: PdfTextPage) -> Iterator[Run]:
    """Link annotations that lead to the web, with the words below them."""
    import pypdfium2.raw as pdfium

    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    for _ in range(MAX_LINKS):
        if not pdfium.FPDFLink_Enumerate(page.raw, position, link):
            return
        address = _address(page, link)
        area = pdfium.FS_RECTF()
        if not address or not pdfium.FPDFLink_GetAnnotRect(link, area):
            continue
        words = text.get_text_bounded(area.left, area.bottom, area.right, area.top)
        yield Run(_tidy(words).strip()[:300], address)


def _address(page: PdfPage, link: Any) -> str:
    import pypdfium2.raw as pdfium

    action = pdfium.FPDFLink_GetAction(link)
    if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
        return ""
    document = page.pdf.raw if page.pdf is not None else None
    size = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
    if not 1 < size <= 2_000:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFAction_GetURIPath(document, action, buffer, size)
    return buffer.value.decode("utf-8", "replace")
