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
from trailhound.strategies.trail.link_table import N_LIKE, N_MODELS, LinkTable

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
    own, one, base = table.labels_of(nodes).T, np.maximum(count, 1), table.base_rate
    of_links = _figures_of_links(table, nodes, links, owners, own)
    highest = np.array([of_links[6], _rate(of_links[0:2], base), of_links[9]])
    totals, best = _over_links(np.add, of_links, count), _over_links(np.maximum, highest, count)
    relevant, words = totals[6], totals[-N_MODELS:] / np.sqrt(one)
    out, same_host, cos_short, cos_around, wanted_short, wanted_around = totals[7:13] / one
    hosts, folders = (
        table.places["counts"].take(table.nodes[name].take(nodes), axis=0).T - own
        for name in ("host", "folder")
    )
    counts = np.array([totals[0:2], totals[2:4], totals[4:6], hosts, folders])
    siblings, same_list, neighbours, host, folder, best_page = np.log(
        [*_rate(counts.transpose(1, 0, 2), base), np.where(count, best[1], 1.0)]
    )
    rows = [
        np.ones(len(nodes)),
        best[0],
        relevant / one,
        np.log1p(count),
        np.log1p(relevant),
        siblings,
        best_page,
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
        table.nodes["depth"].take(nodes) / 4,
        out - 4,
    ]
    return np.array(rows).T, words.T


def _figures_of_links(table: LinkTable, nodes: Ids, links: Ids, owners: Ids, own: Matrix) -> Matrix:
    """What is known of each link to the nodes, ``owners`` of them; a row each.

    Hits and seen of its page, of its list, and of links near it; the relevance of its page, the
    logarithm of the number of links there, and whether it stays on the host; what its words say.
    """
    pages, own = table.links["page"].take(links), own.take(owners, axis=1)
    figures = np.empty((9 + N_LIKE + N_MODELS, len(links)))
    figures[0:2] = table.pages["counts"].take(pages, axis=0).T - own
    groups = table.links["group"].take(links)
    figures[2:4] = table.groups["counts"].take(groups, axis=0).T - own
    figures[4:6] = table.links["near"].take(links, axis=0).T
    figures[6] = table.pages["relevance"].take(pages)
    figures[7] = table.pages["out"].take(pages)
    hosts = table.nodes["host"].take(nodes)
    figures[8] = table.pages["host"].take(pages) == hosts.take(owners)
    figures[9:] = table.links["words"].take(links, axis=0).T
    return figures


def _over_links(reduce: np.ufunc, figures: Matrix, count: Ids) -> Matrix:
    """Figures of links become those of their nodes, 0 for one without; a row each."""
    linked = count > 0
    if not len(figures.T):
        return np.zeros((len(figures), len(count)))
    starts = np.cumsum(count) - count
    if linked.all():
        return np.asarray(reduce.reduceat(figures, starts, axis=1))
    found = np.zeros((len(figures), len(count)))
    found[:, linked] = reduce.reduceat(figures, starts[linked], axis=1)
    return found


def _rate(counts: Matrix, base: float) -> Matrix:
    """How many times the mean rate, of hits and seen, which are the first axis."""
    hits, seen = np.maximum(counts, 0.0)
    return np.asarray((hits + KAPPA * base) / ((seen + KAPPA) * base))
