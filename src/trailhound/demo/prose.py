"""Makes sentences, paragraphs and titles from a subject's words and a voice's patterns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from trailhound.demo.parameters import DemoWebParameters
from trailhound.demo.words import FIRST_NAMES, SUBJECTS, SURNAMES, TOWNS, Subject, Voice

_SLOT = re.compile(r"<([A-Z])>")
_NUMBERS = tuple(str(number) for number in (3, 4, 5, 6, 7, 8, 9, 12, 15, 20, 24, 30))
_YEARS = tuple(str(year) for year in range(1994, 2024))

Pools = Mapping[str, Sequence[str]]
"""Slot letter to the words that may fill it."""


class Focus(NamedTuple):
    """The words that one page uses."""

    own: Pools
    neighbour: Pools


@cache
def _pieces(pattern: str) -> tuple[str, ...]:
    """Text and slot letters in turn, text first."""
    return tuple(_SLOT.split(pattern))


class Prose:
    """Writes English about subjects, drawing from its own random generator."""

    def __init__(self, random: Random, parameters: DemoWebParameters) -> None:
        self._random = random.random
        self._sample = random.sample
        self._parameters = parameters
        self._names: Pools = {
            "N": _NUMBERS,
            "Y": _YEARS,
            "L": TOWNS,
            "H": [f"{first} {last}" for first, last in zip(FIRST_NAMES, SURNAMES, strict=False)],
        }

    def pick(self, items: Sequence[str]) -> str:
        """One of ``items``."""
        return items[int(self._random() * len(items))]

    def fill(self, pattern: str, pools: Pools) -> str:
        """The pattern with its slots filled; a word is not used twice in one sentence."""
        pieces = list(_pieces(pattern))
        used = set()
        for place in range(1, len(pieces), 2):
            pool = pools.get(pieces[place]) or self._names[pieces[place]]
            word = self.pick(pool)
            if word in used:
                word = self.pick(pool)
            used.add(word)
            pieces[place] = word
        filled = "".join(pieces)
        return filled[:1].upper() + filled[1:]

    def focus(self, subject: Subject) -> Focus:
        """The words one page uses: some of its subject's, and some of a neighbour's."""
        neighbour = SUBJECTS[self.pick(subject.near)]
        return Focus(self._some_words(subject), self._some_words(neighbour))

    def _some_words(self, subject: Subject) -> Pools:
        share = self._parameters.page_vocabulary
        return {
            slot: self._sample(words, max(3, int(len(words) * share)))
            for slot, words in subject.pools.items()
        }

    def paragraph(
        self, voice: Voice, focus: Focus | None, n_sentences: int, topical: float | None = None
    ) -> str:
        """Sentences of which the share ``topical`` is about the subject, the rest small talk.

        Without a focus, all is small talk. No pattern occurs twice.
        """
        share = self._parameters.topical_text if topical is None else topical
        sentences: dict[str, str] = {}
        for _ in range(n_sentences):
            about = focus is not None and self._random() < share
            pattern = self.pick(voice.topical if about else voice.small_talk)
            if pattern not in sentences:
                pools: Pools = {}
                if focus is not None:
                    borrowed = self._random() < self._parameters.vocabulary_overlap
                    pools = focus.neighbour if borrowed else focus.own
                sentences[pattern] = self.fill(pattern, pools)
        return " ".join(sentences.values())

    def paragraphs(
        self, voice: Voice, focus: Focus | None, n_paragraphs: int, topical: float | None = None
    ) -> list[str]:
        """Several paragraphs of up to nine sentences."""
        return [
            self.paragraph(voice, focus, 4 + int(self._random() * 6), topical)
            for _ in range(n_paragraphs)
        ]

    def title(self, voice: Voice, subject: Subject, vague: float) -> str:
        """A title that names the subject, or with probability ``vague`` does not."""
        patterns = voice.vague_titles if self._random() < vague else voice.titles
        return self.fill(self.pick(patterns), subject.pools)
