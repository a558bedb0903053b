"""What is known of an address before it is fetched, as numbers.

Counts of how others turned out become logarithms of ratios, drawn towards the mean rate b of all
pages by κ pages::

    ratio(hits, seen) = log((hits + κ b) / ((seen + κ) b))

0 says nothing; log 2 says twice as often as on average. Where several links lead to an address,
their figures are added up or averaged, and for some the largest stands beside that.
"""

from __future__ import annotations

import numpy as np

from trailhound.strategies.trail.columns import Columns, Ids, Matrix, Vector
from trailhound.strategies.trail.link_table import LinkTable

KAPPA = 2.0

PRIORS = {
    "bias": -3.0,
    "relevance of the best linking page": 1.0,
    "relevance of linking pages": 1.0,
    "number of linking pages": 0.0,
    "sum of the relevance of linking pages": 0.3,
    "success of siblings": 0.7,
    "success of the best page's links": 0.3,
    "success of the same list": 0.5,
    "success of neighbouring links": 0.5,
    "success of the host": 0.2,
    "success of the folder": 0.2,
    "anchor and address like the targets": 3.0,
    "best anchor like the targets": 0.0,
    "surrounding words like the targets": 2.0,
    "anchor and address unlike other pages": 0.5,
    "surrounding words unlike other pages": 0.5,
    "same host": 0.0,
    "depth of the address": 0.0,
    "number of links on the page": 0.0,
}
"""Names of the features, with the weights that are right before anything was learned."""
NAMES = tuple(PRIORS)
PRIOR_WEIGHTS: Vector = np.array(list(PRIORS.values()))


def describe(table: LinkTable, nodes: Ids) -> Matrix:
    """Shape (n, len(NAMES)), in their order. A node's own label is left out of all counts."""
    links, owners, count = table.parents(nodes)
    starts, linked, n = (np.cumsum(count) - count)[count > 0], count > 0, len(nodes)
    pages, one, base = table.links["page"][links], np.maximum(count, 1), table.base_rate
    own_seen = table.nodes["known"][nodes].astype(np.float64)
    own_hits = table.nodes["label"][nodes] * own_seen

    def ratio(hits: Vector, seen: Vector) -> Vector:
        hits, seen = np.maximum(hits, 0.0), np.maximum(seen, 0.0)
        return np.asarray(np.log((hits + KAPPA * base) / ((seen + KAPPA) * base)))

    def total(values: Vector) -> Vector:
        return np.bincount(owners, values, n).astype(np.float64, copy=False)

    def mean(column: str) -> Vector:
        return total(table.links[column][links]) / one

    def largest(values: Vector) -> Vector:
        found = np.zeros(n)
        if len(starts):
            found[linked] = np.maximum.reduceat(values, starts)
        return found

    def others(counts: Columns, rows: Ids) -> tuple[Vector, Vector]:
        """Counts without what a node itself has added to them."""
        return counts["hits"][rows] - own_hits[owners], counts["seen"][rows] - own_seen[owners]

    def success(place: str) -> Vector:
        rows = table.nodes[place][nodes]
        return ratio(table.places["hits"][rows] - own_hits, table.places["seen"][rows] - own_seen)

    relevance = table.pages["relevance"][pages]
    relevant = total(relevance)
    hits, seen = others(table.pages, pages)
    group_hits, group_seen = others(table.groups, table.links["group"][links])
    near_hits, near_seen = table.links["near_hits"][links], table.links["near_seen"][links]
    same_host = table.pages["host"][pages] == table.nodes["host"][nodes][owners]
    return np.column_stack(
        [
            np.ones(n),
            largest(relevance),
            relevant / one,
            np.log1p(count),
            np.log1p(relevant),
            ratio(total(hits), total(seen)),
            largest(ratio(hits, seen)),
            ratio(total(group_hits), total(group_seen)),
            ratio(total(near_hits), total(near_seen)),
            success("host"),
            success("folder"),
            mean("cos_short"),
            largest(table.links["cos_short"][links]),
            mean("cos_around"),
            mean("wanted_short"),
            mean("wanted_around"),
            total(same_host) / one,
            table.nodes["depth"][nodes] / 4,
            total(table.pages["out"][pages]) / one - 4,
        ]
    )
