"""A maximum-entropy Markov crawler: hops to a target, told by the path and by each link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from trailhound.models.hop_hmm import DiscountedHopsKey, Matrix, Vector
from trailhound.models.topic_model import TopicModel, learn_topic
from trailhound.records import CrawledPage, ScoredLink
from trailhound.strategies.base import Briefing, FoundLink, News, Reason
from trailhound.strategies.hidden_markov import named_hops
from trailhound.strategies.link_evidence import (
    N_FEATURES,
    N_SLOTS,
    PRIOR_WEIGHTS,
    TOWARDS_TARGETS,
    KeptTurnouts,
    LinkEvidence,
    WordTurnouts,
    first_links,
    word_slots,
)
from trailhound.strategies.parts import HeardPages, drop_oldest, kept_in

REFIT_EVERY = 20
"""Pages between two fits at first; later, when a page is less of what is known, a tenth of all."""
FIRST_STEPS = 100
STEPS = 10
LEAST_EXAMPLES = 5
MAX_EXAMPLES = 1_500
"""Fetched pages that are learned from: the newest. Links of the session stay."""
TURNOUT_WEIGHT = 0.5
"""What the turnout of a link's words is worth before all learning."""

LEAST_TOLD = 0.05
"""What moved the log odds of a link by less is not worth a line."""

_FEATURES = (*TOWARDS_TARGETS, "how links with its words have turned out")
_BELIEF, _ROW = "<f4", "<f2"
_Links = tuple[Matrix, Matrix, Matrix]
"""Beliefs about their pages (times what each counts), features, states of their ends."""


@dataclass(frozen=True)
class HopMEMM:
    """Transitions between hops to a target that depend on what is known of a link.

    Where the hop HMM (:mod:`trailhound.models.hop_hmm`) has one row of its transition matrix for
    each state s, this has a multinomial logistic regression over features x of the link, of which
    the first is always 1::

        P(T_j | T_s, x) = exp(w_sj · x) / Σ_k exp(w_sk · x)
        α'(j) = Σ_s α(s) P(T_j | T_s, x)

    Learned from links whose end is known, each with a belief α about its page and a distribution y
    of the states of its end: the weights are where ::

        |w - w₀|² / 2 + Σ_links Σ_s α(s) (log Σ_k exp(w_sk · x) - Σ_j y_j w_sj · x)

    is least. w₀ are the weights of an HMM: the logarithms of its transitions for the constant
    feature, and what the words of a link are worth in it. With few examples the model is the HMM.

    Both fields have the shape (n_states, n_states, n_features).
    """

    weights: Matrix
    prior: Matrix
    """What they are drawn to: w₀."""

    @classmethod
    def like(cls, transition: Matrix, towards_targets: Vector) -> HopMEMM:
        """The model that knows transitions alone, and what speaks for T_0 in every state.

        Row s of ``transition`` are the odds of the next states, in any unit.
        ``towards_targets`` has the prior weight of each feature behind the constant one.
        """
        n_states = len(transition)
        prior = np.zeros((n_states, n_states, 1 + len(towards_targets)))
        prior[:, :, 0] = np.log(np.maximum(transition, 1e-9))
        prior[:, 0, 1:] = towards_targets
        return cls(prior, prior)

    def predict(self, beliefs: Matrix, rows: Matrix) -> Matrix:
        """α' for each link: beliefs of shape (n, n_states), features of shape (n, n_features)."""
        shares = np.exp(self._log_shares(self.weights, rows))
        return np.asarray((beliefs[:, :, None] * shares).sum(axis=1))

    @staticmethod
    def _log_shares(weights: Matrix, rows: Matrix) -> Matrix:
        """log P(T_j | T_s, x) for each row x: shape (n, n_states, n_states)."""
        n_from, n_to, n_features = weights.shape
        scores = (rows @ weights.reshape(-1, n_features).T).reshape(-1, n_from, n_to)
        scores -= scores.max(axis=2, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=2, keepdims=True)))

    def fitted(self, beliefs: Matrix, rows: Matrix, ends: Matrix, steps: int = 100) -> HopMEMM:
        """The same, having learned from examples; ``ends`` are the y, shape (n, n_states)."""
        from scipy.optimize import minimize  # here: loading it takes 0.2 s

        shape, prior, n = self.prior.shape, self.prior.ravel(), len(rows)
        counts = beliefs[:, :, None]
        wanted = (counts * ends[:, None, :]).reshape(n, -1)

        def loss(flat: Vector) -> tuple[float, Vector]:
            logs = self._log_shares(flat.reshape(shape), rows)
            away = flat - prior
            slopes = (counts * np.exp(logs)).reshape(n, -1) - wanted
            value = float(away @ away / 2 - np.vdot(wanted, logs))
            return value, (slopes.T @ rows).ravel() + away

        found = minimize(
            loss, self.weights.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": steps}
        )
        return HopMEMM(found.x.reshape(shape), self.prior)


