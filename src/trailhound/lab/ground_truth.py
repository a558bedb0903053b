"""The truth about a recorded web: what there is to find, and what a crawl really found.

The crawler's own judge has no say here. A copy counts as its original, and each relevant page
counts once, under whatever URL it was fetched. Nothing that the session showed counts at all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trailhound.lab.corpora import Corpus, LinkGraph
from trailhound.lab.corpora.link_graph import UNREACHABLE, IntArray, links_outside
from trailhound.records import Outcome, PageEvent
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.urls import canonicalize, host_key

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

LOOKAHEAD = 8
"""Pages ahead at which the oracle compares how much each way would bring."""


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
    urls = [event.url for event in session.events if isinstance(event, Visit | Mark)]
    urls += [event.requested_url or "" for event in session.events if isinstance(event, Visit)]
    return frozenset(corpus.page_ids(filter(None, map(canonicalize, urls))))


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

    def pursuit(self) -> RemainingAnswers:
        """Begin a crawl that has found nothing yet."""
        answers = [self._copies.with_copies(page) for page in sorted(self._relevant)]
        return RemainingAnswers(self._corpus, self._open_graph, answers)

    def hops(self, url: str) -> int | None:
        """Links from the page behind ``url`` to the nearest relevant one; ``None`` for no way."""
        number = self._corpus.page_id(url)
        hops = UNREACHABLE if number is None else int(self._hops[number])
        return None if hops == UNREACHABLE else hops

    @cached_property
    def _hops(self) -> IntArray:
        pages = {page for each in self._relevant for page in self._copies.with_copies(each)}
        return self._open_graph.hops_to(sorted(pages))

    @cached_property
    def _open_graph(self) -> LinkGraph:
        """The links that a crawl may follow."""
        return links_outside(self._corpus.graph, self._corpus.page_ids(self._off_limits))

    def finds(self, events: Iterable[PageEvent]) -> list[int | None]:
        """For each event, the number of the relevant page that it brought for the first time."""
        missing = set(self._relevant)
        finds: list[int | None] = []
        for event in events:
            fetched = event.outcome is Outcome.FETCHED
            number = self._page(event.final_url) if fetched else None
            finds.append(number if number in missing else None)
            missing -= {number}
        return finds

    def _page(self, url: str) -> int | None:
        """Number of the page behind a URL; a duplicate's is that of its original."""
        number = self._corpus.page_id(url)
        return None if number is None else self._copies.original(number)


class RemainingAnswers:
    """What one crawl has left to find, and what every page of the web is worth to it.

    A page that is an answer is worth a find for its requests. Any other is worth what the best way
    from it brings: with ``d`` pages up to one that links to ``n`` answers not yet found, that is
    ``n`` finds for ``d + n`` requests. Each redirect costs one more.
    """

    def __init__(self, corpus: Corpus, graph: LinkGraph, answers: Sequence[Sequence[int]]) -> None:
        self._corpus = corpus
        self._graph = graph
        self._answer_of = {page: answer for answer in answers for page in answer}
        self._missing = np.zeros(graph.n_pages, dtype=np.bool_)
        self._missing[list(self._answer_of)] = True
        self._fetched = np.zeros(graph.n_pages, dtype=np.bool_)
        self._ways: Ways | None = None
        self._places: dict[str, tuple[int | None, int]] = {}

    def arrived(self, url: str) -> None:
        """The page behind this URL was fetched: it is found, and so are its copies."""
        page = self._corpus.page_id(url)
        if page is None:
            return
        self._fetched[page] = True
        self._missing[list(self._answer_of.get(page, ()))] = False
        self._ways = None

    def answer(self, url: str) -> int | None:
        """The number of the answer not yet found that this URL brings; ``None`` for no answer."""
        page, _ = self._place(url)
        return self._answer_of[page][0] if page is not None and self._missing[page] else None

    def worth(self, url: str) -> float:
        """Finds per request on the best way from here, within 0 and 1; 0 when it leads to none."""
        page, redirects = self._place(url)
        if page is None or self._fetched[page]:
            return 0.0
        if self._ways is None:
            self._ways = best_ways(self._graph, self._missing, self._fetched)
        if self._missing[page]:
            return 1 / (1 + redirects)
        return float(self._ways.finds[page] / (self._ways.requests[page] + redirects))

    def _place(self, url: str) -> tuple[int | None, int]:
        """The page behind a URL and the redirects before it, looked up once."""
        place = self._places.get(url)
        if place is None:
            place = self._places[url] = self._corpus.page_id(url), self._corpus.redirects(url)
        return place


class Ways(NamedTuple):
    """The best way from every page: shape (pages,) each."""

    finds: FloatArray
    requests: FloatArray
    """Including those for the finds; never 0."""


def best_ways(graph: LinkGraph, missing: BoolArray, fetched: BoolArray) -> Ways:
    """Where most finds come per request, looking ``LOOKAHEAD`` pages ahead.

    From farther pages the way is to the nearest missing answer.
    """
    finds = np.zeros(graph.n_pages)
    requests = np.ones(graph.n_pages)
    hops = graph.hops_to(np.flatnonzero(missing))
    far = hops > LOOKAHEAD
    finds[far], requests[far] = 1.0, hops[far] + 1.0
    links_to = graph.matrix @ missing.astype(np.float64)
    at_end = np.where(fetched, 0.0, links_to)
    for pages in range(1, LOOKAHEAD + 1):
        better = at_end * requests > finds * (pages + at_end)
        finds[better], requests[better] = at_end[better], pages + at_end[better]
        at_end = np.where(fetched, 0.0, graph.best_linked(at_end))
    return Ways(finds, requests)


def relevant_by_host(events: Iterable[PageEvent], finds: Iterable[int | None]) -> Counter[str]:
    """How many of the finds each host supplied."""
    return Counter(
        host_key(event.final_url)
        for event, found in zip(events, finds, strict=True)
        if found is not None
    )
