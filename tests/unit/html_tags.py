"""Looks into HTML that reports are made of."""

from __future__ import annotations

from html.parser import HTMLParser


class Tags(HTMLParser):
    """All elements with their attributes, and the visible text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data
