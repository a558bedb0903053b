"""What people opened just before and after a page, where there is a trace to tell.

Each of some visits to a page speaks for the pages that were opened up to ``REACH`` steps from it,
within ``GAP_SECONDS``, the nearer the more. What they weigh together, w, counts as w / (w + 1) of a
page: however many people go from one page to another, that is one page's word about the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from trailhound.records import Link, Page
from trailhound.sources import AccessTrace
from trailhound.strategies.parts import drop_oldest
from trailhound.strategies.trail.columns import Matrix
from trailhound.strategies.visits import evenly, place_of
from trailhound.urls import asks_a_search, strip_tracking

MAX_VISITS = 20
"""Visits of a page that are looked at, at even distances."""
REACH = 3
GAP_SECONDS = 1800.0
MAX_ADDRESSES = 100_000
"""Addresses of which something is known."""
MAX_SUGGESTED = 5
"""Pages beside one that are taken for links of it: those that were opened most."""
LEAST_TO_SUGGEST = 0.3
"""Chance of a page to be wanted from which this is done."""
PLACE = "readers"
"""Where on the page these links stand, so to speak."""

_UNKNOWN = (0.0, 0.0)


class Readers:
    """How pages turned out near which people opened an address: hits and seen, as in the table.

    Without a trace nothing is known of any.
    """

    def __init__(self, trace: AccessTrace | None) -> None:
        self._trace = trace
        self._counts: dict[str, tuple[float, float]] = {}
        """Those that were counted last are at the end."""

    def __bool__(self) -> bool:
        return self._trace is not None

    def opened_near(self, *urls: str) -> Mapping[str, float]:
        """What was opened near a page, as a crawl asks for it, with its weight.

        ``urls`` are the page's addresses; the first one that the trace has counts.
        """
        if self._trace is None:
            return {}
        numbers = (self._trace.page_number(url) for url in urls)
        page = next((number for number in numbers if number is not None), None)
        if page is None:
            return {}
        weights = self._weights(self._trace, page)
        near: defaultdict[str, float] = defaultdict(float)
        for other, weight in weights.items():
            near[strip_tracking(self._trace.page_url(other))] += weight
        for url in urls:
            near.pop(strip_tracking(url), None)
        return near

    @staticmethod
    def _weights(trace: AccessTrace, page: int) -> Mapping[int, float]:
        users, times = trace.visitors(page)
        some = evenly(len(users), MAX_VISITS)
        weights: defaultdict[int, float] = defaultdict(float)
        for user, time in zip(users[some].tolist(), times[some].tolist(), strict=True):
            pages, opened = trace.history(user)
            place = place_of(pages, opened, page, time)
            first, behind = max(place - REACH, 0), place + REACH + 1
            around = zip(pages[first:behind].tolist(), opened[first:behind].tolist(), strict=True)
            for step, (other, at) in enumerate(around, first - place):
                if step and other != page and abs(at - time) <= GAP_SECONDS:
                    weights[other] += 1 / abs(step)
        return weights

    def note(self, near: Mapping[str, float], relevance: float) -> None:
        """A page turned out so relevant; what was opened near it hears of it."""
        for other, weight in near.items():
            hits, seen = self._counts.pop(other, _UNKNOWN)
            share = weight / (weight + 1)
            self._counts[other] = hits + share * relevance, seen + share
        drop_oldest(self._counts, MAX_ADDRESSES)

    def counts(self, urls: Iterable[str]) -> Matrix:
        """Hits and seen of addresses. Shape (2, n)."""
        return np.array([self._counts.get(url, _UNKNOWN) for url in urls]).reshape(-1, 2).T


def suggestions(near: Mapping[str, float], page: Page, relevance: float) -> tuple[Link, ...]:
    """What was opened most near a page that may be wanted, and that it has no link to.

    No questions that people put to a search.
    """
    if relevance < LEAST_TO_SUGGEST:
        return ()
    linked = {page.url, *(link.url for link in page.links)}
    others = [url for url in near if url not in linked and not asks_a_search(url)]
    best = sorted(others, key=lambda url: (-near[url], url))[:MAX_SUGGESTED]
    return tuple(Link(url, tag_path=PLACE) for url in best)
