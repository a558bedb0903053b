"""The words of single links, spelled out: for people who ask what the model makes of them.

A crawl has no use for this; its links have numbers for words (``phrases``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trailhound.records import Page
from trailhound.strategies.trail.link_words import link_texts
from trailhound.strategies.trail.phrases import FIELD_WEIGHTS, MAX_WORDS, checksums, numbers
from trailhound.text.tokens import tokenize, tokenize_lines

_WORD = re.compile(r"\w+")


class SpelledWord(NamedTuple):
    """A word of a link."""

    field: str
    word: str
    """As the page spells it; a tag path for the field ``place``."""
    number: int
    weight: float
    """Of its field, over the root of the field's length."""


def spelled_words(page: Page, url: str) -> Iterator[SpelledWord]:
    """The words of the links from a page to a URL; none when there is no such link."""
    links = [link for link in page.links if link.url == url]
    texts = link_texts(page, {url: links}) if links else {}
    for field, (text,) in texts.items():
        terms = [text] if field == "place" else _terms(text, page.language)
        spelling = {} if field == "place" else _spelling(text, page.language)
        share = FIELD_WEIGHTS[field] / max(len(terms), 1) ** 0.5
        for term, number in zip(terms, numbers(field, checksums(terms)).tolist(), strict=True):
            yield SpelledWord(field, spelling.get(term, term), number, share)


def _terms(text: str, language: str) -> list[str]:
    return tokenize_lines([text.replace("\n", " ")], language)[0][:MAX_WORDS]


def _spelling(text: str, language: str) -> dict[str, str]:
    """Words by the terms that they are read as."""
    words = dict.fromkeys(_WORD.findall(text.replace("_", " ").lower()))
    read = {word: tokenize(word, language) for word in words}
    return {terms[0]: word for word, terms in read.items() if len(terms) == 1}
