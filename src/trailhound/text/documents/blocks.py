"""What all readers of documents make: headings and paragraphs, with links in them.

As HTML it goes the way of every page: terms, language and links with their surroundings come from
the one extractor. As text or Markdown it is what people read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

from trailhound.urls import canonicalize

MAX_CHARS = 1_000_000
"""Of a document's words, and of its addresses."""
MAX_BLOCKS = 50_000
MAX_ADDRESS_CHARS = 2_000

# Texts set no blanks between an address and Chinese, Japanese or Korean words, nor before the
# signs that only texts have: quotation marks, dots, an em dash, a full stop of another script.
_NO_ADDRESS = (
    "\xab\xbb\u060c\u061b\u061f\u06d4\u0964\u200b\u200e\u200f\u2014-\u203a"
    "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff"
)
_ADDRESS = re.compile(
    rf"""(?<![A-Za-z0-9])(?i:https?://|www\.)[^\s<>"'`{{}}|\\^\[\]{_NO_ADDRESS}]{{3,2000}}"""
)
_MARKUP = str.maketrans(dict.fromkeys("\x00\ufffe\uffff"))


class UnreadableDocumentError(Exception):
    """A document cannot be read; the message says why: ``a PDF document that needs a password``."""


class Run(NamedTuple):
    """Words, and where they lead."""

    text: str
    address: str = ""


class Block(NamedTuple):
    """A paragraph (level 0) or a heading (1 to 6)."""

    runs: tuple[Run, ...]
    level: int = 0

    @property
    def text(self) -> str:
        """The words alone."""
        return " ".join("".join([run.text for run in self.runs]).split())


class Document:
    """Filled by a reader, up to its limits."""

    def __init__(self) -> None:
        self.title = ""
        self.language = ""
        """As the document declares it."""
        self.blocks: list[Block] = []
        self._room = MAX_CHARS

    @property
    def is_full(self) -> bool:
        """Whether nothing more is taken."""
        return self._room <= 0 or len(self.blocks) >= MAX_BLOCKS

    def add(self, runs: Iterable[Run], level: int = 0) -> None:
        """One more block, unless it is blank or there is no room."""
        kept: list[Run] = []
        for text, address in runs:
            if self.is_full:
                break
            run = Run(text[: self._room].translate(_MARKUP), _usable(address))
            if run.text or run.address:
                kept.append(run)
                self._room -= len(run.text) + len(run.address)
        if any(run.address or not run.text.isspace() for run in kept):
            self.blocks.append(Block(tuple(kept), min(max(level, 0), 6)))

    def settle_title(self, title: str) -> None:
        """The declared title, if it says something; else the first heading, or a short line."""
        first = next((block.text for block in self.blocks if block.level), "")
        if not first and self.blocks and len(self.blocks[0].text) <= 150:
            first = self.blocks[0].text
        self.title = " ".join(title.translate(_MARKUP).split())[:500] or first

    def html(self) -> str:
        """A page that says the same."""
        language = f' lang="{escape(self.language)}"' if self.language else ""
        head = f"<!doctype html><html{language}><title>{escape(self.title)}</title><body>\n"
        return head + "\n".join(map(_as_html, self.blocks))

    def text(self) -> str:
        """In paragraphs."""
        return "\n\n".join(filter(None, (block.text for block in self.blocks)))

    def markdown(self, url: str) -> str:
        """In paragraphs, with headings and links, which may be relative to ``url``."""
        return "\n\n".join(filter(None, (_as_markdown(block, url) for block in self.blocks)))


def linked(text: str) -> Iterator[Run]:
    """Text with the addresses written in it as links."""
    end = 0
    for found in _ADDRESS.finditer(text):
        address = found[0].rstrip(".,;:!?*_~")
        if address.endswith(")") and "(" not in address:
            address = address.rstrip(").,;:!?")
        yield Run(text[end : found.start()])
        end = found.start() + len(address)
        yield Run(address, address if address[:4].lower() == "http" else f"http://{address}")
    yield Run(text[end:])


def _usable(address: str) -> str:
    address = address.strip().translate(_MARKUP)
    return address if len(address) <= MAX_ADDRESS_CHARS else ""


def _as_html(block: Block) -> str:
    tag = f"h{block.level}" if block.level else "p"
    return f"<{tag}>{''.join(map(_run_as_html, block.runs))}</{tag}>"


def _run_as_html(run: Run) -> str:
    text = escape(run.text, quote=False)
    return f'<a href="{escape(run.address)}">{text}</a>' if run.address else text


def _as_markdown(block: Block, url: str) -> str:
    marks = "#" * block.level + " " if block.level else ""
    text = " ".join("".join([_run_as_markdown(run, url) for run in block.runs]).split())
    return marks + text if text else ""


def _run_as_markdown(run: Run, url: str) -> str:
    address = canonicalize(run.address, url) if run.address else None
    return f"[{run.text}]({address})" if address and not run.text.isspace() else run.text
