"""Where pages are analysed: here, on workers, or in the strong room."""

from __future__ import annotations

from collections import Counter
from functools import partial

import msgspec

from trailhound.crawling.analysis import Analysis, Analyst, AnalystRecipe, PageJob
from trailhound.crawling.page_limits import PageLimits
from trailhound.crawling.worker_pool import WorkerPool
from trailhound.judges.base import RelevanceJudge, may_take_long
from trailhound.strategies.base import Strategy, learns_online, reads_surroundings

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
