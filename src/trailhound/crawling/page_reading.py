"""Where pages are analysed: here, on workers, or in the strong room; in a crawl and outside of one.

Whatever a page holds, reading it neither hangs nor bursts the program: a page that might be harmful
goes to a process that can be stopped, as does every page when the judge itself might take long.
"""

from __future__ import annotations

import logging
from collections import Counter
from functools import partial
from typing import Self

import msgspec

from trailhound.crawling.analysis import Analysis, Analyst, AnalystRecipe, PageJob
from trailhound.crawling.answers import checked_verdict
from trailhound.crawling.driving import Driver
from trailhound.crawling.processes import PageLimits
from trailhound.crawling.worker_pool import WorkerPool
from trailhound.errors import plugin_faults
from trailhound.judges.base import RelevanceJudge, may_take_long
from trailhound.records import Page, Relevance
from trailhound.strategies.base import Strategy, learns_online, reads_surroundings
from trailhound.urls import host_key

COSTLY_PAGES = 3
"""Of one host that are stopped in the strong room; what else it has for that is given up unread."""
READ_PER_COSTLY = 20
"""Pages of such a host that were read meanwhile, after which another may be tried: an archive of
documents has some that are too heavy, and is not made to do harm."""


class PageReading:
    """Analyses of one crawl; see :class:`trailhound.crawling.engine.Crawler` for the parts."""

    def __init__(
        self,
        strategy: Strategy,
        judge: RelevanceJudge,
        *,
        with_fingerprints: bool,
        workers: int,
        recipe: AnalystRecipe | None,
        limits: PageLimits | None,
        feeds: bool = False,
    ) -> None:
        self.limits = limits
        analyst = partial(
            Analyst,
            judge,
            with_fingerprints=with_fingerprints,
            surroundings=reads_surroundings(strategy),
            feeds=feeds,
        )
        self._analyst = analyst()
        scoring = analyst if learns_online(strategy) else partial(analyst, strategy)
        self._recipe = recipe or scoring
        self._workers = workers
        self._is_judge_apart = limits is not None and may_take_long(judge)
        self._apart_recipe = partial(
            Analyst, judge if self._is_judge_apart else None, **analyst.keywords
        )
        self._costly: Counter[str] = Counter()
        """Pages that were stopped, by host."""
        self._read_since: Counter[str] = Counter()
        """Pages of these hosts that were read, since the first was stopped."""

    def pool(self) -> WorkerPool | None:
        """Processes that read every page; ``None`` when pages are read here."""
        if self._workers > 1:
            return WorkerPool(self._recipe, self._workers, self.limits)
        return self.strong_room() if self._is_judge_apart else None

    def strong_room(self) -> WorkerPool:
        """One process, which knows nothing of the program that crawls."""
        return WorkerPool(self._apart_recipe, 1, self.limits, is_vital=False, imports_main=False)

    def complete(self, analysis: Analysis | None, job: PageJob, host: str) -> Analysis | None:
        """What a worker found, or is found here; ``None`` when the page is for the strong room."""
        analysis = self._completed(analysis, job)
        if analysis.is_beyond:
            if self._costly[host] < COSTLY_PAGES + self._read_since[host] // READ_PER_COSTLY:
                return None
            why = "it may be harmful, as other pages of its host were"
            return Analysis(failure=why, is_too_costly=True)
        if analysis.is_too_costly:
            self._costly[host] += 1
        elif analysis.page is not None and host in self._costly:
            self._read_since[host] += 1
        return analysis

    def _completed(self, analysis: Analysis | None, job: PageJob) -> Analysis:
        """The strong room may have left the rest to us."""
        if analysis is None:
            here = msgspec.structs.replace(job, is_set_apart=True) if not self.limits else job
            return self._analyst.analyse(here)
        if analysis.page is not None and analysis.relevance is None and not analysis.failure:
            return self._analyst.analyse(msgspec.structs.replace(job, page=analysis.page))
        return analysis


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
        except plugin_faults():  # an error of the judge costs that page
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
