"""What the context-graph strategy learns from, before the crawl and again on the way."""

from __future__ import annotations

import logging
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from trailhound.counting import counted
from trailhound.errors import SourceError, StorageError, UsageError
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import BacklinkSource
from trailhound.strategies.base import Briefing
from trailhound.strategies.context_graph.layer_classifier import (
    ClassifierParameters,
    LayerClassifier,
    fit_layers,
)
from trailhound.strategies.context_graph.layers import (
    LAYER_SIZE,
    LAYERS,
    Layers,
    back_crawl,
    merged_layers,
    separate_back_crawls,
    session_layers,
)
from trailhound.strategies.parts import DocumentCounts
from trailhound.text.tfidf import Terms
from trailhound.text.tokens import tokenize

_log = logging.getLogger(__name__)

TRAINING_SETS = ("auto", "backlinks", "session")
REFERENCES = ("learned", "everyday", "shipped")
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
    """How common words are: in the pages learned from; or ``everyday``, once ``shipped``, in the
    languages of the session's pages."""
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


async def context_layers(
    briefing: Briefing, parameters: ContextParameters, rng: np.random.Generator
) -> Layers:
    """Pages by layer: back-crawled where something knows who links to the targets.

    With ``training=auto`` the session's own pages are learned from as well, because they have been
    read already; not to the letter of the paper, unless there is nothing else. UsageError when
    neither tells what leads to a target.
    """
    graph, found = briefing.graph, None
    if parameters.training != "session":
        found = await _back_crawled(graph, briefing.backlinks, parameters, rng)
        if found is not None and (parameters.literal or parameters.training == "backlinks"):
            return found
    layers = session_layers(graph, parameters.n_layers)
    if found is not None:
        return merged_layers(found, layers)
    if not any(layers[1:]):
        raise UsageError(
            "context-graph learns from pages that lead to the targets, and there are none: no page "
            "of the session links to one"
            + (", and nothing else knows any. " if briefing.backlinks is not None else ". ")
            + "Name a source with --backlinks ('crawl', a file of edges, an HTTP endpoint), record "
            "how you came to the pages you marked, or choose another strategy."
        )
    return layers


async def _back_crawled(
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
        layers = await crawl(targets, backlinks, rng, parameters.n_layers, parameters.rationed_size)
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
    """Words of each layer; ``others`` are the session's pages, for the reference corpus."""
    reference = None
    if parameters.reference != "learned":
        reference = everyday_words(page.language for page in others)
        if reference is None:
            _log.warning(
                "context-graph knows no everyday words of the session's language, and weighs words "
                "by the pages that it learns from."
            )
    if reference is None:
        documents = [terms for layer in layers for terms in layer]
        reference = DocumentCounts.of([*documents, *(page.terms for page in others)])
    n_master_layers = 1 if parameters.literal or parameters.vocabulary == "targets" else 2
    return fit_layers(layers, reference, parameters.classifier, n_master_layers)


PAGE_WORDS = 500
"""Running words of an ordinary page, short and frequent ones included."""
N_DOCUMENTS = 2000
"""A word that no list knows counts as often as the rarest in wordfreq's small lists, of which one
running word in a million is: 1 / (PAGE_WORDS · 1e-6)."""
_LISTED_AS = {"no": "nb", "nn": "nb", "hr": "sh", "sr": "sh", "bs": "sh"}
"""Languages that wordfreq lists under another code."""


def everyday_words(languages: Iterable[str]) -> DocumentCounts | None:
    """Expected document frequencies in pages of these languages, one code for each page.

    Languages weigh as many pages as they have; ``None`` when no list exists for any of them.
    """
    pages = Counter(language for language in languages if _frequencies(language))
    if not pages:
        return None
    frequency: defaultdict[str, float] = defaultdict(float)
    for language, count in pages.items():
        for term, expected in _frequencies(language).items():
            frequency[term] += expected * count / pages.total()
    return DocumentCounts(N_DOCUMENTS, frequency)


@lru_cache(maxsize=8)
def _frequencies(language: str) -> Mapping[str, float]:
    """Terms of a language with the documents of N_DOCUMENTS that should hold them.

    wordfreq says what share p of all running words a word has. All forms of a term together have
    the sum of their shares. If words fell independently, a page of L words would hold the term with
    the probability 1 - (1 - p)^L ≈ 1 - exp(-p L). In fact they come in clumps, so that frequent
    words are in fewer pages than this says, though still in the same order.
    """
    # Here and not above: loading it takes half a second, and few crawls have need of it.
    try:
        from wordfreq import available_languages, get_frequency_dict
    except ImportError as error:
        raise UsageError(
            "context-graph:reference=everyday needs wordfreq. "
            "Install it with: pip install 'trailhound[everyday]'"
        ) from error

    listed = _LISTED_AS.get(language, language)
    if listed not in available_languages("small"):
        return {}
    shares: defaultdict[str, float] = defaultdict(float)
    for word, share in get_frequency_dict(listed, "small").items():
        for term in tokenize(word, language):
            shares[term] += share
    return {term: -N_DOCUMENTS * math.expm1(-share * PAGE_WORDS) for term, share in shares.items()}


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

    def add(self, find: Page) -> None:
        """Take a find."""
        self._finds.append(find)

    async def rebuilt(self) -> LayerClassifier | None:
        """A new classifier when there are enough finds; ``None`` when there are not."""
        if len(self._finds) < self._every:
            return None
        targets, self._finds = self._finds, []
        # Each page counts once; to the letter, as often as a graph has it.
        counted_before = frozenset() if self._parameters.literal else self._known
        for documents, pages in zip(self._documents, await self._layers(targets), strict=True):
            documents += [page.terms for page in pages if page.url not in counted_before]
            self._known.update(page.url for page in pages)
        self.times += 1
        return learn_layers(self._documents, self._others, self._parameters)

    async def _layers(self, targets: list[Page]) -> Layers:
        parameters = self._parameters
        nothing: Layers = [targets, *([] for _ in range(parameters.n_layers))]
        if self._read is None:
            return nothing
        size, crawl = parameters.layer_size, separate_back_crawls
        if not parameters.literal:
            size, crawl = min(REBUILD_LAYER_SIZE, size), back_crawl
        try:
            return await crawl(targets, self._read, self._rng, parameters.n_layers, size)
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

    async def linking_to(self, url: str) -> Sequence[str]:
        """Of the pages that the source names, those that are remembered and link to ``url``."""
        named = ((each, self._pages.get(each)) for each in await self._source.linking_to(url))
        return [each for each, read in named if read is not None and url in read[1]]

    async def page(self, url: str) -> Page | None:
        """A page that is remembered, with its words only."""
        read = self._pages.get(url)
        return None if read is None else read[0]
