"""Every archived page is judged again with what was learned, without asking anybody.

Page by page in the order of the crawl, which is that of its archive. What is said of a page by
looking at it alone (:mod:`trailhound.topics.page_opinions`) may come from elsewhere, a cluster say;
copies, and what is written, are the business of one process. Score, verdict, copies and what
searches find follow. The results remember who judged which page, so that it can be stopped at any
page and goes on there, does nothing when all is done, and after another threshold was chosen reads
only the pages between the two.

A crawl may be running. Pages are read outside of transactions, some at a time, and what comes of
them is written in a few thousandths of a second; a page that the crawl fetches again meanwhile is
its own.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial

import msgspec

from trailhound.counting import counted
from trailhound.crawling.duplicates import DuplicateFinder
from trailhound.storage.verdicts import Changes, JudgedBy, PageToJudge, Ruling, Span, Verdicts
from trailhound.topics.crawl_folder import CrawlFolder, RejudgeLock
from trailhound.topics.gathering import gather_first
from trailhound.topics.heeding import heed_marks
from trailhound.topics.judging import TopicJudge, judge_of
from trailhound.topics.page_opinions import Opinion, SomePages, WhatToJudgeBy, opinions_here

PAGES_TOGETHER = 50
"""Pages whose verdicts are written in one transaction."""

Progress = Callable[[int, int], object]
"""Told how many pages are done, and of how many."""
Ask = Callable[[WhatToJudgeBy, Iterable[SomePages]], Generator[Iterable[Opinion]]]
"""Gives an opinion on each page, in their order, some pages at a time."""


class Rejudged(msgspec.Struct, frozen=True):
    """What came of it."""

    judged: int = 0
    """Pages that have a new verdict, be it the same."""
    joined: int = 0
    """Pages that are in the results now and were not."""
    left: int = 0
    unarchived: int = 0
    """Pages that keep their score because neither content nor words were kept."""
    unread: int = 0
    """Pages that keep it because reading or judging them failed, or would take too long."""
    is_complete: bool = True
    """Whether it came to the end; else the next time goes on."""

    def in_words(self) -> str:
        """``12 pages joined the results, 3 left them.``"""
        told = f"{counted(self.joined, 'page')} joined the results, {self.left:,} left them"
        kept = []
        if self.unarchived:
            kept.append(f"{self.unarchived:,} that are not archived")
        if self.unread:
            kept.append(f"{self.unread:,} that could not be judged")
        return told + (f"; {' and '.join(kept)} keep their scores." if kept else ".")


def rejudge(
    folder: CrawlFolder,
    judge: TopicJudge | None = None,
    *,
    ask: Ask = opinions_here,
    progress: Progress = lambda *_: None,
    stop: Callable[[], bool] = lambda: False,
) -> Rejudged:
    """Judge the pages that another judge has judged; by the topic's own unless ``judge`` is given.

    Marks are heeded first. ``ask`` reads and judges pages, here unless it says otherwise. ``stop``
    is asked before each page, ``progress`` told after some; both are called in the thread that this
    runs in, which may be any. One at a time for each topic: StorageError when another is at it.
    """
    changes = heed_marks(gather_first(folder.require()))
    judge = judge or judge_of(folder)
    with ExitStack() as stack:
        stack.enter_context(RejudgeLock(folder))
        verdicts = stack.enter_context(Verdicts(folder.results))
        spans = verdicts.waiting(judge.by)
        if not spans:
            return Rejudged(**changes._asdict())
        texts = DuplicateFinder(verdicts.fingerprints(spans)) if judge.near_duplicates else None
        again = _Rejudging(judge.by, verdicts, texts, changes)
        what = WhatToJudgeBy(judge, folder.archive, folder.archive.is_dir())
        return again.run(spans, partial(ask, what), progress, stop)


@dataclass
class _Rejudging:
    """One run: what needs the order of the pages."""

    by: JudgedBy
    verdicts: Verdicts
    texts: DuplicateFinder | None
    changes: Changes
    counts: Counter[str] = field(default_factory=Counter)
    asked: deque[SomePages] = field(default_factory=deque)
    """Pages whose opinions are still to come."""

    def run(
        self,
        spans: Sequence[Span],
        ask: Callable[[Iterable[SomePages]], Generator[Iterable[Opinion]]],
        progress: Progress,
        stop: Callable[[], bool],
    ) -> Rejudged:
        """All of it, or as far as ``stop`` lets it come."""
        total = sum(map(self.verdicts.count, spans))
        progress(0, total)
        with closing(ask(self._to_judge(spans))) as answers:
            for opinions in answers:
                if not self._settle(self.asked.popleft(), iter(opinions), stop):
                    return self._told(is_complete=False)
                progress(self.counts.total(), total)
        return self._told(is_complete=True)

    def _to_judge(self, spans: Sequence[Span]) -> Iterator[SomePages]:
        for span in spans:
            rest = span
            while rest.first <= rest.last:
                pages = self.verdicts.pages(rest, PAGES_TOGETHER)
                last = pages[-1].id if len(pages) == PAGES_TOGETHER else span.last
                self.asked.append(SomePages(rest._replace(last=last), pages))
                yield self.asked[-1]
                rest = rest._replace(first=last + 1)

    def _settle(
        self, some: SomePages, opinions: Iterator[Opinion], stop: Callable[[], bool]
    ) -> bool:
        """Write what comes of some pages; whether it came to the last of them."""
        span, last = some.span, some.span.last
        rulings: list[Ruling] = []
        for page in some.pages:
            if stop():
                last = page.id - 1
                break
            if (ruling := self._ruling(page, next(opinions))) is not None:
                rulings.append(ruling)
        if last >= span.first:
            self.changes += self.verdicts.write(rulings, span._replace(last=last), self.by)
        return last == span.last

    def _ruling(self, page: PageToJudge, opinion: Opinion) -> Ruling | None:
        """``None`` for a page that keeps its verdict."""
        if isinstance(opinion, str):
            self._copied(page.fingerprint, page)
            self.counts[opinion] += 1
            return None
        self.counts["judged"] += 1
        return opinion._replace(duplicate_of=self._copied(opinion.fingerprint, page))

    def _copied(self, said: int | None, page: PageToJudge) -> str | None:
        """An earlier page that says the same."""
        if self.texts is None or said is None:
            return None
        return self.texts.find_or_add(said, page.address, noindex=page.noindex)

    def _told(self, *, is_complete: bool) -> Rejudged:
        return Rejudged(**self.counts, **self.changes._asdict(), is_complete=is_complete)
