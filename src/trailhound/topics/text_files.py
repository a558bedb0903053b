"""Main texts as files of Markdown or plain text: one for each page in a folder, or all in one.

Each text has a front matter, YAML between two lines of dashes, which tells where it is from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import msgspec

from trailhound.storage.export_folder import ExportFolder, file_stem
from trailhound.storage.exporting import ExportedPage, time_in_words
from trailhound.text.main_content import TextForm, harmless_markdown

ENDINGS: dict[TextForm, str] = {"markdown": ".md", "text": ".txt"}
PAGES = "pages"
"""The sub-folder of the pages."""

# What JSON leaves as it is and YAML does not take, or takes for the end of a line.
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_MARKDOWN_SIGNS = re.compile(r"([\\`*_\[\]#|~])")


def write_text_folder(pages: Iterable[ExportedPage], folder: Path, form: TextForm) -> int:
    """One file per page in ``pages/``, and an index of them, best first; how many there were."""
    ending = ENDINGS[form]
    entries: list[str] = []
    with ExportFolder(folder, form, [PAGES]) as files:
        for exported in pages:
            page = exported.page
            name = f"{PAGES}/{file_stem(page.title, page.address)}{ending}"
            files.write(name, document(exported, form).encode("utf-8", "replace"))
            entries.append(_index_entry(exported, name, form))
        index = ("# Pages\n\n" if form == "markdown" else "") + "".join(entries)
        files.write(f"index{ending}", index.encode("utf-8", "replace"))
    return len(entries)


def write_text_stream(pages: Iterable[ExportedPage], out: BinaryIO, form: TextForm) -> int:
    """All pages one after the other; how many there were."""
    written = 0
    for exported in pages:
        out.write(document(exported, form).encode("utf-8", "replace"))
        out.write(b"\n")
        written += 1
    return written


def document(exported: ExportedPage, form: TextForm) -> str:
    """Front matter, title and text of one page."""
    page = exported.page
    title, text = " ".join(page.title.split()), exported.text or ""
    has_heading = form == "text" or not title or text.startswith("# ")
    heading = "" if has_heading else f"# {_escaped(title)}\n\n"
    return f"---\n{''.join(_front_matter(exported))}---\n\n{heading}{text}\n"


def _front_matter(exported: ExportedPage) -> Iterator[str]:
    page = exported.page
    told: dict[str, object] = {
        "url": page.address,
        "title": " ".join(page.title.split()),
        "date": time_in_words(page.at),
        "language": page.language or None,
        "score": round(page.score, 4) if page.score is not None else None,
        "status": page.status,
        "content_type": exported.content_type or None,
        "marked": exported.marked,
    }
    for name, value in told.items():
        if value is not None:
            yield f"{name}: {_yaml(value)}\n"


def _yaml(value: object) -> str:
    """A scalar: YAML reads JSON's strings and numbers."""
    written = msgspec.json.encode(value).decode()
    return _NOT_IN_YAML.sub(lambda sign: f"\\u{ord(sign[0]):04x}", written)


def _index_entry(exported: ExportedPage, name: str, form: TextForm) -> str:
    page = exported.page
    title = " ".join(page.title.split()) or page.address
    if form == "text":
        return f"{title}\n  {name}\n  {page.address}\n"
    address = quote(page.address, safe=":/?&=;,@!$+%~-._[]")
    address = f"<{address}>" if address.startswith(("http://", "https://")) else ""
    return f"- [{_escaped(title)}]({quote(name)}) {address}\n"


def _escaped(text: str) -> str:
    """Text that Markdown takes for nothing but text."""
    return harmless_markdown(_MARKDOWN_SIGNS.sub(r"\\\1", text))
