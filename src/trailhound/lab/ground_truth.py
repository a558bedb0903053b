"""What a crawl really found, by the labels of the recorded web.

The crawler's own judge has no say here. A duplicate counts as its original, and each relevant
page counts once, under whatever URL it was fetched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from trailhound.lab.corpora import Corpus
from trailhound.lab.corpora.link_graph import UNREACHABLE
from trailhound.lab.corpora.packing import IntArray
from trailhound.lab.topics.reach import links_inside
from trailhound.records import Outcome, PageEvent
from trailhound.urls import host_key


class GroundTruth:
    """The relevant pages of one topic; no way to them leads through ``off_limits``."""

    def __init__(
        self, corpus: Corpus, relevant: Iterable[str], off_limits: Iterable[str] = ()
    ) -> None:
        self._corpus = corpus
        self._off_limits = off_limits
        self._original_of = {
            duplicate: original
            for url, original_url in corpus.duplicates().items()
            if (duplicate := corpus.page_id(url)) is not None
            and (original := corpus.page_id(original_url)) is not None
        }
        numbers = (self._page(url) for url in relevant)
        self._relevant = frozenset(number for number in numbers if number is not None)

    def __len__(self) -> int:
        """Distinct relevant pages."""
        return len(self._relevant)

    def hops(self, url: str) -> int | None:
        """Links from the page behind ``url`` to the nearest relevant one; ``None`` for no way."""
        number = self._corpus.page_id(url)
        hops = UNREACHABLE if number is None else int(self._hops[number])
        return None if hops == UNREACHABLE else hops

    @cached_property
    def _hops(self) -> IntArray:
        copies = (
            copy for copy, original in self._original_of.items() if original in self._relevant
        )
        graph = self._corpus.graph
        shut = [
            number for url in self._off_limits if (number := self._corpus.page_id(url)) is not None
        ]
        if shut:
            allowed = np.ones(graph.n_pages, dtype=np.bool_)
            allowed[shut] = False
            graph = links_inside(graph, allowed)
        return graph.hops_to(sorted({*self._relevant, *copies}))

    def finds(self, events: Iterable[PageEvent]) -> list[int | None]:
        """For each event, the number of the relevant page that it brought for the first time."""
        found: set[int] = set()
        finds = []
        for event in events:
            number = self._relevant_page(event)
            finds.append(None if number in found else number)
            if number is not None:
                found.add(number)
        return finds

    def _relevant_page(self, event: PageEvent) -> int | None:
        if event.outcome is not Outcome.FETCHED:
            return None
        number = self._page(event.final_url)
        return number if number in self._relevant else None

    def _page(self, url: str) -> int | None:
        """Number of the page behind a URL; a duplicate's is that of its original."""
        number = self._corpus.page_id(url)
        return None if number is None else self._original_of.get(number, number)


def relevant_by_host(events: Iterable[PageEvent], finds: Iterable[int | None]) -> Counter[str]:
    """How many of the finds each host supplied."""
    return Counter(
        host_key(event.final_url)
        for event, found in zip(events, finds, strict=True)
        if found is not None
    )
