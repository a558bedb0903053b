"""A judge that also learns from what was *not* wanted: the visited pages without a mark.

A logistic regression over the papers' term weights, targets against all other pages of the
session. In ``docs/results.md`` it separates relevant pages better than any cosine does.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from threadpoolctl import threadpool_limits

from trailhound.counting import counted
from trailhound.errors import SessionError
from trailhound.judges.cosine import calibrated_threshold
from trailhound.judges.logistic import Separation, left_out_margins, separate
from trailhound.models.topic_model import TopicModel
from trailhound.records import Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.text.tfidf import TermWeights


class ContrastJudge:
    """A page is relevant when its probability of being a target reaches the threshold γ."""

    name: ClassVar[str] = "contrast"
    summary: ClassVar[str] = "more like the pages marked useful than like the others visited"
    rank: ClassVar[float] = 0.66

    def __init__(self, weights: TermWeights, separation: Separation, threshold: float) -> None:
        self._weights = weights
        self._coefficients = separation.coefficients
        self._intercept = separation.intercept
        self.threshold = threshold

    @classmethod
    def from_graph(
        cls,
        graph: PageGraph,
        threshold: float | None = None,
        weights: TermWeights | None = None,
    ) -> ContrastJudge:
        """Learn from a session with at least one target and one other page.

        Without ``threshold``, calibrate it on them. ``weights`` saves work when terms have been
        weighed over this graph already.
        """
        pages = [page.terms for page in graph.pages]
        weights = weights or TermWeights.fit(pages)
        learned = Contrast(graph, weights.matrix(pages))
        if threshold is None:
            threshold = calibrated_threshold(learned.left_out_scores(), graph.targets)
        return cls(weights, learned.separation, threshold)

    @classmethod
    def from_briefing(cls, briefing: Briefing, *, threshold: float | None = None) -> ContrastJudge:
        """As ``--judge contrast`` asks for it."""
        return cls.from_graph(briefing.graph, threshold, briefing.similarity.weights)

    @classmethod
    def suits(cls, graph: PageGraph) -> bool:
        """Sessions that show both what is wanted and what is not."""
        return 0 < len(graph.targets) < len(graph.pages)

    @classmethod
    def left_out_scores(cls, model: TopicModel) -> NDArray[np.float32]:
        """Each page's probability of being a target, had it not been shown; -1 for an only one."""
        documents = model.weights.matrix([page.terms for page in model.graph.pages])
        return Contrast(model.graph, documents).left_out_scores()

    def judge(self, page: Page) -> Relevance:
        """p = 1 / (1 + exp(-(w · x + b)))."""
        ids, weights = self._weights.weigh(page.terms)
        logit = float(weights @ self._coefficients[ids]) + self._intercept
        score = 1 / (1 + math.exp(-logit))
        return Relevance(score, score >= self.threshold)


class Contrast:
    """Targets against the other pages of one session; ``documents`` holds its weighed pages."""

    def __init__(self, graph: PageGraph, documents: sparse.csr_array[np.float64]) -> None:
        if not ContrastJudge.suits(graph):
            raise SessionError(
                f"Of {counted(len(graph.pages), 'visited page')} {len(graph.targets)} marked "
                "useful; to tell the one kind from the other, the judge 'contrast' needs both. "
                "Mark some and leave others, or use the judge 'cosine'."
            )
        # By address: the solver's last digits depend on the order of the rows.
        order = sorted(range(len(graph.pages)), key=lambda i: graph.pages[i].url)
        self._places = np.argsort(order)
        self._targets = sorted(graph.targets)
        self._wanted = np.array([i in graph.targets for i in order])
        self._documents = documents[order]
        # One thread fixes the order of sums, and is ten times as fast on matrices this small.
        with threadpool_limits(limits=1):
            self.separation = separate(self._documents, self._wanted)

    def left_out_scores(self) -> NDArray[np.float32]:
        """What a judge that had not seen it would say of each page. Shape (n_pages,).

        In the order of the graph; -1 for the only target, which leaves nothing to learn from.
        """
        with threadpool_limits(limits=1):
            margins = left_out_margins(self._documents, self._wanted, self.separation)
        scores: NDArray[np.float32] = expit(margins)[self._places].astype(np.float32)
        if len(self._targets) == 1:
            scores[self._targets] = -1.0
        return scores
