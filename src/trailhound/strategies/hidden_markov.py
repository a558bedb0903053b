"""The hidden-Markov crawler: follow the links of pages from which a target should be near."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import numpy as np

from trailhound.errors import UsageError
from trailhound.models.adoption import Adoption, Find
from trailhound.models.hop_hmm import (
    DiscountedHopsKey,
    LexicographicKey,
    LikeliestStateKey,
    PriorityKey,
    Vector,
    pack_belief,
    pack_beliefs,
    unpack_belief,
)
from trailhound.models.topic_model import TopicModel, TopicParameters, learn_topic
from trailhound.records import CrawledPage, ScoredLink
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.strategies.context_graph.layers import context_page_graph
from trailhound.strategies.link_evidence import PRIOR_WEIGHTS, LinkEvidence, first_links
from trailhound.strategies.parts import (
    BackCrawling,
    back_crawling,
    check_at_least,
    check_choice,
)
from trailhound.urls import host_key

DEFAULTS = TopicParameters()
ORDERS = ("hops", "lexicographic", "likeliest")
OBSERVATIONS = ("judge", "clusters")
TRAINING_SETS = ("session", "all-data")


class HiddenMarkovStrategy:
    """Each page updates a belief about the hops that remain along its path; its links divide it.

    The page is observed by the judge, which says how sure it is that this is a target, and by its
    cluster, which tells the other states apart. The words of each link are an observation of the
    page behind it. What is then expected there belongs to the path: it travels as the memory of the
    link, and its key is the priority.

    The published reading, which a literal model asks for, observes clusters alone: all links of a
    page share one priority, and what travels is the belief about the page.
    """

    name: ClassVar[str] = "hidden-markov"
    summary: ClassVar[str] = "learns from the session how many hops remain to a target"
    paper: ClassVar[str] = "Liu, Janssen, Milios 2006; links told apart as in Liu, Milios 2012"
    remembers_states: ClassVar[bool] = True

    def __init__(
        self,
        model: TopicModel,
        *,
        order: str = "hops",
        observation: str = "judge",
        words: float = 1.0,
        adapt_every: int = 0,
        back_crawl: BackCrawling | None = None,
    ) -> None:
        check_choice("order", order, ORDERS)
        check_choice("observation", observation, OBSERVATIONS)
        check_at_least(0.0, words=words)
        literal = model.hmm.literal
        self._model = model
        self._hmm = model.hmm
        self._classifier = model.classifier()
        self._key = _key(model, "lexicographic" if literal and order == "hops" else order)
        self._asks_judge = observation == "judge" and not literal
        self._evidence = LinkEvidence(model.graph) if words and not literal else None
        self._word_weights = words * PRIOR_WEIGHTS
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
        order: str = "hops",
        observation: str = "judge",
        words: float = 1.0,
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
        return cls(
            model,
            order=order,
            observation=observation,
            words=words,
            adapt_every=adapt_every,
            back_crawl=parents,
        )

    @property
    def learns_online(self) -> bool:
        """Whether strong finds join the targets during the crawl, or a source is asked."""
        return self._adoption is not None or self._back_crawl is not None

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Filter one step along the path, predict one hop ahead, and hear what each link says."""
        belief, page = self._belief(crawled), crawled.page
        ahead = self._hmm.predict(belief)
        if self._evidence is None:
            priority, memory = self._key(ahead), pack_belief(belief)
            return [ScoredLink(link, priority, memory) for link in page.links]
        found, rows = self._evidence.read(page)
        expected = self._hmm.told(ahead, rows[:, 1:] @ self._word_weights)
        priorities = self._key.of_each(expected)
        return map(ScoredLink, first_links(page, found.urls), priorities, pack_beliefs(expected))

    async def ask(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """A page in front of a find lies on no path that was walked: it starts one, as a seed."""
        if self._back_crawl is None or not crawled.relevance.relevant:
            return ()
        priority = self._key(self._hmm.predict(self._belief(crawled)))
        return [ScoredLink(link, priority) for link in await self._back_crawl.parents_of(crawled)]

    def _belief(self, crawled: CrawledPage) -> Vector:
        terms, expected = crawled.page.terms, self._expected(crawled.candidate.memory)
        if not self._asks_judge:
            return self._hmm.seen(expected, self._classifier.cluster_of(self._model.locate(terms)))
        point = self._model.familiar_point(terms)
        cluster = None if point is None else self._classifier.cluster_of(point)
        return self._hmm.judged(expected, crawled.relevance.score, cluster)

    def _expected(self, memory: bytes) -> Vector:
        """The states in which a page was expected when its link was queued; a seed's are π."""
        if not memory:
            return self._hmm.start
        states = unpack_belief(memory, self._hmm.n_states)
        return self._hmm.predict(states) if self._evidence is None else states

    def explain(self, memory: bytes) -> Mapping[str, float]:
        """The probabilities of hops from the page behind a link to a target."""
        return named_hops(self._expected(memory)) if memory else {}

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


def named_hops(states: Vector) -> dict[str, float]:
    """Probabilities of the states by what they mean."""
    names = ["a target", "1 hop", *(f"{hops} hops" for hops in range(2, len(states)))]
    names[-1] += " or more"
    return dict(zip(names, states.tolist(), strict=True))


def _key(model: TopicModel, order: str) -> PriorityKey:
    n_states = model.hmm.n_states
    if order == "hops":
        return DiscountedHopsKey(n_states)
    if order == "likeliest":
        return LikeliestStateKey(n_states)
    # The literal model's numbers do not sum to one, so its last state says something.
    return LexicographicKey(n_states, all_states=model.hmm.literal)


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
