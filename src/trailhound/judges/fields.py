"""The default judge: text, title and headings, each trusted as far as the session bears it out.

Which of them tell a topic differs from web to web. Headings name the subject in an encyclopaedia;
on the pages of a university they say *Abstract* and *References*, on papers of any subject.
Counts of words as they are stress what a page is about, damped ones (``log(1 + tf)``) what kind of
page it is. A session shows few kinds of pages that were not wanted, so that leave-one-out alone
cannot see the danger: what reads a page's kind has to pay a price before it is believed
(:mod:`trailhound.judges.blending`). Its score is a chance, and so is cautious after few marks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product, repeat
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from trailhound.judges.blending import Blend, Candidate, blend, chance_threshold, in_a_crawl
from trailhound.judges.contrast import Documents, Vector, check_has_both, spread_sample
from trailhound.models.topic_model import TopicModel
from trailhound.records import Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.text.tokens import tokenize_lines

MAX_HEADINGS = 10
MAX_LEARNED = 500
"""Pages of a session that are learned from: the time grows with their third power (1 s here)."""

PRICE = 1.5
"""Nats for each step towards the kind of a page: damped counts, some headings, more headings."""
TITLE_SAYS = (0.0, 0.25)
HEADINGS_SAY = (0.0, 0.25, 1.0)

CANDIDATES = tuple(
    Candidate((1.0 - damped, damped, title, headings), PRICE * (damped + step))
    for damped, title, (step, headings) in product((0.0, 1.0), TITLE_SAYS, enumerate(HEADINGS_SAY))
)
"""What the four views, text, damped text, title and headings, may have to say."""

Weighed = tuple[NDArray[np.int64], Vector]
"""Columns and weights of a page's known terms in one view, of length one."""

_Known = tuple[NDArray[np.int64], Vector, Vector]
"""Columns, counts and inverse document frequencies."""


