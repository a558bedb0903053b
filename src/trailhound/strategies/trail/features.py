"""What is known of an address before it is fetched, as numbers.

Counts of how others turned out become logarithms of ratios, drawn towards the mean rate b of all
pages by κ pages::

    ratio(hits, seen) = log((hits + κ b) / ((seen + κ) b))

0 says nothing; log 2 says twice as often as on average. Hits are no facts but sums of chances s,
given without a look at the company that a page keeps. Where pages are wanted at the rate r, not b,
their chances are others: to the first order ::

    hits(r) = Σ s + (logit r - logit b) Σ s (1 - s)

and r follows from hits in turn. A few steps find both, beginning with the plain sum: thirty pages
of one list with 0.1 each, where 0.13 is the mean, are hardly three finds. (Expectation maximisation
for unknown priors, as Saerens and others have it.)

Where several links lead to an address, their figures are added up or averaged, and for some the
largest stands beside that.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from trailhound.strategies.trail.columns import Ids, Matrix, Reals, Vector
from trailhound.strategies.trail.link_table import N_COUNTS, N_MODELS, LinkTable
from trailhound.strategies.trail.meaning import N_MEANINGS, as_features

KAPPA = 2.0
STEPS = 3
"""From the plain sum of chances to what they are in their company."""
LEAST_LEFT = 0.2
"""Of the plain sum, whatever the company; as much as half of what is missing may be added."""

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
    "success of what was opened near it": 1.0,
}
"""Names of the features, with the weights that are right before anything was learned."""
NAMES = tuple(PRIORS)
N_FEATURES = len(NAMES) + N_MEANINGS
"""With what the words of links mean, which has no names."""
PRIOR_WEIGHTS: Vector = np.append(list(PRIORS.values()), np.zeros(N_MEANINGS))


def by_name(numbers: Reals) -> dict[str, float]:
    """What a row, or weights, have for the features that have names."""
    return dict(zip(NAMES, numbers[: len(NAMES)].tolist(), strict=True))


def describe(table: LinkTable, nodes: Ids) -> tuple[Matrix, Matrix]:
    """Features, shape (n, N_FEATURES), in their order; and what both models say of the words.

    A node's own label is left out of all counts.
    """
    links, owners, count = table.parents(nodes)
    own, one, base = table.labels_of(nodes).T, np.maximum(count, 1), table.base_rate
    of_links = _figures_of_links(table, nodes, links, owners, own)
    totals, best = _over_links(of_links, base, count)
    of_pages = totals[3 * N_COUNTS :]
    relevance, out, same_host, near_short, near_around = of_pages[:5] / one
    rows = np.empty((N_FEATURES, len(nodes)))  # filled by number: names would take a sixth longer
    rows[0] = 1.0
    rows[1] = best[0]
    rows[2] = relevance
    rows[3] = count
    rows[4] = of_pages[0]
    np.log1p(rows[3:5], out=rows[3:5])
    rows[6] = best[1]
    rows[[5, 7, 8, 9, 10]] = _rate_in_company(_counts_of_others(table, nodes, totals, own), base)
    np.log(rows[5:11], out=rows[5:11])
    rows[11] = near_short
    rows[12] = best[2]
    rows[13] = near_around
    rows[14:16] = of_pages[5:7] / one
    rows[16] = same_host
    rows[17] = table.nodes["depth"].take(nodes) / 4
    rows[18] = out - 4
    rows[19] = _by_readers(table, nodes, base)
    rows[len(NAMES) :] = as_features(table.nodes["meaning"].take(nodes, axis=0)).T
    return rows.T, (totals[-N_MODELS:] / np.sqrt(one)).T


def _by_readers(table: LinkTable, nodes: Ids, base: float) -> Vector | float:
    """How pages turned out near which people opened the nodes; 0 without a trace."""
    if not table.readers:
        return 0.0
    counts = table.readers.counts(table.urls[node] for node in nodes.tolist())
    return np.asarray(np.log(_rate(counts, base)))


def _counts_of_others(table: LinkTable, nodes: Ids, totals: Matrix, own: Matrix) -> Matrix:
    """What is counted of siblings, of the same list, of neighbours, of host and of folder."""
    counts = np.empty((5, N_COUNTS, len(nodes)))
    counts[:3] = totals[: 3 * N_COUNTS].reshape(3, N_COUNTS, -1)
    places = table.places["counts"]
    counts[3] = places.take(table.nodes["host"].take(nodes), axis=0).T - own
    counts[4] = places.take(table.nodes["folder"].take(nodes), axis=0).T - own
    return counts


def _figures_of_links(table: LinkTable, nodes: Ids, links: Ids, owners: Ids, own: Matrix) -> Matrix:
    """What is known of each link to the nodes, ``owners`` of them; a row each.

    What is counted of its page, of its list, and of links near it; the relevance of its page, the
    logarithm of the number of links there, and whether it stays on the host; what its words say.
    """
    pages, own = table.links["page"].take(links), own.take(owners, axis=1)
    groups = table.links["group"].take(links)
    hosts = table.nodes["host"].take(nodes).take(owners)
    return np.concatenate(
        [
            table.pages["counts"].take(pages, axis=0).T - own,
            table.groups["counts"].take(groups, axis=0).T - own,
            table.links["near"].take(links, axis=0).T,
            table.pages["relevance"].take(pages)[None],
            table.pages["out"].take(pages)[None],
            (table.pages["host"].take(pages) == hosts)[None],
            table.links["words"].take(links, axis=0).T,
        ]
    )


def _over_links(figures: Matrix, base: float, count: Ids) -> tuple[Matrix, Matrix]:
    """Figures of links become those of their nodes, a row each: first the sums of all of them.

    Then the best of three: the relevance of the page, the success of its links, and how much the
    anchor is like the targets. A node without links has 0, and 1 for that success.
    """
    linked = count > 0
    totals, best = np.zeros((len(figures), len(count))), np.zeros((3, len(count)))
    best[1] = 1.0
    if linked.any():
        relevance, near_short = figures[3 * N_COUNTS], figures[3 * N_COUNTS + 3]
        of_some = np.array([relevance, _rate(figures[:N_COUNTS], base), near_short])
        starts = (np.cumsum(count) - count)[linked]
        totals[:, linked] = np.add.reduceat(figures, starts, axis=1)
        best[:, linked] = np.maximum.reduceat(of_some, starts, axis=1)
    return totals, best


def _rate(counts: Matrix, base: float) -> Matrix:
    """How many times the mean rate; hits and seen are the first rows."""
    hits, seen = np.maximum(counts[:2], 0.0)
    return np.asarray((hits + KAPPA * base) / ((seen + KAPPA) * base))


def hits_in_company(counts: Matrix, base: float) -> Vector:
    """The hits among some pages, every chance by what those beside it are; shape (N_COUNTS, n)."""
    drawn = _rate_in_company(counts, base) * (counts[1] + KAPPA)
    return np.asarray(base * (drawn - KAPPA))


def _rate_in_company(counts: Matrix, base: float) -> Matrix:
    """How many times the mean rate, likewise; shape (..., N_COUNTS, n)."""
    counts = np.maximum(counts, 0.0)
    hits, seen, unsure = counts[..., 0, :], counts[..., 1, :], counts[..., 2, :]
    drawn, pages = KAPPA * base, seen + KAPPA
    least, most = LEAST_LEFT * hits + drawn, (hits + seen) / 2 + drawn
    plain = hits + drawn - unsure * logit(base)
    rate = (hits + drawn) / pages
    for _ in range(STEPS):  # in place: that is half of its cost
        logit(rate, out=rate)
        rate *= unsure
        rate += plain
        np.maximum(rate, least, out=rate)
        np.minimum(rate, most, out=rate)
        rate /= pages
    rate /= base
    return np.asarray(rate)
