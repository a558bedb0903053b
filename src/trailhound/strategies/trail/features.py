"""What is known of an address before it is fetched, as numbers.

Counts of how others turned out become logarithms of ratios, drawn towards the mean rate b of all
pages by κ pages::

    ratio(hits, seen) = log((hits + κ b) / ((seen + κ) b))

0 says nothing; log 2 says twice as often as on average. Where several links lead to an address,
their figures are added up or averaged, and for some the largest stands beside that.
"""

from __future__ import annotations

import numpy as np

from trailhound.strategies.trail.columns import Ids, Matrix, Vector
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


def describe(table: LinkTable, nodes: Ids) -> tuple[Matrix, Matrix]:
    """Features, shape (n, len(NAMES)), in their order; and what both models say of the words.

    A node's own label is left out of all counts.
    """
    links, owners, count = table.parents(nodes)
    pages, one, base = table.links["page"][links], np.maximum(count, 1), table.base_rate
    known = table.nodes["known"][nodes]
    own = np.column_stack([table.nodes["label"][nodes] * known, known])
    starts, linked = (np.cumsum(count) - count)[count > 0], count > 0

    def ratio(counts: Matrix) -> Matrix:
        """Of hits and seen, which are the last axis."""
        least = np.maximum(counts, 0.0)
        hits, seen = least[..., 0], least[..., 1]
        return np.asarray(np.log((hits + KAPPA * base) / ((seen + KAPPA) * base)))

    def over_links(reduce: np.ufunc, *figures: Matrix) -> Matrix:
        """Figures of links become those of their nodes, 0 for one without; a row each."""
        values = np.vstack(figures)
        found = np.zeros((len(values), len(nodes)))
        if len(starts):
            found[:, linked] = reduce.reduceat(values, starts, axis=1)
        return found

    relevance, words = table.pages["relevance"][pages], table.links["words"][links].T
    on_page = table.pages["counts"][pages] - own[owners]
    in_list = table.groups["counts"][table.links["group"][links]] - own[owners]
    near, out = table.links["near"][links], table.pages["out"][pages]
    same_host = table.pages["host"][pages] == table.nodes["host"][nodes][owners]
    totals = over_links(np.add, on_page.T, in_list.T, near.T, relevance, out, same_host, words)
    best = over_links(np.maximum, relevance, ratio(on_page), words[0])
    places = [table.places["counts"][table.nodes[name][nodes]] - own for name in ("host", "folder")]
    counts = [totals[0:2].T, totals[2:4].T, totals[4:6].T, *places]
    siblings, same_list, neighbours, host, folder = ratio(np.array(counts))
    relevant = totals[6]
    out, same_host, cos_short, cos_around, wanted_short, wanted_around = totals[7:13] / one
    rows = [
        np.ones(len(nodes)),
        best[0],
        relevant / one,
        np.log1p(count),
        np.log1p(relevant),
        siblings,
        best[1],
        same_list,
        neighbours,
        host,
        folder,
        cos_short,
        best[2],
        cos_around,
        wanted_short,
        wanted_around,
        same_host,
        table.nodes["depth"][nodes] / 4,
        out - 4,
    ]
    return np.array(rows).T, (totals[13:15] / np.sqrt(one)).T
