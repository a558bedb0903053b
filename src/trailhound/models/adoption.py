"""Which pages found while crawling may join the targets, without letting the topic drift.

A crawl that teaches itself can talk itself into another topic. So only pages that the judge
scored among the best tenth of its finds are adopted, few from each host, few in all, and none
before enough has been seen to know what "best" means.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

MAX_ADOPTED = 50
MAX_PER_HOST = 3
STRONG_QUANTILE = 0.9


@dataclass
class Adoption:
    """Collects finds and hands out the strong ones after every ``interval`` pages."""

    interval: int
    _pages_seen: int = 0
    _scores: list[float] = field(default_factory=list)
    _waiting: list[tuple[float, str, str]] = field(default_factory=list)
    _per_host: Counter[str] = field(default_factory=Counter)

    def see(self, url: str, host: str, score: float, relevant: bool) -> list[str]:
        """Count a fetched page; now and then, return the URLs of pages to adopt."""
        self._pages_seen += 1
        if relevant:
            self._scores.append(score)
            self._waiting.append((score, url, host))
        if self._pages_seen % self.interval or not self._scores:
            return []
        return self._strongest()

    def _strongest(self) -> list[str]:
        threshold = float(np.quantile(self._scores, STRONG_QUANTILE))
        adopted = []
        for score, url, host in sorted(self._waiting, key=lambda find: (-find[0], find[1])):
            room = self._per_host.total() < MAX_ADOPTED and self._per_host[host] < MAX_PER_HOST
            if score >= threshold and room:
                self._per_host[host] += 1
                adopted.append(url)
        self._waiting.clear()
        return adopted
