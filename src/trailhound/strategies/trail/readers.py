"""What people opened just before and after a page, where there is a trace to tell.

Each of some visits to a page speaks for the pages that were opened up to ``REACH`` steps from it,
within ``GAP_SECONDS``, the nearer the more. What they weigh together, w, counts as w / (w + 1) of a
page: however many people go from one page to another, that is one page's word about the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

import numpy as np

from trailhound.sources import AccessTrace
from trailhound.strategies.parts import drop_oldest
from trailhound.strategies.trail.columns import Matrix
from trailhound.strategies.visits import evenly, place_of

MAX_VISITS = 20
"""Visits of a page that are looked at, at even distances."""
REACH = 3
GAP_SECONDS = 1800.0
MAX_ADDRESSES = 100_000
"""Addresses of which something is known."""
MAX_SUGGESTED = 5
"""Pages beside one that are taken for links of it: those that were opened most."""

_UNKNOWN = (0.0, 0.0)


class Readers:
    """How pages turned out near which people opened an address: hits and seen, as in the table."""

    def __init__(self, trace: AccessTrace) -> None:
        self._trace = trace
        self._counts: dict[str, tuple[float, float]] = {}
        self._opened_near: Callable[[str], Mapping[str, float]] = lru_cache(2)(self._look_around)
        """A page's readers are asked when it has turned out, and again for its links."""

    def _look_around(self, url: str) -> Mapping[str, float]:
        """What was opened near an address, with its weight."""
        page = self._trace.page_number(url)
        if page is None:
            return {}
        users, times = self._trace.visitors(page)
        some = evenly(len(users), MAX_VISITS)
        weights: defaultdict[int, float] = defaultdict(float)
        for user, time in zip(users[some].tolist(), times[some].tolist(), strict=True):
            pages, opened = self._trace.history(user)
            place = place_of(pages, opened, page, time)
            first, behind = max(place - REACH, 0), place + REACH + 1
            around = zip(pages[first:behind].tolist(), opened[first:behind].tolist(), strict=True)
            for step, (other, at) in enumerate(around, first - place):
                if other != page and abs(at - time) <= GAP_SECONDS:
                    weights[other] += 1 / abs(step) if step else 0.0
        return {self._trace.page_url(other): weight for other, weight in weights.items()}

    def note(self, url: str, relevance: float) -> None:
        """A page turned out so relevant."""
        for other, weight in self._opened_near(url).items():
            hits, seen = self._counts.get(other, _UNKNOWN)
            share = weight / (weight + 1)
            self._counts[other] = hits + share * relevance, seen + share
        drop_oldest(self._counts, MAX_ADDRESSES)

    def counts(self, urls: Iterable[str]) -> Matrix:
        """Hits and seen of addresses. Shape (2, n)."""
        return np.array([self._counts.get(url, _UNKNOWN) for url in urls]).reshape(-1, 2).T

    def suggest(self, url: str) -> list[str]:
        """What was opened near an address most."""
        near = self._opened_near(url)
        return sorted(near, key=lambda other: (-near[other], other))[:MAX_SUGGESTED]
