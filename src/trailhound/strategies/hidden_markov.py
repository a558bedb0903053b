"""The hidden-Markov crawler: follow the links of pages from which a target should be near."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import numpy as np

from trailhound.errors import UsageError
from trailhound.models.adoption import Adoption, Find
from trailhound.models.hop_hmm import (
    LexicographicKey,
    LikeliestStateKey,
    PriorityKey,
    Vector,
    pack_belief,
    unpack_belief,
)
from trailhound.models.topic_model import TopicModel, TopicParameters, learn_topic
from trailhound.records import CrawledPage, ScoredLink
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.strategies.context_graph.layers import context_page_graph
from trailhound.strategies.parts import BackCrawling, back_crawling, check_choice
from trailhound.urls import host_key

DEFAULTS = TopicParameters()
ORDERS = ("lexicographic", "likeliest")
TRAINING_SETS = ("session", "all-data")


class HiddenMarkovStrategy:
    """Each page's cluster updates a belief about the hops that remain along its path.

    The belief belongs to the path, so it travels as the memory of every link of the page; all
    links of a page share one priority, the key of the predicted distribution one hop further.
    """

    name: ClassVar[str] = "hidden-markov"
    summary: ClassVar[str] = "learns from the session how many hops remain to a target"
    paper: ClassVar[str] = "Liu, Janssen, Milios 2006"
    remembers_states: ClassVar[bool] = True
    reads_surroundings: ClassVar[bool] = False

    def __init__(
        self,
        model: TopicModel,
        *,
        order: str = "lexicographic",
        adapt_every: int = 0,
        back_crawl: BackCrawling | None = None,
    ) -> None:
        check_choice("order", order, ORDERS)
        self._model = model
        self._hmm = model.hmm
        self._classifier = model.classifier()
        n_states, literal = model.hmm.n_states, model.hmm.literal
        # The literal model's numbers do not sum to one, so its last state says something.
        self._key: PriorityKey = (
            LikeliestStateKey(n_states)
            if order == "likeliest"
            else LexicographicKey(n_states, all_states=literal)
        )
        self._adoption = Adoption(adapt_every) if adapt_every else None
        self._back_crawl = back_crawl

    @classmethod
    async def from_briefing(
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
        back_crawl: int = 0,
    ) -> HiddenMarkovStrategy:
        """Learn the topic from the session's page graph, or take the model that is there.

        A model in the briefing is used as it is unless an option asks for another one.
        ``training=all-data`` learns from everything that leads to the session's targets instead,
        where something knows who links to them. ``adapt_every=500`` lets strong finds join the
        targets after every so many pages. ``back_crawl`` pages that link to each find are queued
        as well.
        """
        parameters = TopicParameters(
            n_states=states,
            max_rank=rank,
            variance_share=variance,
            use_lsi=lsi,
            min_clusters=min(clusters, DEFAULTS.min_clusters),
            max_clusters=clusters,
            n_neighbours=neighbours,
            smoothing=smoothing,
            literal=literal,
        )
        is_default = parameters == DEFAULTS and training == "session"
        model = briefing.model if is_default else None
        if model is None:
            model = learn_topic(await _training_graph(briefing, training), parameters)
        parents = back_crawling(briefing, back_crawl)
        return cls(model, order=order, adapt_every=adapt_every, back_crawl=parents)

    @property
    def learns_online(self) -> bool:
        """Whether strong finds join the targets during the crawl, or a source is asked."""
        return self._adoption is not None or self._back_crawl is not None

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Filter one step along the path, predict one hop ahead."""
        belief = self._belief(crawled)
        priority = self._key(self._hmm.predict(belief))
        memory = pack_belief(belief)
        return [ScoredLink(link, priority, memory) for link in crawled.page.links]

    async def ask(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """A page in front of a find lies on no path that was walked: it starts one, as a seed."""
        if self._back_crawl is None or not crawled.relevance.relevant:
            return ()
        priority = self._key(self._hmm.predict(self._belief(crawled)))
        return [ScoredLink(link, priority) for link in await self._back_crawl.parents_of(crawled)]

    def _belief(self, crawled: CrawledPage) -> Vector:
        cluster = self._classifier.cluster_of(self._model.locate(crawled.page.terms))
        memory = crawled.candidate.memory
        if not memory:
            return self._hmm.first(cluster)
        return self._hmm.step(unpack_belief(memory, self._hmm.n_states), cluster)

    def explain(self, memory: bytes) -> Mapping[str, float]:
        """The probabilities of hops from the page behind a link to a target."""
        n_states = self._hmm.n_states
        if not memory:
            return {}
        ahead = self._hmm.predict(unpack_belief(memory, n_states))
        names = ["a target", "1 hop", *(f"{hops} hops" for hops in range(2, n_states))]
        names[-1] += " or more"
        return dict(zip(names, ahead.tolist(), strict=True))

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing, unless told to adapt: then strong finds become targets."""
        if self._adoption is None:
            return
        find, page = None, crawled.page
        if crawled.relevance.relevant:
            point = self._model.locate(page.terms)
            find = Find(crawled.relevance.score, page.url, host_key(page.url), point)
        adopted = self._adoption.see(find)
        if adopted:
            points = np.array([find.point for find in adopted])
            self._classifier = self._classifier.with_targets(points)


async def _training_graph(briefing: Briefing, training: str) -> PageGraph:
    check_choice("training", training, TRAINING_SETS)
    if training == "session":
        return briefing.graph
    if briefing.backlinks is None:
        raise UsageError(
            "training=all-data needs to know who links to the targets, and nothing here does. "
            "Use it in the lab, name a source with --backlinks, or leave it out."
        )
    targets = [briefing.graph.pages[i] for i in sorted(briefing.graph.targets)]
    rng = np.random.default_rng(briefing.seed)
    return await context_page_graph(targets, briefing.backlinks, rng)
