"""Pages judged one at a time outside of a crawl, as safely as in one.

Whatever a page holds, reading it neither hangs nor bursts the program: a page that might be harmful
goes to a process that can be stopped, as does every page when the judge itself might take long.
"""

from __future__ import annotations

import logging
from collections import Counter
from functools import partial
from typing import Self

import msgspec

from trailhound.crawling.analysis import Analysis, Analyst, PageJob
from trailhound.crawling.answers import checked_verdict
from trailhound.crawling.driving import Driver
from trailhound.crawling.page_limits import PageLimits
from trailhound.crawling.page_reading import COSTLY_PAGES
from trailhound.crawling.worker_pool import WorkerPool
from trailhound.errors import PLUGIN_FAULTS
from trailhound.judges.base import RelevanceJudge, may_take_long
from trailhound.records import Page, Relevance
from trailhound.urls import host_key

_log = logging.getLogger(__name__)


class GuardedReading:
    """Reads and judges pages. Close it, or use it in a ``with`` statement."""

    def __init__(
        self, judge: RelevanceJudge, limits: PageLimits, *, with_fingerprints: bool
    ) -> None:
        recipe = partial(Analyst, judge, with_fingerprints=with_fingerprints, surroundings=False)
        self._judge = judge
        self._analyst = recipe()
        self._is_judge_apart = may_take_long(judge)
        self._strong_room = WorkerPool(recipe, 1, limits, is_vital=False, imports_main=False)
        self._driver: Driver | None = None
        self._costly: Counter[str] = Counter()
        """Pages that were stopped, by host."""

    def judged(self, page: Page) -> Relevance | None:
        """The verdict on a page that is read already; ``None`` when it fails, or may take long."""
        if self._is_judge_apart:
            return None
        try:
            return checked_verdict(self._judge.judge(page))
        except PLUGIN_FAULTS:  # an error of the judge costs that page
            _log.exception("Page %s could not be judged again", page.url)
            return None

    def analyse(self, job: PageJob) -> Analysis:
        """What is to be said of the page; ``failure`` says why when there is no verdict."""
        if not self._is_judge_apart:
            analysis = self._analyst.analyse(job)
            if not analysis.is_beyond:
                return analysis
        host = host_key(job.url)
        if self._costly[host] >= COSTLY_PAGES:
            return Analysis(failure="it may be harmful, as other pages of its host were")
        analysis = self._set_apart(msgspec.structs.replace(job, is_set_apart=True))
        self._costly[host] += analysis.is_too_costly
        return analysis

    def _set_apart(self, job: PageJob) -> Analysis:
        if self._driver is None:
            self._driver = Driver()

        async def analysed() -> Analysis:
            return await self._strong_room.submit(job)

        return self._driver.run(analysed())

    def close(self) -> None:
        """End the process, if one was needed."""
        if self._driver is not None:
            self._driver.run(self._strong_room.close())
            self._driver.close()
            self._driver = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
