"""The few words that stand for a page in a list of results."""

from __future__ import annotations

from collections.abc import Iterator

from trailhound.records import Page

SNIPPET_CHARS = 280

_PROSE_CHARS = 80
"""A shorter stretch between links is a menu's, a caption or a date."""
_SEARCHED_CHARS = 10_000
_SEPARATORS = " ,;:.|»›)–-"


def snippet_of(page: Page) -> str:
    """The page's own description, else its first prose outside links, else how it begins."""
    if page.description:
        return shortened(page.description)
    prose = next((text for text in _between_links(page) if len(text) >= _PROSE_CHARS), page.text)
    return shortened(_without_headings(prose, page))


def shortened(text: str, length: int = SNIPPET_CHARS) -> str:
    """At most ``length`` characters, cut between words."""
    tidy = " ".join(text[: 4 * length].split()).lstrip(_SEPARATORS)
    if len(tidy) <= length:
        return tidy
    cut = tidy[: length - 1]
    blank = cut.rfind(" ", length // 2)
    return (cut[:blank] if blank > 0 else cut).rstrip(" ,;:-") + "…"


def _between_links(page: Page) -> Iterator[str]:
    """The stretches of text before, between and behind the words of links."""
    text, position = page.text[:_SEARCHED_CHARS], 0
    for link in page.links:
        found = text.find(link.anchor, position) if link.anchor else -1
        if found >= 0:
            yield text[position:found].strip()
            position = found + len(link.anchor)
    yield text[position:].strip()


def _without_headings(text: str, page: Page) -> str:
    """The text behind the headings it begins with: the title is shown anyway."""
    for heading in page.headings[:3]:
        text = text.removeprefix(heading).lstrip()
    return text or page.text
