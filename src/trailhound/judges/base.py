"""What a judge is: the answer to "is this page on topic?"."""

from __future__ import annotations

from typing import Protocol

from trailhound.records import Page, Relevance


class RelevanceJudge(Protocol):
    """Judges fetched pages for the crawler. The lab scores crawls by ground truth instead."""

    def judge(self, page: Page) -> Relevance:
        """Score a page from 0 to 1 and say whether that is enough."""
        ...
