"""Context graphs: rank a page's links by how many links in front of a target the page seems."""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import ClassVar

import numpy as np

from trailhound.errors import UNREADABLE, UsageError
from trailhound.records import CrawledPage, Link, ScoredLink
from trailhound.strategies.base import Briefing
from trailhound.strategies.context_graph.layer_classifier import (
    MIN_FEATURES,
    PRIORS,
    TERMS,
    THRESHOLDS,
    ClassifierParameters,
    LayerClassifier,
    Verdict,
    classifier_from_bytes,
)
from trailhound.strategies.context_graph.layers import LAYER_SIZE, LAYERS
from trailhound.strategies.context_graph.training import (
    RATION,
    REFERENCES,
    TRAINING_SETS,
    VOCABULARIES,
    ContextParameters,
    Rebuilding,
    context_layers,
    learn_layers,
)
from trailhound.strategies.parts import BackCrawling, back_crawling, check_at_least, check_choice

MODES = ("auto", "inherit", "prefetch")
AT_ONCE = 1000.0
"""Added to a priority that comes before all queues."""
MAX_FAMILIES = 5000
"""Pages whose links are remembered until the first of them is fetched."""

_HEAD = struct.Struct("<?B")


class ContextGraphStrategy:
    """One queue for each layer of the context graph and one for "other", as a single number.

    The layer comes first, then the likelihood: ``priority = (N + 1 - queue) + 1 / (2 - ℓ)``, where
    ℓ ≤ 0 is the page's log-likelihood under its layer, so that the second part stays below one.
    """

    name: ClassVar[str] = "context-graph"
    summary: ClassVar[str] = "learns the words of pages that lead to targets, layer by layer"
    paper: ClassVar[str] = "Diligenti, Coetzee, Lawrence, Giles, Gori 2000"
    reads_surroundings: ClassVar[bool] = False

    def __init__(
        self,
        classifier: LayerClassifier,
        *,
        mode: str = "inherit",
        back_crawl: BackCrawling | None = None,
        rebuilding: Rebuilding | None = None,
        literal: bool = False,
    ) -> None:
        self._classifier = classifier
        self._prefetches = mode == "prefetch"
        self._back_crawl = back_crawl
        self._rebuilding = rebuilding
        self._literal = literal
        self._was_rebuilt = False
        self._families: OrderedDict[str, tuple[Link, ...]] = OrderedDict()
        self._latest: tuple[CrawledPage, Verdict] | None = None

    @classmethod
    async def from_briefing(
        cls,
        briefing: Briefing,
        *,
        layers: int = LAYERS,
        layer_size: int = LAYER_SIZE,
        ration: int = RATION,
        terms: int = TERMS,
        mode: str = "auto",
        threshold: str = "auto",
        priors: str = "equal",
        training: str = "auto",
        reference: str = "learned",
        vocabulary: str = "first-layer",
        counts: bool = False,
        literal: bool = False,
        back_crawl: int = 0,
        rebuild_every: int = 0,
    ) -> ContextGraphStrategy:
        """Back-crawl from the targets, take the session's own pages, and learn each layer.

        ``literal`` is the paper to the letter: children are fetched before anything else unless
        ``mode`` says otherwise, and every occurrence of a word counts.
        ``back_crawl`` pages that link to each find are queued as well. ``rebuild_every`` finds
        become targets of their own, and everything is learned again.
        """
        check_choice("mode", mode, MODES)
        check_choice("threshold", threshold, ("auto", *THRESHOLDS))
        check_choice("priors", priors, PRIORS)
        check_choice("training", training, TRAINING_SETS)
        check_choice("reference", reference, REFERENCES)
        check_choice("vocabulary", vocabulary, VOCABULARIES)
        check_at_least(1, layers=layers, layer_size=layer_size, terms=terms)
        check_at_least(0, rebuild_every=rebuild_every, ration=ration)
        if layers > 50:
            raise UsageError(f"Option layers is {layers}, but it should be 50 or less.")
        parameters = ContextParameters(
            n_layers=layers,
            layer_size=layer_size,
            ration=ration,
            training=training,
            reference=reference,
            vocabulary=vocabulary,
            literal=literal,
            classifier=ClassifierParameters(
                n_terms=terms,
                threshold=("min" if literal else "posterior") if threshold == "auto" else threshold,
                use_counts=counts or literal,
                per_feature=not literal,
                min_features=1 if literal else MIN_FEATURES,
                priors=priors,
            ),
        )
        parents = back_crawling(briefing, back_crawl)
        rng = np.random.default_rng(briefing.seed)
        found = await context_layers(briefing, parameters, rng)
        documents = [[page.terms for page in layer] for layer in found]
        rebuilding = None
        if rebuild_every:
            sources = briefing.backlinks if training != "session" else None
            pages = briefing.graph.pages
            rebuilding = Rebuilding(rebuild_every, found, sources, parameters, rng, pages)
        return cls(
            learn_layers(documents, briefing.graph.pages, parameters),
            mode=("prefetch" if literal else "inherit") if mode == "auto" else mode,
            back_crawl=parents,
            rebuilding=rebuilding,
            literal=literal,
        )

    @property
    def learns_online(self) -> bool:
        """Whether anything but the page itself matters: siblings, sources, finds."""
        return self._prefetches or self._back_crawl is not None or self._rebuilding is not None

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """All links of a page go into one queue."""
        verdict = self._verdict(crawled)
        memory = _HEAD.pack(False, verdict.queue) + verdict.posteriors.astype("<f4").tobytes()
        priority = self._priority(verdict)
        scored = [ScoredLink(link, priority, memory) for link in crawled.page.links]
        if self._prefetches:
            scored += self._siblings(crawled)
            if crawled.page.links:
                links = tuple(Link(link.url) for link in crawled.page.links)
                self._families[crawled.page.url] = links
            while len(self._families) > MAX_FAMILIES:
                self._families.popitem(last=False)
        return scored

    async def ask(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Pages that link to a find come before all queues; with enough finds, learn again."""
        if self._back_crawl is None and self._rebuilding is None:
            return ()
        parents: tuple[Link, ...] = ()
        verdict = self._verdict(crawled)
        if self._back_crawl is not None and self._is_target(crawled, verdict):
            parents = await self._back_crawl.parents_of(crawled)
        rebuilt = None if self._rebuilding is None else await self._rebuilding.rebuilt()
        if rebuilt is not None:
            self._classifier, self._latest = rebuilt, None
            self._was_rebuilt = True
        priority = self._priority(verdict)
        return [ScoredLink(link, AT_ONCE + priority) for link in parents]

    def _verdict(self, crawled: CrawledPage) -> Verdict:
        """A page is observed and scored one after the other: one classification does for both."""
        if self._latest is None or self._latest[0] is not crawled:
            self._latest = crawled, self._classifier.classify(crawled.page.terms)
        return self._latest[1]

    def _priority(self, verdict: Verdict) -> float:
        """Behind a page i links from a target lies one that is i - 1; unless it is fetched first.

        With ``prefetch`` the queues are of pages to expand, and a page is expanded by fetching
        what it links to: its links wait in its own queue.
        """
        queue, other = verdict.queue, self._classifier.other
        if not self._prefetches and queue != other:
            queue = max(queue - 1, 0)
        return (other - queue) + 1 / (2 - verdict.likelihood)

    def _is_target(self, crawled: CrawledPage, verdict: Verdict) -> bool:
        """The crawl's judge says so; to the letter it is the classifier of layer 0."""
        return verdict.queue == 0 if self._literal else crawled.relevance.relevant

    def _siblings(self, crawled: CrawledPage) -> list[ScoredLink]:
        """The first child of a page brings the others: they are fetched before anything else."""
        candidate = crawled.candidate
        if candidate.memory[:1] == b"\x01" or candidate.parent is None:
            return []
        links = self._families.pop(candidate.parent, ())
        memory = b"\x01" + candidate.memory[1:]
        priority = AT_ONCE + candidate.priority
        return [ScoredLink(link, priority, memory) for link in links if link.url != candidate.url]

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing, unless told to rebuild: then finds become targets."""
        if self._rebuilding is None:
            return
        self._rebuilding.see([crawled.page])
        if self._is_target(crawled, self._verdict(crawled)):
            self._rebuilding.add(crawled.page)

    def explain(self, memory: bytes) -> Mapping[str, float]:
        """How probable each layer is for the page that a link was on, by the layers' words."""
        n_layers = self._classifier.n_layers
        if len(memory) != _HEAD.size + 4 * n_layers:
            return {}
        queue = _HEAD.unpack_from(memory)[1]
        names = ["its page is a target", "its page is 1 link from one"]
        names += [f"its page is {layer} links from one" for layer in range(2, n_layers)]
        posteriors = np.frombuffer(memory, "<f4", offset=_HEAD.size).astype(float).tolist()
        told = dict(zip(names, posteriors, strict=True))
        if queue == self._classifier.other:
            told["it fits none of these well, and waits with the others"] = 1.0
        return told

    def snapshot(self) -> bytes:
        """The classifier, when it was rebuilt on the way, in this process or an earlier one."""
        return self._classifier.to_bytes() if self._was_rebuilt else b""

    def restore(self, snapshot: bytes) -> None:
        """Go on with a classifier that was rebuilt; the finds it was built from count anew."""
        if not snapshot:
            return
        try:
            kept = classifier_from_bytes(snapshot, self._classifier.parameters)
        except UNREADABLE as error:
            raise ValueError(str(error)) from error
        if kept.n_layers != self._classifier.n_layers:
            raise ValueError(f"it has {kept.n_layers} layers, not {self._classifier.n_layers}")
        self._classifier, self._latest = kept, None
        self._was_rebuilt = True
