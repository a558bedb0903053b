"""Learning the layers again, with what was found on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from trailhound.errors import SourceError, StorageError
from trailhound.models.context_graphs.layer_classifier import LayerClassifier
from trailhound.models.context_graphs.layers import Layers, back_crawl, separate_back_crawls
from trailhound.models.context_graphs.training import ContextParameters, learn_layers
from trailhound.records import Page
from trailhound.sources import BacklinkSource

REBUILD_LAYER_SIZE = 50
"""Pages a layer when finds are back-crawled during the crawl: each question costs a request."""
MAX_READ = 3000
"""Pages remembered to that end: the newest."""


class Rebuilding:
    """Back-crawls finds, a few at a time, and learns the layers again with them.

    A crawl waits for nothing, so that no page is fetched for this: the layers of a find are made
    of pages that were read before, for learning or by the crawl itself.
    """

    def __init__(
        self,
        every: int,
        layers: Layers,
        backlinks: BacklinkSource | None,
        parameters: ContextParameters,
        rng: np.random.Generator,
        others: Sequence[Page] = (),
    ) -> None:
        self.times = 0
        """How often it has learned again."""
        self._every = every
        self._documents = [[page.terms for page in layer] for layer in layers]
        self._known = {page.url for layer in layers for page in layer}
        self._read = None if backlinks is None else ReadPages(backlinks)
        self._parameters = parameters
        self._rng = rng
        self._others = others
        self._finds: list[Page] = []
        self.see(page for layer in layers for page in layer)

    def see(self, pages: Iterable[Page]) -> None:
        """These pages were read."""
        if self._read is not None:
            for page in pages:
                self._read.add(page)

    def add(self, find: Page) -> LayerClassifier | None:
        """Take a find; a new classifier when there are enough of them."""
        self._finds.append(find)
        if len(self._finds) < self._every:
            return None
        targets, self._finds = self._finds, []
        for documents, pages in zip(self._documents, self._layers(targets), strict=True):
            documents += [page.terms for page in pages if self._is_wanted(page)]
            self._known.update(page.url for page in pages)
        self.times += 1
        return learn_layers(self._documents, self._others, self._parameters)

    def _is_wanted(self, page: Page) -> bool:
        """Each page counts once; to the letter, as often as a graph has it."""
        return self._parameters.literal or page.url not in self._known

    def _layers(self, targets: list[Page]) -> Layers:
        parameters = self._parameters
        nothing: Layers = [targets, *([] for _ in range(parameters.n_layers))]
        if self._read is None:
            return nothing
        size = parameters.layer_size
        crawl = separate_back_crawls
        if not parameters.literal:
            size, crawl = min(REBUILD_LAYER_SIZE, size), back_crawl
        try:
            return crawl(targets, self._read, self._rng, parameters.n_layers, size)
        except (SourceError, StorageError):
            return nothing  # its words are learned all the same


class ReadPages:
    """A backlink source that names only pages that were read, and have the link it speaks of."""

    def __init__(self, source: BacklinkSource, limit: int = MAX_READ) -> None:
        self._source = source
        self._limit = limit
        self._pages: dict[str, tuple[Page, frozenset[str]]] = {}

    def add(self, page: Page) -> None:
        """Remember a page's words and links; the oldest page is forgotten."""
        self._pages.pop(page.url, None)
        links = frozenset(link.url for link in page.links)
        self._pages[page.url] = Page(page.url, terms=page.terms), links
        if len(self._pages) > self._limit:
            del self._pages[next(iter(self._pages))]

    def linking_to(self, url: str) -> Sequence[str]:
        """Of the pages that the source names, those that are remembered and link to ``url``."""
        named = ((each, self._pages.get(each)) for each in self._source.linking_to(url))
        return [each for each, read in named if read is not None and url in read[1]]

    def page(self, url: str) -> Page | None:
        """A page that is remembered, with its words only."""
        read = self._pages.get(url)
        return None if read is None else read[0]
