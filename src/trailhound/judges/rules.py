"""Judges that need no session: words, a pattern, or any function of a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from numbers import Real
from typing import ClassVar

import numpy as np

from trailhound.counting import counted
from trailhound.errors import UsageError
from trailhound.records import Page, Relevance
from trailhound.strategies.base import Briefing
from trailhound.text.tokens import tokenize

PREDICATE_THRESHOLD = 0.5
"""From which score on a page is relevant, when a function gives scores."""

Verdict = bool | float | Relevance
"""Yes or no; a score from 0 to 1; or both."""


class PredicateJudge:
    """Asks ``predicate`` about each page; a score is relevant from ``threshold`` on."""

    def __init__(
        self, predicate: Callable[[Page], Verdict], threshold: float = PREDICATE_THRESHOLD
    ) -> None:
        self._predicate = predicate
        self.threshold = threshold

    def judge(self, page: Page) -> Relevance:
        """What the function says; ValueError when that is no verdict."""
        return as_relevance(self._predicate(page), self.threshold)


def as_relevance(verdict: object, threshold: float = PREDICATE_THRESHOLD) -> Relevance:
    """A verdict as the crawler keeps it."""
    if isinstance(verdict, Relevance):
        return verdict
    if isinstance(verdict, bool | np.bool_):
        return Relevance(float(verdict), bool(verdict))
    if isinstance(verdict, Real) and 0 <= float(verdict) <= 1:
        return Relevance(float(verdict), float(verdict) >= threshold)
    raise ValueError(f"a judge answers True, False or a score from 0 to 1, not {verdict!r}")


_WORD = re.compile(r'"([^"]*)"|(\S+)')


class KeywordsJudge:
    """Scores a page by the share of ``words`` on it; ``least`` of them make it relevant.

    A word is found in every form that the page's language makes of it (*bee*, *bees*), in title
    and text. Several words in one entry are a phrase, and found as they are written.
    """

    name: ClassVar[str] = "keywords"
    summary: ClassVar[str] = "at least so many of some words or phrases, in title and text"

    def __init__(self, words: Sequence[str], least: int = 1) -> None:
        self._words = tuple(dict.fromkeys(" ".join(word.casefold().split()) for word in words))
        if not all(self._words) or not 1 <= least <= len(self._words):
            raise UsageError(
                f"The judge 'keywords' cannot ask for {least} of "
                f"{counted(len(self._words), 'word')}. "
                'Give some words, as in keywords:words=hive "honey bee" varroa,least=2'
            )
        self.least = least
        self._known: dict[str, list[_Finder]] = {}

    @classmethod
    def from_briefing(cls, briefing: Briefing, *, words: str, least: str = "any") -> KeywordsJudge:
        """``words`` are parted by blanks, phrases in double quotes; ``least`` is a number, or
        ``any`` or ``all`` of them."""
        del briefing
        found = [phrase or word for phrase, word in _WORD.findall(words)]
        counts = {"any": 1, "all": len(set(found))}
        try:
            needed = counts[least] if least in counts else int(least)
        except ValueError:
            raise UsageError(
                f"Judge 'keywords': option least is '{least}', but it should be a number, any or "
                "all."
            ) from None
        return cls(found, needed)

    def judge(self, page: Page) -> Relevance:
        """The share of words found."""
        if page.language not in self._known:
            self._known[page.language] = [_finder(word, page.language) for word in self._words]
        looked_at = _LookedAt(page)
        found = sum(finder(looked_at) for finder in self._known[page.language])
        return Relevance(found / len(self._words), found >= self.least)

    def __getstate__(self) -> dict[str, object]:
        """Worker processes make their own finders."""
        return {**vars(self), "_known": {}}


class _LookedAt:
    """A page, its text in lower case when somebody asks for it."""

    def __init__(self, page: Page) -> None:
        self.terms = page.terms
        self._page = page

    @cached_property
    def text(self) -> str:
        return f"{self._page.title}\n{self._page.text}".casefold()


_Finder = Callable[[_LookedAt], bool]


def _finder(word: str, language: str) -> _Finder:
    """How to find one word on pages of one language."""
    terms = tokenize(word, language)
    if len(terms) == 1 and len(word) > 1 and " " not in word:
        term = terms[0]
        return lambda page: term in page.terms
    if " " in word or not terms:  # a phrase, or a word that is too common to be counted as a term
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        return lambda page: pattern.search(page.text) is not None
    return lambda page: word in page.text  # e-mail, C++, and scripts written without blanks


PARTS = ("url", "title", "text")
MAX_CHOICES = 10
"""In a pattern, each of which may double the ways to match it."""


class RegexJudge:
    """A page is relevant when the pattern is found in one of ``parts``; the score is 1 or 0."""

    name: ClassVar[str] = "regex"
    summary: ClassVar[str] = "a regular expression in URL, title or text"

    def __init__(
        self, pattern: str, parts: Sequence[str] = PARTS, *, ignore_case: bool = True
    ) -> None:
        wrong = set(parts) - set(PARTS)
        if wrong or not parts:
            raise UsageError(
                f"The judge 'regex' cannot look into '{' '.join(sorted(wrong))}'. Choose from "
                f"{', '.join(PARTS)}, for example regex:pattern=bee,parts=url title"
            )
        try:
            self._pattern = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
        except re.error as error:
            raise UsageError(
                f"The judge 'regex' cannot use the pattern '{pattern}': {error}. A comma in a "
                "pattern is written as \\, and the whole in quotes of the shell."
            ) from error
        self._parts = tuple(parts)
        choices = pattern.count("?") + pattern.count("|")
        self.may_take_long = bool(set("*+{") & set(pattern)) or choices > MAX_CHOICES
        """Whether some text may have more ways to match the pattern than can be tried."""

    @classmethod
    def from_briefing(
        cls,
        briefing: Briefing,
        *,
        pattern: str,
        parts: str = " ".join(PARTS),
        ignore_case: bool = True,
    ) -> RegexJudge:
        """``parts`` are parted by blanks."""
        del briefing
        return cls(pattern, parts.split(), ignore_case=ignore_case)

    def judge(self, page: Page) -> Relevance:
        """Look into the parts in turn."""
        found = any(self._pattern.search(getattr(page, part)) for part in self._parts)
        return Relevance(float(found), found)
