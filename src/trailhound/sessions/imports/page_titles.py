"""The title in a page's source, for recordings that do not state it."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

MAX_TITLE_LENGTH = 500
_HEAD_CHARACTERS = 100_000
"""Titles are near the beginning; the rest need not be parsed."""


def title_of(html: str) -> str:
    """The words of the first ``<title>``; empty without one."""
    head = html[:_HEAD_CHARACTERS].encode("utf-8", "replace").decode()
    found = LexborHTMLParser(head).css_first("title")
    return " ".join(found.text().split())[:MAX_TITLE_LENGTH] if found is not None else ""
