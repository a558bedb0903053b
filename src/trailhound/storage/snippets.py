"""The few words that stand for a page in a list of results."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trailhound.records import Page

SNIPPET_CHARS = 280

_PROSE_CHARS = 80
"""Less of a page's own words between two menus is a caption or a date."""
_SEARCHED_CHARS = 10_000
_NEXT_LINK_CHARS = 3_000
"""Words found farther from the link before are another's: not every link can be seen."""
_TRIES = 50
"""Places within other words that are passed over: "a" is in every second one."""
_SEPARATORS = " ,;:.|»›)–-"
_MARKS = "¶\N{LINK SYMBOL}\uf0c1"
_HEADING_MARKS = str.maketrans("", "", _MARKS)
"""Signs with which generated pages link to their own headings."""
_LETTER = re.compile(r"\w")
# No end: the point of "Dr.", "e.g." or "J. Smith".
_SENTENCE_END = re.compile(r"(?:\w{3}[)\]\"'”’]*[.!?][)\]\"'”’]*(?=\s|$))|[。！？]")


def snippet_of(page: Page) -> str:
    """The page's own description, else its first prose, links in it included, else how it begins.

    At most :data:`SNIPPET_CHARS` characters; whole sentences where there are any.
    """
    if page.description:
        return _shortened(page.description)
    stretches = _stretches(page)
    prose = (text for text, linked in stretches if len(text) - linked >= max(_PROSE_CHARS, linked))
    return _shortened(_without_headings(next(prose, page.text), page))


def tidied(passage: str) -> str:
    """A passage in one line, without signs that link to headings."""
    if any(mark in passage for mark in _MARKS):
        passage = passage.translate(_HEADING_MARKS)
    return " ".join(passage.split())


def _shortened(text: str) -> str:
    tidy = tidied(text[: 4 * SNIPPET_CHARS]).lstrip(_SEPARATORS)
    if len(tidy) <= SNIPPET_CHARS:
        return tidy
    ends = [end.end() for end in _SENTENCE_END.finditer(tidy[: SNIPPET_CHARS + 1])]
    if ends and _PROSE_CHARS <= ends[-1] <= SNIPPET_CHARS:
        return tidy[: ends[-1]]
    cut = tidy[: SNIPPET_CHARS - 1]
    blank = cut.rfind(" ", SNIPPET_CHARS // 2)
    return (cut[:blank] if blank > 0 else cut).rstrip(" ,;:-") + "…"


def _stretches(page: Page) -> Iterator[tuple[str, int]]:
    """The text between menus, and how many characters of it are words of links.

    A menu is where nothing can be read between one link and the next.
    """
    text = page.text[:_SEARCHED_CHARS]
    start = linked = 0
    last_start, last_end = 0, 0
    for first, end in _places_of_links(page, text):
        if last_end and not _LETTER.search(text, last_end, first):
            yield text[start:last_start].strip(), linked
            start, linked = end, 0
        else:
            linked += last_end - last_start if last_start >= start else 0
        last_start, last_end = first, end
    linked += last_end - last_start if last_start >= start else 0
    yield text[start:].strip(), linked


def _places_of_links(page: Page, text: str) -> Iterator[tuple[int, int]]:
    """Where the words of links begin and end in ``text``."""
    position = 0
    for link in page.links:
        found = _find_words(text, link.anchor, position) if link.anchor else -1
        if found >= 0:
            position = found + len(link.anchor)
            yield found, position


def _find_words(text: str, words: str, position: int) -> int:
    """Where whole ``words`` begin at or a little behind ``position``; -1 when nowhere."""
    limit = position + _NEXT_LINK_CHARS
    found = position - 1
    for _ in range(_TRIES):
        found = text.find(words, found + 1, limit)
        end = found + len(words)
        if found < 0 or not (text[found - 1 : found].isalnum() or text[end : end + 1].isalnum()):
            return found
    return -1


def _without_headings(text: str, page: Page) -> str:
    """The text behind the headings it begins with: the title is shown anyway."""
    for heading in page.headings[:3]:
        text = text.removeprefix(heading).lstrip()
    return text or page.text
