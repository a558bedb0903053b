"""Plain text and Markdown: paragraphs between blank lines, addresses as links.

Markdown is what is announced as such, and text at an address that ends like it: servers send it as
plain text. A small reader of its own: headings, links of all kinds, code that is left alone. It
passes over each line once, however it is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby

from trailhound.text.documents.blocks import Document, Run, linked
from trailhound.text.encoding import decode

MAX_BYTES = 8_000_000

_MARKDOWN_NAME = re.compile(r"\.(?:md|mkd|mdown|markdown)\Z", re.IGNORECASE)
_HEADING = re.compile(r" {0,3}(#{1,6})\s++(.*)")
_UNDERLINE = re.compile(r" {0,3}(?:=++|-++)\s*+\Z")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_DEFINITION = re.compile(r" {0,3}\[([^\[\]]{1,200})\]:\s{0,10}<?([^\s<>]{1,2000})")
_LIST_MARK = re.compile(r"\s*+(?:>\s?|[-*+]\s++|\d{1,9}[.)]\s++)")
_TAG = re.compile(r"<(?!https?:)[A-Za-z/!][^<>]{0,1000}>", re.IGNORECASE)
_IMAGE = r"!\[([^\[\]]{0,300})\]\([^()\s]{0,2000}(?:\s[^()]{0,300})?\)"
_LINK = re.compile(
    rf"""(?:{_IMAGE}
    |\[((?:{_IMAGE.replace("([^", "(?:[^", 1)}|[^\[\]]){{0,500}}+)\]
     (?:\(\s{{0,10}}<?([^\s()<>]{{1,2000}}(?:\([^\s()<>]{{0,300}}\)[^\s()<>]{{0,300}})?)>?
        (?:\s[^()]{{0,300}})?\)
       |\[([^\[\]]{{0,200}})\])?
    |<(https?://[^\s<>]{{1,2000}})>)""",
    re.VERBOSE | re.IGNORECASE,
)
_ALT = re.compile(_IMAGE)
_EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")


def read_text(body: bytes, url: str, content_type: str) -> Document:
    """The paragraphs of a text; its first line, if it is short, is its title."""
    text = decode(body[:MAX_BYTES], content_type).text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    path = url.partition("?")[0].partition("#")[0]
    document = Document()
    if "markdown" in content_type.partition(";")[0].lower() or _MARKDOWN_NAME.search(path):
        title = _read_markdown(document, lines)
    else:
        title = ""
        for is_text, paragraph in groupby(lines, key=lambda line: bool(line.strip())):
            if is_text:
                document.add(linked("\n".join(paragraph)))
        if document.blocks:
            title = document.blocks[0].runs[0].text.strip().partition("\n")[0].strip()
    document.settle_title(title if len(title) <= 150 else "")
    return document


def _read_markdown(document: Document, lines: list[str]) -> str:
    """Fill the document; the title that front matter declares."""
    title, lines = _without_front_matter(lines)
    known = {
        found[1].lower(): found[2] for found in map(_DEFINITION.match, lines) if found is not None
    }
    reader = _Markdown(document, known)
    for line in lines:
        reader.take(line)
    reader.end_paragraph()
    return title


def _without_front_matter(lines: list[str]) -> tuple[str, list[str]]:
    if not lines or lines[0].strip() != "---":
        return "", lines
    for number, line in enumerate(lines[1:100], 1):
        if line.strip() in ("---", "..."):
            titles = [each[6:] for each in lines[1:number] if each[:6].lower() == "title:"]
            return titles[0].strip(" \"'") if titles else "", lines[number + 1 :]
    return "", lines


class _Markdown:
    """Takes lines one by one."""

    def __init__(self, document: Document, known: Mapping[str, str]) -> None:
        self._document = document
        self._known = known
        self._lines: list[str] = []
        self._is_code = False

    def take(self, line: str) -> None:
        """The next line."""
        if _FENCE.match(line):
            self.end_paragraph()
            self._is_code = not self._is_code
        elif self._is_code:
            self._lines.append(line)
        elif not line.strip():
            self.end_paragraph()
        elif found := _HEADING.match(line):
            self.end_paragraph()
            self._document.add(self._runs(found[2].rstrip("# ")), len(found[1]))
        elif _UNDERLINE.match(line) and len(self._lines) == 1:
            self.end_paragraph(1 if "=" in line else 2)
        elif _DEFINITION.match(line) is None:
            if mark := _LIST_MARK.match(line):
                self.end_paragraph()
            self._lines.append(line[mark.end() :] if mark else line)

    def end_paragraph(self, level: int = 0) -> None:
        """What was taken so far stands by itself."""
        text, self._lines = "\n".join(self._lines), []
        self._document.add([Run(text)] if self._is_code else self._runs(text), level)

    def _runs(self, text: str) -> Iterator[Run]:
        text = _TAG.sub("", text)
        end = 0
        for found in _LINK.finditer(text):
            run = self._run(*found.groups())
            if run is not None:
                yield from map(_plain, linked(text[end : found.start()]))
                yield run
                end = found.end()
        yield from map(_plain, linked(text[end:]))

    def _run(
        self,
        alt: str | None,
        words: str | None,
        address: str | None,
        name: str | None,
        automatic: str | None,
    ) -> Run | None:
        if automatic is not None:
            return Run(automatic, automatic)
        if words is None:
            return Run(alt or "")
        words = _plain(Run(_ALT.sub(r"\1", words))).text
        address = address or self._known.get((name or words).lower())
        return Run(words, address) if address else None


def _plain(run: Run) -> Run:
    """Without the signs of emphasis, which addresses keep."""
    return run if run.address else Run(_EMPHASIS.sub("", run.text))
