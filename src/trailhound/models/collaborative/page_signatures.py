"""Signatures of pages: words, or the nearest topics of a set."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Protocol
from urllib.parse import unquote
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from trailhound.records import Page
from trailhound.text.target_similarity import TargetSimilarity
from trailhound.text.tfidf import TermWeights
from trailhound.text.tokens import count_terms

WORDS_PER_PAGE = 20
"""The most frequent words of a page stand for its vocabulary."""
NEAREST_TOPICS = 5
"""k_max of the paper."""
_KNOWN_ADDRESSES = 50_000
_SEPARATORS = re.compile(r"[^\w]|_")


class PageSignatures(Protocol):
    """From pages to signatures, which are numbers above 0."""

    def of_page(self, page: Page) -> Sequence[int]:
        """What a fetched page has; none twice."""
        ...

    def of_address(self, url: str) -> NDArray[np.int64]:
        """What a URL shows before it is fetched; perhaps nothing."""
        ...


class WordSignatures:
    """The most frequent words of a page, and those of its address.

    A word's number is its CRC: of 100,000 words two may share one, which does no harm.
    """

    def of_page(self, page: Page) -> Sequence[int]:
        """At most 20 words of the text, and the words of the path."""
        by_frequency = sorted(page.terms, key=page.terms.__getitem__, reverse=True)
        words = map(_number, by_frequency[:WORDS_PER_PAGE])
        return list(dict.fromkeys([*words, *self.of_address(page.url).tolist()]))

    def of_address(self, url: str) -> NDArray[np.int64]:
        """The words of path and query."""
        return _address_words(url)


def _number(term: str) -> int:
    return crc32(term.encode()) or 1


@lru_cache(_KNOWN_ADDRESSES)
def _address_words(url: str) -> NDArray[np.int64]:
    path = url.split("/", 3)[-1]
    words = _SEPARATORS.sub(" ", unquote(path) if "%" in path else path)
    numbers = dict.fromkeys(_number(term) for term in count_terms(words, ""))
    return np.array(list(numbers), np.int64)


class TopicSignatures:
    """The k topics nearest to a page, by the cosine of its words to their descriptions."""

    def __init__(self, topics: Mapping[str, Mapping[str, int]], k: int = NEAREST_TOPICS) -> None:
        self.names = tuple(topics)
        self._k = k
        described = [dict(terms) for terms in topics.values()]
        self._similarity = TargetSimilarity(TermWeights.fit(described), described)

    def of_page(self, page: Page) -> Sequence[int]:
        """Numbers of topics from 1, nearest first; not those that share no word with the page."""
        similarities = self._similarity.to_each(page.terms)
        nearest = np.argsort(-similarities, kind="stable")[: self._k]
        return [int(topic) + 1 for topic in nearest if similarities[topic] > 0]

    def of_address(self, url: str) -> NDArray[np.int64]:
        """Nothing: an address says too little for a topic."""
        del url
        return np.zeros(0, np.int64)


class NoSignatures:
    """Pages are pages."""

    def of_page(self, page: Page) -> Sequence[int]:
        """Nothing."""
        del page
        return ()

    def of_address(self, url: str) -> NDArray[np.int64]:
        """Nothing."""
        del url
        return np.zeros(0, np.int64)
