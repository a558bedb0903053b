"""What leads to the targets, layer by layer: found by asking who links to a page, again and again.

Layer 0 are the targets, layer i the pages that are i links in front of one. The context-graph
strategy learns a class of words for each layer. The hidden-Markov papers use the same pages as an
alternative training set: a page graph made without a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
    asked = _Questions(backlinks)
    found = [list({page.url: page for page in targets}.values())]
    urls = [page.url for page in found[0]]
    known = set(urls)
    urls = _sample(urls, layer_size, rng)
    for _ in range(layers):
        named = await asked.linking_to_any(urls)
        parents = dict.fromkeys(source for source in named if source not in known)
        asked.check(parents)
        # A page that was not drawn is not taken for one that is farther away.
        known.update(parents)
        urls = _sample(list(parents), layer_size, rng)
        pages = await asked.pages(urls)
        found.append(list(pages.values()))
    return found


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
    asked = _Questions(backlinks)
    merged: Layers = [list(targets), *([] for _ in range(layers))]
    for target in targets:
        tree = await _tree(target, asked, rng, layers, layer_size)
        for number, pages in enumerate(tree, start=1):
            merged[number] += pages
    return merged


async def _tree(
    target: Page, asked: _Questions, rng: np.random.Generator, layers: int, layer_size: int
) -> Layers:
    tree: Layers = []
    nearer = {target.url}
    urls = [target.url]
    for _ in range(layers):
        named = await asked.linking_to_any(urls)
        parents = [source for source in named if source not in nearer]
        asked.check(parents)
        nearer.update(parents)
        urls = _sample(parents, layer_size, rng)
        pages = await asked.pages(urls)
        tree.append([pages[url] for url in urls if url in pages])
    return tree


class _Questions:
    """Asks a source, for everything once; one that fails now and then is borne with."""

    def __init__(self, backlinks: BacklinkSource) -> None:
        self._backlinks = backlinks
        self._answers: dict[str, Sequence[str]] = {}
        self._pages: dict[str, Page | None] = {}
        self._failure: SourceError | None = None

    async def linking_to_any(self, urls: Iterable[str]) -> list[str]:
        return [source for url in urls for source in await self._linking_to(url)]

    async def _linking_to(self, url: str) -> Sequence[str]:
        if url not in self._answers:
            try:
                self._answers[url] = await self._backlinks.linking_to(url)
            except SourceError as error:
                self._failure = error
                self._answers[url] = ()
        return self._answers[url]

    def check(self, parents: Iterable[str]) -> None:
        """Nothing known, and something failed: that is no answer."""
        if self._failure is not None and not any(self._answers.values()) and not list(parents):
            raise self._failure

    async def pages(self, urls: Sequence[str]) -> dict[str, Page]:
        wanted = list(dict.fromkeys(url for url in urls if url not in self._pages))
        if isinstance(self._backlinks, FetchingAhead):
            await self._backlinks.expect(wanted)
        for url in wanted:
            self._pages[url] = await self._backlinks.page(url)
        loaded = ((url, self._pages[url]) for url in urls)
        return {url: page for url, page in loaded if page is not None}


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
    pages = [page for layer in found for page in layer]
    return PageGraph(
        pages=tuple(pages),
        edges=_links_between(pages),
        targets=frozenset(range(len(found[0]))),
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
