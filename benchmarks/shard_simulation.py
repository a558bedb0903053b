"""A thousand shards on a web whose sites are of very different sizes, simulated.

    python -m benchmarks.shard_simulation [--shards 1_000] [--budget 100_000]

No page is fetched, and nothing waits: what is measured follows from who owns which site and from
how requests are granted, with the crawl's own :class:`~trailhound.cluster.layout.Placement` and
:func:`~trailhound.cluster.granting.grant`.

*Balance*: 500,000 sites with sizes by a power law, a billion pages in all, of which a week of one
request a second gets at most 604,800 from one site. *Messages*: pages of 50 links, 70 % of them
within their site, the others to sites by their size, half of these to front pages; a sender
remembers what it has sent. *Order*: a million pages, few of them good, that link to pages about as
good as themselves; the same budget is spent by one queue, best first, and by shards that are
granted slices of requests. How many of the same pages are fetched, and how good are they?
"""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from trailhound.cluster.granting import ShardReport, Steps, grant, slice_size, steps
from trailhound.cluster.layout import Placement
from trailhound.cluster.outbox import MAX_BATCH

SITES = 500_000
PAGES = 1_000_000_000
MOST_PER_SITE = 7 * 24 * 3600
EXPONENT = 0.9
LINKS = 50
WITHIN_SITE = 0.7
FRONT_PAGES = 0.5
"""Share of links to other sites that lead to their front pages."""
REMEMBERED = 50_000
LINK_BYTES = 130
"""A URL, its parent's, a priority and a memory, packed."""
CHILDREN = 8
"""New links of a page."""
IN_FLIGHT = 4
"""Fetches of a shard at once."""
WEB_PAGES = 1_000_000
MOST_TOLD = 256
"""Best links of a shard that its report tells of: more than a slice of it."""

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


def site_sizes() -> Floats:
    """Pages of each site that a week can get, largest first."""
    shape = np.arange(1, SITES + 1, dtype=np.float64) ** -EXPONENT
    low, high = 1.0, float(PAGES)
    for _ in range(80):  # so that all of them have so many pages
        scale = (low + high) / 2
        total = np.minimum(MOST_PER_SITE, scale * shape).sum()
        low, high = (scale, high) if total < PAGES else (low, scale)
    return np.minimum(MOST_PER_SITE, low * shape)


def tell_balance(placement: Placement, sizes: Floats) -> Numbers:
    """Print how much more the fullest shards have; whose each site is."""
    owners = np.array([placement.owner(f"http://site{n}.test/") for n in range(SITES)])
    pages = np.bincount(owners, sizes, placement.shards)
    sites = np.bincount(owners, minlength=placement.shards)
    mean = pages.mean()
    print(f"Balance: {sizes.sum():,.0f} pages of {SITES:,} sites, the largest {sizes[0]:,.0f}")
    for what, values in (("pages", pages), ("sites", sites.astype(np.float64))):
        fullest, least = values.max() / values.mean(), values.min() / values.mean()
        late = np.quantile(values, 0.99) / values.mean()
        print(
            f"  {what}: fullest {fullest:.2f} of the mean, 99 % below {late:.2f}, least {least:.2f}"
        )
    print(f"  a shard has {mean:,.0f} pages in the mean; the fullest, {pages.max():,.0f}")
    return owners


