"""What the pages that people marked themselves say of a page found later.

A crawl that learns from its finds must not let these vouch for the next ones: a find is scored by
a judge that knows the people's sessions alone, however often the topic was learned again.
"""

from __future__ import annotations

from trailhound.models.topic_model import TopicModel
from trailhound.records import Page
from trailhound.relevance.base import RelevanceJudge
from trailhound.relevance.calibration import calibrate_judges
from trailhound.relevance.contrast import ContrastJudge
from trailhound.relevance.cosine import CosineJudge


class OwnVerdicts:
    """Scores by contrast with the unmarked pages; by cosine when all visited pages are marked.

    ``model`` was learned from the people's own sessions. ``own_scores`` are those of the marked
    pages, each judged as if it had not been shown.
    """

    def __init__(self, model: TopicModel) -> None:
        graph, calibrated = model.graph, calibrate_judges(model)
        by_contrast = ContrastJudge.name in calibrated
        judge = ContrastJudge if by_contrast else CosineJudge
        self._judge: RelevanceJudge = judge.from_graph(graph, 0.0)
        scores = calibrated[judge.name].scores
        self.own_scores: list[float] = [scores[target] for target in sorted(graph.targets)]

    def score(self, page: Page) -> float:
        """How much the page is one of those wanted, 0 to 1."""
        return self._judge.judge(page).score
