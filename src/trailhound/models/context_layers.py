"""A page graph made without a person: everything that leads to the targets, layer by layer.

The alternative training set of the hidden-Markov papers: back-crawl from the targets, a few layers
deep, and take all hyperlinks between the pages found.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import BacklinkSource

LAYERS = 4
LAYER_SIZE = 300
"""Both as in the context-graph paper."""


def context_page_graph(
    targets: Sequence[Page],
    backlinks: BacklinkSource,
    rng: np.random.Generator,
    layers: int = LAYERS,
    layer_size: int = LAYER_SIZE,
) -> PageGraph:
    """Targets and the pages up to ``layers`` links in front of them.

    A layer of more than ``layer_size`` pages is a random sample of them.
    """
    pages = {page.url: page for page in targets}
    n_targets = len(pages)
    layer = list(pages)
    for _ in range(layers):
        found = dict.fromkeys(
            source for url in layer for source in backlinks.linking_to(url) if source not in pages
        )
        layer = _sample(list(found), layer_size, rng)
        loaded = ((url, backlinks.page(url)) for url in layer)
        pages.update({url: page for url, page in loaded if page is not None})
    return PageGraph(
        pages=tuple(pages.values()),
        edges=_links_between(list(pages.values())),
        targets=frozenset(range(n_targets)),
    )


def _sample(urls: list[str], size: int, rng: np.random.Generator) -> list[str]:
    if len(urls) <= size:
        return urls
    chosen = rng.choice(len(urls), size, replace=False)
    return [urls[i] for i in sorted(chosen.tolist())]


def _links_between(pages: Sequence[Page]) -> tuple[tuple[int, int], ...]:
    number = {page.url: i for i, page in enumerate(pages)}
    edges = {
        (source, number[link.url])
        for source, page in enumerate(pages)
        for link in page.links
        if link.url in number and number[link.url] != source
    }
    return tuple(sorted(edges))