def tell_messages(owners: Numbers, sizes: Floats, shards: int, random: np.random.Generator) -> None:
    """Print links that travel, of the pages of one shard."""
    own = np.flatnonzero(owners == owners[SITES // 2])
    weights, links, sent = sizes / sizes.sum(), 0, 0
    remembered: set[tuple[int, int]] = set()
    pages = 20_000
    sources = random.choice(own, pages, p=sizes[own] / sizes[own].sum())
    leaving = random.binomial(LINKS, 1 - WITHIN_SITE, pages)
    targets = random.choice(SITES, int(leaving.sum()), p=weights)
    ranks = (sizes[targets] * random.random(targets.size)).astype(np.int64)
    ranks[random.random(targets.size) < FRONT_PAGES] = 0
    for target, rank in zip(targets.tolist(), ranks.tolist(), strict=True):
        if owners[target] == owners[sources[0]]:
            continue
        links += 1
        if (target, rank) in remembered:
            continue
        if len(remembered) >= REMEMBERED:
            remembered.clear()
        remembered.add((target, rank))
        sent += 1
    per_page = sent / pages
    print(f"Messages: {LINKS} links a page, {links / pages:.1f} to other shards")
    print(
        f"  sent, as others were before: {per_page:.1f} a page, {per_page * LINK_BYTES:,.0f} bytes"
    )
    batch = min(MAX_BATCH, max(1.0, per_page * 1000 / shards))
    print(f"  in a batch, when 1,000 pages come together: {batch:.1f} links")


class MadeUpWeb:
    """Pages that link to pages about as good as themselves; shards have them by sites' sizes."""

    def __init__(self, shares: Floats, random: np.random.Generator) -> None:
        self.worth = random.random(WEB_PAGES) ** 4  # few are good
        self.shards = random.choice(shares.size, WEB_PAGES, p=shares / shares.sum())
        self._best_first = np.argsort(-self.worth)
        ranks = np.empty(WEB_PAGES, np.int64)
        ranks[self._best_first] = np.arange(WEB_PAGES)
        self.targets = np.stack([self._linked(ranks, random) for _ in range(CHILDREN)], axis=1)
        guess = (self.worth[self.targets] + self.worth[:, None]) / 2
        self.priorities = guess + random.normal(0.0, 0.05, guess.shape)

    def _linked(self, ranks: Numbers, random: np.random.Generator) -> Numbers:
        """One link of each page: near in rank, and mostly in the same shard."""
        near = np.abs(ranks + random.normal(0, WEB_PAGES / 20, WEB_PAGES).astype(np.int64))
        linked = self._best_first[np.minimum(near, WEB_PAGES - 1)]
        by_shard = np.lexsort((ranks, self.shards))  # next to each other: the same shard's
        places = np.empty(WEB_PAGES, np.int64)
        places[by_shard] = np.arange(WEB_PAGES)
        away = random.integers(-50, 51, WEB_PAGES)
        at_home = by_shard[np.clip(places + away, 0, WEB_PAGES - 1)]
        return np.where(random.random(WEB_PAGES) < WITHIN_SITE, at_home, linked)

    def links(self, page: int) -> list[tuple[float, int]]:
        """Priority, less than 0 and lowest for the best, and number of each."""
        return list(
            zip((-self.priorities[page]).tolist(), self.targets[page].tolist(), strict=True)
        )


def one_queue(web: MadeUpWeb, seeds: Sequence[int], budget: int) -> set[int]:
    """The pages of one crawl, best first."""
    queue = [(-1.0, page) for page in seeds]
    pages: set[int] = set()
    while queue and len(pages) < budget:
        _, page = heapq.heappop(queue)
        if page not in pages:
            pages.add(page)
            for link in web.links(page):
                heapq.heappush(queue, link)
    return pages


def in_shards(
    web: MadeUpWeb, seeds: Sequence[int], budget: int, shards: int
) -> tuple[set[int], int]:
    """Slice by slice, as the driver grants; links to others arrive with the next slice."""
    queues: list[list[tuple[float, int]]] = [[] for _ in range(shards)]
    homes = web.shards.tolist()
    pages: set[int] = set()
    under_way, slices = [(-1.0, page) for page in seeds], 0
    used, limits = [0] * shards, [0] * shards
    while True:
        for link in under_way:
            heapq.heappush(queues[homes[link[1]]], link)
        reports = [
            ShardReport(shard, used[shard], limits[shard], _told(queue, pages))
            for shard, queue in enumerate(queues)
        ]
        granted = grant(reports, budget, slice_size(len(pages), IN_FLIGHT * shards))
        if not granted:
            return pages, slices
        slices, under_way = slices + 1, []
        for shard, limit in granted.items():
            queue = queues[shard]
            while queue and used[shard] < limit:
                _, page = heapq.heappop(queue)
                if page in pages:
                    continue
                used[shard] += 1
                pages.add(page)
                for link in web.links(page):
                    if homes[link[1]] == shard:
                        heapq.heappush(queue, link)
                    else:
                        under_way.append(link)
            limits[shard] = used[shard]  # what it cannot use it gives back


def _told(queue: list[tuple[float, int]], pages: set[int]) -> Steps:
    best = {page: -priority for priority, page in heapq.nsmallest(MOST_TOLD, queue)[::-1]}
    return steps(priority for page, priority in best.items() if page not in pages)


def tell_order(shares: Floats, budget: int, random: np.random.Generator) -> None:
    """Print what the split costs in order."""
    web = MadeUpWeb(shares, random)
    seeds = random.choice(WEB_PAGES, 200, replace=False).tolist()
    alone = one_queue(web, seeds, budget)
    together, slices = in_shards(web, seeds, budget, shares.size)
    ours, theirs = (web.worth[list(pages)].mean() for pages in (together, alone))
    print(f"Order: {len(together):,} of {WEB_PAGES:,} pages, in {slices:,} slices")
    print(f"  the same as of one queue: {len(alone & together) / len(alone):.1%}")
    print(f"  worth of a page: {ours:.3f}; one queue's: {theirs:.3f}; ratio {ours / theirs:.3f}")


def main() -> None:
    """Simulate, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shards", type=int, default=1_000)
    parser.add_argument("--budget", type=int, default=100_000)
    asked = parser.parse_args()
    random, sizes = np.random.default_rng(7), site_sizes()
    owners = tell_balance(Placement(asked.shards), sizes)
    tell_messages(owners, sizes, asked.shards, random)
    shares = np.bincount(owners, sizes, asked.shards).astype(np.float64)
    tell_order(shares, asked.budget, random)


if __name__ == "__main__":
    main()
