"""A judge that reads a page as people do: its title and headings beside its text.

A logistic regression like that of ``contrast``, over three fields, each of length one before it is
weighed: text, title and headings. Counts of the text are damped, ``log(1 + tf) idf``, so that no
word wins by repetition alone.

Its score is a probability. The margins m of pages as a judge would see them that had not been shown
them (leave one out) are scaled by Platt's rule ``p = 1 / (1 + exp(-(a m + b)))``, with a drawn
towards ``PRIOR_SLOPE``: seven marks that happen to be separable prove no certainty.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from threadpoolctl import threadpool_limits

from trailhound.judges.contrast import Documents, Separation, Vector, left_out_margins, separate
from trailhound.judges.cosine import best_cut
from trailhound.models.topic_model import TopicModel
from trailhound.records import Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.text.tokens import tokenize_lines

FIELD_WEIGHTS = (1.0, 0.5, 0.5)
"""Of text, title and headings."""
MAX_HEADINGS = 10
PRIOR_SLOPE = 3.0
PRIOR_STRENGTH = 0.1
"""What a slope off by one costs, in the unit of the log loss of one page."""
SMALLEST_SLOPE = 0.5
RELEVANT_FROM = 0.5


class FieldWeights:
    """Terms of text, title and headings as columns, with inverse document frequencies."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._columns: tuple[dict[str, int], ...] = ({}, {}, {})
        frequency: list[int] = []
        for page in pages:
            for columns, terms in zip(self._columns, _fields(page), strict=True):
                for term in terms:
                    if term not in columns:
                        columns[term] = len(frequency)
                        frequency.append(0)
                    frequency[columns[term]] += 1
        self.idf = np.log2((len(pages) + 1) / (np.array(frequency, np.float64) + 1)) + 1

    def weigh(self, page: Page) -> tuple[NDArray[np.int64], Vector]:
        """Columns and weights of one page's known terms."""
        found = [
            self._weighed(columns, terms, share)
            for columns, terms, share in zip(
                self._columns, _fields(page), FIELD_WEIGHTS, strict=True
            )
        ]
        return np.concatenate([ids for ids, _ in found]), np.concatenate([w for _, w in found])

    def _weighed(
        self, columns: dict[str, int], terms: Mapping[str, int], share: float
    ) -> tuple[NDArray[np.int64], Vector]:
        ids = np.fromiter(map(columns.get, terms, repeat(-1)), np.int64, len(terms))
        counts = np.fromiter(terms.values(), np.float64, len(terms))
        known = ids >= 0
        ids = ids[known]
        weights = np.log1p(counts[known]) * self.idf[ids]
        length = math.sqrt(float(weights @ weights))
        return ids, weights * (share / length) if length > 0 else weights

    def matrix(self, pages: Sequence[Page]) -> Documents:
        """Pages as rows, shape (n_pages, n_columns)."""
        rows = [self.weigh(page) for page in pages]
        ends = np.cumsum([0, *(len(ids) for ids, _ in rows)])
        columns = np.concatenate([ids for ids, _ in rows]) if rows else np.zeros(0, np.int64)
        values = np.concatenate([values for _, values in rows]) if rows else np.zeros(0)
        return sparse.csr_array((values, columns, ends), shape=(len(pages), len(self.idf)))


def _fields(page: Page) -> tuple[Mapping[str, int], ...]:
    title, headings = tokenize_lines(
        [
            page.title.replace("\n", " "),
            " ".join(page.headings[:MAX_HEADINGS]).replace("\n", " "),
        ],
        page.language,
    )
    # That a word is there is what counts in the short fields, not how often.
    return page.terms, dict.fromkeys(title, 1), dict.fromkeys(headings, 1)


class Scaling(NamedTuple):
    """From margins to probabilities."""

    slope: float
    offset: float

    def chances(self, margins: Vector) -> Vector:
        """p of each."""
        return np.asarray(expit(self.slope * margins + self.offset))


def scaled(margins: Vector, wanted: NDArray[np.bool_]) -> Scaling:
    """Platt's rule, fitted by Newton's method from where F1 is best."""
    labels = wanted.astype(np.float64)
    order, last = best_cut(margins, wanted)
    slope, offset = PRIOR_SLOPE, -PRIOR_SLOPE * float(margins[order[last]])
    for _ in range(20):
        chances = expit(slope * margins + offset)
        curvature = np.maximum(chances * (1 - chances), 1e-6)
        errors = chances - labels
        gradient = [
            float(margins @ errors) + PRIOR_STRENGTH * (slope - PRIOR_SLOPE),
            float(errors.sum()),
        ]
        mixed = float(curvature @ margins)
        hessian = [
            [float(curvature @ margins**2) + PRIOR_STRENGTH, mixed],
            [mixed, float(curvature.sum()) + 1e-3],
        ]
        step = np.linalg.solve(hessian, gradient)
        slope, offset = slope - float(step[0]), offset - float(step[1])
    return Scaling(max(slope, SMALLEST_SLOPE), offset)


class FieldsJudge:
    """A page is relevant when it is more likely than not a target."""

    name: ClassVar[str] = "fields"
    summary: ClassVar[str] = "a calibrated probability by text, title and headings"
    rank: ClassVar[float] = 0.60

    def __init__(
        self, weights: FieldWeights, plane: Separation, scaling: Scaling, threshold: float
    ) -> None:
        self._weights = weights
        self._plane = plane
        self._scaling = scaling
        self.threshold = threshold

    @classmethod
    def from_briefing(cls, briefing: Briefing, *, threshold: float = RELEVANT_FROM) -> FieldsJudge:
        """As ``--judge fields`` asks for it."""
        learned = _Learned(briefing.graph)
        return cls(learned.weights, learned.plane, learned.scaling, threshold)

    @classmethod
    def suits(cls, graph: PageGraph) -> bool:
        """Sessions that show both what is wanted and what is not."""
        return 0 < len(graph.targets) < len(graph.pages)

    @classmethod
    def left_out_scores(cls, model: TopicModel) -> NDArray[np.float32]:
        """Each page's probability of being a target, had it not been shown; -1 for an only one."""
        return _Learned(model.graph).left_out_scores()

    def judge(self, page: Page) -> Relevance:
        """p = 1 / (1 + exp(-(a (w · x + b) + c)))."""
        ids, weights = self._weights.weigh(page)
        margin = float(weights @ self._plane.coefficients[ids]) + self._plane.intercept
        score = float(expit(self._scaling.slope * margin + self._scaling.offset))
        return Relevance(score, score >= self.threshold)


class _Learned:
    """A session's targets against its other pages."""

    def __init__(self, graph: PageGraph) -> None:
        # By address: the solver's last digits depend on the order of the rows.
        order = sorted(range(len(graph.pages)), key=lambda i: graph.pages[i].url)
        self._places = np.argsort(order)
        self._wanted = np.array([i in graph.targets for i in order])
        pages = [graph.pages[i] for i in order]
        self.weights = FieldWeights(pages)
        documents = self.weights.matrix(pages)
        with threadpool_limits(limits=1):
            self.plane = separate(documents, self._wanted)
            self.margins = left_out_margins(documents, self._wanted, self.plane)
        self.scaling = scaled(self.margins, self._wanted)

    def left_out_scores(self) -> NDArray[np.float32]:
        scores: NDArray[np.float32] = self.scaling.chances(self.margins).astype(np.float32)
        if self._wanted.sum() == 1:
            scores[self._wanted] = -1.0
        return scores[self._places]