class PageViews:
    """Terms of text, title and headings as columns, with inverse document frequencies."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._columns: tuple[dict[str, int], ...] = ({}, {}, {})
        counts: tuple[list[int], ...] = ([], [], [])
        for page in pages:
            for columns, frequency, terms in zip(self._columns, counts, _fields(page), strict=True):
                for term in terms:
                    if term not in columns:
                        columns[term] = len(frequency)
                        frequency.append(0)
                    frequency[columns[term]] += 1
        self._idf = [
            np.log2((len(pages) + 1) / (np.array(df, np.float64) + 1)) + 1 for df in counts
        ]

    def weigh(self, page: Page) -> tuple[Weighed, ...]:
        """The page in each view: text, damped text, title, headings."""
        text, title, headings = (
            self._known(place, terms) for place, terms in enumerate(_fields(page))
        )
        ids, counts, idf = text
        damped = ids, np.log1p(counts), idf
        return tuple(map(_of_length_one, (text, damped, title, headings)))

    def terms(self, page: Page) -> list[list[str]]:
        """The terms that :meth:`weigh` gives columns for, view by view."""
        text, title, headings = (
            [term for term in terms if term in columns]
            for columns, terms in zip(self._columns, _fields(page), strict=True)
        )
        return [text, text, title, headings]

    def _known(
        self, field: int, terms: Mapping[str, int]
    ) -> tuple[NDArray[np.int64], Vector, Vector]:
        """Of the terms that the session had too."""
        found = map(self._columns[field].get, terms, repeat(-1))
        ids = np.fromiter(found, np.int64, len(terms))
        counts = np.fromiter(terms.values(), np.float64, len(terms))
        known = ids >= 0
        ids = ids[known]
        return ids, counts[known], self._idf[field][ids]

    def matrices(self, pages: Sequence[Page]) -> list[Documents]:
        """Pages as rows, shape (n_pages, n_columns), in each view."""
        views = zip(*map(self.weigh, pages), strict=True)
        sizes = [len(self._idf[field]) for field in (0, 0, 1, 2)]
        return [_matrix(rows, size) for rows, size in zip(views, sizes, strict=True)]


def _of_length_one(known: _Known) -> Weighed:
    ids, counts, idf = known
    weights = counts * idf
    length = math.sqrt(float(weights @ weights))
    return ids, weights / length if length > 0 else weights


def _matrix(rows: Sequence[Weighed], n_columns: int) -> Documents:
    ends = np.cumsum([0, *(len(ids) for ids, _ in rows)])
    columns, values = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return sparse.csr_array((values, columns, ends), shape=(len(rows), n_columns))


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


class FieldsJudge:
    """A page is relevant when its chance to be a target reaches γ, and something speaks for it.

    After a session in which most pages were marked, even a page without a known word has a fair
    chance; it is no find.
    """

    name: ClassVar[str] = "fields"
    summary: ClassVar[str] = "a chance, by text, title and headings as far as each can be trusted"
    rank: ClassVar[float] = 0.86
    needs_only_words: ClassVar[bool] = True

    def __init__(self, views: PageViews, plane: Blend, threshold: float) -> None:
        self._views = views
        self._plane = plane
        self.threshold = threshold

    @classmethod
    def from_briefing(cls, briefing: Briefing, *, threshold: float | None = None) -> FieldsJudge:
        """As ``--judge fields`` asks for it."""
        learned = _Learned(briefing.graph)
        if threshold is None:
            threshold = cls.threshold_by(learned.left_out_scores())
        return cls(learned.views, learned.plane, threshold)

    @classmethod
    def suits(cls, graph: PageGraph) -> bool:
        """Sessions that show both what is wanted and what is not."""
        return 0 < len(graph.targets) < len(graph.pages)

    @classmethod
    def left_out_scores(cls, model: TopicModel) -> NDArray[np.float32]:
        """Each page's chance to be a target, had it not been shown; -1 for an only one."""
        return _Learned(model.graph).left_out_scores()

    @staticmethod
    def threshold_by(scores: NDArray[np.float32]) -> float:
        """γ for these left-out scores."""
        return chance_threshold(scores)

    def judge(self, page: Page) -> Relevance:
        """p = 1 / (1 + RARER exp(-(w · x + b)))."""
        logit = self._plane.intercept
        for (ids, weights), coefficients in zip(
            self._views.weigh(page), self._plane.coefficients, strict=True
        ):
            logit += float(weights @ coefficients[ids])
        score = float(in_a_crawl(np.asarray(logit)))
        return Relevance(score, score >= self.threshold and logit > self._plane.intercept)

    def words(self, page: Page) -> dict[str, float]:
        """What each term adds, in text, title and headings together."""
        moved: dict[str, float] = {}
        views = self._views
        for (ids, weights), coefficients, terms in zip(
            views.weigh(page), self._plane.coefficients, views.terms(page), strict=True
        ):
            for term, part in zip(terms, (weights * coefficients[ids]).tolist(), strict=True):
                moved[term] = moved.get(term, 0.0) + part
        return moved


class _Learned:
    """A session's targets against its other pages."""

    def __init__(self, graph: PageGraph) -> None:
        check_has_both(graph, FieldsJudge.name)
        # By address: the last digits depend on the order of the rows.
        order = sorted(range(len(graph.pages)), key=lambda i: graph.pages[i].url)
        self._places = np.argsort(order)
        self._wanted = np.array([i in graph.targets for i in order])
        pages = [graph.pages[i] for i in order]
        self.views = PageViews(pages)
        matrices = self.views.matrices(pages)
        sample = np.arange(len(pages))
        if len(pages) > MAX_LEARNED:
            sample = np.sort(spread_sample(self._wanted, MAX_LEARNED))
        with threadpool_limits(limits=1):
            self.plane = blend(
                [view[sample] for view in matrices], self._wanted[sample], CANDIDATES
            )
        planes = zip(matrices, self.plane.coefficients, strict=True)
        self._logits: Vector = sum(
            (np.asarray(view @ coefficients) for view, coefficients in planes),
            np.full(len(pages), self.plane.intercept),
        )
        self._logits[sample] = self.plane.left_out

    def left_out_scores(self) -> NDArray[np.float32]:
        scores: NDArray[np.float32] = in_a_crawl(self._logits).astype(np.float32)
        if self._wanted.sum() == 1:
            scores[self._wanted] = -1.0
        return scores[self._places]
