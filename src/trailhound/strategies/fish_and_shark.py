"""Fish-search, and shark-search that grew from it: relevance handed down from page to page."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import ClassVar

from trailhound.errors import UsageError
from trailhound.records import CrawledPage, Link, ScoredLink
from trailhound.strategies.base import Briefing
from trailhound.text.tfidf import TargetSimilarity
from trailhound.text.tokens import count_terms

_LIFE = struct.Struct("<i")
MAX_DEPTH = 2**31 - 1
"""What fits into the memory of a link; no path is as long."""


class FishSearchStrategy:
    """Links of a relevant page have potential 1, of another page ½, those beyond the width 0.

    ``depth`` links may lie between a link and the last relevant page, or the seed, in front of it:
    a relevant page gives its links the full number, another page one less than it had itself, and
    a page that has none left is followed no further. The number travels in the candidate's memory.
    """

    name: ClassVar[str] = "fish-search"
    summary: ClassVar[str] = "links of relevant pages first; gives up a few dull pages on"
    paper: ClassVar[str] = "De Bra, Post 1994; as in Hersovici et al. 1998"
    reads_surroundings: ClassVar[bool] = False
    learns_online: ClassVar[bool] = False

    def __init__(
        self, *, width: int = 10, depth: int = 3, boost: float = 1.5, threshold: float = 0.0
    ) -> None:
        if width < 1 or not 0 <= depth <= MAX_DEPTH or not boost > 0:
            raise UsageError(
                f"fish-search needs width of at least 1, depth from 0 to {MAX_DEPTH:,} and boost "
                f"above 0, not {width}, {depth} and {boost:g}."
            )
        self._width = width
        self._depth = depth
        self._boosted_width = int(boost * width)
        self._threshold = threshold

    @classmethod
    def from_briefing(
        cls,
        briefing: Briefing,
        *,
        width: int = 10,
        depth: int = 3,
        boost: float = 1.5,
        threshold: float = 0.0,
    ) -> FishSearchStrategy:
        """Learn nothing: the crawl's judge says what is relevant."""
        del briefing
        return cls(width=width, depth=depth, boost=boost, threshold=threshold)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """The first ``width`` links have potential; none at all is queued when life has run out."""
        found = crawled.relevance
        is_relevant = found.score >= self._threshold if self._threshold > 0 else found.relevant
        memory = crawled.candidate.memory
        life = _LIFE.unpack(memory)[0] if len(memory) == _LIFE.size else self._depth
        left = self._depth if is_relevant else life - 1
        if left < 0:
            return []
        width = self._boosted_width if is_relevant else self._width
        potential = 1.0 if is_relevant else 0.5
        packed = _LIFE.pack(left)
        # Children, not links: a page that is linked to twice takes one place, the first.
        children: dict[str, Link] = {}
        for link in crawled.page.links:
            children.setdefault(link.url, link)
        return [
            ScoredLink(link, potential if place < width else 0.0, packed)
            for place, link in enumerate(children.values())
        ]

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing."""


_INHERITED = struct.Struct("<d")


class SharkSearchStrategy:
    """Potential of a child::

        inherited    = decay · (sim(page) if sim(page) > 0 else inherited(page))
        neighbourhood = anchor_weight · sim(anchor) + (1 - anchor_weight) · context
        context      = 1 if sim(anchor) > 0 else sim(words around the anchor)
        potential    = inherited_weight · inherited + (1 - inherited_weight) · neighbourhood

    The query of the paper is here the target pages: sim(page) is to the nearest of them, all other
    similarities are to their mean. ``inherited`` belongs to the path, so it travels in the
    candidate's memory.
    """

    name: ClassVar[str] = "shark-search"
    summary: ClassVar[str] = "inherited page similarity plus anchor and context of each link"
    paper: ClassVar[str] = "Hersovici et al. 1998"
    learns_online: ClassVar[bool] = False

    def __init__(
        self,
        similarity: TargetSimilarity,
        decay: float = 0.5,
        inherited_weight: float = 0.5,
        anchor_weight: float = 0.8,
    ) -> None:
        shares = {
            "decay": decay,
            "inherited_weight": inherited_weight,
            "anchor_weight": anchor_weight,
        }
        for name, share in shares.items():
            if not 0 <= share <= 1:
                raise UsageError(f"shark-search needs {name} between 0 and 1, not {share:g}.")
        self._similarity = similarity
        self._decay = decay
        self._inherited_weight = inherited_weight
        self._anchor_weight = anchor_weight

    @classmethod
    def from_briefing(
        cls,
        briefing: Briefing,
        *,
        decay: float = 0.5,
        inherited_weight: float = 0.5,
        anchor_weight: float = 0.8,
    ) -> SharkSearchStrategy:
        """Weigh terms over all visited pages and remember the targets' mean."""
        return cls(briefing.similarity, decay, inherited_weight, anchor_weight)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """One potential per link."""
        own = self._similarity.to_nearest(crawled.page.terms)
        memory = crawled.candidate.memory
        grandparent = _INHERITED.unpack(memory)[0] if memory else 0.0
        inherited = self._decay * (own if own > 0 else grandparent)
        packed = _INHERITED.pack(inherited)
        language = crawled.page.language
        weight = self._inherited_weight
        return [
            ScoredLink(
                link,
                weight * inherited + (1 - weight) * self._neighbourhood(link, language),
                packed,
            )
            for link in crawled.page.links
        ]

    def _neighbourhood(self, link: Link, language: str) -> float:
        anchor = self._similar(f"{link.anchor} {link.image_alt}", language)
        context = 1.0 if anchor > 0 else self._similar(f"{link.before} {link.after}", language)
        return self._anchor_weight * anchor + (1 - self._anchor_weight) * context

    def _similar(self, text: str, language: str) -> float:
        terms = count_terms(text, language)
        return self._similarity.to_centroid(terms) if terms else 0.0

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing."""
