"""What a topic model has learned, in figures that people can look at, with advice to act on.

Where it sits: a trained :class:`~trailhound.models.topic_model.TopicModel` and the judge's
calibration in; out comes one record that ``trailhound inspect`` prints, writes as JSON or draws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.counting import counted
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
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.text.tokens import commonest_forms

N_WORDS = 30
N_EXAMPLES = 5
FEW_PAGES = 10
FEW_TARGETS = 3
WEAK_F1 = 0.5


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


class Advice(msgspec.Struct, frozen=True):
    """Something that makes the model worse than it could be."""

    code: str
    """The same for the same kind of problem, for programs."""
    problem: str
    next_step: str

    def __str__(self) -> str:
        return f"{self.problem} {self.next_step}"


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


def advise(model: TopicModel, judge: JudgeFigures) -> tuple[Advice, ...]:
    """All warnings about a model, the most serious first."""
    return (
        *_about_content(model.graph),
        *_about_targets(model.graph),
        *_about_paths(model),
        *_about_languages(model.graph),
        *_about_judge(judge),
    )


def lacks_content(page: Page) -> bool:
    """Whether nothing but the title is known: its source was not recorded, or is empty."""
    return not page.text and not page.links


def _about_content(graph: PageGraph) -> Iterator[Advice]:
    n_pages = len(graph.pages)
    n_bare = sum(map(lacks_content, graph.pages))
    if n_bare:
        yield Advice(
            "no-content",
            f"{counted(n_bare, 'page')} of {n_pages:,} came without content, so only the title is "
            "known, and of the links only those that were followed.",
            "Import again with --fetch, which asks the web for the contents, or name a corpus or "
            "web archive that holds them with --content.",
        )
    if n_pages < FEW_PAGES:
        yield Advice(
            "few-pages",
            f"The model rests on {counted(n_pages, 'page')} only.",
            "Browse on, pages that turn out useless included, and learn again.",
        )


def _about_targets(graph: PageGraph) -> Iterator[Advice]:
    n_targets = len(graph.targets)
    if n_targets == 1:
        yield Advice(
            "one-target",
            "There is one target only, so the judge's threshold could not be calibrated and "
            "everything must resemble that page.",
            "Mark more pages as useful.",
        )
    elif n_targets < FEW_TARGETS:
        yield Advice(
            "few-targets",
            f"There are {n_targets} targets only, so the judge's threshold is a rough guess.",
            "Mark more pages as useful.",
        )
    if n_targets == len(graph.pages):
        yield Advice(
            "all-targets",
            "All pages are targets, so nothing shows what is off topic or what leads to a target.",
            "Leave pages unmarked that only led on, and visit some that are off topic.",
        )


def _about_paths(model: TopicModel) -> Iterator[Advice]:
    """At most one of these: each explains the next."""
    graph = model.graph
    if len(graph.targets) == len(graph.pages):
        return
    starts = {*graph.starts}
    near = starts | {end for begin, end in graph.edges if begin in starts}
    if not graph.edges and all(map(lacks_content, graph.pages)):
        yield Advice(
            "no-links",
            "The pages came without content, and the recording does not say which one led to "
            "which, so there are no paths to learn from.",
            "Get the contents: import again with --fetch, or name an archive with --content.",
        )
    elif not graph.edges:
        yield Advice(
            "no-links",
            "There is no link between the visited pages, so there are no paths to learn from.",
            "Browse by following links, and record the pages' sources.",
        )
    elif not np.any(model.levels == 1) and model.hmm.n_states > 2:
        yield Advice(
            "no-way-to-targets",
            "No visited page has a link to a target, so the model cannot tell which pages lead "
            "there.",
            "Reach the useful pages by following links from more general ones.",
        )
    elif starts and graph.targets <= near:
        where = "start pages" if graph.targets <= starts else "one hop from the start page"
        yield Advice(
            "targets-near-start",
            f"All targets are {where}, so the paths are too short to learn much from.",
            "Browse from a more general page.",
        )
    elif not np.any(model.levels >= 2) and model.hmm.n_states > 2:
        yield Advice(
            "short-paths",
            "Every page is at most one hop from a target, so the model does not know what lies "
            "farther away.",
            "Browse from a more general page.",
        )


def _about_languages(graph: PageGraph) -> Iterator[Advice]:
    spoken = Counter(graph.pages[target].language for target in graph.targets)
    spoken.pop("", None)
    if len(spoken) > 1:
        listed = ", ".join(f"{code} {count}" for code, count in sorted(spoken.items()))
        yield Advice(
            "several-languages",
            f"The targets are in several languages ({listed}), and words of one say nothing about "
            "pages in another.",
            "Learn one topic per language: mark with a label for each, and use --each-label.",
        )


def _about_judge(judge: JudgeFigures) -> Iterator[Advice]:
    if judge.f1 is not None and judge.f1 < WEAK_F1:
        yield Advice(
            "weak-judge",
            f"The targets are hard to tell from the other visited pages (leave-one-out F1 "
            f"{judge.f1:.2f}): they have little in common, or other pages are like them.",
            "Mark every page that is useful, and keep to one topic.",
        )
