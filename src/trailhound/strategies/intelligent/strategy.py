"""The intelligent crawler: learns on the way what links to relevant pages have in common."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trailhound.errors import UsageError
from trailhound.records import CrawledPage, ScoredLink
from trailhound.strategies.base import RESCORE_EVERY, Briefing, News
from trailhound.strategies.intelligent.interest_rule import InterestRule
from trailhound.strategies.intelligent.link_interest import FACTORS, LinkInterest, make_news
from trailhound.strategies.parts import (
    FOUR_FACTORS,
    RescorePace,
    explained_factors,
    session_as_crawl,
)

_NAMES = (
    "words of linking pages",
    "words of the address",
    "relevance of linking pages",
    "relevance of siblings",
)
_FROM_LINKING_PAGES = np.array([True, False, True, True])
"""All factors but that of the address."""
_FIRST_REFRESH = 50
RANKED_ANEW = 20_000
"""Waiting candidates looked at again: the best. The cost must not grow with all that wait."""


class IntelligentStrategy:
    """Priority of a link: the weighted logarithms of its four interest ratios.

    The predicate of the paper is the crawl's judge. The four logarithms travel as the memory of a
    candidate: to explain it, and to rank it again when the table of links has forgotten it.
    """

    name: ClassVar[str] = "intelligent"
    summary: ClassVar[str] = "learns on the way what links to relevant pages have in common"
    paper: ClassVar[str] = "Aggarwal, Al-Garawi, Yu 2001"
    reads_surroundings: ClassVar[bool] = False
    rescore_best: ClassVar[int] = RANKED_ANEW

    def __init__(
        self, interest: LinkInterest, *, refresh: int = 500, shown: Container[str] = frozenset()
    ) -> None:
        """``shown`` are the pages that ``interest`` knows from a session, not from the crawl."""
        if refresh < 1:
            raise UsageError(f"Option refresh is {refresh}, but it should be 1 page or more.")
        self._interest = interest
        self._shown = shown
        self._pace = RescorePace(refresh, min(refresh, _FIRST_REFRESH))
        self.rescore_every = min(refresh, RESCORE_EVERY)

    @classmethod
    def from_briefing(
        cls,
        briefing: Briefing,
        *,
        significance: float = 2.0,
        smoothing: float = 4.0,
        refresh: int = 500,
        session: bool = True,
        literal: bool = False,
    ) -> IntelligentStrategy:
        """Start from what the session shows, or from nothing as published."""
        rule = InterestRule(significance=significance, smoothing=smoothing, literal=literal)
        interest, shown = LinkInterest(rule), set[str]()
        if session and not literal:
            for crawled in session_as_crawl(briefing.graph):
                interest.observe(crawled)
                shown.add(crawled.page.url)
        return cls(interest, refresh=refresh, shown=shown)

    def observe(self, crawled: CrawledPage) -> None:
        """Learn from the page, as the child of some pages and the parent of others."""
        self._interest.observe(crawled)
        self._pace.page_done()

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Each link by its own address, linking pages and siblings.

        Links to pages that the crawl has fetched are left out: most of those in menus.
        """
        judged, shown = self._interest.judged, self._shown
        links = [each for each in crawled.page.links if each.url not in judged or each.url in shown]
        factors = self._interest.log_factors([link.url for link in links])
        priorities = self._interest.combine(factors).tolist()
        packed, size = factors.astype("<f4").tobytes(), FOUR_FACTORS.size
        memories = [packed[start : start + size] for start in range(0, len(packed), size)]
        return map(ScoredLink, links, priorities, memories)

    def rescore(self, candidates: Mapping[str, bytes]) -> Mapping[str, float] | None:
        """Every ``refresh`` pages: new ratios, new weights, new priorities."""
        if not self._pace.is_due(len(candidates)):
            return None
        self._interest.refresh()
        # Without a memory it is a seed, or came from elsewhere: not ours to rank.
        size = FOUR_FACTORS.size
        memories = {url: memory for url, memory in candidates.items() if len(memory) == size}
        factors = self._log_factors(memories)
        self._interest.readjust(factors)
        return dict(zip(memories, self._interest.combine(factors).tolist(), strict=True))

    def _log_factors(self, memories: Mapping[str, bytes]) -> NDArray[np.float64]:
        """Present factors; where all linking pages are forgotten, what the candidate remembers."""
        urls = list(memories)
        factors = self._interest.log_factors(urls)
        remembered = np.frombuffer(b"".join(memories.values()), "<f4").reshape(-1, len(FACTORS))
        forgotten = ~self._interest.are_linked(urls)[:, None] & _FROM_LINKING_PAGES
        factors[forgotten] = remembered[forgotten]
        return factors

    def explain(self, memory: bytes) -> Mapping[str, float]:
        """Interest ratios when the link was last seen: 1 says nothing, 2 twice as likely."""
        return explained_factors(_NAMES, memory)

    def join(self, owns: Callable[[str], bool]) -> None:
        """Others fetch what it does not own; that changes nothing here."""

    def news(self, crawled: CrawledPage) -> News:
        """Whether the page was relevant; and its words and links."""
        return make_news(crawled)

    def heed(self, news: Sequence[News]) -> None:
        """Count pages of others as own ones."""
        for each in news:
            if self._interest.heed(each):
                self._pace.page_done()

    def snapshot(self) -> bytes:
        """All ratios, tables and weights."""
        return self._interest.snapshot()

    def restore(self, snapshot: bytes) -> None:
        """Go on from there."""
        self._interest.restore(snapshot)
        self._pace.go_on_from(self._interest.pages)
