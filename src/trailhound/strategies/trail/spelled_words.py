"""The words of single links, spelled out: for people who ask what the model makes of them.

A crawl has no use for this; its links have numbers for words (``phrases``).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from trailhound.records import Page
from trailhound.strategies.trail.link_words import link_texts, links_by_url
from trailhound.strategies.trail.phrases import FIELD_WEIGHTS, FIELDS, MAX_WORDS, checksums, numbers
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
        spelling = _spelling(text, page.language)
        share = FIELD_WEIGHTS[field] / max(len(terms), 1) ** 0.5
        for term, number in zip(terms, numbers(field, checksums(terms)).tolist(), strict=True):
            yield SpelledWord(field, spelling.get(term, term), number, share)


def spelled_numbers(
    pages: Iterable[Page], wanted: Container[int], fields: Container[str] = FIELDS
) -> dict[int, tuple[str, str]]:
    """Field and word of numbers that are ``wanted`` and occur in links of these pages."""
    found: dict[int, tuple[str, str]] = {}
    seen: set[tuple[str, str]] = set()
    for page in pages:
        for field, texts in link_texts(page, links_by_url(page)).items():
            if field not in fields:
                continue
            new = dict.fromkeys(text for text in texts if (field, text) not in seen)
            seen.update((field, text) for text in new)
            for text in new:
                terms = [text] if field == "place" else _terms(text, page.language)
                named = numbers(field, checksums(terms)).tolist()
                if any(number in wanted and number not in found for number in named):
                    spelling = _spelling(text, page.language)
                    for number, term in zip(named, terms, strict=True):
                        found.setdefault(number, (field, spelling.get(term, term)))
    return found


def _terms(text: str, language: str) -> list[str]:
    return tokenize_lines([text.replace("\n", " ")], language)[0][:MAX_WORDS]


def _spelling(text: str, language: str) -> dict[str, str]:
    """Words by the terms that they are read as."""
    words = dict.fromkeys(_WORD.findall(text.replace("_", " ").lower()))
    read = {word: tokenize(word, language) for word in words}
    return {terms[0]: word for word, terms in read.items() if len(terms) == 1}
