"""What leads to the targets, layer by layer: found by asking who links to a page, again and again.

Layer 0 are the targets, layer i the pages that are i links in front of one. The context-graph
strategy learns a class of words for each layer. The hidden-Markov papers use the same pages as an
alternative training set: a page graph made without a person.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trailhound.errors import SourceError
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph, hop_levels
from trailhound.sources import BacklinkSource, FetchingAhead

LAYERS = 4
LAYER_SIZE = 300
"""Both as in the context-graph paper."""

Layers = list[list[Page]]


async def back_crawl(
    targets: Sequence[Page],
    backlinks: BacklinkSource,
    rng: np.random.Generator,
    layers: int = LAYERS,
    layer_size: int = LAYER_SIZE,
) -> Layers:
    """One merged context graph: each page in the smallest layer that it belongs to.

    A layer of more than ``layer_size`` pages is a random sample of them; of more targets than that
    a sample is asked about. Pages that cannot be had are left out. A source that fails for some
    pages is asked for the others; SourceError only when it gave nothing for any target.
    """
    unique = {page.url: page for page in targets}
    asked = _Questions(backlinks, rng, layers, layer_size)
    return [list(unique.values()), *await asked.layers_in_front_of(list(unique))]


async def separate_back_crawls(
    targets: Sequence[Page],
    backlinks: BacklinkSource,
    rng: np.random.Generator,
    layers: int = LAYERS,
    layer_size: int = LAYER_SIZE,
) -> Layers:
    """A context graph for each target, then joined layer by layer: the paper to the letter.

    ``layer_size`` holds for each graph. A page with links to two pages of a layer is in the next
    layer twice, and a page may be in different layers of different graphs.
    """
    asked = _Questions(backlinks, rng, layers, layer_size)
    merged: Layers = [list(targets), *([] for _ in range(layers))]
    for target in targets:
        tree = await asked.layers_in_front_of([target.url], repeated=True)
        for number, pages in enumerate(tree, start=1):
            merged[number] += pages
    return merged


class _Questions:
    """Asks a source, for everything once; one that fails now and then is borne with."""

    def __init__(
        self, backlinks: BacklinkSource, rng: np.random.Generator, layers: int, layer_size: int
    ) -> None:
        self._backlinks = backlinks
        self._rng = rng
        self._layers = layers
        self._layer_size = layer_size
        self._answers: dict[str, Sequence[str]] = {}
        self._pages: dict[str, Page | None] = {}
        self._failure: SourceError | None = None

    async def layers_in_front_of(self, urls: list[str], *, repeated: bool = False) -> Layers:
        """Layers 1, 2, …; ``repeated`` keeps a page as often as it links to the layer before."""
        found: Layers = []
        known = set(urls)
        urls = self._sample(urls)
        for _ in range(self._layers):
            named = [source for url in urls for source in await self._linking_to(url)]
            parents = [source for source in named if source not in known]
            if self._failure is not None and not any(self._answers.values()) and not parents:
                raise self._failure  # nothing known, and something failed: that is no answer
            # A page that was not drawn is not taken for one that is farther away.
            known.update(parents)
            urls = self._sample(parents if repeated else list(dict.fromkeys(parents)))
            found.append(await self._loaded(urls))
        return found

    async def _linking_to(self, url: str) -> Sequence[str]:
        if url not in self._answers:
            try:
                self._answers[url] = await self._backlinks.linking_to(url)
            except SourceError as error:
                self._failure = error
                self._answers[url] = ()
        return self._answers[url]

    def _sample(self, urls: list[str]) -> list[str]:
        if len(urls) <= self._layer_size:
            return urls
        chosen = self._rng.choice(len(urls), self._layer_size, replace=False)
        return [urls[i] for i in sorted(chosen.tolist())]

    async def _loaded(self, urls: list[str]) -> list[Page]:
        wanted = list(dict.fromkeys(url for url in urls if url not in self._pages))
        if isinstance(self._backlinks, FetchingAhead):
            await self._backlinks.expect(wanted)
        for url in wanted:
            self._pages[url] = await self._backlinks.page(url)
        return [page for url in urls if (page := self._pages[url]) is not None]


def session_layers(graph: PageGraph, layers: int = LAYERS) -> Layers:
    """The same from a browsing session: its pages by links to the nearest target.

    Pages from which no target can be reached in so many links are in no layer.
    """
    levels = hop_levels(graph, layers + 2)
    return [
        [graph.pages[page] for page in np.flatnonzero(levels == layer).tolist()]
        for layer in range(layers + 1)
    ]


def merged_layers(some: Layers, others: Layers) -> Layers:
    """Each page of both once, in the smallest layer that either has it in."""
    nearest: dict[str, tuple[int, Page]] = {}
    for layers in (some, others):
        for number, pages in enumerate(layers):
            for page in pages:
                if page.url not in nearest or number < nearest[page.url][0]:
                    nearest[page.url] = number, page
    merged: Layers = [[] for _ in some]
    for number, page in nearest.values():
        merged[number].append(page)
    return merged


async def context_page_graph(
    targets: Sequence[Page],
    backlinks: BacklinkSource,
    rng: np.random.Generator,
    layers: int = LAYERS,
    layer_size: int = LAYER_SIZE,
) -> PageGraph:
    """Targets and the pages up to ``layers`` links in front of them, with all links between."""
    found = await back_crawl(targets, backlinks, rng, layers, layer_size)
    pages = tuple(page for layer in found for page in layer)
    number = {page.url: i for i, page in enumerate(pages)}
    edges = {
        (source, number[link.url])
        for source, page in enumerate(pages)
        for link in page.links
        if link.url in number and number[link.url] != source
    }
    return PageGraph(pages, tuple(sorted(edges)), frozenset(range(len(found[0]))))
