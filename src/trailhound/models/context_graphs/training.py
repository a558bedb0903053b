"""What the context-graph strategy learns from, and how it learns: documents by layer."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trailhound.counting import counted
from trailhound.errors import SourceError, UsageError
from trailhound.models.context_graphs.layer_classifier import (
    ClassifierParameters,
    LayerClassifier,
    ReferenceCorpus,
    fit_layers,
)
from trailhound.models.context_graphs.layers import (
    LAYER_SIZE,
    LAYERS,
    Layers,
    back_crawl,
    merged_layers,
    separate_back_crawls,
    session_layers,
)
from trailhound.models.context_graphs.reference_words import shipped_reference
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import BacklinkSource
from trailhound.text.tfidf import Terms

_log = logging.getLogger(__name__)

TRAINING_SETS = ("auto", "backlinks", "session")
REFERENCES = ("learned", "shipped")
VOCABULARIES = ("first-layer", "targets")
RATION = 24
"""Requests that learning may cost."""


@dataclass(frozen=True)
class ContextParameters:
    """How a context graph is made, and what becomes of it."""

    n_layers: int = LAYERS
    layer_size: int = LAYER_SIZE
    ration: int = RATION
    training: str = "auto"
    reference: str = "learned"
    vocabulary: str = "first-layer"
    """Whose words count: those of the ``targets``, or of the pages that link to them as well."""
    literal: bool = False
    """A graph for each target, pages kept as often as they occur, words of the targets only; and
    no ration."""
    classifier: ClassifierParameters = field(default_factory=ClassifierParameters)

    @property
    def rationed_size(self) -> int:
        """Most pages of a layer, given that each costs a question and a fetch."""
        if not self.ration or self.literal:
            return self.layer_size
        return max(1, min(self.layer_size, self.ration // (2 * self.n_layers)))


def context_layers(
    graph: PageGraph,
    backlinks: BacklinkSource | None,
    parameters: ContextParameters,
    rng: np.random.Generator,
) -> Layers:
    """Pages by layer: back-crawled where something knows who links to the targets.

    With ``training=auto`` the session's own pages are learned from as well, because they have been
    read already; not to the letter of the paper, unless there is nothing else. UsageError when
    neither tells what leads to a target.
    """
    found = None
    if parameters.training != "session":
        found = _back_crawled(graph, backlinks, parameters, rng)
        if found is not None and (parameters.literal or parameters.training == "backlinks"):
            return found
    layers = session_layers(graph, parameters.n_layers)
    if found is not None:
        return merged_layers(found, layers)
    if not any(layers[1:]):
        raise UsageError(
            "context-graph learns from pages that lead to the targets, and there are none: no page "
            "of the session links to one"
            + (", and nothing else knows any. " if backlinks is not None else ". ")
            + "Name a source with --backlinks ('crawl', a file of edges, an HTTP endpoint), record "
            "how you came to the pages you marked, or choose another strategy."
        )
    return layers


def _back_crawled(
    graph: PageGraph,
    backlinks: BacklinkSource | None,
    parameters: ContextParameters,
    rng: np.random.Generator,
) -> Layers | None:
    """``None`` when the session should do instead."""
    must = parameters.training == "backlinks"
    if backlinks is None:
        if must:
            raise UsageError(
                "training=backlinks needs to know who links to the targets, and nothing here does. "
                "Name a source with --backlinks, use it in the lab, or take training=session."
            )
        return None
    targets = [graph.pages[i] for i in sorted(graph.targets)]
    crawl = separate_back_crawls if parameters.literal else back_crawl
    try:
        layers = crawl(targets, backlinks, rng, parameters.n_layers, parameters.rationed_size)
    except SourceError as error:
        if must:
            raise
        _log.warning("context-graph learns from the session's own pages instead: %s", error)
        return None
    if any(layers[1:]):
        return layers
    asked = counted(len(targets), "target")
    nobody = f"The source of backlinks knows no page that can be read and links to any of {asked}"
    if must:
        raise SourceError(f"{nobody}. Try another one, or take training=session.")
    _log.warning("%s; context-graph learns from the session's own pages instead.", nobody)
    return None


def learn_layers(
    layers: Sequence[Sequence[Terms]], others: Sequence[Page], parameters: ContextParameters
) -> LayerClassifier:
    """Words of each layer; ``others`` are further pages for the reference corpus."""
    documents = [terms for layer in layers for terms in layer]
    if parameters.reference == "shipped":
        reference = shipped_reference()
    else:
        reference = ReferenceCorpus.of([*documents, *(page.terms for page in others)])
    n_master_layers = 1 if parameters.literal or parameters.vocabulary == "targets" else 2
    return fit_layers(layers, reference, parameters.classifier, n_master_layers)
