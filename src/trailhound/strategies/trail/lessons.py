"""What a model of links has learned, in words; and the words of single links, spelled out.

A crawl has no use for either: its links have numbers for words (``phrases``).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from trailhound.records import Page
from trailhound.strategies.base import Lesson
from trailhound.strategies.trail.features import NAMES, by_name
from trailhound.strategies.trail.link_model import Head
from trailhound.strategies.trail.link_words import link_texts, links_by_url
from trailhound.strategies.trail.meaning import Meaning
from trailhound.strategies.trail.phrases import FIELD_WEIGHTS, FIELDS, MAX_WORDS, checksums, numbers
from trailhound.text.tokens import tokenize, tokenize_lines

_WORD = re.compile(r"\w+")
MAX_TOLD = 30
"""Words of one field."""


def lessons(head: Head, meaning: Meaning, pages: Iterable[Page]) -> list[Lesson]:
    """All features, and the strongest words that links of these pages have."""
    shown = list(pages)
    weights = by_name(head.weights)
    told = [Lesson("", name, weights[name], prior) for name, prior in by_name(head.prior).items()]
    told = [lesson for lesson in told if lesson.name != "bias"]
    told += _words(head, shown)
    told += _meant(head, meaning, shown)
    return sorted(told, key=lambda each: -abs(each.weight - each.prior))


def _words(head: Head, pages: Iterable[Page]) -> list[Lesson]:
    used = np.flatnonzero(head.words)
    spelled = spelled_numbers(pages, frozenset(used.tolist()))
    by_field: dict[str, list[Lesson]] = {}
    for number in used[np.argsort(-np.abs(head.words[used]), kind="stable")].tolist():
        if number in spelled:
            field, word = spelled[number]
            by_field.setdefault(field, []).append(Lesson(field, word, float(head.words[number])))
    return [lesson for words in by_field.values() for lesson in words[:MAX_TOLD]]


def _meant(head: Head, meaning: Meaning, pages: Iterable[Page]) -> list[Lesson]:
    """Words whose meaning counts most, each as if it were all that an anchor says."""
    sums, said = meaning.said_alone(head.weights[len(NAMES) :])
    by_number = dict(zip(numbers("anchor", sums).tolist(), said.tolist(), strict=True))
    spelled = spelled_numbers(pages, by_number, fields=("anchor",))
    told = [
        Lesson("meaning", spelled[number][1], said)
        for number, said in by_number.items()
        if number in spelled
    ]
    return sorted(told, key=lambda lesson: -abs(lesson.weight))[:MAX_TOLD]


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
