"""Which pages found while crawling may join the targets, without letting the topic drift.

A crawl that teaches itself can talk itself into another topic. So only pages that the judge
scored among the best tenth of its finds are adopted, few from each host, few in all, and none
before enough has been seen to know what "best" means.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_ADOPTED = 50
MAX_PER_HOST = 3
STRONG_QUANTILE = 0.9


class Find(NamedTuple):
    """A page that the judge took for relevant."""

    score: float
    url: str
    host: str
    point: NDArray[np.float32]
    """Where it lies in the latent space."""


@dataclass
class Adoption:
    """Collects finds and hands out the strong ones after every ``interval`` pages."""

    interval: int
    _pages_seen: int = 0
    _scores: list[float] = field(default_factory=list)
    _waiting: list[Find] = field(default_factory=list)
    _per_host: Counter[str] = field(default_factory=Counter)

    def see(self, find: Find | None) -> list[Find]:
        """Count a fetched page, find or not; now and then, return the finds to adopt."""
        self._pages_seen += 1
        if find is not None:
            self._scores.append(find.score)
            self._waiting.append(find)
        if self._pages_seen % self.interval or not self._scores:
            return []
        threshold = float(np.quantile(self._scores, STRONG_QUANTILE))
        adopted = []
        for find in sorted(self._waiting, key=lambda find: (-find.score, find.url)):
            room = self._per_host.total() < MAX_ADOPTED and self._per_host[find.host] < MAX_PER_HOST
            if find.score >= threshold and room:
                self._per_host[find.host] += 1
                adopted.append(find)
        self._waiting.clear()
        return adopted
