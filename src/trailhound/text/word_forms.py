"""From stems back to words: how the pages themselves most often spell a term."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from trailhound.records import Page
from trailhound.text.tokens import tokenize

_WORD = re.compile(r"\w+")


def commonest_forms(pages: Iterable[Page], terms: Collection[str]) -> dict[str, str]:
    """For each of ``terms`` the lower-case word that stands for it most often in the pages.

    A term without a word of its own (a pair of Chinese characters, say) stands for itself.
    """
    wanted = set(terms)
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for language, words in _words_by_language(pages).items():
        for word, count in words.items():
            found = tokenize(word, language)
            if len(found) == 1 and found[0] in wanted:
                forms[found[0]][word] += count
    return {term: _commonest(forms.get(term), term) for term in terms}


def _words_by_language(pages: Iterable[Page]) -> dict[str, Counter[str]]:
    words: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for page in pages:
        words[page.language].update(_WORD.findall(f"{page.title}\n{page.text}".lower()))
    return words


def _commonest(counted: Counter[str] | None, term: str) -> str:
    """Ties go to the shorter word, then to the alphabet: the order of pages must not matter."""
    if not counted:
        return term
    return min(counted, key=lambda word: (-counted[word], len(word), word))
