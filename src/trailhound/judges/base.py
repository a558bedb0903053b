"""What a judge is: the answer to "is this page on topic?"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trailhound.records import Page, Relevance
from trailhound.sessions.page_graph import PageGraph

if TYPE_CHECKING:
    from trailhound.models.topic_model import TopicModel


class RelevanceJudge(Protocol):
    """Judges fetched pages for the crawler. The lab scores crawls by ground truth instead.

    A judge that can be chosen by name also has ``name``, ``summary`` and a class method
    ``from_briefing(briefing, *, option=default, ...)``, as strategies have, and registers under
    the entry-point group ``trailhound.judges``.
    """

    def judge(self, page: Page) -> Relevance:
        """Score a page from 0 to 1 and say whether that is enough."""
        ...


def may_take_long(judge: RelevanceJudge) -> bool:
    """Whether a page can make the judge think for ever: ``may_take_long`` of a judge says so.

    It is asked in a process that can be stopped then.
    """
    return bool(getattr(judge, "may_take_long", False))


def needs_only_words(judge: RelevanceJudge) -> bool:
    """Whether it looks at title, headings, language and terms alone, as its attribute says.

    Pages without text and links are then enough for it, which judges many again in a short time.
    """
    return bool(getattr(judge, "needs_only_words", False))


@runtime_checkable
class WordingJudge(Protocol):
    """Optional: a judge that can say which words of a page moved its verdict."""

    def words(self, page: Page) -> Mapping[str, float]:
        """What each term of a page adds to its log odds to be wanted, or takes from them."""
        ...


class LearningJudge(Protocol):
    """Optional, on a judge's class: it learns from sessions, and says from which and how well.

    ``auto`` stands for the judge of the highest rank among those that suit the sessions at hand,
    wherever they were installed from.
    """

    rank: ClassVar[float]
    """How good it is next to others: its mean F1 on wikispeedia, as in ``docs/results.md``."""

    @classmethod
    def suits(cls, graph: PageGraph) -> bool:
        """Whether it can learn from these sessions."""
        ...

    @classmethod
    def left_out_scores(cls, model: TopicModel) -> NDArray[np.float32]:
        """What a judge that had not seen it would say of each page. Shape (n_pages,).

        In the order of the model's graph; -1 where that leaves nothing to learn from. May be
        missing: then ``learn`` neither calibrates the judge nor shows its figures.
        """
        ...

    @staticmethod
    def threshold_by(scores: NDArray[np.float32]) -> float:
        """γ, by the left-out scores. May be missing: then it is the cut through them of best F1."""
        ...
