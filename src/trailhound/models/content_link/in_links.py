"""The graph's part of a link score: who links to a URL, and how relevant those pages are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

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
        if len(known) > self._limit:
            for url in list(islice(known, len(known) - self._limit + self._limit // 10)):
                del known[url]

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
