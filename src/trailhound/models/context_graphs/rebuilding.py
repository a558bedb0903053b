"""Learning the layers again, with what was found on the way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trailhound.errors import SourceError, StorageError
from trailhound.models.context_graphs.layer_classifier import LayerClassifier
from trailhound.models.context_graphs.layers import Layers, back_crawl
from trailhound.models.context_graphs.training import ContextParameters, learn_layers
from trailhound.records import Page
from trailhound.sources import BacklinkSource

REBUILD_LAYER_SIZE = 50
"""Pages a layer when finds are back-crawled during the crawl: each question costs a request."""


class Rebuilding:
    """Back-crawls finds, a few at a time, and learns the layers again with them."""

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
        self._documents = [{page.url: page.terms for page in layer} for layer in layers]
        self._backlinks = backlinks
        self._parameters = parameters
        self._rng = rng
        self._others = others
        self._finds: list[Page] = []

    def add(self, find: Page) -> LayerClassifier | None:
        """Take a find; a new classifier when there are enough of them."""
        self._finds.append(find)
        if len(self._finds) < self._every:
            return None
        targets, self._finds = self._finds, []
        known = {url for layer in self._documents for url in layer}
        for layer, pages in zip(self._documents, self._layers(targets), strict=True):
            layer.update({page.url: page.terms for page in pages if page.url not in known})
            known.update(layer)
        self.times += 1
        documents = [list(layer.values()) for layer in self._documents]
        return learn_layers(documents, self._others, self._parameters)

    def _layers(self, targets: list[Page]) -> Layers:
        nothing: Layers = [targets, *([] for _ in range(self._parameters.n_layers))]
        if self._backlinks is None:
            return nothing
        size = min(REBUILD_LAYER_SIZE, self._parameters.layer_size)
        try:
            return back_crawl(targets, self._backlinks, self._rng, self._parameters.n_layers, size)
        except (SourceError, StorageError):
            return nothing  # its words are learned all the same
