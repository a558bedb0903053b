"""Warnings about a model that its user can act on, each with the next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec
import numpy as np

from trailhound.counting import counted
from trailhound.models.judge_figures import JudgeFigures
from trailhound.models.topic_model import TopicModel
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph

FEW_PAGES = 10
FEW_TARGETS = 3
WEAK_F1 = 0.5


class Advice(msgspec.Struct, frozen=True):
    """Something that makes the model worse than it could be."""

    code: str
    """The same for the same kind of problem, for programs."""
    problem: str
    next_step: str

    def __str__(self) -> str:
        return f"{self.problem} {self.next_step}"


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
