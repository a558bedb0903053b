"""The hidden-Markov crawler: follow the links of pages from which a target should be near."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trailhound.errors import UsageError
from trailhound.models.adoption import Adoption
from trailhound.models.context_layers import context_page_graph
from trailhound.models.hop_hmm import Vector, pack_belief, unpack_belief
from trailhound.models.hop_priority import LexicographicKey, LikeliestStateKey, PriorityKey
from trailhound.models.topic_model import TopicModel, TopicParameters, learn_topic
from trailhound.records import CrawledPage, ScoredLink
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.urls import host_key

DEFAULTS = TopicParameters()
ORDERS = ("lexicographic", "likeliest")
TRAINING_SETS = ("session", "all-data")

Point = NDArray[np.float32]


class HiddenMarkovStrategy:
    """Each page's cluster updates a belief about the hops that remain along its path.

    The belief belongs to the path, so it travels as the memory of every link of the page; all
    links of a page share one priority, the key of the predicted distribution one hop further.
    """

    name: ClassVar[str] = "hidden-markov"
    summary: ClassVar[str] = "learns from the session how many hops remain to a target"
    paper: ClassVar[str] = "Liu, Janssen, Milios 2006"

    def __init__(
        self, model: TopicModel, *, order: str = "lexicographic", adapt_every: int = 0
    ) -> None:
        _check_choice("order", order, ORDERS)
        self._model = model
        self._hmm = model.hmm
        self._classifier = model.classifier()
        self._key = _priority_key(model, order)
        self._adoption = Adoption(adapt_every) if adapt_every else None
        self._finds: dict[str, Point] = {}

    @classmethod
    def from_briefing(
        cls,
        briefing: Briefing,
        *,
        states: int = DEFAULTS.n_states,
        rank: int = DEFAULTS.max_rank,
        variance: float = DEFAULTS.variance_share,
        lsi: bool = DEFAULTS.use_lsi,
        clusters: int = DEFAULTS.max_clusters,
        neighbours: int = DEFAULTS.n_neighbours,
        smoothing: float = DEFAULTS.smoothing,
        literal: bool = DEFAULTS.literal,
        order: str = "lexicographic",
        training: str = "session",
        adapt_every: int = 0,
    ) -> HiddenMarkovStrategy:
        """Learn the topic from the session's page graph.

        ``training=all-data`` learns from everything that leads to the session's targets instead,
        where something knows who links to them. ``adapt_every=500`` lets strong finds join the
        targets after every so many pages.
        """
        parameters = TopicParameters(
            n_states=states,
            max_rank=rank,
            variance_share=variance,
            use_lsi=lsi,
            max_clusters=clusters,
            n_neighbours=neighbours,
            smoothing=smoothing,
            literal=literal,
        )
        model = learn_topic(_training_graph(briefing, training), parameters)
        return cls(model, order=order, adapt_every=adapt_every)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Filter one step along the path, predict one hop ahead."""
        belief = self._belief(crawled)
        priority = self._key(self._hmm.predict(belief))
        memory = pack_belief(belief)
        return [ScoredLink(link, priority, memory) for link in crawled.page.links]

    def _belief(self, crawled: CrawledPage) -> Vector:
        cluster = self._classifier.cluster_of(self._model.locate(crawled.page.terms))
        memory = crawled.candidate.memory
        if not memory:
            return self._hmm.first(cluster)
        return self._hmm.step(unpack_belief(memory, self._hmm.n_states), cluster)

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing, unless told to adapt: then strong finds become targets."""
        if self._adoption is None:
            return
        page, relevance = crawled.page, crawled.relevance
        if relevance.relevant:
            self._finds[page.url] = self._model.locate(page.terms)
        adopted = self._adoption.see(
            page.url, host_key(page.url), relevance.score, relevance.relevant
        )
        if adopted:
            points = np.array([self._finds[url] for url in adopted])
            self._classifier = self._classifier.with_targets(points)


def _training_graph(briefing: Briefing, training: str) -> PageGraph:
    _check_choice("training", training, TRAINING_SETS)
    if training == "session":
        return briefing.graph
    if briefing.backlinks is None:
        raise UsageError(
            "training=all-data needs to know who links to the targets, and nothing here does. "
            "Use it in the lab, or leave it out."
        )
    targets = [briefing.graph.pages[i] for i in sorted(briefing.graph.targets)]
    rng = np.random.default_rng(briefing.seed)
    return context_page_graph(targets, briefing.backlinks, rng)


def _check_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UsageError(f"Option {option} is '{value}', but it should be {' or '.join(choices)}.")


def _priority_key(model: TopicModel, order: str) -> PriorityKey:
    n_states = model.hmm.n_states
    if order == "likeliest":
        return LikeliestStateKey(n_states)
    # The literal model's numbers do not sum to one, so its last state says something.
    return LexicographicKey(n_states, all_states=model.hmm.literal)
