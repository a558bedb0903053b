"""What a link itself says about the page behind it, for the strategies that count hops.

Beside the path that led to a page, `hidden-markov` and `memm` look at each of its links: are its
words those of the pages that were wanted?
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trailhound.models.hop_hmm import Matrix, Vector
from trailhound.records import Link, Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.trail.link_words import PageLinks, read_links
from trailhound.strategies.trail.phrases import Phrases
from trailhound.strategies.trail.wanted_words import WantedWords

TOWARDS_TARGETS = {
    "anchor and address like the targets": 2.0,
    "surrounding words like the targets": 1.0,
    "anchor and address unlike other pages": 0.0,
    "surrounding words unlike other pages": 0.0,
    "same host": 0.0,
    "few links on the page": 0.0,
}
"""Features behind the constant one, with how much each speaks for a target before all learning.

Cosines are counted in fifths, so that 1 is much for all features.
"""
N_FEATURES = len(TOWARDS_TARGETS)
PRIOR_WEIGHTS: Vector = np.array(list(TOWARDS_TARGETS.values()))

MAX_PHRASES = 50_000

_SCALES = (5.0, 5.0, 1.0, 1.0)


class LinkEvidence:
    """Describes the links of a page by the pages of a session."""

    def __init__(self, graph: PageGraph) -> None:
        self._wanted = WantedWords(graph)
        self.phrases = Phrases()
        """What links have said so far, as long as there is room for it."""

    def read(self, page: Page) -> tuple[PageLinks, Matrix]:
        """The addresses that a page links to, each once, and the features of these links.

        Shape of the features: (n, 1 + N_FEATURES). A link to the page itself is none.
        """
        if self.phrases.columns.size > MAX_PHRASES:
            self.phrases = Phrases()
        first = self.phrases.columns.size
        found = read_links(page, self.phrases)
        self.phrases.sum_up(first, likeness=self._wanted.tables)
        n, origin = len(found.urls), page.url[: page.url.find("/", 8) + 1]
        rows = [
            np.ones(n),
            self._wanted.read(self.phrases, found.phrases) * _SCALES,
            np.fromiter((url.startswith(origin) for url in found.urls), np.float64, n),
            np.full(n, 1 - np.log1p(n) / 4),
        ]
        return found, np.column_stack(rows)


def first_links(page: Page, urls: list[str]) -> Iterator[Link]:
    """The first link to each address that :meth:`LinkEvidence.read` gave, in this order."""
    first: dict[str, Link] = {}
    for link in page.links:
        first.setdefault(link.url, link)
    return map(first.__getitem__, urls)
