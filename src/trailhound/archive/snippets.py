"""The few words that stand for a page in a list of results."""

from __future__ import annotations

import re

from trailhound.records import Page

SNIPPET_CHARS = 280

# Where prose begins: a capital or a letter of a script without them, and no full stop for a while.
# Menus and breadcrumbs in front of it have neither full stops nor such length.
_SENTENCE = re.compile(r"(?:(?<=[.!?:|»›] )|\A)[^\W\d_][^.!?|»›]{60,400}[.!?。।]")
_SEARCHED_CHARS = 6_000


def snippet_of(page: Page) -> str:
    """The page's own description, else its first sentence of some length, else how it begins."""
    if page.description:
        return shortened(page.description)
    text = page.text[:_SEARCHED_CHARS]
    sentence = _SENTENCE.search(text)
    return shortened(text[sentence.start() :] if sentence else text)


def shortened(text: str, length: int = SNIPPET_CHARS) -> str:
    """At most ``length`` characters, cut between words."""
    tidy = " ".join(text[: 4 * length].split())
    if len(tidy) <= length:
        return tidy
    cut = tidy[: length - 1]
    blank = cut.rfind(" ", length // 2)
    return (cut[:blank] if blank > 0 else cut).rstrip(" ,;:-") + "…"
