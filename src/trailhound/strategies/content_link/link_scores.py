"""Eq. 4: how promising a link is, from its own words and from the pages that have it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.records import Link
from trailhound.strategies.content_link.topic_table import TopicTable
from trailhound.strategies.parts import drop_oldest
from trailhound.text.tokens import count_terms

MAX_URLS = 200_000


class InLinks(NamedTuple):
    """What is known about the pages that link to a URL."""

    relevant: int = 0
    """Relevant ones among them."""
    relevance: float = 0.0
    """Sum over all of them."""
    pages: int = 0


class InLinkTable:
    """In-links of waiting URLs, in bounded memory: the oldest are forgotten."""

    def __init__(self, limit: int = MAX_URLS) -> None:
        self._limit = limit
        self.known: dict[str, InLinks] = {}

    def add_page(self, links: Iterable[str], relevance: float, relevant: bool) -> None:
        """A page was fetched that has these (distinct) links."""
        known, nothing = self.known, InLinks()
        for url in links:
            before = known.get(url, nothing)
            known[url] = InLinks(
                before.relevant + relevant, before.relevance + relevance, before.pages + 1
            )
        drop_oldest(known, self._limit)

    def of(self, url: str) -> InLinks:
        """What is known about a URL."""
        return self.known.get(url, InLinks())

    def forget(self, url: str) -> None:
        """A URL waits no longer."""
        self.known.pop(url, None)


class RunningMoments(msgspec.Struct):
    """Mean and standard deviation of all values so far."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    """Sum of squared differences from the mean."""

    def add(self, values: NDArray[np.float64]) -> None:
        """See some more values."""
        size = len(values)
        if not size:
            return
        mean = float(values.mean())
        total = self.count + size
        apart = mean - self.mean
        self.squares += float(((values - mean) ** 2).sum())
        self.squares += apart * apart * self.count * size / total
        self.mean += apart * size / total
        self.count = total

    def standard_scores(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many standard deviations each value is above the mean; 0 where all are equal."""
        deviation = math.sqrt(self.squares / self.count) if self.count else 0.0
        if deviation < 1e-9:
            return np.zeros(len(values))
        return (values - self.mean) / deviation


MEMO_SIZE = 50_000
"""Texts whose relevance is remembered while the table stays as it is."""


class ScoreParts(NamedTuple):
    """What a link score is made of."""

    url: float
    """Relevance of the words of its address."""
    anchor: float
    """Relevance of its anchor text and image descriptions."""
    relevant_links: float
    """Relevant pages that link to it."""
    parents: float
    """Relevance of the pages that link to it: the sum as published, the mean in the repair."""


class LinkScorer:
    """Scores links by one table.

    As published::

        LinkScore = URLScore + AnchorScore + relevant linking pages + Σ Relevance(linking page)

    so that a much linked page leaves all words behind. Repaired, the last two are
    ln(1 + relevant linking pages) and the mean relevance, both as standard scores over all links so
    far, and the sum goes through a logistic function: it is then positive, and can be discounted.
    """

    def __init__(self, table: TopicTable, *, literal: bool) -> None:
        self.table = table
        self.in_links = InLinkTable()
        self.link_moments = RunningMoments()
        self.parent_moments = RunningMoments()
        self._literal = literal
        self._memo: dict[tuple[str, str], float] = {}

    def parts(self, links: Sequence[Link], language: str) -> list[ScoreParts]:
        """The four parts of each link of a page."""
        found = []
        for link in links:
            linked = self.in_links.of(link.url)
            parents = linked.relevance if self._literal else linked.relevance / max(linked.pages, 1)
            anchor = f"{link.anchor} {link.image_alt}" if link.image_alt else link.anchor
            in_anchor = self.text_relevance(anchor, language) if anchor else 0.0
            in_url = self.url_relevance(link.url, language)
            found.append(ScoreParts(in_url, in_anchor, linked.relevant, parents))
        return found

    def text_relevance(self, text: str, language: str) -> float:
        """Eq. 3 for a short text."""
        key = text, language
        known = self._memo.get(key)
        if known is None:
            if len(self._memo) >= MEMO_SIZE:
                self._memo.clear()
            known = self._memo[key] = self.table.relevance(count_terms(text, language))
        return known

    def url_relevance(self, url: str, language: str = "") -> float:
        """Eq. 3 for the words of a URL, without its scheme; a seed has no language."""
        return self.text_relevance(unquote(url[url.find("://") + 3 :]), language)

    def table_changed(self) -> None:
        """Relevance of texts must be worked out again."""
        self._memo.clear()

    def scores(self, parts: Sequence[ScoreParts]) -> list[float]:
        """One number for each link, higher is better."""
        if self._literal:
            return [sum(each) for each in parts]
        array = np.array(parts, np.float64).reshape(-1, 4)
        logs, means = np.log1p(array[:, 2]), array[:, 3]
        self.link_moments.add(logs)
        self.parent_moments.add(means)
        sums = array[:, 0] + array[:, 1]
        sums += self.link_moments.standard_scores(logs)
        sums += self.parent_moments.standard_scores(means)
        scores: list[float] = (1 / (1 + np.exp(-sums))).tolist()
        return scores
