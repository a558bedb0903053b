"""What a model of links has learned, in words."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from trailhound.records import Page
from trailhound.strategies.base import Lesson
from trailhound.strategies.trail.features import NAMES
from trailhound.strategies.trail.link_model import Head
from trailhound.strategies.trail.spelled_words import spelled_numbers

MAX_TOLD = 30
"""Words of one field."""


def lessons(head: Head, pages: Iterable[Page]) -> list[Lesson]:
    """All features, and the strongest words that links of these pages have."""
    features = zip(NAMES, head.weights.tolist(), head.prior.tolist(), strict=True)
    told = [Lesson("", name, weight, prior) for name, weight, prior in features if name != "bias"]
    told += _words(head, pages)
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
