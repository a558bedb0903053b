"""Shark-search: inherited relevance, sharpened by the words in and around each link."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import ClassVar

from trailhound.records import CrawledPage, Link, ScoredLink
from trailhound.strategies.base import Briefing
from trailhound.text.target_similarity import TargetSimilarity
from trailhound.text.tokens import count_terms

_INHERITED = struct.Struct("<d")


class SharkSearchStrategy:
    """Potential of a child::

        inherited    = decay · (sim(page) if sim(page) > 0 else inherited(page))
        neighbourhood = anchor_weight · sim(anchor) + (1 - anchor_weight) · context
        context      = 1 if sim(anchor) > 0 else sim(words around the anchor)
        potential    = inherited_weight · inherited + (1 - inherited_weight) · neighbourhood

    The query of the paper is here the mean of the target pages. ``inherited`` belongs to the
    path, so it travels in the candidate's memory.
    """

    name: ClassVar[str] = "shark-search"
    summary: ClassVar[str] = "inherited page similarity plus anchor and context of each link"
    paper: ClassVar[str] = "Hersovici et al. 1998"
    learns_online: ClassVar[bool] = False

    def __init__(
        self,
        similarity: TargetSimilarity,
        *,
        decay: float = 0.5,
        inherited_weight: float = 0.5,
        anchor_weight: float = 0.8,
    ) -> None:
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
        return cls(
            briefing.similarity,
            decay=decay,
            inherited_weight=inherited_weight,
            anchor_weight=anchor_weight,
        )

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
