"""What a page shows of its signatures, and ranked candidates: the composite interest ratio."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from trailhound.records import Page
from trailhound.strategies.collaborative.statistics import (
    Limits,
    PageInterest,
    Pages,
    VisitStatistics,
)
from trailhound.strategies.collaborative.user_signatures import product
from trailhound.strategies.intelligent.interest_rule import Vector
from trailhound.strategies.intelligent.link_interest import LinkInterest
from trailhound.text.tfidf import TargetSimilarity, TermWeights
from trailhound.text.tokens import count_terms

NEAREST_TOPICS = 5
"""k_max of the paper."""
_SEPARATORS = re.compile(r"[^\w]|_")


class WordSignatures:
    """The most frequent words of a page, and those of its address.

    A word's number is its CRC: of 100,000 words two may share one, which does no harm.
    """

    def __init__(self, most: int = Limits().words) -> None:
        self._most = most

    def of_page(self, page: Page) -> Sequence[int]:
        """At most so many words of the text, and the words of the path."""
        by_frequency = sorted(page.terms, key=page.terms.__getitem__, reverse=True)
        words = map(_number, by_frequency[: self._most])
        return list(dict.fromkeys([*words, *self.of_address(page.url).tolist()]))

    @staticmethod
    @lru_cache(50_000)
    def of_address(url: str) -> NDArray[np.int64]:
        """What a URL shows before it is fetched: the words of path and query; perhaps nothing."""
        path = url.split("/", 3)[-1]
        words = _SEPARATORS.sub(" ", unquote(path) if "%" in path else path)
        return np.array(list(dict.fromkeys(map(_number, count_terms(words, "")))), np.int64)


def _number(term: str) -> int:
    return crc32(term.encode()) or 1


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


PageSignatures = WordSignatures | TopicSignatures
"""From pages to signatures: numbers above 0, none twice."""
Factors = NDArray[np.float64]
"""Logarithms of I^B, I^SF, I^TL and I^L. Shape (n, 4)."""


class CandidateRanking:
    """Gives pages their composite interest ratio (12), times I^L where links are looked at, too.

    With ``page_words``, I^SF is about the page: over those of a user's signatures that the page's
    address shows. Otherwise it is about its users alone.
    """

    def __init__(
        self,
        statistics: VisitStatistics,
        *,
        page_words: bool = True,
        links: LinkInterest | None = None,
    ) -> None:
        self._statistics = statistics
        self._page_words = page_words
        self._links = links

    def renew(self) -> None:
        """Take in what was learned about users in general."""
        if not self._page_words:
            self._statistics.refresh_signatures()

    def best(self, pages: Pages, limit: int) -> tuple[Pages, Factors]:
        """The best of some pages; what addresses and links say is looked at for these only."""
        interest = self._statistics.interest(pages)
        if len(pages) > limit:
            chosen = np.argsort(-interest.total, kind="stable")[:limit]
            pages, interest = pages[chosen], interest.of(chosen)
        return pages, self._completed(pages, interest)

    def factors(self, pages: Pages) -> Factors:
        """All four factors of pages of the trace."""
        return self._completed(pages, self._statistics.interest(pages))

    def _completed(self, pages: Pages, interest: PageInterest) -> Factors:
        urls = [self._statistics.trace.page_url(page) for page in pages.tolist()]
        signature = self._of_addresses(interest, urls) if self._page_words else interest.signature
        parts = (interest.frequency, signature, interest.locality, self.of_links(urls))
        return np.column_stack(parts)

    def of_links(self, urls: Sequence[str]) -> Vector:
        """I^L; a missing factor is 1."""
        if self._links is None or not urls:
            return np.zeros(len(urls))
        return self._links.log_ratios(urls)

    def _of_addresses(self, interest: PageInterest, urls: Sequence[str]) -> Vector:
        """(4) and (5) over the signatures that each address shows."""
        statistics, users, owners = self._statistics, interest.users, interest.owners
        shown = [WordSignatures.of_address(url) for url in urls]
        logs = statistics.signatures.log_interest_in(
            users, owners, shown, statistics.divisors(users), statistics.base_rate
        )
        told = logs != 0
        return product(statistics.rule, logs[told], owners[told], len(urls))
