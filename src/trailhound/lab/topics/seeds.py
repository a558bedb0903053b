"""Where the crawls of a topic start.

A seed is a general page at least two hops from everything that counts as found, from which some of
it can be reached. Several seed sets per topic show how much the start matters, so they differ:
seeds are drawn among the most general pages that add most to what the set reaches, and pages of
earlier sets are used again only when too little would be in reach without them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np

MIN_HOPS = 2
"""From a seed to the nearest answer. One hop would hand the crawl its first answers."""
MIN_SEEDS = 3
MAX_SEEDS = 15
"""A web in many pieces needs many seeds; a well-connected one is crawled from ``MIN_SEEDS``."""

_ENOUGH = 0.95  # of what the candidates reach together: further seeds would add little
_FAIR = 0.8  # share of the largest gain that a page must bring to be drawn
_MOST = 0.9  # share of all answers that unused pages must reach to do without used ones
_GENERAL = 0.03  # share of these pages to draw from: the most general
_FEWEST_DRAWN_FROM = 5


@dataclass(frozen=True)
class SeedSet:
    """Start pages and how many answers links lead to from them."""

    pages: tuple[int, ...]
    findable: int


@dataclass(frozen=True)
class SeedGround:
    """What seeds are chosen from."""

    candidates: Sequence[int]
    """Pages that may be seeds, in ascending order."""
    masks: Sequence[int]
    """For every page of the corpus, the answers it reaches, as a bit set."""
    generality: Sequence[float]
    """For every page of the corpus."""

    def reach(self, pages: Sequence[int]) -> int:
        """Answers in reach of any of the pages."""
        return reduce(or_, (self.masks[page] for page in pages), 0)


def choose_seed_sets(
    ground: SeedGround, n_sets: int, rng: np.random.Generator, given: Sequence[int] = ()
) -> list[SeedSet]:
    """``n_sets`` sets; the first is ``given`` if there is one. More sets keep the earlier ones."""
    chosen = [tuple(given)] if given else []
    while len(chosen) < n_sets and ground.candidates:
        used = frozenset(page for pages in chosen for page in pages)
        chosen.append(_choose(ground, _pool(ground, used), rng))
    return [SeedSet(pages, ground.reach(pages).bit_count()) for pages in chosen[:n_sets]]


def _pool(ground: SeedGround, used: frozenset[int]) -> Sequence[int]:
    """The unused candidates, or all if those reach too little."""
    unused = [page for page in ground.candidates if page not in used]
    most = _MOST * ground.reach(ground.candidates).bit_count()
    if len(unused) >= MIN_SEEDS and ground.reach(unused).bit_count() >= most:
        return unused
    return ground.candidates


def _choose(ground: SeedGround, pool: Sequence[int], rng: np.random.Generator) -> tuple[int, ...]:
    """Greedy: one of the pages that add most after the other, until little is left to add."""
    goal = _ENOUGH * ground.reach(pool).bit_count()
    chosen: list[int] = []
    found = 0
    while len(chosen) < min(MAX_SEEDS, len(pool)):
        if len(chosen) >= MIN_SEEDS and found.bit_count() >= goal:
            break
        page = _draw(ground, [page for page in pool if page not in chosen], found, rng)
        chosen.append(page)
        found |= ground.masks[page]
    return tuple(chosen)


def _draw(ground: SeedGround, pages: Sequence[int], found: int, rng: np.random.Generator) -> int:
    """One of the most general of the pages that add nearly as much as the best."""
    gains = [(ground.masks[page] & ~found).bit_count() for page in pages]
    if not any(gains):  # everything is in reach already: judge by what each reaches alone
        gains = [ground.masks[page].bit_count() for page in pages]
    least = _FAIR * max(gains)
    fair = [page for page, gain in zip(pages, gains, strict=True) if gain >= least]
    fair.sort(key=lambda page: (-ground.generality[page], page))
    n_general = max(_FEWEST_DRAWN_FROM, math.ceil(_GENERAL * len(fair)))
    return fair[int(rng.integers(min(n_general, len(fair))))]
