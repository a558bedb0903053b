"""What a model of links has learned, in words."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from trailhound.records import Page
from trailhound.strategies.base import Lesson
from trailhound.strategies.trail.features import NAMES, by_name
from trailhound.strategies.trail.link_model import Head
from trailhound.strategies.trail.meaning import Meaning
from trailhound.strategies.trail.phrases import numbers
from trailhound.strategies.trail.spelled_words import spelled_numbers

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
