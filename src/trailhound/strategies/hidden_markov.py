"""The hidden-Markov crawler: follow the links of pages from which a target should be near."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from trailhound.errors import UsageError
from trailhound.models.hop_hmm import Vector, pack_belief, unpack_belief
from trailhound.models.hop_priority import LexicographicKey, LikeliestStateKey, PriorityKey
from trailhound.models.topic_model import TopicModel, TopicParameters, learn_topic
from trailhound.records import CrawledPage, ScoredLink
from trailhound.strategies.base import Briefing

DEFAULTS = TopicParameters()
ORDERS = ("lexicographic", "likeliest")


class HiddenMarkovStrategy:
    """Each page's cluster updates a belief about the hops that remain along its path.

    The belief belongs to the path, so it travels as the memory of every link of the page; all
    links of a page share one priority, the key of the predicted distribution one hop further.
    """

    name: ClassVar[str] = "hidden-markov"
    summary: ClassVar[str] = "learns from the session how many hops remain to a target"
    paper: ClassVar[str] = "Liu, Janssen, Milios 2006"

    def __init__(self, model: TopicModel, *, order: str = "lexicographic") -> None:
        if order not in ORDERS:
            raise UsageError(f"Option order is '{order}', but it should be {' or '.join(ORDERS)}.")
        self._model = model
        self._hmm = model.hmm
        self._classifier = model.classifier()
        self._key = _priority_key(model, order)

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
    ) -> HiddenMarkovStrategy:
        """Learn the topic from the session's page graph."""
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
        return cls(learn_topic(briefing.graph, parameters), order=order)

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
        """Learn nothing while crawling: the model stays as the session made it."""


def _priority_key(model: TopicModel, order: str) -> PriorityKey:
    n_states = model.hmm.n_states
    if order == "likeliest":
        return LikeliestStateKey(n_states)
    # The literal model's numbers do not sum to one, so its last state says something.
    return LexicographicKey(n_states, all_states=model.hmm.literal)
