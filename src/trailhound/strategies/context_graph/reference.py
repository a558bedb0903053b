"""How common words are in general: in the pages at hand, or in the everyday use of a language."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from trailhound.text.tfidf import Terms
from trailhound.text.tokens import tokenize

PAGE_WORDS = 500
"""Running words of an ordinary page, short and frequent ones included."""
RAREST = 1e-6
"""The share of all running words from which on wordfreq's small lists know a word."""
N_DOCUMENTS = 2000
"""1 / (PAGE_WORDS · RAREST): a word that no list knows counts as often as the rarest in one."""

_LISTED_AS = {"no": "nb", "nn": "nb", "hr": "sh", "sr": "sh", "bs": "sh"}
"""Languages that wordfreq lists under another code."""


class ReferenceCorpus(NamedTuple):
    """In how many documents of some large collection each term occurs."""

    n_documents: int
    frequency: Mapping[str, float]

    @classmethod
    def of(cls, documents: Iterable[Terms]) -> ReferenceCorpus:
        """Count over documents at hand."""
        frequency: Counter[str] = Counter()
        n_documents = 0
        for terms in documents:
            frequency.update(terms.keys())
            n_documents += 1
        return cls(n_documents, frequency)

    def weight(self, term: str) -> float:
        """ln(N / f(w)); a term that the collection has never seen counts as seen once."""
        return math.log(max(self.n_documents, 1) / max(self.frequency.get(term, 0), 1))


def everyday_words(languages: Iterable[str]) -> ReferenceCorpus | None:
    """Expected document frequencies in pages of these languages, one code for each page.

    Languages weigh as many pages as they have; ``None`` when no list exists for any of them.
    """
    pages = Counter(language for language in languages if _frequencies(language))
    if not pages:
        return None
    frequency: defaultdict[str, float] = defaultdict(float)
    for language, count in pages.items():
        for term, expected in _frequencies(language).items():
            frequency[term] += expected * count / pages.total()
    return ReferenceCorpus(N_DOCUMENTS, frequency)


@lru_cache(maxsize=8)
def _frequencies(language: str) -> Mapping[str, float]:
    """Terms of a language with the documents of N_DOCUMENTS that should hold them.

    wordfreq says what share p of all running words a word has. All forms of a term together have
    the sum of their shares. If words fell independently, a page of L words would hold the term with
    the probability 1 - (1 - p)^L ≈ 1 - exp(-p L). In fact they come in clumps, so that frequent
    words are in fewer pages than this says, though still in the same order.
    """
    # Here and not above: loading it takes half a second, and few crawls have need of it.
    from wordfreq import available_languages, get_frequency_dict

    listed = _LISTED_AS.get(language, language)
    if listed not in available_languages("small"):
        return {}
    shares: defaultdict[str, float] = defaultdict(float)
    for word, share in get_frequency_dict(listed, "small").items():
        for term in tokenize(word, language):
            shares[term] += share
    return {term: -N_DOCUMENTS * math.expm1(-share * PAGE_WORDS) for term, share in shares.items()}
