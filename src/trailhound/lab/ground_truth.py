"""The truth about a recorded web: what there is to find, and what a crawl really found.

The crawler's own judge has no say here. A copy counts as its original, and each relevant page
counts once, under whatever URL it was fetched. Nothing that the session showed counts at all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trailhound.lab.corpora import Corpus
from trailhound.lab.corpora.link_graph import UNREACHABLE, IntArray, links_inside
from trailhound.records import Outcome, PageEvent
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.urls import canonicalize, host_key


@dataclass(frozen=True)
class Answers:
    """Pages to be found. Copies of one page are one answer, counted as the original."""

    originals: tuple[int, ...]
    """One page per answer, ascending."""
    copies: tuple[tuple[int, ...], ...]
    """For each answer, all pages that count as it, the original included."""

    def pages(self) -> frozenset[int]:
        """Originals and copies alike."""
        return frozenset(page for group in self.copies for page in group)


class Copies:
    """Knows which recorded pages are copies of which, where both are recorded."""

    def __init__(self, corpus: Corpus) -> None:
        pairs = (map(corpus.page_id, pair) for pair in sorted(corpus.duplicates().items()))
        self._originals = {
            copy: original
            for copy, original in pairs
            if copy is not None and original is not None and copy != original
        }
        self._copies: defaultdict[int, list[int]] = defaultdict(list)
        for copy, original in sorted(self._originals.items()):
            self._copies[original].append(copy)

    def original(self, page: int) -> int:
        """The page itself, or what it is a copy of."""
        return self._originals.get(page, page)

    def with_copies(self, page: int) -> tuple[int, ...]:
        """An original and all that count as it."""
        return (page, *self._copies.get(page, ()))

    def answers(self, members: Iterable[int], shown: Iterable[int]) -> Answers:
        """The members of a topic but those shown; a page of which a copy was shown was shown."""
        known = {self.original(page) for page in shown}
        originals = sorted({self.original(page) for page in members} - known)
        return Answers(tuple(originals), tuple(map(self.with_copies, originals)))


def shown_pages(corpus: Corpus, session: Session) -> frozenset[int]:
    """Recorded pages that came up in a session, under whatever address."""
    shown: set[int] = set()
    for event in session.events:
        for url in _addresses(event):
            canonical = canonicalize(url)
            page = None if canonical is None else corpus.page_id(canonical)
            if page is not None:
                shown.add(page)
    return frozenset(shown)


def _addresses(event: object) -> list[str]:
    if isinstance(event, Visit):
        return [url for url in (event.url, event.requested_url) if url]
    return [event.url] if isinstance(event, Mark) else []


class GroundTruth:
    """The relevant pages of one topic; no way to them leads through ``off_limits``."""

    def __init__(
        self, corpus: Corpus, relevant: Iterable[str], off_limits: Iterable[str] = ()
    ) -> None:
        self._corpus = corpus
        self._off_limits = off_limits
        self._copies = Copies(corpus)
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
        graph = self._corpus.graph
        shut = [
            number for url in self._off_limits if (number := self._corpus.page_id(url)) is not None
        ]
        if shut:
            allowed = np.ones(graph.n_pages, dtype=np.bool_)
            allowed[shut] = False
            graph = links_inside(graph, allowed)
        pages = {page for each in self._relevant for page in self._copies.with_copies(each)}
        return graph.hops_to(sorted(pages))

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
        return None if number is None else self._copies.original(number)


def relevant_by_host(events: Iterable[PageEvent], finds: Iterable[int | None]) -> Counter[str]:
    """How many of the finds each host supplied."""
    return Counter(
        host_key(event.final_url)
        for event, found in zip(events, finds, strict=True)
        if found is not None
    )
