"""Pages of the session that were not fetched yet: what they would bring into reach.

They bring nothing new themselves, but their links are known. What counts is what comes of a request
on the way: with the chances v₁ ≥ v₂ ≥ … of the links behind a gateway that do not wait yet, one
request opens them and one more is paid for each that is followed, so that the gateway is worth ::

    max over k of (v₁ + … + vₖ) / (1 + k)

finds a request. A page that was seen days ago may show more by now: of links that wait already, a
tenth counts, as others like them may have come. Behind a gateway there may be another one. Of these
the best, with all that is followed there, is one more thing to follow: its finds are added above,
its requests below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from trailhound.strategies.trail.columns import Ids, Matrix, Vector, stretches
from trailhound.strategies.trail.link_table import LinkTable

MOST_FOLLOWED = 10
"""Links behind one gateway that are counted: the chances of more would be overrated."""
ROUNDS = 4
"""Gateways behind one another."""
FOUND_OUT_EVERY = 50
"""Pages, at most, after which the chances behind gateways are found out anew; a fit does it sooner.
"""
NEWS = 0.1
"""Links that have come since the session, next to those that wait already."""
NOTHING = -14.0
"""log of the worth of a page of the session that opens nothing."""


Score = Callable[[Ids], Vector]
"""Gives the logarithm of a chance."""


class _Shut(NamedTuple):
    """Pages of the session that were not fetched yet, and what is behind them."""

    gateways: Ids
    children: Ids
    """Addresses behind them, those of one gateway after those of another."""
    owners: Ids
    """The gateway of each, as a place among them."""
    chances: Vector
    """Of all addresses."""

    def finds_per_request(self) -> Vector:
        """What each gateway is worth."""
        return finds_per_request(self.chances, self.children, self.owners, self.gateways)

    def as_of_now(self, table: LinkTable) -> _Shut:
        """What is left of them, the best behind each first, with the chances of before.

        What has come into reach counts as a sign of others like it, fetched pages not at all.
        """
        nodes, size = table.nodes, len(self.chances)
        is_shut = ~(nodes["done"] | nodes["closed"])[self.gateways]
        behind = is_shut[self.owners]
        children, owners = self.children[behind], (np.cumsum(is_shut) - 1)[self.owners[behind]]
        told = nodes["told"][:size]
        of_waiting = NEWS * np.exp(np.minimum(told, 0.0)) * np.isfinite(told)
        chances = np.where(nodes["queued"][:size], of_waiting, self.chances)
        chances[(nodes["known"] | nodes["done"] | nodes["closed"])[:size]] = 0.0
        order = np.lexsort((-chances[children], owners))
        return _Shut(self.gateways[is_shut], children[order], owners, chances)


class Gateways:
    """What pages of the session that were not fetched yet would bring into reach."""

    def __init__(self, table: LinkTable, score: Score, gate: float) -> None:
        self._table = table
        self._score = score
        self._gate = gate
        self._worth: dict[int, float] = {}
        self._shut: _Shut | None = None
        self._next = 0

    def note_opened(self) -> None:
        """What others would open may be in reach already."""
        self._worth = {}

    def note_moved(self) -> None:
        """Chances, or numbers of addresses, are others now."""
        self._worth, self._shut = {}, None

    def worth(self, nodes: Ids, pages: int) -> Vector:
        """The logarithm of ``gate`` times the finds a request that each promises.

        ``pages`` is how many were fetched so far.
        """
        if pages >= self._next:
            self.note_moved()
        if not self._worth:
            self._find_out(pages)
        return np.array([self._worth.get(node, NOTHING) for node in nodes.tolist()])

    def _find_out(self, pages: int) -> None:
        if self._shut is None:
            self._shut = shut_gateways(self._table, self._score)
            self._next = pages + FOUND_OUT_EVERY
        else:
            self._shut = self._shut.as_of_now(self._table)
        finds = logs(self._gate * self._shut.finds_per_request())
        self._worth = dict(zip(self._shut.gateways.tolist(), finds.tolist(), strict=True))


def shut_gateways(table: LinkTable, score: Score) -> _Shut:
    """All of them, and the chances of what is behind them."""
    nodes, size = table.nodes, table.nodes.size
    is_out = (nodes["done"] | nodes["closed"])[:size]
    shut = nodes["browsed"][:size] & ~is_out & (nodes["page"][:size] >= 0)
    gateways = np.flatnonzero(shut)
    pages = nodes["page"][gateways]
    first, last = table.pages["first"][pages], table.pages["last"][pages]
    children = table.links["child"][stretches(first, last - first)]
    owners = np.repeat(np.arange(len(gateways)), last - first)
    behind = np.zeros(size, np.bool_)
    behind[children] = True
    is_over = is_out | nodes["known"][:size] | nodes["queued"][:size]
    new = np.flatnonzero(behind & ~is_over)
    chances = np.zeros(size)
    if len(new):
        chances[new] = np.minimum(1.0, np.exp(score(new)))
    return _Shut(gateways, children, owners, chances).as_of_now(table)


def logs(finds: Vector | np.float64) -> Vector:
    """Of finds a request, never below :data:`NOTHING`."""
    return np.asarray(np.log(np.maximum(finds, np.exp(NOTHING))))


def finds_per_request(chances: Vector, children: Ids, owners: Ids, gateways: Ids) -> Vector:
    """What each gateway is worth.

    ``chances`` are those of all addresses, 0 for what is no news; ``children`` the addresses behind
    the gateways, ``owners`` the gateway of each, as a place in ``gateways``, in rising order. Those
    of one are in falling order of their chances, what is no news anywhere.
    """
    n = len(gateways)
    finds = _sums_of_best(chances[children], owners, n)
    places = np.full(len(chances), -1)
    places[gateways] = np.arange(n)
    inner = places[children]
    deeper = (inner >= 0) & (inner != owners)
    inner, outer = inner[deeper], owners[deeper]
    found, spent = np.zeros(n), np.ones(n)
    for _ in range(ROUNDS):
        behind_found, behind_spent = _best_behind(found, spent, inner, outer)
        total = finds + behind_found[:, None]
        cost = 1.0 + np.arange(MOST_FOLLOWED + 1) + behind_spent[:, None]
        best = np.argmax(total / cost, axis=1)
        found, spent = total[np.arange(n), best], cost[np.arange(n), best]
    return found / spent


def _sums_of_best(values: Vector, owners: Ids, n: int) -> Matrix:
    """Sums of the best 0, 1, 2 … values of each owner. Shape (n, MOST_FOLLOWED + 1)."""
    there = np.flatnonzero(values)
    owners = owners[there]
    count = np.bincount(owners, minlength=n)
    rank = np.arange(len(there)) - np.repeat(np.cumsum(count) - count, count)
    best = rank < MOST_FOLLOWED
    sums = np.zeros((n, MOST_FOLLOWED + 1))
    sums[owners[best], 1 + rank[best]] = values[there[best]]
    return np.asarray(np.cumsum(sums, axis=1))


def _best_behind(found: Vector, spent: Vector, inner: Ids, outer: Ids) -> tuple[Vector, Vector]:
    """Finds and requests of the best gateway behind each; nothing where there is none."""
    rates = (found / spent)[inner]
    highest = np.zeros(len(found))
    np.maximum.at(highest, outer, rates)
    best = np.full(len(found), -1)
    is_best = rates == highest[outer]
    best[outer[is_best]] = inner[is_best]  # of several the last one stays
    return np.where(best >= 0, found[best], 0.0), np.where(best >= 0, spent[best], 0.0)
