"""Which pages belong to a topic: by address, by a pattern of addresses, or by their words."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass

from trailhound.errors import ConfigError
from trailhound.lab.corpora import Corpus
from trailhound.records import Page

Pattern = re.Pattern[str]

# From here on, scripts are written without spaces (CJK and its neighbours): no word borders.
_FIRST_UNSPACED = "\u2e80"


@dataclass(frozen=True)
class PagePredicate:
    """Conditions on a page. Those that are given must all hold."""

    url_patterns: tuple[Pattern, ...] = ()
    """One of them must occur in the URL."""
    words: tuple[Pattern, ...] = ()
    """Each of them must occur in title or text."""
    text_patterns: tuple[Pattern, ...] = ()
    """One of them must occur in title or text."""

    def is_empty(self) -> bool:
        """Whether there is no condition, which stands for no page rather than for all."""
        return not (self.url_patterns or self.words or self.text_patterns)

    def fits_url(self, url: str) -> bool:
        """The condition on the address."""
        return not self.url_patterns or any(each.search(url) for each in self.url_patterns)

    def fits_text(self, page: Page) -> bool:
        """The conditions on the words."""
        text = f"{page.title}\n{page.text}"
        return all(word.search(text) for word in self.words) and (
            not self.text_patterns or any(each.search(text) for each in self.text_patterns)
        )

    def reads_text(self) -> bool:
        """Whether the address alone does not decide."""
        return bool(self.words or self.text_patterns)


def fitting_pages(corpus: Corpus, predicates: Sequence[PagePredicate]) -> list[frozenset[int]]:
    """For each predicate, the numbers of the pages that fit.

    All are tried in one pass: reading a page costs more than trying it, and pages are only read
    when a predicate asks for words.
    """
    found: list[set[int]] = [set() for _ in predicates]
    for number, url in enumerate(corpus.page_urls):
        page: Page | None = None
        for predicate, fitting in zip(predicates, found, strict=True):
            if predicate.is_empty() or not predicate.fits_url(url):
                continue
            if predicate.reads_text():
                page = page or corpus.page_by_id(number)
                if not predicate.fits_text(page):
                    continue
            fitting.add(number)
    return [frozenset(each) for each in found]


def glob_pattern(glob: str) -> Pattern:
    """``*`` stands for any characters, ``?`` for one; the whole URL must fit."""
    return re.compile(rf"\A{fnmatch.translate(glob)}")


def word_pattern(word: str) -> Pattern:
    """A word or phrase, whole and in either case; part of a word in scripts without spaces."""
    escaped = r"\s+".join(re.escape(part) for part in word.split())
    if any(character >= _FIRST_UNSPACED for character in word):
        return re.compile(escaped, re.IGNORECASE)
    return re.compile(rf"(?<!\w){escaped}(?!\w)", re.IGNORECASE)


def compiled(expressions: Sequence[str], where: str, flags: int = 0) -> tuple[Pattern, ...]:
    """Regular expressions from a file; ``where`` names the place in the error."""
    return tuple(_compiled(expression, where, flags) for expression in expressions)


def _compiled(expression: str, where: str, flags: int) -> Pattern:
    try:
        return re.compile(expression, flags)
    except re.error as error:
        raise ConfigError(
            f"{where}: '{expression}' is no regular expression ({error}). "
            "Escape special characters with a backslash, and write it in 'single quotes'."
        ) from error