class FollowedLink(msgspec.Struct):
    """A link that was followed: what was known of it, and what came of it."""

    belief: bytes
    row: bytes
    end: list[float]
    """Probabilities of the states of its page, after it was read."""
    led_to: float = 0.0
    """Relevance of the best page that was fetched by a link from there."""

    def end_state(self) -> Vector:
        """A page that has led to a find was one hop away, whatever it had seemed to be."""
        end = np.array(self.end)
        end[1] += self.led_to * end[2:].sum()
        end[2:] *= 1 - self.led_to
        return end


class _Kept(msgspec.Struct, frozen=True):
    pages: int
    weights: bytes
    turnouts: KeptTurnouts
    examples: dict[str, FollowedLink]
    heard: list[str] = []


class _Followed(msgspec.Struct, frozen=True, array_like=True):
    """A page as others are told of it."""

    url: str
    parent: str
    score: float
    memory: bytes
    """Of its candidate."""
    end: list[float]
    """As in :class:`FollowedLink`; empty when nothing was known of its link."""


class MemmStrategy:
    """Learns how links lead on from the session's own, and from every page that is fetched.

    What travels with a link is the belief about its page, and all that is known of the link itself:
    its features, and the numbers of its words. So waiting links can be ranked anew, whenever the
    model has learned, without a table of them.
    """

    name: ClassVar[str] = "memm"
    summary: ClassVar[str] = "hops to a target, by path and link; learns on every page"
    paper: ClassVar[str] = "after Liu, Milios, Korba 2008; Liu, Milios 2012"
    remembers_states: ClassVar[bool] = True
    rescore_every: ClassVar[int] = REFIT_EVERY
    rescore_best: ClassVar[int] = 20_000

    def __init__(self, model: TopicModel, *, learn: bool = True) -> None:
        n_states, smoothing = model.hmm.n_states, model.parameters.smoothing
        self._model = model
        self._hmm = model.hmm
        self._evidence = LinkEvidence(model.graph)
        self._classifier = model.classifier()
        self._worth = DiscountedHopsKey(n_states)
        self._turnouts = WordTurnouts()
        self._memory = np.dtype(
            [
                ("belief", _BELIEF, n_states),
                ("row", _ROW, 2 + N_FEATURES),
                ("words", "<i4", N_SLOTS),
            ]
        )
        self.examples: dict[str, FollowedLink] = {}
        """By the address of the page that was fetched."""
        self._heard = HeardPages()
        self._learns = learn
        self._pages = 0
        self._next_fit = REFIT_EVERY
        self._has_moved = False
        self._session = self._session_links()
        begins, _, ends = self._session
        prior = np.append(PRIOR_WEIGHTS, TURNOUT_WEIGHT)
        self._memm = HopMEMM.like(begins.T @ ends + smoothing, prior)
        self._fit(FIRST_STEPS)

    @classmethod
    def from_briefing(cls, briefing: Briefing, *, learn: bool = True) -> MemmStrategy:
        """Learn from the session's links; ``learn=false`` leaves it at that."""
        return cls(briefing.model or learn_topic(briefing.graph), learn=learn)

    def _session_links(self) -> _Links:
        """The links between pages of the session.

        However many links lead to a page, together they count as one: menus would drown the rest.
        """
        graph, levels = self._model.graph, self._model.levels
        numbers = {page.url: number for number, page in enumerate(graph.pages)}
        found = []
        for number, page in enumerate(graph.pages):
            links, features = self._evidence.read(page)
            slots = word_slots(self._evidence.phrases, links.phrases)
            for url, row, words in zip(links.urls, features, slots, strict=True):
                if url in numbers:
                    found.append((number, numbers[url], row, words))
        if not found:
            return _no_links(self._hmm.n_states)
        begins, ends, rows, slots = (np.array(each) for each in zip(*found, strict=True))
        for end in np.unique(ends):
            self._turnouts.learn(slots[ends == end], float(levels[end] == 0))
        wanted = (levels[ends] == 0).astype(np.float64)
        rows = np.column_stack([rows, self._turnouts.read(slots, wanted)])
        states, shares = np.eye(self._hmm.n_states), 1 / np.bincount(ends)[ends]
        return states[levels[begins]] * shares[:, None], rows, states[levels[ends]]

    def _fit(self, steps: int) -> None:
        learned = self.examples.values()
        beliefs = np.frombuffer(b"".join([each.belief for each in learned]), _BELIEF)
        rows = np.frombuffer(b"".join([each.row for each in learned]), _ROW)
        ends = np.concatenate([each.end_state() for each in learned]) if learned else np.zeros(0)
        beliefs, rows, ends = (
            np.concatenate([of_session, of_crawl.reshape(-1, of_session.shape[1])])
            for of_session, of_crawl in zip(self._session, (beliefs, rows, ends), strict=True)
        )
        if len(rows) >= LEAST_EXAMPLES:
            self._memm = self._memm.fitted(beliefs, rows, ends, steps)
            self._has_moved = True

    def _remembered(self, memories: Iterable[bytes]) -> NDArray[np.void]:
        return np.frombuffer(b"".join(memories), self._memory)

    def _expected(self, known: NDArray[np.void]) -> Matrix:
        """The states in which the pages behind links are expected. Shape (n, n_states)."""
        beliefs, rows = known["belief"].astype(np.float64), known["row"].astype(np.float64)
        return self._memm.predict(beliefs, rows)

    def _belief(self, crawled: CrawledPage) -> Vector:
        memory, states = crawled.candidate.memory, self._hmm.start
        if len(memory) == self._memory.itemsize:
            states = self._expected(self._remembered([memory]))[0]
        point = self._model.familiar_point(crawled.page.terms)
        cluster = None if point is None else self._classifier.cluster_of(point)
        return self._hmm.judged(states, crawled.relevance.score, cluster)

    def observe(self, crawled: CrawledPage) -> None:
        """Learn how a link has turned out, and what the page that it stood on was good for."""
        if not self._learns:
            return
        self._learn(self._followed(crawled))
        if self._pages >= self._next_fit:
            self._next_fit = self._pages + max(REFIT_EVERY, self._pages // 10)
            self._fit(STEPS)

    def _followed(self, crawled: CrawledPage) -> _Followed:
        candidate, end = crawled.candidate, list[float]()
        if len(candidate.memory) == self._memory.itemsize:
            end = self._belief(crawled).tolist()
        score = crawled.relevance.score
        return _Followed(crawled.page.url, candidate.parent or "", score, candidate.memory, end)

    def _learn(self, page: _Followed) -> None:
        self._pages += 1
        if page.end:
            known = self._remembered([page.memory])[0]
            self._turnouts.learn(known["words"], page.score)
            example = FollowedLink(known["belief"].tobytes(), known["row"].tobytes(), page.end)
            self.examples[page.url] = example
            drop_oldest(self.examples, MAX_EXAMPLES)
        parent = self.examples.get(page.parent)
        if parent is not None:
            parent.led_to = max(parent.led_to, page.score)

    def join(self, owns: Callable[[str], bool]) -> None:
        """Others fetch what it does not own; that changes nothing here."""

    def news(self, crawled: CrawledPage) -> News:
        """What was known of the page's link, and what came of it."""
        return News(msgspec.msgpack.encode(self._followed(crawled)) if self._learns else b"")

    def heed(self, news: Sequence[News]) -> None:
        """Take pages of others for examples; the next fit learns from them."""
        for each in news:
            page = kept_in(each.for_all, _Followed, "how a link led on")
            states, size = len(page.end), len(page.memory)
            if states and (states != self._hmm.n_states or size != self._memory.itemsize):
                raise ValueError(f"it knows {states} states, not {self._hmm.n_states}")
            if self._heard.is_new(page.url):
                self._learn(page)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Each link by the hops that are expected behind it."""
        found, rows = self._evidence.read(crawled.page)
        slots = word_slots(self._evidence.phrases, found.phrases)
        known = np.zeros(len(slots), self._memory)
        known["belief"], known["words"] = self._belief(crawled), slots
        known["row"] = np.column_stack([rows, self._turnouts.read(slots)])
        content, size = known.tobytes(), self._memory.itemsize
        memories = [content[start : start + size] for start in range(0, len(content), size)]
        worth = self._worth.of_each(self._expected(known))
        return map(ScoredLink, first_links(crawled.page, found.urls), worth, memories)

    def rescore(self, candidates: Mapping[str, bytes]) -> Mapping[str, float] | None:
        """After a fit: by the new weights, and by how the words have turned out since."""
        if not self._has_moved:
            return None
        self._has_moved = False
        size = self._memory.itemsize
        memories = {url: memory for url, memory in candidates.items() if len(memory) == size}
        known = self._remembered(memories.values()).copy()
        known["row"][:, -1] = self._turnouts.read(known["words"])
        worth = self._worth.of_each(self._expected(known))
        return dict(zip(memories, worth, strict=True))

    def explain(self, memory: bytes) -> Mapping[str, float]:
        """The probabilities of hops from the page behind a link to a target."""
        if len(memory) != self._memory.itemsize:
            return {}
        return named_hops(self._expected(self._remembered([memory]))[0])

    def reasons(self, found: FoundLink) -> Sequence[Reason]:
        """How much less the odds of a target would be without each feature, in log odds."""
        if len(found.memory) != self._memory.itemsize:
            return []
        known = self._remembered([found.memory] * (1 + len(_FEATURES))).copy()
        places = np.arange(len(_FEATURES))
        known["row"][1 + places, 1 + places] = 0
        with_all, *without = logit(self._expected(known)[:, 0]).tolist()
        moved = {name: with_all - less for name, less in zip(_FEATURES, without, strict=True)}
        told = sorted(moved.items(), key=lambda item: -abs(item[1]))
        return [Reason(name, far) for name, far in told if abs(far) >= LEAST_TOLD]

    def snapshot(self) -> bytes:
        """The weights, how words turned out, and the examples."""
        weights, turnouts = self._memm.weights.tobytes(), self._turnouts.keep()
        return msgspec.msgpack.encode(
            _Kept(self._pages, weights, turnouts, self.examples, self._heard.keep())
        )

    def restore(self, snapshot: bytes) -> None:
        """Go on from there."""
        kept = kept_in(snapshot, _Kept, "how links led on")
        weights = np.frombuffer(kept.weights).reshape(self._memm.weights.shape)
        self._turnouts = WordTurnouts.of(kept.turnouts)
        self._memm = HopMEMM(weights, self._memm.prior)
        self.examples, self._pages = kept.examples, kept.pages
        self._heard = HeardPages(kept.heard)
        self._next_fit = kept.pages + REFIT_EVERY


def _no_links(n_states: int) -> _Links:
    return np.zeros((0, n_states)), np.zeros((0, 2 + N_FEATURES)), np.zeros((0, n_states))
