"""From the statistics to ranked candidates: the composite interest ratio, page by page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trailhound.models.collaborative.page_signatures import PageSignatures
from trailhound.models.collaborative.ratios import product
from trailhound.models.collaborative.statistics import PageInterest, Pages, VisitStatistics
from trailhound.models.interest.link_interest import LinkInterest
from trailhound.models.interest.rule import Vector

FACTORS = ("frequency", "signature", "locality", "links")
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
        signatures: PageSignatures,
        *,
        page_words: bool = True,
        links: LinkInterest | None = None,
    ) -> None:
        self._statistics = statistics
        self._signatures = signatures
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
        return np.column_stack(
            (interest.frequency, signature, interest.locality, self.of_links(urls))
        )

    def of_links(self, urls: Sequence[str]) -> Vector:
        """I^L; a missing factor is 1."""
        if self._links is None or not urls:
            return np.zeros(len(urls))
        return self._links.log_ratios(urls)

    def _of_addresses(self, interest: PageInterest, urls: Sequence[str]) -> Vector:
        """(4) and (5) over the signatures that each address shows."""
        statistics, rule = self._statistics, self._statistics.rule
        users, owners = interest.users, interest.owners
        logs = statistics.signatures.log_interest_in(
            users,
            owners,
            [self._signatures.of_address(url) for url in urls],
            statistics.divisors(users),
            statistics.base_rate,
        )
        told = logs != 0
        return product(rule, logs[told], owners[told], len(urls))
