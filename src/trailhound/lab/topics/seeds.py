"""Where the crawls of a topic start.

A seed is a general page at least two hops from everything that counts as found, from which some of
it can be reached. General means: many links from and to it, short address; nobody starts browsing
on a detail. Several seed sets per topic show how much the start matters, so they differ: seeds are
drawn among the most general pages that add most to what the set reaches, and pages of earlier sets
are used again only when too little would be in reach without them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from urllib.parse import urlsplit

import numpy as np

from trailhound.lab.corpora import LinkGraph
from trailhound.lab.corpora.link_graph import AnswerReach
from trailhound.urls import host_key

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

# A start page may reach this share of what the best one reaches, if its address is shorter.
_NEARLY_ALL = 0.9

# Reach is compared by a sample of the goals: memory grows with goals times pages.
_GOALS_LOOKED_AT = 1000


def url_depth(url: str) -> int:
    """Steps of the path below the host; a query counts as one more, an index page as none."""
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.split("/") if segment]
    if segments and segments[-1].partition(".")[0].lower() in ("index", "default", "welcome"):
        segments.pop()
    return len(segments) + bool(parts.query)


def generality(graph: LinkGraph, urls: Sequence[str]) -> list[float]:
    """A figure per page to compare pages of one corpus by.

    log2(1 + links from it) + log2(1 + links to it) − depth of the URL. Links to it count up to the
    number of links from it: a page that everything points to may still lead nowhere.
    """
    links_from = np.diff(graph.indptr)
    links_to = np.minimum(np.bincount(graph.indices, minlength=graph.n_pages), links_from)
    depth = np.array([url_depth(url) for url in urls], dtype=np.float64)
    figures: list[float] = (np.log2(1.0 + links_from) + np.log2(1.0 + links_to) - depth).tolist()
    return figures


def front_page(
    graph: LinkGraph, urls: Sequence[str], pages: Sequence[int], goals: Sequence[int]
) -> int | None:
    """Which of ``pages`` somebody begins on who wants to get to ``goals``.

    The shortest address on the host with most pages wins among the pages from which nearly as many
    goals can be reached as from the best; ``None`` when no page leads to any other.
    """
    answers = [[goal] for goal in goals[:: 1 + len(goals) // _GOALS_LOOKED_AT]]
    sizes = [mask.bit_count() for mask in AnswerReach(graph).masks(answers)]
    linking = [page for page in pages if graph.indptr[page] < graph.indptr[page + 1]]
    best = max((sizes[page] for page in linking), default=0)
    if best == 0:
        return None
    hosts = Counter(host_key(urls[page]) for page in pages)

    def rank(page: int) -> tuple[int, int, int, str]:
        url = urls[page]
        return url_depth(url), -hosts[host_key(url)], len(url), url

    return min((page for page in linking if sizes[page] >= _NEARLY_ALL * best), key=rank)


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
