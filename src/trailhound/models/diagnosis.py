"""What a topic model has learned, in figures that people can look at.

Where it sits: a trained :class:`~trailhound.models.topic_model.TopicModel` and the judge's
calibration in; out comes one record that ``trailhound inspect`` prints, writes as JSON or draws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.counting import counted
from trailhound.models.advice import Advice, advise, lacks_content
from trailhound.models.cluster_words import (
    Counts,
    document_counts,
    log_odds,
    mutual_information,
    strongest,
    term_counts,
)
from trailhound.models.judge_figures import JudgeCalibration, JudgeFigures, judge_figures
from trailhound.models.topic_model import TopicModel, TopicParameters
from trailhound.text.tokens import commonest_forms

N_WORDS = 30
N_EXAMPLES = 5


class WordScore(msgspec.Struct, frozen=True):
    """A word that sets a cluster apart."""

    word: str
    """As the pages spell it most often."""
    term: str
    """As the model knows it."""
    score: float
    pages: int
    """Pages of the cluster that hold it."""


class PageTitle(msgspec.Struct, frozen=True):
    """A page to show as an example."""

    title: str
    url: str


class ClusterFigures(msgspec.Struct, frozen=True):
    """One cluster; number 0 holds the targets."""

    number: int
    pages: int
    by_level: tuple[int, ...]
    """How many of its pages are 0, 1, … hops from a target."""
    mean_level: float
    log_odds: tuple[WordScore, ...]
    """Strongest first; log odds with an informative Dirichlet prior, in standard deviations."""
    mutual_information: tuple[WordScore, ...]
    """Strongest first; in bits."""
    examples: tuple[PageTitle, ...]
    """The most typical pages."""

    @property
    def name(self) -> str:
        """As people see it: ``targets``, ``cluster 3``."""
        return f"cluster {self.number}" if self.number else "targets"

    @property
    def distances(self) -> str:
        """How far its pages are from a target: ``1 hop: 12 · 2 hops: 3``."""
        named = zip(state_names(len(self.by_level)), self.by_level, strict=True)
        return " · ".join(f"{name}: {count}" for name, count in named if count)


class Diagnosis(msgspec.Struct, frozen=True):
    """Everything that ``inspect`` shows."""

    n_pages: int
    n_targets: int
    n_rejected: int
    n_links: int
    n_without_content: int
    n_terms: int
    rank: int
    variance_share: float
    languages: dict[str, int]
    """Pages by language, most frequent first; ``""`` for unknown."""
    level_sizes: tuple[int, ...]
    """Pages 0, 1, … hops from a target; the last number counts those farther or cut off too."""
    clusters: tuple[ClusterFigures, ...]
    concept_links: tuple[tuple[int, ...], ...]
    """Hyperlinks from each cluster (rows) to each other one: the concept graph."""
    transition: tuple[tuple[float, ...], ...]
    emission: tuple[tuple[float, ...], ...]
    judge: JudgeFigures
    parameters: TopicParameters
    warnings: tuple[Advice, ...]


def diagnose(model: TopicModel, calibration: JudgeCalibration) -> Diagnosis:
    """Measure a model. The same model always gives the same figures."""
    graph = model.graph
    judge = judge_figures(calibration, graph.targets)
    languages = Counter(page.language for page in graph.pages)
    return Diagnosis(
        n_pages=len(graph.pages),
        n_targets=len(graph.targets),
        n_rejected=len(graph.rejected),
        n_links=len(graph.edges),
        n_without_content=sum(map(lacks_content, graph.pages)),
        n_terms=len(model.weights.vocabulary),
        rank=model.space.rank,
        variance_share=model.space.variance_share,
        languages=dict(sorted(languages.items(), key=lambda item: (-item[1], item[0]))),
        level_sizes=level_sizes(model),
        clusters=_clusters(model),
        concept_links=_concept_links(model),
        transition=_rows(model.hmm.transition),
        emission=_rows(model.hmm.emission),
        judge=judge,
        parameters=model.parameters,
        warnings=advise(model, judge),
    )


def level_sizes(model: TopicModel) -> tuple[int, ...]:
    """Pages 0, 1, … hops from a target."""
    return tuple(np.bincount(model.levels, minlength=model.hmm.n_states).tolist())


def state_names(n_states: int) -> list[str]:
    """Hops to a target, nearest first; the last state holds all that is farther."""
    names = ["target", *(counted(hops, "hop") for hops in range(1, n_states))]
    return [*names[:-1], f"{names[-1]} or more"] if n_states > 1 else names


def distance_line(sizes: Sequence[int]) -> str:
    """How many of all pages are how far from a target, given :func:`level_sizes`."""
    named = zip(state_names(len(sizes)), sizes, strict=True)
    return ", ".join(f"{name} {size:,}" for name, size in named)


def _clusters(model: TopicModel) -> tuple[ClusterFigures, ...]:
    counts = term_counts(model.weights, [page.terms for page in model.graph.pages])
    figures = [_cluster(model, counts, number) for number in range(model.n_clusters + 1)]
    terms = {word.term for each in figures for word in (*each.log_odds, *each.mutual_information)}
    forms = commonest_forms(model.graph.pages, terms)
    return tuple(_spelt_out(each, forms) for each in figures)


def _cluster(model: TopicModel, counts: Counts, number: int) -> ClusterFigures:
    members = model.clusters == number
    levels = model.levels[members]
    terms = list(model.weights.vocabulary)
    held = document_counts(counts[members])

    def words(scores: NDArray[np.float64]) -> tuple[WordScore, ...]:
        return tuple(
            WordScore(terms[column], terms[column], float(scores[column]), int(held[column]))
            for column in strongest(scores, counts, members)[:N_WORDS]
        )

    return ClusterFigures(
        number=number,
        pages=int(members.sum()),
        by_level=tuple(np.bincount(levels, minlength=model.hmm.n_states).tolist()),
        mean_level=float(levels.mean()) if levels.size else 0.0,
        log_odds=words(log_odds(counts, members)),
        mutual_information=words(mutual_information(counts, members)),
        examples=_examples(model, members),
    )


def _spelt_out(cluster: ClusterFigures, forms: dict[str, str]) -> ClusterFigures:
    def spelt(words: Iterable[WordScore]) -> tuple[WordScore, ...]:
        return tuple(msgspec.structs.replace(word, word=forms[word.term]) for word in words)

    return msgspec.structs.replace(
        cluster,
        log_odds=spelt(cluster.log_odds),
        mutual_information=spelt(cluster.mutual_information),
    )


def _examples(model: TopicModel, members: NDArray[np.bool_]) -> tuple[PageTitle, ...]:
    """The members nearest to their mean."""
    points = model.space.coordinates[members]
    nearness = points @ points.sum(axis=0)
    nearest = np.flatnonzero(members)[np.argsort(-nearness, kind="stable")[:N_EXAMPLES]]
    pages = [model.graph.pages[page] for page in nearest.tolist()]
    return tuple(PageTitle(page.title, page.url) for page in pages)


def _concept_links(model: TopicModel) -> tuple[tuple[int, ...], ...]:
    size = model.n_clusters + 1
    counts = np.zeros((size, size), np.int64)
    for source, destination in model.graph.edges:
        counts[model.clusters[source], model.clusters[destination]] += 1
    return _rows(counts)


def _rows(matrix: NDArray[Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())
