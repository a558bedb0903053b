"""The judge of the hidden-Markov papers: largest cosine to a target page, with a threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trailhound.errors import SessionError
from trailhound.records import Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.text.tfidf import TargetSimilarity, TermWeights

FALLBACK_THRESHOLD = 0.5
"""Used when a single target leaves nothing to calibrate on."""


class CosineJudge:
    """A page is relevant when its cosine to the nearest target reaches the threshold γ."""

    def __init__(self, similarity: TargetSimilarity, threshold: float) -> None:
        self._similarity = similarity
        self.threshold = threshold

    @classmethod
    def from_graph(cls, graph: PageGraph, threshold: float | None = None) -> CosineJudge:
        """Learn from a session's pages; without ``threshold``, calibrate it on them."""
        if not graph.targets:
            raise SessionError(
                "The session has no page marked useful, so there is nothing to look for. "
                "Mark at least one page as useful and try again."
            )
        weights = TermWeights.fit([page.terms for page in graph.pages])
        targets = sorted(graph.targets)
        similarity = TargetSimilarity(weights, [graph.pages[i].terms for i in targets])
        if threshold is None:
            threshold = calibrate_threshold(similarity, graph.pages, targets)
        return cls(similarity, threshold)

    def judge(self, page: Page) -> Relevance:
        """Score by the nearest target."""
        score = self._similarity.to_nearest(page.terms)
        return Relevance(score, score >= self.threshold)


def calibrate_threshold(
    similarity: TargetSimilarity, pages: Sequence[Page], targets: Sequence[int]
) -> float:
    """The γ that separates left-out targets from the other visited pages with the best F1.

    Each target is compared with the remaining targets, never with itself.
    """
    if len(targets) < 2:
        return FALLBACK_THRESHOLD
    to_targets = np.array([similarity.to_each(page.terms) for page in pages])
    to_targets[targets, np.arange(len(targets))] = -1.0
    scores: NDArray[np.float32] = to_targets.max(axis=1)
    wanted = np.zeros(len(pages), bool)
    wanted[targets] = True
    order = np.argsort(-scores, kind="stable")
    found = np.cumsum(wanted[order])
    f1 = 2 * found / (np.arange(1, len(pages) + 1) + len(targets))
    return float(scores[order[int(np.argmax(f1))]])
