"""A judge that also learns from what was *not* wanted: the visited pages without a mark.

A logistic regression over the papers' term weights, targets against all other pages of the
session. In ``docs/results.md`` it separates relevant pages better than any cosine does.

With documents x_i of length one, labels y_i of 0 or 1, and weights s_i that give both labels the
same say, w and b are where ::

    |w|² / 2 + C Σ_i s_i log(1 + exp(-(2 y_i - 1) f_i)),      f_i = w · x_i + b

is least. What the judge would say of a page that it has not seen follows from the same fit.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from threadpoolctl import threadpool_limits

from trailhound.counting import counted
from trailhound.errors import SessionError
from trailhound.judges.cosine import calibrated_threshold
from trailhound.models.topic_model import TopicModel
from trailhound.records import Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.text.tfidf import TermWeights

STRENGTH = 1.0
"""C: what a document weighs against the length of w."""

MAX_LEFT_OUT = 1_500
"""Documents that are left out one by one: the time grows with their third power (1 s here)."""

INTERCEPT_ROOM = 1e4
"""b is treated as the weight of a constant with this square: in effect it costs nothing."""

Vector = NDArray[np.float64]
Documents = sparse.csr_array[np.float64]


def check_has_both(graph: PageGraph, judge: str) -> None:
    """SessionError unless a session shows both what is wanted and what is not."""
    if not 0 < len(graph.targets) < len(graph.pages):
        raise SessionError(
            f"Of {counted(len(graph.pages), 'visited page')} {len(graph.targets)} marked useful; "
            f"to tell the one kind from the other, the judge '{judge}' needs both. Mark some and "
            "leave others, or use the judge 'cosine'."
        )


class Separation(NamedTuple):
    """A plane between two kinds of documents."""

    coefficients: Vector
    """w, shape (n_terms,)."""
    intercept: float

    def margins(self, documents: Documents) -> Vector:
        """f of each document, shape (n_documents,)."""
        return np.asarray(documents @ self.coefficients) + self.intercept


class ContrastJudge:
    """A page is relevant when its probability of being a target reaches the threshold γ."""

    name: ClassVar[str] = "contrast"
    summary: ClassVar[str] = "more like the pages marked useful than like the others visited"
    rank: ClassVar[float] = 0.66
    needs_only_words: ClassVar[bool] = True

    def __init__(self, weights: TermWeights, separation: Separation, threshold: float) -> None:
        self._weights = weights
        self._coefficients = separation.coefficients
        self._intercept = separation.intercept
        self.threshold = threshold

    @classmethod
    def from_graph(
        cls, graph: PageGraph, threshold: float | None = None, weights: TermWeights | None = None
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

    def words(self, page: Page) -> dict[str, float]:
        """What each term adds."""
        ids, weights = self._weights.weigh(page.terms)
        parts = dict(zip(ids.tolist(), (weights * self._coefficients[ids]).tolist(), strict=True))
        columns = ((term, self._weights.vocabulary.get(term, -1)) for term in page.terms)
        return {term: parts[column] for term, column in columns if column in parts}


class Contrast:
    """Targets against the other pages of one session; ``documents`` holds its weighed pages."""

    def __init__(self, graph: PageGraph, documents: sparse.csr_array[np.float64]) -> None:
        check_has_both(graph, ContrastJudge.name)
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


def separate(documents: Documents, wanted: NDArray[np.bool_]) -> Separation:
    """Fit the plane; both kinds must be there."""
    # Here and not above: loading it takes 0.2 s, and most crawls have no need of it.
    from scipy.optimize import minimize

    says, labels = shares(wanted), wanted.astype(np.float64)

    def loss(parameters: Vector) -> tuple[float, Vector]:
        w, b = parameters[:-1], parameters[-1]
        margins = documents @ w + b
        value = w @ w / 2 + says @ (np.logaddexp(0, margins) - labels * margins)
        slopes = says * (expit(margins) - labels)
        return float(value), np.append(documents.T @ slopes + w, slopes.sum())

    start = np.zeros(documents.shape[1] + 1)
    found = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 1000, "ftol": 1e-13, "gtol": 1e-7},
    ).x
    return Separation(found[:-1], float(found[-1]))


def left_out_margins(documents: Documents, wanted: NDArray[np.bool_], fitted: Separation) -> Vector:
    """What a fit without document i would say of document i. Shape (n_documents,).

    Not by as many fits but by one Newton step from the common one. With gradient g and curvature d
    of the loss in f, and H⁻¹ seen in f as A = (K⁻¹ + diag(d))⁻¹, K the products of documents::

        f_i without i  =  f_i + (A_ii g_i - Σ_j A_ij g_j / (n_i - 1)) / (1 - A_ii d_i)

    The sum runs over the n_i - 1 other documents of the same kind: without i, each of them has a
    larger say. ``tests/unit/test_judges.py`` compares it with fits that are made anew.
    """
    if len(wanted) > MAX_LEFT_OUT:
        return _sampled_margins(documents, wanted)
    products = (documents @ documents.T).toarray() + INTERCEPT_ROOM
    return left_out_by_products(products, wanted, fitted.margins(documents))


def left_out_by_products(products: Vector, wanted: NDArray[np.bool_], margins: Vector) -> Vector:
    """The same from K, shape (n_documents, n_documents), and f."""
    says, chances = shares(wanted), expit(margins)
    gradient = says * (chances - wanted)
    curvature = np.maximum(says * chances * (1 - chances), 1e-12)
    # A = D^-½ (1 - (1 + D^½ K D^½)⁻¹) D^-½, shape (n_documents, n_documents).
    roots, unit = np.sqrt(curvature), np.eye(len(wanted))
    scale = np.outer(roots, roots)
    response = (unit - np.linalg.inv(unit + scale * products)) / scale
    own = np.diag(response)
    change = own * gradient
    for kind in (wanted, ~wanted):
        others = int(kind.sum()) - 1
        if others:
            together = response[np.ix_(kind, kind)] @ gradient[kind]
            change[kind] -= (together - own[kind] * gradient[kind]) / others
    found: Vector = margins + change / (1 - own * curvature)
    return found


def _sampled_margins(documents: Documents, wanted: NDArray[np.bool_]) -> Vector:
    """The same for many documents: a sample is left out one by one, the rest altogether."""
    sample = spread_sample(wanted, MAX_LEFT_OUT)
    fitted = separate(documents[sample], wanted[sample])
    margins = fitted.margins(documents)
    margins[sample] = left_out_margins(documents[sample], wanted[sample], fitted)
    return margins


def spread_sample(wanted: NDArray[np.bool_], size: int) -> NDArray[np.int64]:
    """Which documents to look at when there are too many: wanted ones first, for they are few."""
    n_wanted = min(int(wanted.sum()), size // 2)
    others = np.flatnonzero(~wanted)
    spread = np.linspace(0, len(others) - 1, min(len(others), size - n_wanted))
    return np.concatenate(
        [np.flatnonzero(wanted)[:n_wanted], others[np.unique(spread.astype(np.int64))]]
    )


def shares(wanted: NDArray[np.bool_]) -> Vector:
    """C s_i: both kinds together weigh the same, however few the one kind is."""
    n, n_wanted = len(wanted), int(wanted.sum())
    return STRENGTH * np.where(wanted, n / (2 * n_wanted), n / (2 * (n - n_wanted)))
